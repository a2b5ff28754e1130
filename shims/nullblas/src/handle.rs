//! Handles, the real library, and the calls that are not GEMMs.

use crate::real;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

pub type Status = u32;
pub const SUCCESS: Status = 0;
const NOT_INITIALIZED: Status = 1;
const INVALID_VALUE: Status = 3;

const HANDLES: usize = 256;
/// The streams of the handles; a handle is the address of its slot.
static STREAMS: [AtomicPtr<c_void>; HANDLES] = [const { AtomicPtr::new(core::ptr::null_mut()) }; HANDLES];
/// Handles of the real library, if there is one; the stream is at the same offset.
static REAL: [AtomicPtr<c_void>; HANDLES] = [const { AtomicPtr::new(core::ptr::null_mut()) }; HANDLES];
static USED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn write(fd: c_int, from: *const c_void, len: usize) -> isize;
    fn getenv(name: *const c_char) -> *const c_char;
}

/// The library that an environment variable names, opened once; null if it names none.
pub fn named(kept: &AtomicPtr<c_void>, variable: &CStr) -> *mut c_void {
    const NONE: *mut c_void = 1 as *mut c_void;
    let known = kept.load(Ordering::Acquire);
    if !known.is_null() {
        return if known == NONE { core::ptr::null_mut() } else { known };
    }
    // SAFETY: a string of the environment, or null.
    let found = unsafe {
        let path = getenv(variable.as_ptr());
        if path.is_null() { core::ptr::null_mut() } else { real::open(CStr::from_ptr(path)) }
    };
    // SAFETY: as above.
    if found.is_null() && !unsafe { getenv(variable.as_ptr()) }.is_null() {
        complain();
    }
    kept.store(if found.is_null() { NONE } else { found }, Ordering::Release);
    found
}

/// Reports the loader's error for a requested library that cannot be opened, so that the run ends with it.
fn complain() {
    let parts = [b"whichkernel: " as &[u8], real::trouble().map_or(b"no reason given", CStr::to_bytes), b" (fatal error)\n"];
    for part in parts {
        // SAFETY: writes our own bytes.
        unsafe { write(2, part.as_ptr().cast(), part.len()) };
    }
}

/// Whether a variable names a library that could not be opened.
fn lost(variable: &CStr, library: *mut c_void) -> bool {
    // SAFETY: only reads the environment.
    library.is_null() && !unsafe { getenv(variable.as_ptr()) }.is_null()
}

/// The real hipBLAS, if WHICHKERNEL_HIPBLAS names it.
pub fn library() -> *mut c_void {
    static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    named(&LIBRARY, c"WHICHKERNEL_HIPBLAS")
}

/// A function of the real library, or null.
pub fn function(name: &CStr) -> *mut c_void {
    let library = library();
    if library.is_null() { core::ptr::null_mut() } else { real::symbol(library, name) }
}

fn place(handle: *mut c_void) -> Option<usize> {
    let start = STREAMS.as_ptr() as usize;
    let offset = (handle as usize).checked_sub(start)?;
    let index = offset / size_of::<AtomicPtr<c_void>>();
    (index < HANDLES && offset % size_of::<AtomicPtr<c_void>>() == 0).then_some(index)
}

pub fn stream(handle: *mut c_void) -> *mut c_void {
    place(handle).and_then(|i| STREAMS.get(i)).map_or(core::ptr::null_mut(), |s| s.load(Ordering::Acquire))
}

