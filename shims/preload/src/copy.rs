//! Device-to-host copies: when the host reads a result back, one evaluation (a prompt or one decoded token) ends.

use crate::launch::NOT_SUPPORTED;
use crate::record::{Readback, kind};
use crate::{graph, sys, thread, trace};
use core::ffi::{c_int, c_void};

/// `hipMemcpyDeviceToHost`, `cudaMemcpyDeviceToHost`.
const DEVICE_TO_HOST: c_int = 2;

fn note(bytes: usize, on: *mut c_void, status: u32) {
    // A copy in a capture copies nothing yet; a copy inside a recorded call belongs to that call.
    if status == 0 && bytes > 0 && graph::capturing(on) == 0 && thread::now().launching == 0 {
        let record = Readback { time_ns: sys::now_ns(), bytes: bytes as u64, stream: on as u64 };
        trace::write(kind::READBACK, &[trace::bytes(&record)]);
    }
}

macro_rules! copies {
    ($($name:ident)*) => { wrap! {$(
        fn $name(to: *mut c_void, from: *const c_void, len: usize, how: c_int) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = nested(|| unsafe { real(to, from, len, how) });
            if how == DEVICE_TO_HOST {
                note(len, core::ptr::null_mut(), status);
            }
            status
        }
    )*} };
}

copies! { hipMemcpy hipMemcpy_spt cudaMemcpy cudaMemcpy_ptds }

macro_rules! copies_on {
    ($($name:ident)*) => { wrap! {$(
        fn $name(to: *mut c_void, from: *const c_void, len: usize, how: c_int, on: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = nested(|| unsafe { real(to, from, len, how, on) });
            if how == DEVICE_TO_HOST {
                note(len, on, status);
            }
            status
        }
    )*} };
}

copies_on! { hipMemcpyAsync hipMemcpyAsync_spt hipMemcpyWithStream cudaMemcpyAsync cudaMemcpyAsync_ptsz }

wrap! {
    fn hipMemcpyDtoH(to: *mut c_void, from: *mut c_void, len: usize) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = nested(|| unsafe { real(to, from, len) });
        note(len, core::ptr::null_mut(), status);
        status
    }
    fn hipMemcpyDtoHAsync(to: *mut c_void, from: *mut c_void, len: usize, on: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = nested(|| unsafe { real(to, from, len, on) });
        note(len, on, status);
        status
    }
    fn hipMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, how: c_int,
        on: *mut c_void,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = nested(|| unsafe { real(to, to_pitch, from, from_pitch, width, height, how, on) });
        if how == DEVICE_TO_HOST {
            note(width * height, on, status);
        }
        status
    }
    fn hipMemcpy2D(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, how: c_int,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = nested(|| unsafe { real(to, to_pitch, from, from_pitch, width, height, how) });
        if how == DEVICE_TO_HOST {
            note(width * height, core::ptr::null_mut(), status);
        }
        status
    }
}

macro_rules! driver_copies {
    ($($name:ident $on_stream:ident)*) => { wrap! {$(
        fn $name(to: *mut c_void, from: u64, len: usize) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = nested(|| unsafe { real(to, from, len) });
            note(len, core::ptr::null_mut(), status);
            status
        }
        fn $on_stream(to: *mut c_void, from: u64, len: usize, on: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = nested(|| unsafe { real(to, from, len, on) });
            note(len, on, status);
            status
        }
    )*} };
}

driver_copies! {
    cuMemcpyDtoH_v2 cuMemcpyDtoHAsync_v2
    cuMemcpyDtoH_v2_ptds cuMemcpyDtoHAsync_v2_ptsz
}

/// The runtime's copy may call the driver's, which must not be counted again.
fn nested(call: impl FnOnce() -> u32) -> u32 {
    thread::now().launching += 1;
    let status = call();
    let thread = thread::now();
    thread.launching = thread.launching.saturating_sub(1);
    status
}
