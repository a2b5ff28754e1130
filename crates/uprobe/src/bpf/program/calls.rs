//! Remembers the arguments of a call between its two probes, until it returns.

use crate::bpf::asm::If;
use crate::bpf::asm::Reg::{R0, R1, R2, R6, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::program::frame::{
    ARGS_AT, Body, CONFIGURED, COPY, EXTRA, KEY, OUTER, OUTER_CALL, PAIR, STREAM, TASK, regs,
};
use crate::bpf::wire::{flag, key};
use crate::probes::entries::Shape;

impl Body {
    /// Takes the handle that the runtime received on this thread: the driver now launches this kernel.
    pub(crate) fn outer(&mut self) {
        let none = self.asm.label();
        self.unless(flag::OUTER, none);
        self.pair(TASK, Some(OUTER_CALL));
        self.look_up(self.maps.calls, PAIR);
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.load(Long, R1, R0, 0);
        self.asm.store(Long, R10, OUTER, R1);
        self.delete(self.maps.calls);
        self.asm.place(none);
    }

    pub(crate) fn remember_outer(&mut self, shape: Shape) {
        let handle = if shape == Shape::Config { regs::SI } else { regs::DI };
        self.register(KEY + key::HANDLE, handle, Long);
        self.pair(TASK, Some(OUTER_CALL));
        // Only the key matters here; the frame below it is copied as well.
        self.keep_call();
    }

    pub(crate) fn remember_if_asked(&mut self, number: i32) {
        let skip = self.asm.label();
        self.unless(flag::RETURNS, skip);
        self.pair(TASK, Some(number));
        self.keep_call();
        self.asm.place(skip);
    }

    /// Stores a call under the pair in the frame: the key, then EXTRA and ARGS_AT.
    pub(crate) fn keep_call(&mut self) {
        let asm = &mut self.asm;
        let copy = COPY;
        for word in 0..key::SIZE / 8 {
            asm.load(Long, R1, R10, KEY + 8 * word);
            asm.store(Long, R10, copy + 8 * word, R1);
        }
        for (place, from) in [(0, EXTRA), (1, ARGS_AT)] {
            asm.load(Long, R1, R10, from);
            asm.store(Long, R10, copy + key::SIZE + 8 * place, R1);
        }
        self.stack_at_entry();
        self.asm.store(Long, R10, copy + key::STACK, R1);
        self.keep(self.maps.calls, PAIR, copy);
    }

    /// Puts the stack pointer's value at the function's first instruction into R1.
    fn stack_at_entry(&mut self) {
        self.asm.load(Long, R1, R6, regs::SP);
        self.asm.add_imm(R1, self.pushed.into());
    }

    /// At a return: restores the data kept at the entry into the frame, or ends the program if there is none. The
    /// return of another call has a different stack pointer.
    pub(crate) fn recall(&mut self, number: i32) {
        self.pair(TASK, Some(number));
        self.look_up(self.maps.calls, PAIR);
        let out = self.out;
        self.asm.jump_if(If::Equal, R0, 0, out);
        self.stack_at_entry();
        let asm = &mut self.asm;
        asm.load(Long, R2, R0, key::STACK);
        asm.jump_if_not_equal(R1, R2, out);
        for word in 0..key::SIZE / 8 {
            asm.load(Long, R1, R0, 8 * word);
            asm.store(Long, R10, KEY + 8 * word, R1);
        }
        for (place, to) in [(0, EXTRA), (1, ARGS_AT)] {
            asm.load(Long, R1, R0, key::SIZE + 8 * place);
            asm.store(Long, R10, to, R1);
        }
        asm.store_imm(Long, R10, KEY + key::STACK, 0);
        self.delete(self.maps.calls);
    }

    /// Reads the configuration of the next launch by pointer on this thread, if there is one.
    pub(crate) fn configured(&mut self) {
        self.pair(TASK, Some(CONFIGURED));
        self.look_up(self.maps.calls, PAIR);
        let none = self.asm.label();
        self.asm.jump_if(If::Equal, R0, 0, none);
        for word in (key::GRID..key::COLUMNS).step_by(4) {
            self.asm.load(Word, R1, R0, word);
            self.asm.store(Word, R10, KEY + word, R1);
        }
        self.asm.load(Long, R1, R0, key::SIZE);
        self.asm.store(Long, R10, STREAM, R1);
        self.delete(self.maps.calls);
        self.asm.place(none);
    }

    /// `(grid, block, shared memory, stream)`: two dim3 take four registers.
    pub(crate) fn configure(&mut self) {
        let (grid, block) = (KEY + key::GRID, KEY + key::BLOCK);
        self.register(grid, regs::DI, Word);
        self.high(grid + 4, regs::DI);
        self.register(grid + 8, regs::SI, Word);
        self.register(block, regs::DX, Word);
        self.high(block + 4, regs::DX);
        self.register(block + 8, regs::CX, Word);
        self.register(KEY + key::SHARED, regs::R8, Word);
        self.register(EXTRA, regs::R9, Long);
        self.pair(TASK, Some(CONFIGURED));
        self.keep_call();
    }

    /// A call `(name, out *)`: kept until it returns.
    pub(crate) fn remember_asked(&mut self, number: i32) {
        self.register(EXTRA, regs::SI, Long);
        self.register(ARGS_AT, regs::DI, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    /// A call `(out *, what, name)`: kept until it returns.
    pub(crate) fn remember_call(&mut self, number: i32) {
        self.register(EXTRA, regs::DI, Long);
        self.register(KEY + key::HANDLE, regs::SI, Long);
        self.register(ARGS_AT, regs::DX, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
    }
}