pub fn behind(handle: *mut c_void) -> *mut c_void {
    place(handle).and_then(|i| REAL.get(i)).map_or(core::ptr::null_mut(), |s| s.load(Ordering::Acquire))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasCreate(to: *mut *mut c_void) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    if lost(c"WHICHKERNEL_HIPBLAS", library()) || lost(c"WHICHKERNEL_HIPBLASLT", crate::lt::library()) {
        return NOT_INITIALIZED;
    }
    let index = USED.fetch_add(1, Ordering::AcqRel) % HANDLES;
    let (Some(slot), Some(real)) = (STREAMS.get(index), REAL.get(index)) else { return NOT_INITIALIZED };
    slot.store(core::ptr::null_mut(), Ordering::Release);
    let create = function(c"hipblasCreate");
    if !create.is_null() {
        let mut handle = core::ptr::null_mut();
        // SAFETY: the real function of that name.
        let status = unsafe {
            core::mem::transmute::<*mut c_void, extern "C" fn(*mut *mut c_void) -> Status>(create)(&raw mut handle)
        };
        if status != SUCCESS {
            return status;
        }
        real.store(handle, Ordering::Release);
    }
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_ref(slot).cast_mut().cast() };
    SUCCESS
}

/// Forwards a call with one or two arguments on a real handle.
fn hand_on(name: &CStr, handle: *mut c_void, value: *mut c_void) -> Status {
    let call = function(name);
    if call.is_null() {
        return SUCCESS;
    }
    // SAFETY: the real function of that name; the calling convention ignores a surplus argument.
    unsafe {
        core::mem::transmute::<*mut c_void, extern "C" fn(*mut c_void, *mut c_void) -> Status>(call)(
            behind(handle),
            value,
        )
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipblasDestroy(handle: *mut c_void) -> Status {
    if place(handle).is_none() {
        return NOT_INITIALIZED;
    }
    hand_on(c"hipblasDestroy", handle, core::ptr::null_mut())
}

#[unsafe(no_mangle)]
pub extern "C" fn hipblasSetStream(handle: *mut c_void, on: *mut c_void) -> Status {
    let Some(slot) = place(handle).and_then(|i| STREAMS.get(i)) else { return NOT_INITIALIZED };
    slot.store(on, Ordering::Release);
    hand_on(c"hipblasSetStream", handle, on)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipblasSetMathMode(handle: *mut c_void, mode: c_int) -> Status {
    if place(handle).is_none() {
        return NOT_INITIALIZED;
    }
    hand_on(c"hipblasSetMathMode", handle, mode as usize as *mut c_void)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipblasSetPointerMode(handle: *mut c_void, mode: c_int) -> Status {
    if place(handle).is_none() {
        return NOT_INITIALIZED;
    }
    hand_on(c"hipblasSetPointerMode", handle, mode as usize as *mut c_void)
}

const VERSION: &CStr = c"0.0.0.whichkernel-records-calls-only";

/// Forwards to the real rocBLAS, which then loads its catalog early.
#[unsafe(no_mangle)]
pub extern "C" fn rocblas_initialize() {
    let call = function(c"rocblas_initialize");
    if !call.is_null() {
        // SAFETY: the real function of that name.
        unsafe { core::mem::transmute::<*mut c_void, extern "C" fn()>(call)() }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_get_version_string_size(len: *mut usize) -> Status {
    let call = function(c"rocblas_get_version_string_size");
    if !call.is_null() {
        // SAFETY: the real function of that name.
        return unsafe { core::mem::transmute::<*mut c_void, extern "C" fn(*mut usize) -> Status>(call)(len) };
    }
    if !len.is_null() {
        // SAFETY: the caller's variable.
        unsafe { *len = VERSION.count_bytes() + 1 };
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_get_version_string(to: *mut c_char, len: usize) -> Status {
    let call = function(c"rocblas_get_version_string");
    if !call.is_null() {
        // SAFETY: the real function of that name.
        return unsafe {
            core::mem::transmute::<*mut c_void, extern "C" fn(*mut c_char, usize) -> Status>(call)(to, len)
        };
    }
    if to.is_null() || len <= VERSION.count_bytes() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller gave `len` bytes.
    unsafe { core::ptr::copy_nonoverlapping(VERSION.as_ptr(), to, VERSION.count_bytes() + 1) };
    SUCCESS
}
