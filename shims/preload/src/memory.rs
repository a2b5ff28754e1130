//! Memory that is never freed: names and descriptions of kernels, allocated at registration, not at launch.

use crate::{lock::Lock, sys};

const SLAB: usize = 1 << 20;

struct Slab {
    next: usize,
    end: usize,
}

static NOW: Lock<Slab> = Lock::new(Slab { next: 0, end: 0 });

/// Zeroed bytes with 16-byte alignment; null if the system has none.
pub fn take(len: usize) -> *mut u8 {
    let size = len.max(1).next_multiple_of(16);
    let mut slab = NOW.lock();
    if slab.end - slab.next < size {
        let start = sys::zeroed(SLAB.max(size)) as usize;
        if start == 0 {
            return core::ptr::null_mut();
        }
        *slab = Slab { next: start, end: start + SLAB.max(size) };
    }
    let at = slab.next as *mut u8;
    slab.next += size;
    at
}

/// Allocates some of it in advance, because it will be impossible later.
pub fn prepare() {
    let start = sys::zeroed(SLAB) as usize;
    if start != 0 {
        *NOW.lock() = Slab { next: start, end: start + SLAB };
    }
}

/// A copy that lives as long as the process: the library that contains a string may be closed.
pub fn keep(bytes: &[u8]) -> Option<&'static [u8]> {
    let to = take(bytes.len());
    if to.is_null() {
        return None;
    }
    // SAFETY: fresh memory of that length.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        Some(core::slice::from_raw_parts(to, bytes.len()))
    }
}

/// In a forked child the owner of the lock does not exist.
pub fn after_fork() {
    NOW.reset();
}

/// `unnamed@7f12...`, without allocating memory.
pub struct Address {
    text: [u8; 24],
    len: usize,
}

impl Address {
    pub fn as_slice(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or(&[])
    }
}

pub fn address(at: usize) -> Address {
    let mut text = *b"unnamed@0000000000000000";
    for (place, to) in text.iter_mut().skip(8).enumerate() {
        let digit = (at >> (60 - 4 * place) & 15) as u8;
        *to = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
    }
    Address { text, len: 24 }
}
