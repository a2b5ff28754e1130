//! Finds the instructions where a function returns: a probe on each `ret` sees the result without changing the stack.
//!
//! The kernel's return probe replaces the return address on the stack. An exception that is thrown through the call
//! finds no caller there, and the program is terminated. So the instructions that return are probed instead. A probe on
//! a `ret` that another function shares does no harm: the stack pointer identifies the call (`Body::recall`).

use codeobject::launch_map::{Image, leaves};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::collections::BTreeSet;

/// The exits of one function and of those that it tail-calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exits {
    /// Addresses of the function's `ret` instructions.
    pub returns: BTreeSet<u64>,
    /// Addresses that the function calls or jumps to directly.
    pub calls: BTreeSet<u64>,
    /// Whether the function can also end with a jump whose target is not in the file.
    pub unknown: bool,
}

/// The maximum number of instructions examined per function.
const MOST: usize = 1 << 15;
/// Functions with more returns are not probed, because their code was probably misread.
const RETURNS: usize = 96;

impl Exits {
    /// Whether every return is known.
    pub fn known(&self) -> bool {
        !self.unknown && self.some()
    }

    /// Whether some returns are known. A call that leaves another way counts as not checked.
    pub fn some(&self) -> bool {
        !self.returns.is_empty() && self.returns.len() <= RETURNS
    }
}

/// `size`: the size of the function according to its symbol; 0 if unknown.
pub fn exits(image: &Image<'_>, entry: u64, size: u64) -> Exits {
    let mut search = Search { image, out: Exits::default(), seen: BTreeSet::new(), work: vec![entry], spent: 0 };
    let mut leaving = false;
    while let Some(from) = search.work.pop() {
        leaving |= search.block(from, entry, size);
    }
    if leaving {
        let targets = leaves(image, entry);
        search.out.unknown |= targets.is_empty();
        search.work.extend(targets);
        while let Some(from) = search.work.pop() {
            // The targets of a table are known here; a second jump through a table is not followed.
            search.out.unknown |= search.block(from, from, 0);
        }
    }
    search.out
}

struct Search<'i, 'd> {
    image: &'i Image<'d>,
    out: Exits,
    seen: BTreeSet<u64>,
    work: Vec<u64>,
    spent: usize,
}

impl Search<'_, '_> {
    /// Follows the code to the next jump or return; true if it ends in an indirect jump.
    fn block(&mut self, from: u64, entry: u64, size: u64) -> bool {
        let inside = |address: u64| size == 0 || address.wrapping_sub(entry) < size;
        let starts_inside = inside(from);
        let Some(code) = self.image.bytes_at(from).filter(|_| self.image.is_code(from)) else {
            self.out.unknown = true;
            return false;
        };
        let code = code.get(..code.len().min(MOST)).unwrap_or(code);
        let mut decoder = Decoder::with_ip(64, code, from, DecoderOptions::NONE);
        let (mut instruction, mut before) = (Instruction::default(), Instruction::default());
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            self.spent += 1;
            let here = instruction.ip();
            // After a call that does not return, another function begins.
            if instruction.is_invalid() || !self.seen.insert(here) || (starts_inside && !inside(here)) {
                return false;
            }
            if self.spent > MOST {
                self.out.unknown = true;
                return false;
            }
            match instruction.flow_control() {
                FlowControl::Return => {
                    self.out.returns.insert(here);
                    return false;
                }
                FlowControl::UnconditionalBranch => {
                    self.out.calls.insert(instruction.near_branch_target());
                    self.work.push(instruction.near_branch_target());
                    return false;
                }
                FlowControl::ConditionalBranch => self.work.push(instruction.near_branch_target()),
                FlowControl::Call => {
                    let target = instruction.near_branch_target();
                    self.out.calls.insert(self.through_stub(target).unwrap_or(target));
                }
                FlowControl::IndirectBranch if is_switch(&instruction, &before) => {
                    self.cases(entry, size, here);
                    return false;
                }
                FlowControl::IndirectBranch => match self.slot(&instruction) {
                    Some(target) => {
                        self.out.calls.insert(target);
                        self.work.push(target);
                        return false;
                    }
                    None => return true,
                },
                FlowControl::Exception => return false,
                _ => {}
            }
            before = instruction;
        }
        false
    }

    /// The target inside this file of a word that the loader fills in, for a jump of the procedure linkage table.
    fn slot(&self, instruction: &Instruction) -> Option<u64> {
        let fixed = instruction.op0_kind() == OpKind::Memory && instruction.memory_base() == Register::RIP;
        let target = self.image.read_u64(instruction.memory_displacement64()).filter(|_| fixed)?;
        self.image.is_code(target).then_some(target)
    }

    fn through_stub(&self, stub: u64) -> Option<u64> {
        let bytes = self.image.bytes_at(stub)?;
        let decoder = Decoder::with_ip(64, bytes.get(..bytes.len().min(32))?, stub, DecoderOptions::NONE);
        let jump = decoder.into_iter().take(2).find(|one| one.flow_control() == FlowControl::IndirectBranch)?;
        self.slot(&jump)
    }

    /// The cases of a `switch` are inside the function, so every instruction of it is examined.
    fn cases(&mut self, entry: u64, size: u64, here: u64) {
        const UNSIZED: u64 = 1 << 12;
        let end = if size == 0 { here.saturating_add(UNSIZED) } else { entry.saturating_add(size) };
        let Some(code) = self.image.bytes_at(entry) else { return };
        let len = usize::try_from(end.saturating_sub(entry)).unwrap_or(0).min(code.len());
        let decoder = Decoder::with_ip(64, code.get(..len).unwrap_or(&[]), entry, DecoderOptions::NONE);
        let starts: Vec<u64> =
            decoder.into_iter().take(MOST).filter(|one| !one.is_invalid()).map(|one| one.ip()).collect();
        self.work.extend(starts.into_iter().filter(|start| !self.seen.contains(start)));
    }
}

