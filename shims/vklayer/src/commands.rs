//! Commands recorded into command buffers. Nothing runs yet: a dispatch counts when its buffer is submitted.

use crate::abi::*;
use crate::bodies::{self, how, kind};
use crate::text::text;
use crate::trace::{bytes, write};
use crate::{next, times, trace};
use core::ffi::c_void;

/// Only compute work is reported.
const COMPUTE: u32 = 1;

fn buffer(kind: u32, buffer: Handle) {
    write(kind, &[bytes(&bodies::Buffer { buffer: buffer as u64 })]);
}

pub unsafe extern "C" fn create_pool(device: Handle, info: *const CommandPoolInfo, allocator: *const c_void, to: *mut u64) -> Result {
    type Next = unsafe extern "C" fn(Handle, *const CommandPoolInfo, *const c_void, *mut u64) -> Result;
    let next = next!(device, vkCreateCommandPool as Next);
    // SAFETY: forwards the program's own call.
    unsafe {
        let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| next(device, info, allocator, to));
        if let (SUCCESS, Some(info)) = (result, info.as_ref()) {
            times::command_pool(device, *to, info.family);
        }
        result
    }
}

pub unsafe extern "C" fn destroy_pool(device: Handle, pool: u64, allocator: *const c_void) {
    times::command_pool_gone(device, pool);
    if let Some(next) = next!(device, vkDestroyCommandPool as unsafe extern "C" fn(Handle, u64, *const c_void)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(device, pool, allocator) }
    }
}

pub unsafe extern "C" fn allocate(device: Handle, info: *const AllocateInfo, to: *mut Handle) -> Result {
    type Next = unsafe extern "C" fn(Handle, *const AllocateInfo, *mut Handle) -> Result;
    let next = next!(device, vkAllocateCommandBuffers as Next);
    // SAFETY: forwards the program's own call.
    unsafe {
        let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| next(device, info, to));
        if let (SUCCESS, Some(info)) = (result, info.as_ref()) {
            times::allocated(device, info.pool, info.level, info.count, to);
        }
        result
    }
}

pub unsafe extern "C" fn begin(command: Handle, info: *const Base) -> Result {
    times::begins(command);
    buffer(kind::BEGIN, command);
    let next = next!(command, vkBeginCommandBuffer as unsafe extern "C" fn(Handle, *const Base) -> Result);
    // SAFETY: forwards the program's own call.
    next.map_or(ERROR_INITIALIZATION_FAILED, |next| unsafe { next(command, info) })
}

pub unsafe extern "C" fn reset(command: Handle, flags: u32) -> Result {
    times::begins(command);
    buffer(kind::RESET, command);
    let next = next!(command, vkResetCommandBuffer as unsafe extern "C" fn(Handle, u32) -> Result);
    // SAFETY: forwards the program's own call.
    next.map_or(ERROR_INITIALIZATION_FAILED, |next| unsafe { next(command, flags) })
}

pub unsafe extern "C" fn free(device: Handle, pool: u64, count: u32, buffers: *const Handle) {
    for place in 0..count as usize {
        // SAFETY: the program's own list.
        let command = if buffers.is_null() { core::ptr::null_mut() } else { unsafe { *buffers.add(place) } };
        if !command.is_null() {
            times::freed(command);
            buffer(kind::RESET, command);
        }
    }
    let next = next!(device, vkFreeCommandBuffers as unsafe extern "C" fn(Handle, u64, u32, *const Handle));
    if let Some(next) = next {
        // SAFETY: forwards the program's own call.
        unsafe { next(device, pool, count, buffers) }
    }
}

pub unsafe extern "C" fn bind(command: Handle, point: u32, pipeline: u64) {
    if point == COMPUTE {
        write(kind::BIND, &[bytes(&bodies::Bind { buffer: command as u64, pipeline })]);
    }
    if let Some(next) = next!(command, vkCmdBindPipeline as unsafe extern "C" fn(Handle, u32, u64)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, point, pipeline) }
    }
}

/// SAFETY: must be the program's own bytes.
unsafe fn pushed(command: Handle, offset: u32, len: u32, values: *const u8) {
    // The specification's minimum is 128 bytes; drivers have up to a few hundred.
    let kept = if values.is_null() { 0 } else { len.min(4096) };
    // SAFETY: guaranteed by the caller.
    let data = if kept == 0 { &[] } else { unsafe { core::slice::from_raw_parts(values, kept as usize) } };
    write(kind::PUSH, &[bytes(&bodies::Push { buffer: command as u64, offset, len: kept }), data]);
}

pub unsafe extern "C" fn push(command: Handle, layout: u64, stages: u32, offset: u32, size: u32, values: *const u8) {
    type Next = unsafe extern "C" fn(Handle, u64, u32, u32, u32, *const u8);
    // SAFETY: forwards the program's own call.
    unsafe {
        pushed(command, offset, size, values);
        if let Some(next) = next!(command, vkCmdPushConstants as Next) {
            next(command, layout, stages, offset, size, values);
        }
    }
}

