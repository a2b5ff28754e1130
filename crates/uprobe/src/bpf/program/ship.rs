//! Counts a key and sends a record.

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R8, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Asm, Helper, If, Label};
use crate::bpf::program::frame::{Body, COPY, KEY, OUTER, PAIR, STREAM, TASK, VALUE, regs};
use crate::bpf::wire::{counter, event, flag, key, kind};

impl Body {
    pub(crate) fn count(&mut self) {
        const NO_EXIST: i32 = 1;
        let (found, done) = (self.asm.label(), self.asm.label());
        let key = self.counted_key();
        self.look_up(self.maps.counts, key);
        self.asm.jump_if(If::NotEqual, R0, 0, found);
        self.asm.store_imm(Long, R10, VALUE, 1);
        self.update(self.maps.counts, key, VALUE, NO_EXIST);
        self.asm.jump_if(If::Equal, R0, 0, done);
        // Another thread inserted it first, or the map is full.
        self.look_up(self.maps.counts, key);
        self.asm.jump_if(If::NotEqual, R0, 0, found);
        self.spill();
        self.asm.jump(done);
        self.asm.place(found);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_add(R0, 0, R1);
        self.asm.place(done);
    }

    /// The key to count under. A coarse one has the process, the function and the kernel, and whether the launch was
    /// captured: a program that launches with ever new grids and column counts needs no more space than another.
    fn counted_key(&mut self) -> i16 {
        if !self.maps.coarse {
            return KEY;
        }
        let asm = &mut self.asm;
        for word in 0..key::SIZE / 8 {
            asm.store_imm(Long, R10, COPY + 8 * word, 0);
        }
        for word in [key::HANDLE, key::TGID] {
            asm.load(Long, R1, R10, KEY + word);
            asm.store(Long, R10, COPY + word, R1);
        }
        let direct = asm.label();
        asm.load(Word, R1, R10, KEY + key::GRAPH);
        asm.jump_if(If::Equal, R1, 0, direct);
        asm.store_imm(Word, R10, COPY + key::GRAPH, 1);
        asm.place(direct);
        COPY
    }

    /// Jumps to `skip` if only counts are wanted. Launches of a capture are always sent: they say what its replays
    /// launch.
    pub(crate) fn unless_loud(&mut self, skip: Label) {
        if !self.maps.coarse {
            return;
        }
        let loud = self.asm.label();
        self.unless(flag::QUIET, loud);
        self.asm.load(Word, R1, R10, KEY + key::GRAPH);
        self.asm.jump_if(If::Equal, R1, 0, skip);
        self.asm.place(loud);
    }

    /// Counts a call of this process for which the counts have no space: it is lost only if its record is lost as well.
    fn spill(&mut self) {
        const NO_EXIST: i32 = 1;
        let (found, done) = (self.asm.label(), self.asm.label());
        self.asm.load(Word, R1, R10, KEY + key::TGID);
        self.asm.store(Long, R10, PAIR, R1);
        self.look_up(self.maps.spilled, PAIR);
        self.asm.jump_if(If::NotEqual, R0, 0, found);
        self.asm.store_imm(Long, R10, VALUE, 1);
        self.update(self.maps.spilled, PAIR, VALUE, NO_EXIST);
        self.asm.jump_if(If::Equal, R0, 0, done);
        self.look_up(self.maps.spilled, PAIR);
        self.asm.jump_if(If::NotEqual, R0, 0, found);
        self.bump(counter::UNCOUNTED);
        self.asm.jump(done);
        self.asm.place(found);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_add(R0, 0, R1);
        self.asm.place(done);
    }

    pub(crate) fn copy(&mut self) {
        self.register(KEY + key::HANDLE, regs::DX, Long);
        self.ship(kind::CALL);
    }

    /// Increments this field of the count for the key in the frame.
    pub(crate) fn count_more(&mut self, place: i16) {
        let none = self.asm.label();
        let key = self.counted_key();
        self.look_up(self.maps.counts, key);
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_add(R0, place, R1);
        self.asm.place(none);
    }

    /// Reserves a record, in R8. `otherwise`: the counter to increment if there is no space.
    pub(crate) fn reserve(&mut self, size: i32, otherwise: i32) {
        let full = self.asm.label();
        let asm = &mut self.asm;
        asm.map(R1, self.maps.ring);
        asm.mov_imm(R2, size);
        asm.mov_imm(R3, 0);
        asm.call(Helper::RingbufReserve);
        asm.mov(R8, R0);
        let got = asm.label();
        asm.jump_if(If::NotEqual, R8, 0, got);
        asm.place(full);
        self.bump(otherwise);
        self.asm.jump(self.out);
        self.asm.place(got);
    }

    pub(crate) fn head(&mut self, kind: i32) {
        let asm = &mut self.asm;
        asm.store_imm(Word, R8, event::KIND, kind);
        asm.load(Long, R1, R10, TASK);
        asm.store(Word, R8, event::TID, R1);
        asm.call(Helper::KtimeGetNs);
        asm.store(Long, R8, event::TIME, R0);
        for word in 0..key::SIZE / 8 {
            asm.load(Long, R1, R10, KEY + 8 * word);
            asm.store(Long, R8, event::KEY + 8 * word, R1);
        }
        asm.load(Long, R1, R10, STREAM);
        asm.store(Long, R8, event::STREAM, R1);
        asm.load(Long, R1, R10, OUTER);
        asm.store(Long, R8, event::AUX, R1);
        asm.store_imm(Word, R8, event::STATUS, 0);
    }

    pub(crate) fn submit(&mut self) {
        self.submit_with(0);
    }

    /// A launch does not wake the reader, which looks every few milliseconds: waking it for every launch costs the
    /// launching thread more than the rest of the program.
    fn submit_quietly(&mut self) {
        /// BPF_RB_NO_WAKEUP
        const NO_WAKEUP: i32 = 1;
        self.submit_with(NO_WAKEUP);
    }

    fn submit_with(&mut self, flags: i32) {
        self.asm.mov(R1, R8);
        self.asm.mov_imm(R2, flags);
        self.asm.call(Helper::RingbufSubmit);
    }

    pub(crate) fn ship(&mut self, kind: i32) {
        self.ship_with(kind, |_| {});
    }

    pub(crate) fn ship_with(&mut self, kind: i32, more: impl FnOnce(&mut Asm)) {
        let skip = self.asm.label();
        if kind == kind::CALL {
            self.unless_loud(skip);
        }
        self.reserve(event::SHORT, if kind == kind::CALL { counter::DROPPED } else { counter::UNTOLD });
        self.head(kind);
        self.asm.store_imm(Word, R8, event::LEN, 0);
        more(&mut self.asm);
        if kind == kind::CALL {
            self.submit_quietly()
        } else {
            self.submit()
        }
        self.asm.place(skip);
    }

    pub(crate) fn ship_launch(&mut self) {
        self.unless_loud(self.out);
        let plain = self.asm.label();
        self.unless(flag::ARGUMENTS, plain);
        self.reserve(event::LONG, counter::DROPPED);
        self.head(kind::CALL);
        self.asm.store_imm(Word, R8, event::LEN, 0);
        self.argument_bytes();
        self.submit_quietly();
        self.asm.jump(self.out);
        self.asm.place(plain);
        self.ship(kind::CALL);
    }
}
