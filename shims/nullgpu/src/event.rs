//! Events, which are always reached. They propagate a capture from one stream to another.

use crate::error::{INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status, keep};
use crate::graph::Graph;
use crate::{registry, stream, sys};
use core::ffi::{c_uint, c_void};

const MARK: u64 = u64::from_le_bytes(*b"WK_EVENT");

#[repr(C)]
struct Event {
    mark: u64,
    time_ns: u64,
    capture: Option<&'static Graph>,
}

fn find(event: *mut c_void) -> Option<&'static mut Event> {
    // SAFETY: an event handle from the program.
    unsafe { registry::known(event, MARK) }
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn create(to: *mut *mut c_void) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    let Some(event) = registry::new::<Event>() else { return OUT_OF_MEMORY };
    event.mark = MARK;
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(event).cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreate(to: *mut *mut c_void) -> Status {
    // SAFETY: the caller's variable.
    keep(unsafe { create(to) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(to: *mut *mut c_void, flags: c_uint) -> Status {
    // hipEventDisableTiming, BlockingSync, Interprocess and the release flags: none changes anything here.
    // SAFETY: the caller's variable.
    keep(if flags & 0x3fff_fff0 != 0 { INVALID_VALUE } else { unsafe { create(to) } })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: *mut c_void) -> Status {
    let Some(event) = find(event) else { return keep(INVALID_HANDLE) };
    event.mark = 0;
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: *mut c_void, on: *mut c_void) -> Status {
    let Some(event) = find(event) else { return keep(INVALID_HANDLE) };
    event.time_ns = sys::now_ns();
    event.capture = stream::capture_of(on);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: *mut c_void) -> Status {
    keep(if find(event).is_some() { SUCCESS } else { INVALID_HANDLE })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: *mut c_void) -> Status {
    let known = find(event).is_some();
    keep(if known { SUCCESS } else { INVALID_HANDLE })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(ms: *mut f32, from: *mut c_void, to: *mut c_void) -> Status {
    let (Some(from), Some(to), false) = (find(from), find(to), ms.is_null()) else { return keep(INVALID_HANDLE) };
    // SAFETY: the caller's variable.
    unsafe { *ms = to.time_ns.saturating_sub(from.time_ns) as f32 / 1e6 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(on: *mut c_void, event: *mut c_void, _flags: c_uint) -> Status {
    let Some(event) = find(event) else { return keep(INVALID_HANDLE) };
    if let Some(graph) = event.capture.filter(|graph| graph.is_capturing()) {
        stream::join(on, graph);
    }
    SUCCESS
}
