//! Finds the functions of the library that a shim wraps.
//!
//! The old version of each symbol is requested by name: glibc 2.34 moved them to a new version that older systems lack.

use core::ffi::{CStr, c_char, c_int, c_void};

core::arch::global_asm!(
    ".symver dlsym, dlsym@GLIBC_2.2.5",
    ".symver dlopen, dlopen@GLIBC_2.2.5",
    ".symver dlerror, dlerror@GLIBC_2.2.5",
);

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;
const RTLD_NOW: c_int = 2;
const RTLD_NOLOAD: c_int = 4;

/// The next definition of `name` after this library, in the loader's order.
#[allow(dead_code, reason = "not every shim needs it")]
pub fn next(name: &CStr) -> *mut c_void {
    // SAFETY: only queries the loader.
    unsafe { dlsym(RTLD_NEXT, name.as_ptr()) }
}

#[allow(dead_code, reason = "not every shim needs it")]
pub fn open(path: &CStr) -> *mut c_void {
    // SAFETY: loads a library, or returns null.
    unsafe { dlopen(path.as_ptr(), RTLD_NOW) }
}

/// The loader's error message for the last failed `open`.
#[allow(dead_code, reason = "not every shim needs it")]
pub fn trouble() -> Option<&'static CStr> {
    // SAFETY: null, or a string that is valid until the next call.
    unsafe {
        let text = dlerror();
        if text.is_null() { None } else { Some(CStr::from_ptr(text)) }
    }
}

/// A library that the process has already loaded; null if it has not.
#[allow(dead_code, reason = "not every shim needs it")]
pub fn loaded(path: &CStr) -> *mut c_void {
    // SAFETY: as above, and loads nothing.
    unsafe { dlopen(path.as_ptr(), RTLD_NOW | RTLD_NOLOAD) }
}

#[allow(dead_code, reason = "not every shim needs it")]
pub fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle from `open`.
    unsafe { dlsym(library, name.as_ptr()) }
}
