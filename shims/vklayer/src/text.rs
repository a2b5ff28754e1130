//! C strings of the program, with a length limit.

use core::ffi::{CStr, c_char};

/// The maximum length of a name.
const MOST: usize = 4096;

/// SAFETY: `at` must be null, or a NUL-terminated string that lives for the call.
pub unsafe fn text<'a>(at: *const c_char) -> &'a [u8] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { CStr::from_ptr(at) }.to_bytes();
    bytes.get(..bytes.len().min(MOST)).unwrap_or(bytes)
}

/// A field of fixed length up to its NUL.
pub fn field(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.get(..len).unwrap_or(bytes)
}
