//! Copies and fills. Results that the host reads back are really copied. Large uploads are not: nothing here computes
//! with them, and a model's weights would only cost memory.

use crate::error::{INVALID_VALUE, SUCCESS, Status, keep};
use crate::memory::ours;
use crate::record::{Readback, kind};
use crate::stream::id;
use crate::{route, stream, sys, trace};
use core::ffi::{c_int, c_void};

const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const DEFAULT: c_int = 4;
/// Uploads up to this size are kept: indices, positions and masks are smaller, weight tensors larger.
const KEPT: usize = 64 << 10;

/// SAFETY: `to` and `from` must be valid for `len` bytes, as the HIP function requires.
unsafe fn copy(to: *mut c_void, from: *const c_void, len: usize, how: c_int, on: *mut c_void) -> Status {
    if len == 0 {
        return SUCCESS;
    }
    if to.is_null() || from.is_null() || !(HOST_TO_HOST..=DEFAULT).contains(&how) {
        return INVALID_VALUE;
    }
    if stream::captured(on) != 0 {
        stream::node(on, stream::COPY);
        return SUCCESS;
    }
    let how = match how {
        DEFAULT => match (ours(to), ours(from)) {
            (true, false) => HOST_TO_DEVICE,
            (false, true) => DEVICE_TO_HOST,
            _ => HOST_TO_HOST,
        },
        how => how,
    };
    match how {
        HOST_TO_DEVICE if len > KEPT => {}
        // SAFETY: as promised by the caller; the ranges may overlap.
        _ => unsafe { core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len) },
    }
    if how == DEVICE_TO_HOST {
        let bytes = if route::is_routing(from as usize, len) { 0 } else { len as u64 };
        let record = Readback { time_ns: sys::now_ns(), bytes, stream: id(on) };
        crate::world::record(kind::READBACK, &[trace::bytes(&record)]);
    }
    SUCCESS
}

forward! {
    extern fn hipMemcpy(to: *mut c_void, from: *const c_void, len: usize, how: c_int)
        = keep(copy(to, from, len, how, core::ptr::null_mut()));
    extern fn hipMemcpyWithStream(to: *mut c_void, from: *const c_void, len: usize, how: c_int, on: *mut c_void)
        = keep(copy(to, from, len, how, on));
    extern fn hipMemcpyAsync(to: *mut c_void, from: *const c_void, len: usize, how: c_int, on: *mut c_void)
        = keep(copy(to, from, len, how, on));
    extern fn hipMemcpyHtoD(to: *mut c_void, from: *const c_void, len: usize)
        = keep(copy(to, from, len, HOST_TO_DEVICE, core::ptr::null_mut()));
    extern fn hipMemcpyDtoH(to: *mut c_void, from: *const c_void, len: usize)
        = keep(copy(to, from, len, DEVICE_TO_HOST, core::ptr::null_mut()));
    extern fn hipMemcpyDtoD(to: *mut c_void, from: *const c_void, len: usize)
        = keep(copy(to, from, len, DEVICE_TO_DEVICE, core::ptr::null_mut()));
    extern fn hipMemcpyHtoDAsync(to: *mut c_void, from: *const c_void, len: usize, on: *mut c_void)
        = keep(copy(to, from, len, HOST_TO_DEVICE, on));
    extern fn hipMemcpyDtoHAsync(to: *mut c_void, from: *const c_void, len: usize, on: *mut c_void)
        = keep(copy(to, from, len, DEVICE_TO_HOST, on));
    extern fn hipMemcpyDtoDAsync(to: *mut c_void, from: *const c_void, len: usize, on: *mut c_void)
        = keep(copy(to, from, len, DEVICE_TO_DEVICE, on));
    extern fn hipMemcpyPeer(to: *mut c_void, _to_device: c_int, from: *const c_void, _from_device: c_int, len: usize)
        = keep(copy(to, from, len, DEVICE_TO_DEVICE, core::ptr::null_mut()));
    extern fn hipMemcpyPeerAsync(
        to: *mut c_void, _to_device: c_int, from: *const c_void, _from_device: c_int, len: usize, on: *mut c_void
    ) = keep(copy(to, from, len, DEVICE_TO_DEVICE, on));
}

