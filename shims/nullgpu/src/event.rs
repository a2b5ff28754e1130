//! Events, which are always reached. They propagate a capture from one stream to another.

use crate::error::{INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status, keep};
use crate::graph::Graph;
use crate::record::{Text, kind};
use crate::{launch, registry, stream, sys, trace};
use core::ffi::{CStr, c_char, c_uint, c_void};

const MARK: u64 = u64::from_le_bytes(*b"WK_EVENT");

#[repr(C)]
struct Event {
    mark: u64,
    time_ns: u64,
    /// The number of launches before the event.
    work: u64,
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
    event.work = launch::work();
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

/// Entry points that ask for a time. The record includes the calling library, because its later calls may depend on the
/// time.
macro_rules! asks {
    ($($(#[$about:meta])* extern fn $name:ident(ms, from, to);)*) => {$(
        core::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".type ", stringify!($name), ", @function"),
            concat!(stringify!($name), ":"),
            "mov rcx, [rsp]",
            concat!("lea r8, [rip + ", stringify!($name), "_name]"),
            "jmp {elapsed}",
            concat!(stringify!($name), "_name: .asciz \"", stringify!($name), "\""),
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            elapsed = sym $crate::event::elapsed,
        );
    )*};
}
pub(crate) use asks;

/// SAFETY: called by the entry points above, with their return address and name.
pub unsafe extern "C" fn elapsed(ms: *mut f32, from: *mut c_void, to: *mut c_void, caller: usize, name: *const c_char) -> Status {
    let (Some(from), Some(to), false) = (find(from), find(to), ms.is_null()) else { return keep(INVALID_HANDLE) };
    // SAFETY: the caller's variable.
    unsafe { *ms = to.time_ns.saturating_sub(from.time_ns) as f32 / 1e6 };
    if to.work != from.work {
        let (path, _) = crate::module::owner(caller);
        let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        // SAFETY: the entry point's own text.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        let text = Text { len: (name.len() + 1 + file.len()) as u32, reserved: 0 };
        crate::world::record(kind::TIMED, &[trace::bytes(&text), name, b" ", file]);
    }
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
