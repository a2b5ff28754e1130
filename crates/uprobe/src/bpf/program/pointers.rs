//! Stops a program that received a pointer to a launch function until that function has a probe.

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R4, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Helper, If};
use crate::bpf::program::frame::{ARGS_AT, Body, KEY, TASK, TEMP, VALUE};
use crate::bpf::wire::key;
use crate::probes::entries::{ENTRIES, Role};
use std::collections::BTreeSet;
use sys::abi;

/// The prefixes of names that stop a program, in two words.
fn beginnings() -> BTreeSet<(i32, i32)> {
    let concerns = |role: Role| role.launches() || role.is_of_graphs();
    let word = |name: &str, at: usize| name.as_bytes().get(at..)?.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
    let names = ENTRIES.iter().filter(|entry| concerns(entry.role) && entry.home.launches()).map(|entry| entry.symbol);
    names.filter_map(|name| Some((word(name, 0)?, word(name, 4)?))).collect()
}

impl Body {
    /// Only programs that we started are ever stopped (see `target::stop_on_map`). ARGS_AT points to the name.
    pub(crate) fn stop_if_held(&mut self) {
        let Some((ours, stopped)) = self.maps.hold else { return };
        self.asm.load(Word, R1, R10, KEY + key::TGID);
        self.asm.store(Word, R10, VALUE, R1);
        self.look_up(ours, VALUE);
        self.asm.jump_if(If::Equal, R0, 0, self.out);
        self.asm.store_imm(Long, R10, TEMP, 0);
        self.read_user(TEMP, 8, |asm| asm.load(Long, R3, R10, ARGS_AT));
        let stop = self.asm.label();
        for (first, second) in beginnings() {
            let other = self.asm.label();
            self.asm.load(Word, R1, R10, TEMP);
            self.asm.jump_if(If::NotEqual, R1, first, other);
            self.asm.load(Word, R1, R10, TEMP + 4);
            self.asm.jump_if(If::Equal, R1, second, stop);
            self.asm.place(other);
        }
        self.asm.jump(self.out);
        self.asm.place(stop);
        self.asm.store_imm(Long, R10, VALUE, 0);
        self.asm.map(R1, stopped);
        self.asm.mov(R2, R10);
        self.asm.add_imm(R2, TASK.into());
        self.asm.mov(R3, R10);
        self.asm.add_imm(R3, VALUE.into());
        self.asm.mov_imm(R4, 0);
        self.asm.call(Helper::MapUpdate);
        self.asm.jump_if(If::NotEqual, R0, 0, self.out);
        self.asm.mov_imm(R1, abi::SIGSTOP);
        self.asm.call(Helper::SendSignal);
        self.asm.jump_if(If::Equal, R0, 0, self.out);
        self.asm.map(R1, stopped);
        self.asm.mov(R2, R10);
        self.asm.add_imm(R2, TASK.into());
        self.asm.call(Helper::MapDelete);
    }
}