/// Whether the instruction jumps into a table of cases: it has the corresponding prefix, a scaled index, or a target
/// that was just computed.
fn is_switch(jump: &Instruction, before: &Instruction) -> bool {
    let scaled = jump.op0_kind() == OpKind::Memory && jump.memory_index() != Register::None;
    let summed = jump.op0_kind() == OpKind::Register
        && before.mnemonic() == Mnemonic::Add
        && before.op0_register() == jump.op0_register();
    let marked = jump.segment_prefix() == Register::DS && jump.code() == Code::Jmp_rm64;
    scaled || summed || marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::entries::{ENTRIES, Home};
    use crate::probes::symbols::entries_of;
    use std::path::Path;
    use std::process::Command;

    fn built(dir: &Path, source: &str, words: &[&str]) -> Vec<u8> {
        let (code, library) = (dir.join("libamdhip64.c"), dir.join("libamdhip64.so"));
        std::fs::write(&code, source).expect("written");
        let cc = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&code).args(words).status();
        assert!(cc.expect("a C compiler").success());
        std::fs::read(&library).expect("a library")
    }

    fn of(bytes: &[u8], symbol: &str) -> Exits {
        let image = Image::parse(bytes).expect("an image");
        let symbols = entries_of(&bytes.to_vec(), Home::Hip).expect("symbols");
        let wanted = |entry: usize| ENTRIES.get(entry).is_some_and(|entry| entry.symbol == symbol);
        let found = symbols.iter().find(|found| wanted(found.entry)).expect("the function");
        exits(&image, found.address, found.size)
    }

    #[test]
    fn every_way_out_is_found_and_one_into_another_library_is_said_to_be_unknown() {
        let dir = tempfile::tempdir().expect("a directory");
        let source = r"
            int printf(const char *, ...); extern int (*elsewhere)(int); void abort(void);
            static int impl(int a) { return a > 3 ? 1 + printf(0) : a; }
            static int (*table[2])(int); static int made;
            static int (**all(void))(int) { if (!made) { table[0] = impl; table[1] = impl; made = 1; } return table; }
            int hipLaunchKernel(int a) { switch (a) { case 1: return 1 + printf(0); case 2: return 5; case 3: return 7 + printf(0);
                case 4: abort(); case 5: return 9 * a; case 6: return printf(0) * 3; default: return 0; } }
            int hipGraphLaunch(int a) { return all()[1](a); }
            int hipGraphInstantiate(int a) { return hipGraphLaunch(a); }
            int hipGraphClone(int a) { return elsewhere(a); }";
        for words in [&["-O2"][..], &["-O0"], &["-O2", "-fcf-protection=none", "-fno-plt"], &["-O2", "-s"]] {
            let bytes = built(dir.path(), source, words);
            for symbol in ["hipLaunchKernel", "hipGraphLaunch", "hipGraphInstantiate"] {
                let found = of(&bytes, symbol);
                assert!(found.known(), "{symbol} {words:?}: {found:x?}");
            }
        }
        let bytes = built(dir.path(), source, &["-O2"]);
        assert!(of(&bytes, "hipGraphClone").unknown, "its target is another library's");
    }

    /// Debian's runtime: every exported function jumps through a table that the first call fills in.
    #[test]
    fn the_real_runtime_returns_where_its_table_leads() {
        let Some(dir) = test_artifacts::need("debian-sid") else { return };
        let path = dir.join("root/usr/lib/x86_64-linux-gnu/libamdhip64.so.6");
        let file = inventory::File::open(&path).expect("the runtime");
        let image = Image::read(&file).expect("an image");
        let symbols = entries_of(&file, Home::Hip).expect("symbols");
        let answers =
            symbols.iter().filter(|symbol| ENTRIES.get(symbol.entry).is_some_and(|entry| entry.role.returns()));
        let mut checked = 0;
        for symbol in answers {
            let found = exits(&image, symbol.address, symbol.size);
            let name = ENTRIES.get(symbol.entry).map_or("", |entry| entry.symbol);
            assert!(found.known(), "{name}: {found:x?}");
            checked += 1;
        }
        assert!(checked > 30, "{checked}");
    }
}
