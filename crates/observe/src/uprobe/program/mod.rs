//! The programs: one per watched function and probe site, put together from parts.
//!
//! At the entry of a launch: read the arguments into a key, look up whether the stream is being captured and which argument
//! is the column count, count the key, and ship one record. A count is never lost to a full ring; a record that is, is
//! counted. Nothing here can wait, and the verifier has proved that it ends.

mod arguments;
mod calls;
mod captures;
mod frame;
mod products;
mod ship;

pub use frame::{CALL_VALUE, Maps};

use super::asm::Reg::{R0, R1, R2, R3, R6, R8, R9, R10};
use super::asm::Size::{Long, Word};
use super::asm::{BadJump, Helper, If};
use super::entries::Role;
use super::wire::{REACH, counter, event, key, kind};
use frame::{ARGS_AT, Body, EXTRA, KEY, OUTER, STREAM, regs};

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
            body.bump(counter::LAUNCHES);
            body.remember_if_asked(number);
            body.ship_launch();
        }
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
        Role::BeginCapture => body.begin_capture(),
        Role::EndCapture => body.end_capture(number),
        Role::RecordEvent => body.record_event(),
        Role::WaitEvent => body.wait_event(),
        Role::AddNode(node) => body.add_node(node, number),
        Role::SetNode(node) => body.set_node(node),
        Role::AddChild => body.add_child(),
        Role::Instantiate | Role::GetFunction | Role::Alias | Role::CreateGraph | Role::CloneGraph => {
            body.remember_call(number);
        }
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
    let rejected = body.asm.label();
    let asm = &mut body.asm;
    asm.load(Long, R9, R6, regs::AX);
    asm.shl(R9, 32);
    asm.shr(R9, 32);
    asm.jump_if(If::NotEqual, R9, 0, rejected);
    body.bump(counter::ACCEPTED);
    body.asm.jump(body.out);
    body.asm.place(rejected);
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
    match role {
        Role::LtLayout => {
            body.keep_shape();
            return body.end();
        }
        Role::AddNode(_) => {
            body.asm.load(Long, R1, R10, ARGS_AT);
            body.asm.store(Long, R10, STREAM, R1);
            body.ship(kind::ANSWER);
            return body.end();
        }
        _ => {}
    }
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
