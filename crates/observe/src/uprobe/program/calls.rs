//! What must be remembered between two probes: a call until it returns, a capture until it ends.

use super::super::asm::Reg::{R0, R1, R2, R10};
use super::super::asm::Size::{Long, Word};
use super::super::asm::{Helper, If};
use super::super::entries::Shape;
use super::super::wire::{counter, flag, key};
use super::frame::{
    ARGS_AT, Body, CALL_VALUE, COUNTER, EXTRA, KEY, LIST, OUTER, OUTER_CALL, PAIR, STREAM, TASK, TEMP, regs,
};

impl Body {
    /// What the runtime was asked for, on this thread, is what the driver launches now.
    pub(super) fn outer(&mut self) {
        self.pair(TASK, Some(OUTER_CALL));
        self.look_up(self.maps.calls, PAIR);
        let none = self.asm.label();
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.load(Long, R1, R0, 0);
        self.asm.store(Long, R10, OUTER, R1);
        self.asm.map(R1, self.maps.calls);
        self.asm.mov(R2, R10);
        self.asm.add_imm(R2, PAIR.into());
        self.asm.call(Helper::MapDelete);
        self.asm.place(none);
    }

    pub(super) fn remember_outer(&mut self, shape: Shape) {
        let handle = if shape == Shape::Config { regs::SI } else { regs::DI };
        self.register(KEY + key::HANDLE, handle, Long);
        self.pair(TASK, Some(OUTER_CALL));
        // Only the key matters here; what stands below it in the frame goes along.
        self.keep_call();
    }

    pub(super) fn captured(&mut self) {
        self.pair(STREAM, None);
        self.look_up(self.maps.captures, PAIR);
        let none = self.asm.label();
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.load(Long, R1, R0, 0);
        self.asm.store(Word, R10, KEY + key::GRAPH, R1);
        self.asm.place(none);
    }

    pub(super) fn remember_if_asked(&mut self, number: i32) {
        let skip = self.asm.label();
        self.flags(skip);
        self.asm.and_imm(R0, flag::RETURNS);
        self.asm.jump_if(If::Equal, R0, 0, skip);
        self.pair(TASK, Some(number));
        self.keep_call();
        self.asm.place(skip);
    }

    /// Under the pair in the frame: the key, then EXTRA and ARGS_AT.
    pub(super) fn keep_call(&mut self) {
        const ANY: i32 = 0;
        let asm = &mut self.asm;
        let copy = LIST - i16::try_from(CALL_VALUE).unwrap_or(0);
        for word in 0..key::SIZE / 8 {
            asm.load(Long, R1, R10, KEY + 8 * word);
            asm.store(Long, R10, copy + 8 * word, R1);
        }
        for (place, from) in [(0, EXTRA), (1, ARGS_AT)] {
            asm.load(Long, R1, R10, from);
            asm.store(Long, R10, copy + key::SIZE + 8 * place, R1);
        }
        self.update(self.maps.calls, PAIR, copy, ANY);
    }

    /// At a return: what was kept at the entry, back into the frame; else the end.
    pub(super) fn recall(&mut self, number: i32) {
        self.pair(TASK, Some(number));
        self.look_up(self.maps.calls, PAIR);
        let out = self.out;
        let asm = &mut self.asm;
        asm.jump_if(If::Equal, R0, 0, out);
        for word in 0..key::SIZE / 8 {
            asm.load(Long, R1, R0, 8 * word);
            asm.store(Long, R10, KEY + 8 * word, R1);
        }
        for (place, to) in [(0, EXTRA), (1, ARGS_AT)] {
            asm.load(Long, R1, R0, key::SIZE + 8 * place);
            asm.store(Long, R10, to, R1);
        }
        asm.map(R1, self.maps.calls);
        asm.mov(R2, R10);
        asm.add_imm(R2, PAIR.into());
        asm.call(Helper::MapDelete);
    }

    /// A call `(out *, what, name)`: kept until it returns.
    pub(super) fn remember_call(&mut self, number: i32) {
        self.register(EXTRA, regs::DI, Long);
        self.register(KEY + key::HANDLE, regs::SI, Long);
        self.register(ARGS_AT, regs::DX, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    pub(super) fn begin_capture(&mut self) {
        const ANY: i32 = 0;
        self.register(STREAM, regs::DI, Long);
        self.asm.store_imm(Word, R10, COUNTER, counter::CAPTURES);
        self.look_up(self.maps.counters, COUNTER);
        self.asm.jump_if(If::Equal, R0, 0, self.out);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_fetch_add(R0, 0, R1);
        self.asm.add_imm(R1, 1);
        self.asm.store(Long, R10, TEMP, R1);
        self.pair(STREAM, None);
        self.update(self.maps.captures, PAIR, TEMP, ANY);
    }

    /// `(stream, graph *out)`: the capture's number goes along as the handle.
    pub(super) fn end_capture(&mut self, number: i32) {
        self.register(STREAM, regs::DI, Long);
        self.register(EXTRA, regs::SI, Long);
        self.captured();
        self.asm.load(Word, R1, R10, KEY + key::GRAPH);
        self.asm.store(Long, R10, KEY + key::HANDLE, R1);
        self.pair(STREAM, None);
        let asm = &mut self.asm;
        asm.map(R1, self.maps.captures);
        asm.mov(R2, R10);
        asm.add_imm(R2, PAIR.into());
        asm.call(Helper::MapDelete);
        self.pair(TASK, Some(number));
        self.keep_call();
    }
}
