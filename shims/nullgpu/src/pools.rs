//! Pools, reserved address ranges and questions about pointers. Memory is plain, so a mapping changes nothing.

use crate::device::{by_number, current};
use crate::error::{INVALID_DEVICE, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status, keep};
use crate::memory::{self, Place};
use crate::stubs;
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The granularity of virtual memory on all cards (clr, virtualMemAllocGranularity_: 2 MiB with large pages).
const GRANULARITY: usize = 2 << 20;

fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { to.write_unaligned(value) };
    SUCCESS
}

fn known(pool: *mut c_void) -> Status {
    keep(if pool.is_null() { INVALID_VALUE } else { SUCCESS })
}

fn create(to: *mut u64, size: usize) -> Status {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let fits = current().is_some_and(|device| size as u64 <= device.memory);
    if !fits || !size.is_multiple_of(GRANULARITY) {
        return keep(if fits { INVALID_VALUE } else { OUT_OF_MEMORY });
    }
    put(to, NEXT.fetch_add(1, Ordering::Relaxed))
}

fn mapped(at: *mut c_void) -> Status {
    keep(if memory::ours(at) { SUCCESS } else { INVALID_VALUE })
}

/// Numbers of `hipPointer_attribute`. An attribute without an answer is refused and recorded.
///
/// SAFETY: `to` is null or a variable of the attribute's type.
unsafe fn attribute(to: *mut c_void, attribute: c_uint, at: *mut c_void) -> Status {
    let Some(Place { start, size, device, host }) = memory::place(at as usize) else { return keep(INVALID_VALUE) };
    match attribute {
        1 => put(to.cast(), crate::context::primary_of(device)),
        2 => put(to.cast(), if host { 1_u32 } else { 2 }),
        3 => put(to.cast(), at),
        4 if host => put(to.cast(), at),
        6 => put(to.cast(), 0_u32),
        7 => put(to.cast(), start as u64),
        8 => put(to.cast(), 0_u32),
        9 => put(to.cast(), device as c_int),
        11 => put(to.cast(), start),
        12 => put(to.cast(), size),
        13 => put(to.cast(), 1_u32),
        _ => {
            stubs::note(b"hipPointerGetAttribute");
            keep(INVALID_VALUE)
        }
    }
}

/// SAFETY: `to` is null or the caller's variable of the attribute's type.
unsafe fn pool_value(pool: *mut c_void, attribute: c_int, to: *mut c_void) -> Status {
    match attribute {
        _ if pool.is_null() => keep(INVALID_VALUE),
        // Reuse of freed memory: always allowed, as by default.
        1..=3 => put(to.cast(), 1_i32),
        4..=8 => put(to.cast(), 0_u64),
        _ => keep(INVALID_VALUE),
    }
}

