//! Functions of the driver by name.

use crate::error::{INVALID_VALUE, SUCCESS, Status, keep};
use crate::{real, stubs};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `cudaDriverEntryPointQueryResult` and `CUdriverProcAddressQueryResult`.
const FOUND: c_uint = 0;
const NOT_FOUND: c_uint = 1;
/// `CUDA_ERROR_NOT_FOUND`.
const NO_SYMBOL: Status = 500;

/// A function of the driver, by its name without the number of a version. Only functions of this library are returned.
fn function(name: &CStr) -> *mut c_void {
    let this = real::loaded(c"libcuda.so.1");
    if this.is_null() || !name.to_bytes().starts_with(b"cu") {
        return core::ptr::null_mut();
    }
    let mut text = [0_u8; 128];
    for version in [&b""[..], b"_v2", b"_v3", b"_v4"] {
        text.fill(0);
        let bytes = name.to_bytes();
        let Some(room) = text.get_mut(..bytes.len() + version.len()) else { break };
        let (start, end) = room.split_at_mut(bytes.len());
        start.copy_from_slice(bytes);
        end.copy_from_slice(version);
        let Ok(tried) = CStr::from_bytes_until_nul(&text) else { break };
        let found = real::symbol(this, tried);
        if !found.is_null() {
            return found;
        }
    }
    core::ptr::null_mut()
}

/// SAFETY: `name` is null or a string; the others are null or the caller's variables.
unsafe fn look_up(name: *const c_char, to: *mut *mut c_void, result: *mut c_uint) -> Status {
    if name.is_null() || to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's string.
    let name = unsafe { CStr::from_ptr(name) };
    let found = function(name);
    if found.is_null() {
        stubs::note(name.to_bytes());
    }
    // SAFETY: the caller's variables.
    unsafe {
        *to = found;
        if !result.is_null() {
            *result = if found.is_null() { NOT_FOUND } else { FOUND };
        }
    }
    if found.is_null() { NO_SYMBOL } else { SUCCESS }
}

/// The runtime reports a missing function in `result` only.
///
/// SAFETY: as `look_up`.
unsafe fn for_runtime(name: *const c_char, to: *mut *mut c_void, result: *mut c_uint) -> Status {
    // SAFETY: guaranteed by the caller.
    match unsafe { look_up(name, to, result) } {
        NO_SYMBOL => SUCCESS,
        status => keep(status),
    }
}

forward! {
    extern fn cudaGetDriverEntryPoint(name: *const c_char, to: *mut *mut c_void, _flags: u64, result: *mut c_uint)
        = for_runtime(name, to, result);
    extern fn cudaGetDriverEntryPointByVersion(
        name: *const c_char, to: *mut *mut c_void, _version: c_uint, _flags: u64, result: *mut c_uint
    ) = for_runtime(name, to, result);
    extern fn cuGetProcAddress(name: *const c_char, to: *mut *mut c_void, _version: c_int, _flags: u64)
        = look_up(name, to, core::ptr::null_mut());
    extern fn cuGetProcAddress_v2(name: *const c_char, to: *mut *mut c_void, _version: c_int, _flags: u64, result: *mut c_uint)
        = look_up(name, to, result);
}