type Push2 = unsafe extern "C" fn(Handle, *const PushInfo);

/// SAFETY: must be the program's own call.
unsafe fn push_both(command: Handle, info: *const PushInfo, next: Option<Push2>) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(info) = info.as_ref() {
            pushed(command, info.offset, info.size, info.values);
        }
        if let Some(next) = next {
            next(command, info);
        }
    }
}

pub unsafe extern "C" fn push2(command: Handle, info: *const PushInfo) {
    // SAFETY: forwards the program's own call.
    unsafe { push_both(command, info, next!(command, vkCmdPushConstants2 as Push2)) }
}

pub unsafe extern "C" fn push2_khr(command: Handle, info: *const PushInfo) {
    // SAFETY: forwards the program's own call.
    unsafe { push_both(command, info, next!(command, vkCmdPushConstants2KHR as Push2)) }
}

/// `timed`: its number among the timed dispatches of its buffer; 0 if it is not timed.
fn dispatched(command: Handle, groups: [u32; 3], how: u32, timed: u32) {
    let how = how | timed << how::TIMED;
    write(kind::DISPATCH, &[bytes(&bodies::Dispatch { buffer: command as u64, groups, how })]);
}

pub unsafe extern "C" fn dispatch(command: Handle, x: u32, y: u32, z: u32) {
    // SAFETY: the program is recording it.
    let timed = unsafe { times::before(command) };
    dispatched(command, [x, y, z], how::DIRECT, timed.number);
    if let Some(next) = next!(command, vkCmdDispatch as unsafe extern "C" fn(Handle, u32, u32, u32)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, x, y, z) }
    }
    // SAFETY: as above.
    unsafe { timed.after(command) };
}

pub unsafe extern "C" fn dispatch_indirect(command: Handle, memory: u64, offset: u64) {
    // SAFETY: the program is recording it.
    let timed = unsafe { times::before(command) };
    dispatched(command, [0; 3], how::INDIRECT, timed.number);
    if let Some(next) = next!(command, vkCmdDispatchIndirect as unsafe extern "C" fn(Handle, u64, u64)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, memory, offset) }
    }
    // SAFETY: as above.
    unsafe { timed.after(command) };
}

type Base6 = unsafe extern "C" fn(Handle, u32, u32, u32, u32, u32, u32);

pub unsafe extern "C" fn dispatch_base(command: Handle, a: u32, b: u32, c: u32, x: u32, y: u32, z: u32) {
    // SAFETY: the program is recording it.
    let timed = unsafe { times::before(command) };
    dispatched(command, [x, y, z], how::BASE, timed.number);
    if let Some(next) = next!(command, vkCmdDispatchBase as Base6) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, a, b, c, x, y, z) }
    }
    // SAFETY: as above.
    unsafe { timed.after(command) };
}

pub unsafe extern "C" fn dispatch_base_khr(command: Handle, a: u32, b: u32, c: u32, x: u32, y: u32, z: u32) {
    // SAFETY: the program is recording it.
    let timed = unsafe { times::before(command) };
    dispatched(command, [x, y, z], how::BASE, timed.number);
    if let Some(next) = next!(command, vkCmdDispatchBaseKHR as Base6) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, a, b, c, x, y, z) }
    }
    // SAFETY: as above.
    unsafe { timed.after(command) };
}

pub unsafe extern "C" fn label(command: Handle, info: *const Label) {
    // SAFETY: the program's own structure.
    let name = unsafe { info.as_ref().map_or(&[][..], |info| text(info.name)) };
    let body = bodies::Name { handle: command as u64, object: 0, len: name.len() as u32 };
    write(kind::LABEL, &[bytes(&body), name]);
    if let Some(next) = next!(command, vkCmdBeginDebugUtilsLabelEXT as unsafe extern "C" fn(Handle, *const Label)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, info) }
    }
}

pub unsafe extern "C" fn label_end(command: Handle) {
    buffer(kind::LABEL_END, command);
    if let Some(next) = next!(command, vkCmdEndDebugUtilsLabelEXT as unsafe extern "C" fn(Handle)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command) }
    }
}

pub unsafe extern "C" fn execute(command: Handle, count: u32, buffers: *const Handle) {
    let body = bodies::Submit { time_ns: 0, queue: command as u64, fence: 0, result: 0, count };
    let list: &[u8] = if buffers.is_null() {
        &[]
    } else {
        // SAFETY: the program's own list of handles.
        unsafe { core::slice::from_raw_parts(buffers.cast(), count as usize * 8) }
    };
    trace::write(kind::EXECUTE, &[bytes(&body), list]);
    if let Some(next) = next!(command, vkCmdExecuteCommands as unsafe extern "C" fn(Handle, u32, *const Handle)) {
        // SAFETY: forwards the program's own call.
        unsafe { next(command, count, buffers) }
    }
}