forward! {
    extern fn hipDeviceGetMemPool(pool: *mut *mut c_void, device: c_int) = memory::hipDeviceGetDefaultMemPool(pool, device);
    extern fn hipDeviceSetMemPool(device: c_int, pool: *mut c_void)
        = keep(if by_number(device).is_none() { INVALID_DEVICE } else { known(pool) });
    extern fn hipMemPoolCreate(pool: *mut *mut c_void, properties: *const c_void) = {
        static NEXT: AtomicUsize = AtomicUsize::new(0xa001);
        if properties.is_null() { keep(INVALID_VALUE) } else { put(pool, NEXT.fetch_add(1, Ordering::Relaxed) as *mut c_void) }
    };
    extern fn hipMemPoolDestroy(pool: *mut c_void) = known(pool);
    extern fn hipMemPoolGetAttribute(pool: *mut c_void, attribute: c_int, to: *mut c_void) = pool_value(pool, attribute, to);
    extern fn hipMemPoolSetAttribute(pool: *mut c_void, _attribute: c_int, _value: *mut c_void) = known(pool);
    extern fn hipMemPoolSetAccess(pool: *mut c_void, _list: *const c_void, _count: usize) = known(pool);
    /// Reports read and write access for every location.
    extern fn hipMemPoolGetAccess(to: *mut c_uint, _pool: *mut c_void, _location: *mut c_void) = put(to, 3);
    extern fn hipMallocFromPoolAsync(to: *mut *mut c_void, size: usize, _pool: *mut c_void, on: *mut c_void)
        = memory::hipMallocAsync(to, size, on);

    extern fn hipMemGetAllocationGranularity(to: *mut usize, _properties: *const c_void, _how: c_uint) = put(to, GRANULARITY);
    extern fn hipMemAddressReserve(to: *mut *mut c_void, size: usize, _alignment: usize, _at: *mut c_void, _flags: u64)
        = memory::hipHostMalloc(to, size, 0);
    extern fn hipMemAddressFree(at: *mut c_void, _size: usize) = memory::hipHostFree(at);
    extern fn hipMemCreate(to: *mut u64, size: usize, _properties: *const c_void, _flags: u64) = create(to, size);
    extern fn hipMemRelease(handle: u64) = keep(if handle == 0 { INVALID_VALUE } else { SUCCESS });
    extern fn hipMemMap(at: *mut c_void, _size: usize, _offset: usize, _handle: u64, _flags: u64) = mapped(at);
    extern fn hipMemUnmap(at: *mut c_void, _size: usize) = mapped(at);
    extern fn hipMemSetAccess(at: *mut c_void, _size: usize, _list: *const c_void, _count: usize) = mapped(at);

    extern fn hipMemGetAddressRange(start: *mut usize, size: *mut usize, at: *mut c_void) = match memory::place(at as usize) {
        Some(place) => {
            if !start.is_null() {
                *start = place.start;
            }
            if !size.is_null() {
                *size = place.size;
            }
            SUCCESS
        }
        None => keep(INVALID_VALUE),
    };
    extern fn hipMemPtrGetInfo(at: *mut c_void, size: *mut usize)
        = put(size, memory::place(at as usize).map_or(0, |place| place.size));
    extern fn hipPointerGetAttribute(to: *mut c_void, of: c_uint, at: *mut c_void) = attribute(to, of, at);
    /// Unlike the function for one attribute, this one answers 0 for memory that it does not know.
    extern fn hipDrvPointerGetAttributes(count: c_uint, list: *const c_uint, values: *mut *mut c_void, at: *mut c_void) = {
        if list.is_null() || values.is_null() {
            return keep(INVALID_VALUE);
        }
        for place in 0..count as usize {
            let (of, to) = (*list.add(place), *values.add(place));
            if memory::place(at as usize).is_none() {
                if !to.is_null() {
                    to.cast::<u32>().write_unaligned(0);
                }
            } else if attribute(to, of, at) != SUCCESS {
                return keep(INVALID_VALUE);
            }
        }
        SUCCESS
    };
    extern fn hipMemPrefetchAsync(at: *const c_void, _size: usize, _device: c_int, _on: *mut c_void)
        = keep(if at.is_null() { INVALID_VALUE } else { SUCCESS });
    extern fn hipHostGetFlags(flags: *mut c_uint, at: *mut c_void)
        = keep(if memory::place(at as usize).is_some_and(|place| place.host) { put(flags, 0) } else { INVALID_VALUE });
    /// Rows are aligned to 128 bytes (hip_runtime_api.h, hipMallocPitch).
    extern fn hipMallocPitch(to: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) = {
        let row = width.next_multiple_of(128);
        if put(pitch, row) == SUCCESS { memory::hipMalloc(to, row.saturating_mul(height)) } else { keep(INVALID_VALUE) }
    };
    extern fn hipMallocHost(to: *mut *mut c_void, size: usize) = memory::hipHostMalloc(to, size, 0);
    extern fn hipMemAllocHost(to: *mut *mut c_void, size: usize) = memory::hipHostMalloc(to, size, 0);
    extern fn hipFreeHost(at: *mut c_void) = memory::hipHostFree(at);
    extern fn hipMemAllocPitch(to: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize, _element: c_uint)
        = hipMallocPitch(to, pitch, width, height);
}
