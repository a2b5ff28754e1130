//! Large pages for programs that quickly fill tens of megabytes and then end. The kernel needs more time to provide a 4
//! KiB page than the program needs to fill it. A question to a source tree needs six thousand pages of 4 KiB, but only
//! a dozen of 2 MiB.

/// Lets the heap of the first thread grow by this many bytes at once, and requests large pages for it. The kernel never
/// provides the unused part. If this is not supported (another C library, a kernel without large pages), nothing
/// changes.
pub fn in_large_pages(bytes: usize) {
    #[cfg(target_env = "gnu")]
    {
        let Ok(pad) = libc::c_int::try_from(bytes) else { return };
        let past = pad.min(MOST);
        // SAFETY: sets two numbers of the allocator: how much the heap grows at once, and the mmap threshold.
        let set =
            unsafe { libc::mallopt(libc::M_TOP_PAD, pad) == 1 && libc::mallopt(libc::M_MMAP_THRESHOLD, past) == 1 };
        if !set {
            return;
        }
        // A size larger than the rest of the heap, so that the heap grows now.
        drop(std::hint::black_box(Vec::<u8>::with_capacity(GROWN)));
        // SAFETY: returns the end of the heap without moving it.
        let end = unsafe { libc::sbrk(0) };
        let start = end.wrapping_byte_sub(bytes).map_addr(|address| address.next_multiple_of(PAGE));
        // SAFETY: madvise changes no content. If the range is not part of the heap, the call fails or affects other
        // pages of this process.
        unsafe { libc::madvise(start, bytes - PAGE, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(target_env = "gnu")]
const PAGE: usize = 4096;

/// The largest mmap threshold that older versions accept (malloc/malloc.c, HEAP_MAX_SIZE / 2).
#[cfg(target_env = "gnu")]
const MOST: libc::c_int = 32 << 20;

/// Twice glibc's default growth of a heap.
#[cfg(target_env = "gnu")]
const GROWN: usize = 256 << 10;
