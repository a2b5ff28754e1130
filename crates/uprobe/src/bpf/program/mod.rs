//! The programs: one per watched function and probe site, put together from parts.
//!
//! At the entry of a launch: read the arguments into a key, look up whether the stream is being captured and which
//! argument is the column count, count the key, and ship one record. A full ring never loses a count; lost records are
//! counted. No program can block, and the verifier has proved that each ends.

mod arguments;
mod calls;
mod captures;
mod frame;
mod graphs;
mod pointers;
mod products;
mod ship;
mod vulkan;

pub use crate::bpf::program::frame::{CALL_VALUE, Maps};
pub use crate::bpf::program::vulkan::{CONSTANTS, DATA, SUBMITS};

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R6, R8, R9, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{BadJump, Helper, If};
use crate::bpf::program::frame::{ARGS_AT, Body, EXTRA, KEY, OUTER, STREAM, regs};
use crate::bpf::wire::{REACH, count, counter, event, key, kind};
use crate::probes::entries::{Entry, List, Role};

/// The program for the entry of a function. `pushed`: bytes that the function has pushed before the probe site.
pub fn at_entry(maps: Maps, number: i32, entry: &Entry, pushed: i16) -> Result<Vec<u64>, BadJump> {
    let per_thread = entry.per_thread();
    let mut body = Body::new(maps);
    body.pushed = pushed;
    body.begin(number);
    match entry.role {
        Role::Launch(shape) => {
            body.launch_arguments(shape, pushed);
            body.own_stream(per_thread);
            body.outer();
            body.captured();
            body.layout();
            body.count();
            body.bump(counter::LAUNCHES);
            body.remember_if_asked(number);
            body.ship_launch();
        }
        Role::Several(list) => body.several(list),
        Role::Configure => body.configure(),
        Role::Outer(shape) => body.remember_outer(shape),
        Role::Gemm(gemm) => {
            body.gemm_arguments(gemm, pushed);
            body.count();
            body.ship(kind::CALL);
        }
        Role::LtMatmul => body.lt_matmul(pushed),
        Role::LtLayout => body.lt_layout(number),
        Role::LtLayoutInPlace => body.lt_layout_in_place(),
        Role::LtField(fields) => body.lt_field(fields),
        Role::BeginCapture => body.begin_capture(per_thread, false),
        Role::BeginCaptureTo => body.begin_capture(per_thread, true),
        Role::EndCapture => body.end_capture(number, per_thread),
        Role::RecordEvent => body.record_event(per_thread),
        Role::WaitEvent => body.wait_event(per_thread),
        Role::AddNode(params) => body.add_node(params, number),
        Role::AddChild => body.add_child(number),
        Role::ChangeNode(params) => body.change_node(params, number),
        Role::AskNode(_) => body.ask_node(number),
        Role::SetNode(params) => body.set_node(params, number),
        Role::SetChild => body.set_child(number),
        Role::EnableNode => body.enable_node(number),
        Role::ChildOf => body.one_or_two(number),
        Role::Instantiate(flags) => body.instantiate(flags, number),
        Role::GetFunction | Role::Alias | Role::CreateGraph | Role::CloneGraph | Role::FindInClone => {
            body.remember_call(number);
        }
        Role::ProcAddress => body.remember_asked(number),
        Role::Update | Role::DestroyGraph | Role::DestroyExec | Role::RemoveNode => body.one_or_two(number),
        Role::Replay => body.replay(number, per_thread),
        Role::Copy => {
            const DEVICE_TO_HOST: i32 = 2;
            let asm = &mut body.asm;
            asm.load(Long, R1, R6, regs::CX);
            asm.and_imm(R1, 7);
            asm.jump_if(If::NotEqual, R1, DEVICE_TO_HOST, body.out);
            body.copy();
        }
        Role::CopyBack => body.copy(),
        Role::Vulkan(of) => body.vulkan(of, number, pushed),
    }
    body.end()
}

/// The program for a function of which only the name is known: it counts calls.
pub fn at_unknown(maps: Maps, number: i32) -> Result<Vec<u64>, BadJump> {
    let mut body = Body::new(maps);
    body.begin(number);
    body.count();
    body.end()
}

