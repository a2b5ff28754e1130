//! The programs: one per watched function and probe site, put together from parts.
//!
//! At the entry of a launch: read the arguments into a key, look up whether the stream is being captured and which argument
//! is the column count, count the key, and ship one record. A count is never lost to a full ring; a record that is, is
//! counted. Nothing here can wait, and the verifier has proved that it ends.

use super::asm::Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
use super::asm::Size::{Half, Long, Word};
use super::asm::{Asm, BadJump, Helper, If, Label};
use super::entries::{Gemm, Role, Shape};
use super::wire::{ARGS, REACH, counter, event, flag, key, kind};

/// Descriptors of the maps that the programs share.
#[derive(Debug, Clone, Copy)]
pub struct Maps {
    pub counts: i32,
    pub ring: i32,
    pub layouts: i32,
    pub captures: i32,
    pub calls: i32,
    pub counters: i32,
}

/// Offsets in `struct pt_regs` (arch/x86/include/asm/ptrace.h).
mod regs {
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
const KEY: i16 = -key::SIZE;
const STREAM: i16 = KEY - 8;
const ARGS_AT: i16 = STREAM - 8;
const EXTRA: i16 = ARGS_AT - 8;
/// A look-up key of two words.
const PAIR: i16 = EXTRA - 16;
const TEMP: i16 = PAIR - 8;
/// A count: launches, accepted, rejected.
const VALUE: i16 = TEMP - 24;
const TASK: i16 = VALUE - 8;
/// The runtime's handle of a driver launch.
const OUTER: i16 = TASK - 8;
const COUNTER: i16 = OUTER - 8;
/// The list of tagged values that Tensile passes.
const LIST: i16 = COUNTER - 40;
const LOWEST: i16 = LIST;

/// Under this number in the map of calls lies what the runtime was asked to launch.
const OUTER_CALL: i32 = 0x7fff_0000;
/// A value in the map of calls: a key, and two words.
pub const CALL_VALUE: u32 = key::SIZE as u32 + 16;

struct Body {
    asm: Asm,
    maps: Maps,
    out: Label,
}

/// The program for the entry of a function. `pushed`: bytes that the function has pushed before the probe's site.
pub fn at_entry(maps: Maps, number: i32, role: Role, pushed: i16) -> Result<Vec<u64>, BadJump> {
    let mut body = Body::new(maps);
    body.begin(number);
    match role {
        Role::Launch(shape) => {
            body.launch_arguments(shape, pushed);
            body.outer();
            body.captured();
            body.layout();
            body.count();
            body.remember_if_asked(number);
            body.ship_launch();
        }
        Role::Outer(shape) => body.remember_outer(shape),
        Role::Gemm(gemm) => {
            body.gemm_arguments(gemm, pushed);
            body.count();
            body.ship(kind::CALL);
        }
        Role::BeginCapture => body.begin_capture(),
        Role::EndCapture => body.end_capture(number),
        Role::Instantiate | Role::GetFunction | Role::Alias => body.remember_call(number),
        Role::Update | Role::Replay => {
            body.register(KEY + key::HANDLE, regs::DI, Long);
            body.register(STREAM, regs::SI, Long);
            if role == Role::Replay {
                body.count();
            }
            body.ship(kind::CALL);
        }
        Role::Copy => {
            const DEVICE_TO_HOST: i32 = 2;
            let asm = &mut body.asm;
            asm.load(Long, R1, R6, regs::CX);
            asm.and_imm(R1, 7);
            asm.jump_if(If::NotEqual, R1, DEVICE_TO_HOST, body.out);
            body.copy();
        }
        Role::CopyBack => body.copy(),
    }
    body.end()
}

/// The program for the return of a launch: was it accepted?
pub fn at_launch_return(maps: Maps, number: i32) -> Result<Vec<u64>, BadJump> {
    let mut body = Body::new(maps);
    body.begin(number);
    body.recall(number);
    body.bump(counter::RETURNS);
    let out = body.out;
    let asm = &mut body.asm;
    asm.load(Long, R9, R6, regs::AX);
    asm.shl(R9, 32);
    asm.shr(R9, 32);
    asm.jump_if(If::Equal, R9, 0, out);
    body.ship_with(kind::REJECTED, |asm| asm.store(Word, R8, event::STATUS, R9));
    body.end()
}

/// The program for the return of a call that answers through its first or second argument.
pub fn at_answer(maps: Maps, number: i32, role: Role) -> Result<Vec<u64>, BadJump> {
    let mut body = Body::new(maps);
    body.begin(number);
    body.recall(number);
    let out = body.out;
    let asm = &mut body.asm;
    // A call that failed gave nothing.
    asm.load(Long, R1, R6, regs::AX);
    asm.shl(R1, 32);
    asm.jump_if(If::NotEqual, R1, 0, out);
    // EXTRA holds the address of the answer, ARGS_AT that of the name.
    body.read_user(OUTER, 8, |asm| asm.load(Long, R3, R10, EXTRA));
    body.reserve(event::LONG);
    body.head(kind::ANSWER);
    let asm = &mut body.asm;
    asm.store_imm(Word, R8, event::LEN, 0);
    if role == Role::GetFunction {
        asm.mov(R1, R8);
        asm.add_imm(R1, i32::from(event::BYTES));
        asm.mov_imm(R2, 2 * REACH);
        asm.load(Long, R3, R10, ARGS_AT);
        asm.call(Helper::ProbeReadUserStr);
        // A failure is negative: as an unsigned number it is above any length.
        let unread = asm.label();
        asm.jump_if(If::Greater, R0, 2 * REACH, unread);
        asm.store(Word, R8, event::LEN, R0);
        asm.place(unread);
    }
    body.submit();
    body.end()
}

impl Body {
    fn new(maps: Maps) -> Body {
        let mut asm = Asm::default();
        let out = asm.label();
        Body { asm, maps, out }
    }

