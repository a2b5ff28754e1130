//! Reserved address ranges: plain memory from the start, so mapping a part of one changes nothing.

use crate::device::current;
use crate::error::{INVALID_VALUE, SUCCESS, Status};
use crate::memory;
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

/// The value of every card since Pascal.
const GRANULARITY: usize = 2 << 20;

fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's variable.
    unsafe { to.write(value) };
    SUCCESS
}

/// A handle of physical memory; its size counts towards the card's memory only when it is larger than the whole card.
fn create(to: *mut u64, size: usize) -> Status {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let fits = current().is_some_and(|device| size as u64 <= device.memory);
    if !fits || !size.is_multiple_of(GRANULARITY) {
        return if fits { INVALID_VALUE } else { crate::error::OUT_OF_MEMORY };
    }
    put(to, NEXT.fetch_add(1, Ordering::Relaxed))
}

forward! {
    extern fn cuMemGetAllocationGranularity(to: *mut usize, _properties: *const c_void, _how: c_uint) = put(to, GRANULARITY);
    extern fn cuMemAddressReserve(to: *mut *mut c_void, size: usize, _alignment: usize, _at: *mut c_void, _flags: u64)
        = memory::hipHostMalloc(to, size, 0);
    extern fn cuMemAddressFree(at: *mut c_void, _size: usize) = memory::hipHostFree(at);
    extern fn cuMemCreate(to: *mut u64, size: usize, _properties: *const c_void, _flags: u64) = create(to, size);
    extern fn cuMemRelease(_handle: u64) = SUCCESS;
    extern fn cuMemMap(at: *mut c_void, _size: usize, _offset: usize, _handle: u64, _flags: u64)
        = if memory::ours(at) { SUCCESS } else { INVALID_VALUE };
    extern fn cuMemUnmap(at: *mut c_void, _size: usize) = if memory::ours(at) { SUCCESS } else { INVALID_VALUE };
    extern fn cuMemSetAccess(at: *mut c_void, _size: usize, _list: *const c_void, _count: usize)
        = if memory::ours(at) { SUCCESS } else { INVALID_VALUE };
    /// The map is read by device code alone, so it stays empty.
    extern fn cuTensorMapEncodeTiled(to: *mut [u64; 16], _kind: c_int, _rank: c_uint, _address: *mut c_void) = put(to, [0; 16]);
}
