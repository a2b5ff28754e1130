//! Detects code that reads through a handle returned by `dlopen`. A handle is opaque to the caller, but it points to
//! the loader's list of libraries. Code that reads this list can find a function without calling `dlsym`.

use crate::elf::{Elf, SHT_DYNSYM, SHT_RELA, Section};
use crate::error::Result;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use std::collections::BTreeSet;

const OPENERS: [&str; 2] = ["dlopen", "dlmopen"];
/// The maximum number of instructions followed after one call.
const FOLLOWED: usize = 2048;
/// Registers that a called function may change.
const SCRATCH: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// Follows the result of every direct call of `dlopen` within its function.
pub fn reads_loader_handles(elf: &Elf<'_>) -> Result<bool> {
    let slots = slots(elf)?;
    if slots.is_empty() {
        return Ok(false);
    }
    let mut code: Vec<(&Section, Vec<u8>)> = Vec::new();
    for section in elf.sections().iter().filter(|section| section.is_executable()) {
        code.push((section, elf.data(section)?.into_owned()));
    }
    let stubs = stubs(&code, &slots);
    let reads = |(section, data): &(&Section, Vec<u8>)| {
        returns(section.address, data, &slots, &stubs).any(|at| reads_through_result(data, at))
    };
    Ok(code.iter().any(reads))
}

/// The addresses where the loader writes the addresses of the functions.
fn slots(elf: &Elf<'_>) -> Result<BTreeSet<u64>> {
    let mut found = BTreeSet::new();
    let Some(symbols) = elf.symbols_of_kind(SHT_DYNSYM)? else { return Ok(found) };
    if !symbols.iter().any(|symbol| symbol.section == 0 && OPENERS.contains(&symbol.name)) {
        return Ok(found);
    }
    for section in elf.sections().iter().filter(|section| section.kind == SHT_RELA) {
        let opens = |number: u32| symbols.get(number).is_some_and(|symbol| OPENERS.contains(&symbol.name));
        found.extend(elf.relocations(section)?.iter().filter(|one| opens(one.symbol)).map(|one| one.address));
    }
    Ok(found)
}

fn word_at(data: &[u8], at: usize) -> Option<i64> {
    data.get(at..)?.first_chunk().map(|bytes| i64::from(i32::from_le_bytes(*bytes)))
}

/// Addresses of `jmp [slot]`, and of the instruction that marks the beginning of the stub.
fn stubs(code: &[(&Section, Vec<u8>)], slots: &BTreeSet<u64>) -> BTreeSet<u64> {
    const JUMP: [u8; 2] = [0xff, 0x25];
    const BEGIN: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    let mut found = BTreeSet::new();
    for (section, data) in code.iter().filter(|(section, _)| section.name.starts_with(".plt")) {
        for at in (0..data.len()).filter(|at| data.get(*at..*at + 2) == Some(&JUMP)) {
            let address = section.address.wrapping_add(at as u64);
            let slot = word_at(data, at + 2).map(|distance| address.wrapping_add(6).wrapping_add_signed(distance));
            if slot.is_some_and(|slot| slots.contains(&slot)) {
                let prefix = at.checked_sub(1).and_then(|before| data.get(before)) == Some(&0xf2);
                let start = at - usize::from(prefix);
                let marked = start.checked_sub(4).is_some_and(|mark| data.get(mark..start) == Some(&BEGIN));
                let start = if marked { start - 4 } else { start };
                found.extend([address, section.address.wrapping_add(start as u64)]);
            }
        }
    }
    found
}

/// The positions after calls of these functions.
fn returns<'d>(
    base: u64,
    data: &'d [u8],
    slots: &'d BTreeSet<u64>,
    stubs: &'d BTreeSet<u64>,
) -> impl Iterator<Item = usize> + 'd {
    let after = move |at: usize, length: usize, to: &BTreeSet<u64>| {
        let end = base.wrapping_add((at + length) as u64);
        let target = word_at(data, at + length - 4).map(|distance| end.wrapping_add_signed(distance));
        target.is_some_and(|target| to.contains(&target)).then_some(at + length)
    };
    memchr::memchr2_iter(0xe8, 0xff, data).filter_map(move |at| match data.get(at..at + 2)? {
        [0xe8, _] => after(at, 5, stubs),
        [0xff, 0x15] => after(at, 6, slots),
        _ => None,
    })
}

