//! Finds where a function continues if it ends in a jump through a table that its library fills itself. The exported
//! functions of the HIP runtime do nothing else.

use super::image::Image;
use super::machine::{InstructionEffect, Machine, RETURN, STACK, State};
use super::memory::Memory;
use std::collections::BTreeSet;

/// The maximum number of instructions executed for one function; unknown branches are followed both ways.
const BUDGET: usize = 50_000;
const PATHS: usize = 64;
/// The maximum call depth.
const DEPTH: u32 = 6;

/// The functions that are reached through an indirect jump after the frame has been released. Empty if no path leads to
/// a known address.
pub fn leaves(image: &Image<'_>, entry: u64) -> BTreeSet<u64> {
    let mut machine = Machine::new(image);
    let mut first = State::new(entry, Memory::default());
    machine.push(&mut first, Some(RETURN));
    let (mut paths, mut taken, mut spent) = (vec![first], 0, 0);
    let mut found = BTreeSet::new();
    while let Some(mut state) = paths.pop() {
        loop {
            spent += 1;
            if spent > BUDGET || state.ip == RETURN {
                break;
            }
            let bare = state.depth == 0 && state.argument(super::machine::RSP) == Some(STACK - 8);
            let indirect = bare && machine.jumps_indirectly(state.ip);
            match machine.step(&mut state) {
                InstructionEffect::Next => {}
                InstructionEffect::Transfer if indirect => {
                    if image.is_code(state.ip) {
                        found.insert(state.ip);
                    }
                    break;
                }
                InstructionEffect::Transfer if image.is_code(state.ip) && state.depth <= DEPTH => {}
                InstructionEffect::Transfer => {
                    let guard = image.import(state.ip) == Some("__cxa_guard_acquire");
                    state.clobber(guard.then_some(1));
                    state.depth = state.depth.saturating_sub(1);
                    let Some(back) = machine.pop(&mut state) else { break };
                    state.ip = back;
                }
                InstructionEffect::Fork { taken: to, next } => {
                    if taken < PATHS {
                        taken += 1;
                        let mut other = state.clone();
                        other.ip = to;
                        paths.push(other);
                    }
                    state.ip = next;
                }
                InstructionEffect::Stop(_) => break,
            }
        }
    }
    found
}
