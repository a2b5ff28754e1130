//! A program's stack frame, and the small parts that all programs are built from.

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R4, R6, R7, R10};
use crate::bpf::asm::Size;
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Asm, BadJump, Helper, If, Label};
use crate::bpf::wire::{FLAGS_AT, counter, key};

/// Descriptors of the maps that the programs share.
#[derive(Debug, Clone, Copy)]
pub struct Maps {
    pub counts: i32,
    pub ring: i32,
    pub layouts: i32,
    pub captures: i32,
    pub calls: i32,
    pub counters: i32,
    /// Captures that have not ended.
    pub active: i32,
    /// Events of captured streams: the capture.
    pub events: i32,
    /// Matrix layouts: rows, columns, type, batch.
    pub shapes: i32,
    /// One word per gate: 0 while it is closed; then the word of flags. Only user space writes it.
    pub gates: i32,
    /// Calls for which the counts had no space, by process.
    pub spilled: i32,
    /// The maps for stopping programs that we started: the processes to stop, and the threads told to stop.
    pub hold: Option<(i32, i32)>,
    /// Launches are counted regardless of their shape, and records of launches can be switched off (`flag::QUIET`).
    pub coarse: bool,
    /// The gate of the current programs. Until it opens, none of them sees anything, so that all of them begin at once.
    pub gate: i32,
}

/// Offsets in `struct pt_regs` (arch/x86/include/asm/ptrace.h).
pub(crate) mod regs {
    pub const R9: i16 = 64;
    pub const R8: i16 = 72;
    pub const AX: i16 = 80;
    pub const CX: i16 = 88;
    pub const DX: i16 = 96;
    pub const SI: i16 = 104;
    pub const DI: i16 = 112;
    pub const SP: i16 = 152;
}

// The frame, downwards from the frame pointer.
pub(crate) const KEY: i16 = -key::SIZE;
pub(crate) const STREAM: i16 = KEY - 8;
pub(crate) const ARGS_AT: i16 = STREAM - 8;
pub(crate) const EXTRA: i16 = ARGS_AT - 8;
/// A look-up key of two words.
pub(crate) const PAIR: i16 = EXTRA - 16;
pub(crate) const TEMP: i16 = PAIR - 8;
/// A count: launches, accepted, rejected.
pub(crate) const VALUE: i16 = TEMP - 24;
pub(crate) const TASK: i16 = VALUE - 8;
/// The runtime's handle of a driver launch.
pub(crate) const OUTER: i16 = TASK - 8;
/// The list of tagged values that Tensile passes.
pub(crate) const LIST: i16 = OUTER - 40;
pub(crate) const LOWEST: i16 = LIST;
/// Below the frame that is cleared: a copy of the key, for the map of calls or for a coarse count.
pub(crate) const COPY: i16 = LIST - CALL_VALUE as i16;

/// The map of calls stores the configuration of the next launch by pointer under this number.
pub(crate) const CONFIGURED: i32 = 0x7fff_0001;
/// The map of calls stores the runtime's launch request under this number.
pub(crate) const OUTER_CALL: i32 = 0x7fff_0000;
/// A value in the map of calls: a key and two words.
pub const CALL_VALUE: u32 = key::SIZE as u32 + 16;

/// A program under construction.
pub(crate) struct Body {
    pub asm: Asm,
    pub maps: Maps,
    /// The label at the program's end.
    pub out: Label,
    /// Bytes by which the stack pointer is below its value at the function's entry; at a kernel return probe it is
    /// above.
    pub pushed: i16,
}

impl Body {
    pub(crate) fn new(maps: Maps) -> Body {
        let mut asm = Asm::default();
        let out = asm.label();
        Body { asm, maps, out, pushed: 0 }
    }

    /// Clears the frame and notes the caller and the function.
    pub(crate) fn begin(&mut self, number: i32) {
        let (gates, gate, out) = (self.maps.gates, self.maps.gate, self.out);
        let asm = &mut self.asm;
        asm.mov(R6, R1);
        asm.map_value(R1, gates, 4 * gate);
        asm.load(Word, R1, R1, 0);
        asm.jump_if(If::Equal, R1, 0, out);
        let mut at = LOWEST;
        while at < 0 {
            asm.store_imm(Long, R10, at, 0);
            at += 8;
        }
        asm.call(Helper::GetCurrentPidTgid);
        asm.mov(R7, R0);
        asm.store(Long, R10, TASK, R7);
        asm.mov(R1, R7);
        asm.shr(R1, 32);
        asm.store(Word, R10, KEY + key::TGID, R1);
        asm.store_imm(Word, R10, KEY + key::ENTRY, number);
        asm.store_imm(Word, R10, KEY + key::COLUMNS, -1);
    }

