//! Reads from a hole of a file by releasing the destination's pages instead of filling them with zeros.
//!
//! Private anonymous memory reads as zeros after MADV_DONTNEED, like the hole of the file. Only large reads are
//! checked; everything else (no hole, another kind of memory) is read normally.

use crate::{SYS_MADVISE, real, syscall};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

const SYS_LSEEK: i64 = 8;
const SYS_READ: i64 = 0;
const SEEK_SET: i64 = 0;
const SEEK_CUR: i64 = 1;
const SEEK_END: i64 = 2;
const SEEK_DATA: i64 = 3;
const SEEK_HOLE: i64 = 4;
const DONTNEED: i64 = 4;
const PAGE: usize = 4096;
/// Below this size a read costs less than the checks.
const LARGE: usize = 1 << 20;

unsafe extern "C" {
    fn fileno(file: *mut c_void) -> c_int;
    fn ftello(file: *mut c_void) -> i64;
    fn fseeko(file: *mut c_void, offset: i64, whence: c_int) -> c_int;
    fn memset(at: *mut c_void, value: c_int, len: usize) -> *mut c_void;
}

/// SAFETY: only queries a descriptor.
unsafe fn seek(fd: c_int, offset: i64, whence: i64) -> i64 {
    // SAFETY: the same call as in the C library.
    unsafe { syscall(SYS_LSEEK, fd.into(), offset, whence, 0, 0, 0) }
}

/// The number of data bytes before the hole that fills the rest of `len` bytes from `offset` on; None if there is no
/// such hole. The descriptor's position is unchanged.
unsafe fn lead(fd: c_int, offset: i64, len: usize) -> Option<usize> {
    let end = offset.checked_add(i64::try_from(len).ok()?)?;
    // SAFETY: only queries. Each moves the descriptor's position, which is restored.
    let (hole, data, size) = unsafe {
        let before = seek(fd, 0, SEEK_CUR);
        if before < 0 {
            return None;
        }
        let hole = seek(fd, offset, SEEK_HOLE);
        let data = seek(fd, hole, SEEK_DATA);
        let size = seek(fd, 0, SEEK_END);
        seek(fd, before, SEEK_SET);
        (hole, data, size)
    };
    // An error means that no data follows the hole.
    let whole = size >= end && (data < 0 || data >= end);
    let lead = usize::try_from(hole.checked_sub(offset)?).ok()?;
    // The tensors begin in the last page of the header.
    (hole >= offset && whole && lead <= PAGE).then_some(lead)
}

/// Makes the memory read as zeros without filling it.
unsafe fn clear(at: *mut c_void, len: usize) -> bool {
    let start = (at as usize).next_multiple_of(PAGE);
    let end = (at as usize).saturating_add(len) / PAGE * PAGE;
    if end <= start {
        return false;
    }
    // SAFETY: only whole pages inside the caller's buffer, whose content the read would have replaced.
    unsafe {
        if syscall(SYS_MADVISE, start as i64, (end - start) as i64, DONTNEED, 0, 0, 0) != 0 {
            return false;
        }
        // Memory backed by a file would contain the file's data again.
        if (start as *const u64).read_volatile() != 0 || ((end - 8) as *const u64).read_volatile() != 0 {
            return false;
        }
        memset(at, 0, start - at as usize);
        memset(end as *mut c_void, 0, at as usize + len - end);
    }
    true
}

type Fread = unsafe extern "C" fn(*mut c_void, usize, usize, *mut c_void) -> usize;

fn next_fread() -> Option<Fread> {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    let mut next = NEXT.load(Ordering::Acquire);
    if next.is_null() {
        next = real::next(c"fread");
        NEXT.store(next, Ordering::Release);
    }
    // SAFETY: the C library's function of that name.
    (!next.is_null()).then(|| unsafe { core::mem::transmute::<*mut c_void, Fread>(next) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fread(to: *mut c_void, size: usize, count: usize, file: *mut c_void) -> usize {
    let Some(next) = next_fread() else { return 0 };
    let len = size.saturating_mul(count);
    // SAFETY: the caller's own file and buffer.
    unsafe {
        if len < LARGE || file.is_null() {
            return next(to, size, count, file);
        }
        let offset = ftello(file);
        let lead = if offset < 0 { None } else { lead(fileno(file), offset, len) };
        let Some(lead) = lead else { return next(to, size, count, file) };
        if next(to, 1, lead, file) == lead
            && clear(to.byte_add(lead), len - lead)
            && fseeko(file, (len - lead) as i64, SEEK_CUR as c_int) == 0
        {
            return count;
        }
        fseeko(file, offset, SEEK_SET as c_int);
        next(to, size, count, file)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, to: *mut c_void, len: usize) -> isize {
    // SAFETY: the caller's own descriptor and buffer.
    unsafe {
        if len >= LARGE {
            let offset = seek(fd, 0, SEEK_CUR);
            if offset >= 0
                && lead(fd, offset, len) == Some(0)
                && clear(to, len)
                && seek(fd, len as i64, SEEK_CUR) >= 0
            {
                return len as isize;
            }
        }
        syscall(SYS_READ, fd.into(), to as i64, len as i64, 0, 0, 0) as isize
    }
}
