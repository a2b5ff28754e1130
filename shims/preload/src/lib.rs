//! Sees each launch from inside the process, without changing it: wraps registration and launch, passes everything on.
//!
//! Preloaded (LD_PRELOAD) by the parent, which names a directory in WHICHKERNEL_PRELOAD; records go to `seen.PID.N` there,
//! in the layout of every other launch record. No allocation and no lock on the path of a kernel that was seen before.
//! If anything is wrong (no directory, disk full, no real function to be found) the call goes through untouched.
#![no_std]
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../../common/lock.rs"]
mod lock;
#[path = "../../common/real.rs"]
mod real;
#[path = "../../../crates/launch/src/record.rs"]
#[allow(dead_code, reason = "only launches are recorded here")]
mod record;
#[path = "../../common/sys.rs"]
#[allow(dead_code, reason = "the stand-in GPU needs more of it")]
mod sys;
#[path = "../../common/trace.rs"]
mod trace;

mod graph;
mod kernels;
mod launch;
mod register;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}

/// Opens the trace on the first call that is wrapped; without a directory nothing is ever written.
fn start() {
    use core::sync::atomic::{AtomicU32, Ordering};
    static STARTED: AtomicU32 = AtomicU32::new(0);
    if STARTED.load(Ordering::Acquire) != 0 || STARTED.swap(1, Ordering::AcqRel) != 0 {
        return;
    }
    if let Some(directory) = sys::env(c"WHICHKERNEL_PRELOAD") {
        trace::start(directory, 2);
    }
}

/// The real function behind a wrapper. Programs open the runtime late and locally, where RTLD_NEXT does not look: then the
/// loaded runtime itself is asked.
fn behind(cache: &core::sync::atomic::AtomicPtr<core::ffi::c_void>, name: &core::ffi::CStr) -> *mut core::ffi::c_void {
    use core::sync::atomic::Ordering;
    let known = cache.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let mut found = real::next(name);
    for library in [c"libamdhip64.so.6", c"libamdhip64.so.7", c"libamdhip64.so.5", c"libamdhip64.so"] {
        if !found.is_null() {
            break;
        }
        let handle = real::loaded(library);
        if !handle.is_null() {
            found = real::symbol(handle, name);
        }
    }
    cache.store(found, Ordering::Release);
    found
}