    pub(crate) fn end(mut self) -> Result<Vec<u64>, BadJump> {
        self.asm.place(self.out);
        // 0: perf does not need to write a sample.
        self.asm.mov_imm(R0, 0);
        self.asm.exit();
        self.asm.finish()
    }

    /// Copies a register of the caller to the frame.
    pub(crate) fn register(&mut self, to: i16, from: i16, size: Size) {
        self.asm.load(Long, R1, R6, from);
        self.asm.store(size, R10, to, R1);
    }

    /// The high half of a register: the second of two packed values.
    pub(crate) fn high(&mut self, to: i16, from: i16) {
        self.asm.load(Long, R1, R6, from);
        self.asm.shr(R1, 32);
        self.asm.store(Word, R10, to, R1);
    }

    /// Reads the process's memory into the frame; `address` leaves the address in R3. Unreadable data stays 0 and is
    /// counted: the page may not be present yet.
    pub(crate) fn read_user(&mut self, to: i16, len: i32, address: impl FnOnce(&mut Asm)) {
        let asm = &mut self.asm;
        asm.mov(R1, R10);
        asm.add_imm(R1, i32::from(to));
        asm.mov_imm(R2, len);
        address(asm);
        asm.call(Helper::ProbeReadUser);
        let read = asm.label();
        asm.jump_if(If::Equal, R0, 0, read);
        self.bump(counter::UNREAD);
        self.asm.place(read);
    }

    /// An argument on the stack: above the return address and the bytes pushed since.
    pub(crate) fn stack(&mut self, to: i16, len: i32, place: i16, pushed: i16) {
        let offset = i32::from(8 + pushed + 8 * place);
        self.read_user(to, len, |asm| {
            asm.load(Long, R3, R6, regs::SP);
            asm.add_imm(R3, offset);
        });
    }

    /// `counters[number] += 1`
    pub(crate) fn bump(&mut self, number: i32) {
        let asm = &mut self.asm;
        asm.map_value(R1, self.maps.counters, 8 * number);
        asm.mov_imm(R2, 1);
        asm.atomic_add(R1, 0, R2);
    }

    /// Looks up a key in the frame: pointer or 0 in R0.
    pub(crate) fn look_up(&mut self, map: i32, at: i16) {
        let asm = &mut self.asm;
        asm.map(R1, map);
        asm.mov(R2, R10);
        asm.add_imm(R2, at.into());
        asm.call(Helper::MapLookup);
    }

    pub(crate) fn update(&mut self, map: i32, at: i16, value: i16, flags: i32) {
        let asm = &mut self.asm;
        asm.map(R1, map);
        asm.mov(R2, R10);
        asm.add_imm(R2, at.into());
        asm.mov(R3, R10);
        asm.add_imm(R3, value.into());
        asm.mov_imm(R4, flags);
        asm.call(Helper::MapUpdate);
    }

    /// Updates a map with data that a later record depends on; a lack of space is counted.
    pub(crate) fn keep(&mut self, map: i32, at: i16, value: i16) {
        const ANY: i32 = 0;
        self.update(map, at, value, ANY);
        let kept = self.asm.label();
        self.asm.jump_if(If::Equal, R0, 0, kept);
        self.bump(counter::UNTOLD);
        self.asm.place(kept);
    }

    /// Looks up a pair in a map: its value in R0, or jumps to `none`.
    pub(crate) fn value_of(&mut self, map: i32, none: Label) {
        self.look_up(map, PAIR);
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.load(Long, R0, R0, 0);
    }

    pub(crate) fn delete(&mut self, map: i32) {
        let asm = &mut self.asm;
        asm.map(R1, map);
        asm.mov(R2, R10);
        asm.add_imm(R2, PAIR.into());
        asm.call(Helper::MapDelete);
    }

    /// A pair of words as a look-up key: the first from the frame, the second a number or the process.
    pub(crate) fn pair(&mut self, first: i16, second: Option<i32>) {
        self.asm.load(Long, R1, R10, first);
        self.asm.store(Long, R10, PAIR, R1);
        match second {
            Some(number) => self.asm.store_imm(Long, R10, PAIR + 8, number),
            None => {
                self.asm.load(Word, R1, R10, KEY + key::TGID);
                self.asm.store(Long, R10, PAIR + 8, R1);
            }
        }
    }

    /// Jumps to `none` unless user space has set this flag.
    pub(crate) fn unless(&mut self, flag: i32, none: Label) {
        self.asm.map_value(R1, self.maps.gates, FLAGS_AT);
        self.asm.load(Word, R1, R1, 0);
        self.asm.and_imm(R1, flag);
        self.asm.jump_if(If::Equal, R1, 0, none);
    }
}
