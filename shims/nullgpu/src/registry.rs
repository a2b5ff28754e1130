//! Objects that live as long as the process: streams, graphs, modules, kernels. Allocated from slabs, found by address.

use crate::{lock::Lock, sys};

const SLAB: usize = 1 << 20;

struct Slab {
    next: usize,
    end: usize,
}

static SLAB_NOW: Lock<Slab> = Lock::new(Slab { next: 0, end: 0 });

/// A zeroed `T` that is never freed; None if the system has no memory.
pub fn new<T>() -> Option<&'static mut T> {
    let at = room(size_of::<T>())?.cast::<T>();
    // SAFETY: fresh zeroed memory, 16-byte aligned, without another owner; every `T` used here is plain data.
    Some(unsafe { &mut *at })
}

fn room(size: usize) -> Option<*mut u8> {
    let size = size.next_multiple_of(16);
    let mut slab = SLAB_NOW.lock();
    if slab.end - slab.next < size {
        let start = sys::zeroed(SLAB.max(size)) as usize;
        if start == 0 {
            return None;
        }
        *slab = Slab { next: start, end: start + SLAB.max(size) };
    }
    let at = slab.next as *mut u8;
    slab.next += size;
    Some(at)
}

/// Values that are never freed, from the slab: for many small lists.
#[allow(dead_code, reason = "only the HIP stand-in has lists of nodes")]
pub fn list<T: Copy>(values: impl ExactSizeIterator<Item = T>) -> Option<&'static mut [T]> {
    let count = values.len();
    let start = room(count.checked_mul(size_of::<T>())?)?.cast::<T>();
    for (place, value) in values.enumerate() {
        // SAFETY: inside the fresh memory, which is aligned for every `T` used here.
        unsafe { start.add(place).write(value) };
    }
    // SAFETY: `count` values were just written, and there is no other owner.
    Some(unsafe { core::slice::from_raw_parts_mut(start, count) })
}

/// Bytes that are never freed.
pub fn bytes(len: usize) -> Option<&'static mut [u8]> {
    let start = sys::zeroed(len);
    // SAFETY: fresh zeroed memory.
    (!start.is_null()).then(|| unsafe { core::slice::from_raw_parts_mut(start, len) })
}

/// An object that the program passed back: ours begin with the mark of their kind.
///
/// SAFETY: `at` is null or points to readable memory, as a handle of the real library would.
pub unsafe fn known<T>(at: *mut core::ffi::c_void, mark: u64) -> Option<&'static mut T> {
    if at.is_null() || !at.cast::<u64>().is_aligned() || (at as usize) < 4096 {
        return None;
    }
    // SAFETY: guaranteed by the caller; a handle from `new` stays valid forever.
    unsafe { if at.cast::<u64>().read() == mark { Some(&mut *at.cast::<T>()) } else { None } }
}