/// Rows of `width` bytes, each at its own pitch.
///
/// SAFETY: every row must be valid on both sides, as the HIP function requires.
unsafe fn rows(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    how: c_int,
    on: *mut c_void,
) -> Status {
    if width > to_pitch || width > from_pitch {
        return INVALID_VALUE;
    }
    let whole = width.saturating_mul(height);
    if how == HOST_TO_DEVICE && whole > KEPT && !to.is_null() && !from.is_null() {
        if stream::captured(on) != 0 {
            stream::node(on, stream::COPY);
        }
        return SUCCESS;
    }
    for row in 0..height {
        // SAFETY: inside the rows that the caller guarantees.
        let status = unsafe {
            let (to, from) = (to.cast::<u8>().add(row * to_pitch), from.cast::<u8>().add(row * from_pitch));
            copy(to.cast(), from.cast(), width, how, on)
        };
        if status != SUCCESS {
            return status;
        }
    }
    SUCCESS
}

forward! {
    extern fn hipMemcpy2D(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, how:
        c_int
    ) = keep(rows(to, to_pitch, from, from_pitch, width, height, how, core::ptr::null_mut()));
    extern fn hipMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, how:
        c_int, on: *mut c_void
    ) = keep(rows(to, to_pitch, from, from_pitch, width, height, how, on));
}

/// SAFETY: `at` must be valid for `len` bytes.
unsafe fn fill(at: *mut c_void, value: c_int, len: usize, on: *mut c_void) -> Status {
    if at.is_null() && len > 0 {
        return INVALID_VALUE;
    }
    if stream::captured(on) != 0 {
        stream::node(on, stream::FILL);
        return SUCCESS;
    }
    // Device memory is already zero and nothing here writes to it: clearing gigabytes would only allocate the pages.
    if value == 0 && len > KEPT {
        return SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { core::ptr::write_bytes(at.cast::<u8>(), value as u8, len) };
    SUCCESS
}

forward! {
    extern fn hipMemset(at: *mut c_void, value: c_int, len: usize) = keep(fill(at, value, len, core::ptr::null_mut()));
    extern fn hipMemsetAsync(at: *mut c_void, value: c_int, len: usize, on: *mut c_void)
        = keep(fill(at, value, len, on));
}

/// Fills with values of more than one byte.
///
/// SAFETY: `at` must be valid for `count` values.
unsafe fn fill_with<T: Copy + PartialEq + Default>(at: *mut T, value: T, count: usize, on: *mut c_void) -> Status {
    if at.is_null() && count > 0 {
        return INVALID_VALUE;
    }
    if stream::captured(on) != 0 {
        stream::node(on, stream::FILL);
        return SUCCESS;
    }
    if value == T::default() && count > KEPT {
        return SUCCESS;
    }
    for place in 0..count {
        // SAFETY: guaranteed by the caller.
        unsafe { at.add(place).write_unaligned(value) };
    }
    SUCCESS
}

forward! {
    extern fn hipMemsetD8(at: *mut c_void, value: u8, count: usize)
        = keep(fill(at, c_int::from(value), count, core::ptr::null_mut()));
    extern fn hipMemsetD8Async(at: *mut c_void, value: u8, count: usize, on: *mut c_void)
        = keep(fill(at, c_int::from(value), count, on));
    extern fn hipMemsetD16(at: *mut u16, value: u16, count: usize) = keep(fill_with(at, value, count, core::ptr::null_mut()));
    extern fn hipMemsetD16Async(at: *mut u16, value: u16, count: usize, on: *mut c_void) = keep(fill_with(at, value, count, on));
    extern fn hipMemsetD32(at: *mut u32, value: c_int, count: usize)
        = keep(fill_with(at, value as u32, count, core::ptr::null_mut()));
    extern fn hipMemsetD32Async(at: *mut u32, value: c_int, count: usize, on: *mut c_void)
        = keep(fill_with(at, value as u32, count, on));
    extern fn hipMemset2D(at: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize)
        = keep(fill_rows(at, pitch, value, width, height, core::ptr::null_mut()));
    extern fn hipMemset2DAsync(at: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, on: *mut c_void)
        = keep(fill_rows(at, pitch, value, width, height, on));
}

/// SAFETY: every row must be valid.
unsafe fn fill_rows(at: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, on: *mut c_void) -> Status {
    if width > pitch {
        return INVALID_VALUE;
    }
    for row in 0..height {
        // SAFETY: guaranteed by the caller.
        let status = unsafe { fill(at.cast::<u8>().wrapping_add(row * pitch).cast(), value, width, on) };
        if status != SUCCESS || stream::captured(on) != 0 {
            return status;
        }
    }
    SUCCESS
}
