//! Prevents a model that is a hole in a sparse file from filling memory with gigabytes of zeros.
//!
//! llama.cpp maps its model with MAP_POPULATE and asks the kernel to read ahead. For a skeleton model, which has no
//! weights, that fills memory with zeros and takes most of a run's time. This library is preloaded for skeleton models
//! only; a mapping then costs only what is actually read. For reads without a mapping (integrated GPUs), see `holes`.
#![no_std]
#![allow(clippy::missing_safety_doc)]
#![deny(unsafe_op_in_unsafe_fn)]

mod holes;
#[path = "../../common/real.rs"]
mod real;

use core::ffi::{c_int, c_void};

const SYS_MMAP: i64 = 9;
const SYS_MADVISE: i64 = 28;
const MAP_POPULATE: c_int = 0x8000;
const WILLNEED: c_int = 3;

unsafe extern "C" {
    fn syscall(number: i64, a: i64, b: i64, c: i64, d: i64, e: i64, f: i64) -> i64;
    fn __errno_location() -> *mut c_int;
}

/// SAFETY: must be the caller's own mapping call.
unsafe fn map(at: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void {
    let flags = if fd >= 0 { flags & !MAP_POPULATE } else { flags };
    // SAFETY: the same call as the C library makes.
    unsafe { syscall(SYS_MMAP, at as i64, len as i64, protection.into(), flags.into(), fd.into(), offset) as *mut c_void }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(at: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void {
    // SAFETY: forwards the caller's own call.
    unsafe { map(at, len, protection, flags, fd, offset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(at: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void {
    // SAFETY: forwards the caller's own call.
    unsafe { map(at, len, protection, flags, fd, offset) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int {
    if advice == WILLNEED {
        return 0;
    }
    // SAFETY: the same call as the C library makes.
    unsafe { syscall(SYS_MADVISE, at as i64, len as i64, advice.into(), 0, 0, 0) as c_int }
}

/// Returns the error instead of setting it; POSIX_MADV_DONTNEED does nothing in glibc, because it would lose data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int {
    const DONTNEED: c_int = 4;
    if advice == WILLNEED || advice == DONTNEED {
        return 0;
    }
    // SAFETY: as above; errno is this thread's.
    unsafe {
        let errno = __errno_location();
        let before = *errno;
        let failed = syscall(SYS_MADVISE, at as i64, len as i64, advice.into(), 0, 0, 0) != 0;
        let status = if failed { *errno } else { 0 };
        *errno = before;
        status
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}