    /// Clears the frame, notes who is calling what.
    fn begin(&mut self, number: i32) {
        let asm = &mut self.asm;
        asm.mov(R6, R1);
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

    fn end(mut self) -> Result<Vec<u64>, BadJump> {
        self.asm.place(self.out);
        // 0: perf itself need not write a sample.
        self.asm.mov_imm(R0, 0);
        self.asm.exit();
        self.asm.finish()
    }

    /// A register of the caller into the frame.
    fn register(&mut self, to: i16, from: i16, size: super::asm::Size) {
        self.asm.load(Long, R1, R6, from);
        self.asm.store(size, R10, to, R1);
    }

    /// The high half of a register: the second of two packed values.
    fn high(&mut self, to: i16, from: i16) {
        self.asm.load(Long, R1, R6, from);
        self.asm.shr(R1, 32);
        self.asm.store(Word, R10, to, R1);
    }

    /// Reads the process's memory into the frame; `address` leaves the address in R3. What cannot be read stays 0, and is
    /// counted: the page may not be there yet.
    fn read_user(&mut self, to: i16, len: i32, address: impl FnOnce(&mut Asm)) {
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

    /// An argument that was passed on the stack: above the return address and what was pushed since.
    fn stack(&mut self, to: i16, len: i32, place: i16, pushed: i16) {
        let offset = i32::from(8 + pushed + 8 * place);
        self.read_user(to, len, |asm| {
            asm.load(Long, R3, R6, regs::SP);
            asm.add_imm(R3, offset);
        });
    }

    fn launch_arguments(&mut self, shape: Shape, pushed: i16) {
        let (grid, block) = (KEY + key::GRID, KEY + key::BLOCK);
        match shape {
            Shape::Dim3 => {
                self.register(KEY + key::HANDLE, regs::DI, Long);
                self.register(grid, regs::SI, Word);
                self.high(grid + 4, regs::SI);
                self.register(grid + 8, regs::DX, Word);
                self.register(block, regs::CX, Word);
                self.high(block + 4, regs::CX);
                self.register(block + 8, regs::R8, Word);
                self.register(ARGS_AT, regs::R9, Long);
                self.stack(KEY + key::SHARED, 4, 0, pushed);
                self.stack(STREAM, 8, 1, pushed);
            }
            Shape::Flat => {
                self.register(KEY + key::HANDLE, regs::DI, Long);
                self.register(grid, regs::SI, Word);
                self.register(grid + 4, regs::DX, Word);
                self.register(grid + 8, regs::CX, Word);
                self.register(block, regs::R8, Word);
                self.register(block + 4, regs::R9, Word);
                self.stack(block + 8, 4, 0, pushed);
                self.stack(KEY + key::SHARED, 4, 1, pushed);
                self.stack(STREAM, 8, 2, pushed);
                self.stack(ARGS_AT, 8, 3, pushed);
                self.stack(EXTRA, 8, 4, pushed);
            }
            Shape::Config => {
                self.register(KEY + key::HANDLE, regs::SI, Long);
                self.register(ARGS_AT, regs::DX, Long);
                // Grid, block and shared memory follow each other there as in the key.
                self.read_user(grid, 28, |asm| asm.load(Long, R3, R6, regs::DI));
                self.read_user(STREAM, 8, |asm| {
                    asm.load(Long, R3, R6, regs::DI);
                    asm.add_imm(R3, 32);
                });
            }
        }
    }

    fn gemm_arguments(&mut self, gemm: Gemm, pushed: i16) {
        self.register(KEY + key::GRID, regs::CX, Word);
        self.register(KEY + key::GRID + 4, regs::R8, Word);
        self.register(KEY + key::GRID + 8, regs::R9, Word);
        self.asm.store_imm(Word, R10, KEY + key::BLOCK, 1);
        self.asm.store_imm(Word, R10, KEY + key::BLOCK + 4, -1);
        if let Some(place) = gemm.type_a {
            self.stack(KEY + key::BLOCK + 4, 4, place.into(), pushed);
        }
        if let Some(place) = gemm.batch {
            self.stack(KEY + key::BLOCK, 4, place.into(), pushed);
        }
    }

    /// `counters[number] += 1`
    fn bump(&mut self, number: i32) {
        let asm = &mut self.asm;
        asm.store_imm(Word, R10, COUNTER, number);
        asm.map(R1, self.maps.counters);
        asm.mov(R2, R10);
        asm.add_imm(R2, COUNTER.into());
        asm.call(Helper::MapLookup);
        let none = asm.label();
        asm.jump_if(If::Equal, R0, 0, none);
        asm.mov_imm(R1, 1);
        asm.atomic_add(R0, 0, R1);
        asm.place(none);
    }

    /// Looks a key in the frame up: a pointer or 0 in R0.
    fn look_up(&mut self, map: i32, at: i16) {
        let asm = &mut self.asm;
        asm.map(R1, map);
        asm.mov(R2, R10);
        asm.add_imm(R2, at.into());
        asm.call(Helper::MapLookup);
    }

    fn update(&mut self, map: i32, at: i16, value: i16, flags: i32) {
        let asm = &mut self.asm;
        asm.map(R1, map);
        asm.mov(R2, R10);
        asm.add_imm(R2, at.into());
        asm.mov(R3, R10);
        asm.add_imm(R3, value.into());
        asm.mov_imm(R4, flags);
        asm.call(Helper::MapUpdate);
    }

    /// A pair of words as a look-up key: the first from the frame, the second a number or the process.
    fn pair(&mut self, first: i16, second: Option<i32>) {
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

    /// What the runtime was asked for, on this thread, is what the driver launches now.
    fn outer(&mut self) {
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

    fn remember_outer(&mut self, shape: Shape) {
        let handle = if shape == Shape::Config { regs::SI } else { regs::DI };
        self.register(KEY + key::HANDLE, handle, Long);
        self.pair(TASK, Some(OUTER_CALL));
        // Only the key matters here; what stands below it in the frame goes along.
        self.keep_call();
    }

    fn captured(&mut self) {
        self.pair(STREAM, None);
        self.look_up(self.maps.captures, PAIR);
        let none = self.asm.label();
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.load(Long, R1, R0, 0);
        self.asm.store(Word, R10, KEY + key::GRAPH, R1);
        self.asm.place(none);
    }

    /// Leaves the kernel's layout or 0 in R9, and the column count in the key.
    fn layout(&mut self) {
        self.pair(KEY + key::HANDLE, None);
        self.look_up(self.maps.layouts, PAIR);
        self.asm.mov(R9, R0);
        let none = self.asm.label();
        self.asm.jump_if(If::Equal, R9, 0, none);
        self.asm.load(Word, R8, R9, 4);
        self.asm.jump_if(If::Greater, R8, ARGS as i32 - 1, none);
        self.asm.shl(R8, 3);
        self.read_user(TEMP, 8, |asm| {
            asm.load(Long, R3, R10, ARGS_AT);
            asm.add(R3, R8);
        });
        self.read_user(KEY + key::COLUMNS, 4, |asm| asm.load(Long, R3, R10, TEMP));
        self.asm.place(none);
    }

    fn count(&mut self) {
        const NO_EXIST: i32 = 1;
        let (found, done) = (self.asm.label(), self.asm.label());
        self.look_up(self.maps.counts, KEY);
        self.asm.jump_if(If::NotEqual, R0, 0, found);
        self.asm.store_imm(Long, R10, VALUE, 1);
        self.update(self.maps.counts, KEY, VALUE, NO_EXIST);
        self.asm.jump_if(If::Equal, R0, 0, done);
        // Another thread was first, or the map is full.
        self.look_up(self.maps.counts, KEY);
        self.asm.jump_if(If::NotEqual, R0, 0, found);
        self.bump(counter::UNCOUNTED);
        self.asm.jump(done);
        self.asm.place(found);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_add(R0, 0, R1);
        self.asm.place(done);
        self.bump(counter::LAUNCHES);
    }

    /// The flags that this side set, in R0.
    fn flags(&mut self, none: Label) {
        self.asm.store_imm(Word, R10, COUNTER, counter::FLAGS);
        self.look_up(self.maps.counters, COUNTER);
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.asm.load(Long, R0, R0, 0);
    }

    fn remember_if_asked(&mut self, number: i32) {
        let skip = self.asm.label();
        self.flags(skip);
        self.asm.and_imm(R0, flag::RETURNS);
        self.asm.jump_if(If::Equal, R0, 0, skip);
        self.pair(TASK, Some(number));
        self.keep_call();
        self.asm.place(skip);
    }

    /// Under the pair in the frame: the key, then EXTRA and ARGS_AT.
    fn keep_call(&mut self) {
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
    fn recall(&mut self, number: i32) {
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
    fn remember_call(&mut self, number: i32) {
        self.register(EXTRA, regs::DI, Long);
        self.register(KEY + key::HANDLE, regs::SI, Long);
        self.register(ARGS_AT, regs::DX, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    fn begin_capture(&mut self) {
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
    fn end_capture(&mut self, number: i32) {
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

    fn copy(&mut self) {
        self.register(KEY + key::HANDLE, regs::DX, Long);
        self.ship(kind::CALL);
    }

    /// Reserves a record, in R8.
    fn reserve(&mut self, size: i32) {
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
        self.bump(counter::DROPPED);
        self.asm.jump(self.out);
        self.asm.place(got);
    }

    fn head(&mut self, kind: i32) {
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

    fn submit(&mut self) {
        self.asm.mov(R1, R8);
        self.asm.mov_imm(R2, 0);
        self.asm.call(Helper::RingbufSubmit);
    }

    fn ship(&mut self, kind: i32) {
        self.ship_with(kind, |_| {});
    }

    fn ship_with(&mut self, kind: i32, more: impl FnOnce(&mut Asm)) {
        self.reserve(event::SHORT);
        self.head(kind);
        self.asm.store_imm(Word, R8, event::LEN, 0);
        more(&mut self.asm);
        self.submit();
    }

    fn ship_launch(&mut self) {
        let plain = self.asm.label();
        self.flags(plain);
        self.asm.and_imm(R0, flag::ARGUMENTS);
        self.asm.jump_if(If::Equal, R0, 0, plain);
        self.reserve(event::LONG);
        self.head(kind::CALL);
        self.asm.store_imm(Word, R8, event::LEN, 0);
        self.argument_bytes();
        self.submit();
        self.asm.jump(self.out);
        self.asm.place(plain);
        self.ship(kind::CALL);
    }

    /// By the layout in R9, each argument to its place in the record in R8; or the one buffer that `extra` names.
    fn argument_bytes(&mut self) {
        let (buffer, done) = (self.asm.label(), self.asm.label());
        self.asm.load(Long, R1, R10, ARGS_AT);
        self.asm.jump_if(If::Equal, R1, 0, buffer);
        self.asm.jump_if(If::Equal, R9, 0, done);
        let copied = self.asm.label();
        for place in 0..ARGS as i16 {
            let asm = &mut self.asm;
            asm.load(Word, R1, R9, 0);
            asm.jump_if(If::LessEqual, R1, place.into(), copied);
            self.read_user(TEMP, 8, |asm| {
                asm.load(Long, R3, R10, ARGS_AT);
                asm.add_imm(R3, i32::from(8 * place));
            });
            let asm = &mut self.asm;
            asm.load(Half, R7, R9, 16 + 4 * place);
            asm.jump_if(If::Greater, R7, REACH - 1, copied);
            asm.load(Half, R2, R9, 18 + 4 * place);
            asm.jump_if(If::Greater, R2, REACH, copied);
            asm.mov(R1, R8);
            asm.add_imm(R1, event::BYTES.into());
            asm.add(R1, R7);
            asm.load(Long, R3, R10, TEMP);
            asm.call(Helper::ProbeReadUser);
        }
        let asm = &mut self.asm;
        asm.place(copied);
        asm.load(Word, R1, R9, 8);
        asm.store(Word, R8, event::LEN, R1);
        asm.jump(done);
        // HIP_LAUNCH_PARAM_BUFFER_POINTER (1), buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE (2), size *, END (3).
        asm.place(buffer);
        asm.load(Long, R1, R10, EXTRA);
        asm.jump_if(If::Equal, R1, 0, done);
        self.read_user(LIST, 40, |asm| asm.load(Long, R3, R10, EXTRA));
        self.read_user(TEMP, 8, |asm| asm.load(Long, R3, R10, LIST + 24));
        let asm = &mut self.asm;
        for (place, tag) in [(0, 1), (16, 2)] {
            asm.load(Long, R1, R10, LIST + place);
            asm.jump_if(If::NotEqual, R1, tag, done);
        }
        asm.load(Long, R2, R10, TEMP);
        asm.jump_if(If::Greater, R2, 2 * REACH, done);
        asm.store(Word, R8, event::LEN, R2);
        asm.mov(R1, R8);
        asm.add_imm(R1, event::BYTES.into());
        asm.load(Long, R3, R10, LIST + 8);
        asm.call(Helper::ProbeReadUser);
        asm.place(done);
    }
}