/// The copies of the handle, in registers and on the stack (by register and offset).
#[derive(Clone)]
struct Copies {
    registers: BTreeSet<Register>,
    stack: BTreeSet<(Register, u64)>,
}

/// Follows every path from the call's return. A path ends when no copy is left, or when it reaches code that was
/// already followed.
fn reads_through_result(code: &[u8], from: usize) -> bool {
    let first = Copies { registers: BTreeSet::from([Register::RAX]), stack: BTreeSet::new() };
    let (mut waiting, mut seen) = (vec![(from as u64, first)], BTreeSet::new());
    let mut info = InstructionInfoFactory::new();
    while let Some((at, mut copies)) = waiting.pop() {
        let Some(rest) = usize::try_from(at).ok().and_then(|at| code.get(at..)) else { continue };
        let mut decoder = Decoder::with_ip(64, rest, at, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() && !(copies.registers.is_empty() && copies.stack.is_empty()) {
            decoder.decode_out(&mut instruction);
            if instruction.is_invalid() || !seen.insert(instruction.ip()) || seen.len() > FOLLOWED {
                break;
            }
            if copies.read_by(&instruction) {
                return true;
            }
            copies.step(&instruction, &mut info);
            match instruction.flow_control() {
                FlowControl::ConditionalBranch => waiting.push((instruction.near_branch_target(), copies.clone())),
                FlowControl::UnconditionalBranch => {
                    waiting.push((instruction.near_branch_target(), copies));
                    break;
                }
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {}
                _ => break,
            }
        }
    }
    false
}

impl Copies {
    fn read_by(&self, instruction: &Instruction) -> bool {
        let memory = (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory);
        let computes = [Mnemonic::Lea, Mnemonic::Nop].contains(&instruction.mnemonic());
        memory && !computes && self.registers.contains(&instruction.memory_base())
    }

    fn step(&mut self, instruction: &Instruction, info: &mut InstructionInfoFactory) {
        let place = (instruction.memory_base(), instruction.memory_displacement64());
        let copied = match (instruction.mnemonic(), instruction.op0_kind(), instruction.op1_kind()) {
            (Mnemonic::Mov, _, OpKind::Register) => self.registers.contains(&instruction.op1_register()),
            (Mnemonic::Mov, OpKind::Register, OpKind::Memory) => self.stack.contains(&place),
            _ => false,
        };
        for used in info.info(instruction).used_registers() {
            if used.access() != OpAccess::Read && used.access() != OpAccess::CondRead {
                self.registers.remove(&used.register().full_register());
            }
        }
        if matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
            self.registers.retain(|register| !SCRATCH.contains(register));
        }
        match instruction.op0_kind() {
            OpKind::Register if copied => drop(self.registers.insert(instruction.op0_register())),
            OpKind::Memory if copied && [Register::RBP, Register::RSP].contains(&place.0) => {
                self.stack.insert(place);
            }
            OpKind::Memory if instruction.mnemonic() == Mnemonic::Mov => drop(self.stack.remove(&place)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    fn made(directory: &Path, code: &str, flags: &[&str]) -> bool {
        let (source, to) = (directory.join("made.c"), directory.join("made.so"));
        std::fs::write(&source, format!("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <link.h>\n{code}")).unwrap();
        let mut cc = Command::new("cc");
        let done = cc.args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&source).args(flags).status().unwrap();
        assert!(done.success());
        let data = std::fs::read(&to).unwrap();
        reads_loader_handles(&Elf::parse(&data).unwrap()).unwrap()
    }

    #[test]
    fn a_walk_over_the_list_of_libraries_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let walk = "int f(const char *s, long (*eq)(const char *, const char *)) { int n = 0;\n\
            for (struct link_map *m = dlopen(0, RTLD_NOW); m; m = m->l_next) n += eq(m->l_name, s); return n; }";
        let usual = "void *keep; void *f(const char *s) { void *l = dlopen(s, RTLD_NOW); if (!l) return 0; keep = l;\n\
            void *(*g)(int) = (void *(*)(int))dlsym(l, \"g\"); if (!g) { dlclose(l); return 0; } return g(1); }";
        for flags in [&["-O0"][..], &["-O2"], &["-O2", "-fno-plt"], &["-O0", "-fcf-protection=none", "-Wl,-z,now"]] {
            assert!(made(directory.path(), walk, flags), "{flags:?}");
            assert!(!made(directory.path(), usual, flags), "{flags:?}");
        }
        assert!(!made(directory.path(), "int f(int n) { return n; }", &["-O2"]));
    }
}