impl Body {
    /// A launch on each of several devices. Further ones are counted without a record.
    fn several(&mut self, list: List) {
        const MOST: i32 = 16;
        let few = self.asm.label();
        self.asm.load(Word, R1, R6, regs::SI);
        self.asm.jump_if(If::LessEqual, R1, MOST, few);
        self.bump(counter::UNCOUNTED);
        self.asm.place(few);
        // All of them are counted before the first record is sent, because a full ring ends the program.
        for told in [false, true] {
            let all = self.asm.label();
            for place in 0..MOST {
                self.asm.load(Word, R1, R6, regs::SI);
                self.asm.jump_if(If::LessEqual, R1, place, all);
                self.listed(list, place);
                self.own_stream(false);
                self.asm.store_imm(Word, R10, KEY + key::GRAPH, 0);
                self.captured();
                if told {
                    self.ship(kind::CALL);
                } else {
                    self.count();
                    self.bump(counter::LAUNCHES);
                }
            }
            self.asm.place(all);
        }
    }
}

/// How a return is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// The probe is at the instruction that returns.
    Instruction,
    /// Through the kernel's return probe, after the function returned.
    Trampoline,
}

impl Way {
    /// Bytes from the stack pointer there to its value at the entry.
    fn above(self) -> i16 {
        match self {
            Way::Instruction => 0,
            Way::Trampoline => -8,
        }
    }
}

/// The program for the return of a launch, which checks whether it was accepted. `way`: how the return is probed.
pub fn at_launch_return(maps: Maps, number: i32, way: Way) -> Result<Vec<u64>, BadJump> {
    let mut body = Body::new(maps);
    body.pushed = way.above();
    body.begin(number);
    body.recall(number);
    body.count_more(count::RETURNED);
    let rejected = body.asm.label();
    let asm = &mut body.asm;
    asm.load(Long, R9, R6, regs::AX);
    asm.shl(R9, 32);
    asm.shr(R9, 32);
    asm.jump_if(If::NotEqual, R9, 0, rejected);
    body.count_more(count::ACCEPTED);
    body.asm.jump(body.out);
    body.asm.place(rejected);
    body.ship_with(kind::REJECTED, |asm| asm.store(Word, R8, event::STATUS, R9));
    body.end()
}

/// The program for the return of a call that has a result, or that changes an object if it was accepted.
pub fn at_answer(maps: Maps, number: i32, role: Role, way: Way) -> Result<Vec<u64>, BadJump> {
    let mut body = Body::new(maps);
    body.pushed = way.above();
    body.begin(number);
    body.recall(number);
    if let Role::Vulkan(of) = role {
        body.vulkan_answer(of);
        return body.end();
    }
    let out = body.out;
    let asm = &mut body.asm;
    // A failed call returned nothing and changed nothing.
    asm.load(Long, R1, R6, regs::AX);
    asm.shl(R1, 32);
    asm.jump_if(If::NotEqual, R1, 0, out);
    // EXTRA holds the address of the result or the changed object, ARGS_AT that of the name or the owner.
    if role.gives() {
        body.read_user(OUTER, 8, |asm| asm.load(Long, R3, R10, EXTRA));
    } else {
        body.asm.load(Long, R1, R10, EXTRA);
        body.asm.store(Long, R10, OUTER, R1);
    }
    match role {
        Role::LtLayout => {
            body.keep_shape();
            return body.end();
        }
        Role::AskNode(params) => body.node_was_told(params),
        Role::Replay => {
            body.count();
            body.unless_loud(out);
        }
        _ => {}
    }
    body.asm.load(Long, R1, R10, ARGS_AT);
    body.asm.store(Long, R10, STREAM, R1);
    if !matches!(role, Role::GetFunction | Role::ProcAddress) {
        body.ship(kind::ANSWER);
        return body.end();
    }
    body.reserve(event::LONG, counter::UNTOLD);
    body.head(kind::ANSWER);
    let asm = &mut body.asm;
    asm.store_imm(Word, R8, event::LEN, 0);
    asm.mov(R1, R8);
    asm.add_imm(R1, i32::from(event::BYTES));
    asm.mov_imm(R2, 2 * REACH);
    asm.load(Long, R3, R10, ARGS_AT);
    asm.call(Helper::ProbeReadUserStr);
    // A failure is negative: as an unsigned number it exceeds any length.
    let unread = asm.label();
    asm.jump_if(If::Greater, R0, 2 * REACH, unread);
    asm.store(Word, R8, event::LEN, R0);
    asm.place(unread);
    body.submit();
    if role == Role::ProcAddress {
        body.stop_if_held();
    }
    body.end()
}
