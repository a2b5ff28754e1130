//! Submissions, and the observation of their end.

use crate::abi::*;
use crate::bodies::{self, done, kind};
use crate::trace::{begin, bytes, write};
use crate::{next, sys, times};

/// Reserves its record before the call, so that no wait for it is recorded earlier.
///
/// SAFETY: `fill` must write `count` handles.
unsafe fn submitted(queue: Handle, fence: u64, count: usize, fill: impl FnOnce(*mut u64), call: impl FnOnce() -> Result) -> Result {
    let place = begin(size_of::<bodies::Submit>() + count * 8);
    let time_ns = sys::now_ns();
    // The program may reuse its list once the call returns.
    if let Some(place) = &place {
        // SAFETY: the reservation has this length.
        fill(unsafe { place.body().add(size_of::<bodies::Submit>()) }.cast());
    }
    let result = call();
    if result != SUCCESS {
        times::refused(queue);
    }
    if let Some(place) = place {
        let body = bodies::Submit { time_ns, queue: queue as u64, fence, result, count: count as u32 };
        // SAFETY: our own reservation, aligned to 8 bytes.
        unsafe { place.body().cast::<bodies::Submit>().write(body) };
        place.finish(kind::SUBMIT);
    }
    lost(queue, result)
}

fn ended(what: u32, handle: u64) {
    // SAFETY: a handle of the program's own call, of this kind.
    unsafe { times::ended(what, handle) };
    write(kind::DONE, &[bytes(&bodies::Done { time_ns: sys::now_ns(), handle, what, reserved: 0 })]);
}

fn lost(handle: Handle, result: Result) -> Result {
    if result == ERROR_DEVICE_LOST {
        ended(done::LOST, handle as u64);
    }
    result
}

pub unsafe extern "C" fn submit(queue: Handle, count: u32, infos: *const SubmitInfo, fence: u64) -> Result {
    type Next = unsafe extern "C" fn(Handle, u32, *const SubmitInfo, u64) -> Result;
    let Some(next) = next!(queue, vkQueueSubmit as Next) else { return ERROR_INITIALIZATION_FAILED };
    // SAFETY: the program's own list.
    let list = if infos.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(infos, count as usize) } };
    let total = list.iter().map(|info| info.count as usize).sum();
    let fill = |mut to: *mut u64| {
        for info in list {
            for place in 0..info.count as usize {
                // SAFETY: the program's own handles, and a place for each.
                unsafe {
                    to.write(*info.buffers.add(place) as u64);
                    to = to.add(1);
                }
            }
        }
    };
    // SAFETY: forwards the program's own call.
    unsafe {
        let of = |info: &SubmitInfo, place: usize| *info.buffers.add(place);
        times::submitting(queue, fence, list.iter().flat_map(|info| (0..info.count as usize).map(move |place| of(info, place))));
        submitted(queue, fence, total, fill, || next(queue, count, infos, fence))
    }
}

type Submit2 = unsafe extern "C" fn(Handle, u32, *const SubmitInfo2, u64) -> Result;

/// SAFETY: must be the program's own call.
unsafe fn both(queue: Handle, count: u32, infos: *const SubmitInfo2, fence: u64, next: Option<Submit2>) -> Result {
    let Some(next) = next else { return ERROR_INITIALIZATION_FAILED };
    // SAFETY: the program's own list.
    let list = if infos.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(infos, count as usize) } };
    let total = list.iter().map(|info| info.count as usize).sum();
    let fill = |mut to: *mut u64| {
        for info in list {
            for place in 0..info.count as usize {
                // SAFETY: the program's own handles, and a place for each.
                unsafe {
                    to.write((*info.buffers.add(place)).buffer as u64);
                    to = to.add(1);
                }
            }
        }
    };
    // SAFETY: forwards the program's own call.
    unsafe {
        let of = |info: &SubmitInfo2, place: usize| (*info.buffers.add(place)).buffer;
        times::submitting(queue, fence, list.iter().flat_map(|info| (0..info.count as usize).map(move |place| of(info, place))));
        submitted(queue, fence, total, fill, || next(queue, count, infos, fence))
    }
}

pub unsafe extern "C" fn submit2(queue: Handle, count: u32, infos: *const SubmitInfo2, fence: u64) -> Result {
    // SAFETY: forwards the program's own call.
    unsafe { both(queue, count, infos, fence, next!(queue, vkQueueSubmit2 as Submit2)) }
}

pub unsafe extern "C" fn submit2_khr(queue: Handle, count: u32, infos: *const SubmitInfo2, fence: u64) -> Result {
    // SAFETY: forwards the program's own call.
    unsafe { both(queue, count, infos, fence, next!(queue, vkQueueSubmit2KHR as Submit2)) }
}

pub unsafe extern "C" fn queue_idle(queue: Handle) -> Result {
    let next = next!(queue, vkQueueWaitIdle as unsafe extern "C" fn(Handle) -> Result);
    // SAFETY: forwards the program's own call.
    let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| unsafe { next(queue) });
    if result == SUCCESS {
        ended(done::QUEUE, queue as u64);
    }
    lost(queue, result)
}

pub unsafe extern "C" fn device_idle(device: Handle) -> Result {
    let next = next!(device, vkDeviceWaitIdle as unsafe extern "C" fn(Handle) -> Result);
    // SAFETY: forwards the program's own call.
    let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| unsafe { next(device) });
    if result == SUCCESS {
        ended(done::DEVICE, device as u64);
    }
    lost(device, result)
}

pub unsafe extern "C" fn wait(device: Handle, count: u32, fences: *const u64, all: u32, timeout: u64) -> Result {
    type Next = unsafe extern "C" fn(Handle, u32, *const u64, u32, u64) -> Result;
    let next = next!(device, vkWaitForFences as Next);
    // SAFETY: forwards the program's own call.
    let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| unsafe { next(device, count, fences, all, timeout) });
    // If any one of several fences may have ended the wait, it is unknown which one did.
    if result == SUCCESS && (all != 0 || count == 1) && !fences.is_null() {
        for place in 0..count as usize {
            // SAFETY: the program's own list.
            ended(done::FENCE, unsafe { *fences.add(place) });
        }
    }
    lost(device, result)
}

pub unsafe extern "C" fn status(device: Handle, fence: u64) -> Result {
    let next = next!(device, vkGetFenceStatus as unsafe extern "C" fn(Handle, u64) -> Result);
    // SAFETY: forwards the program's own call.
    let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| unsafe { next(device, fence) });
    if result == SUCCESS {
        ended(done::FENCE, fence);
    }
    lost(device, result)
}
