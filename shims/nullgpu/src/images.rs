//! Keeps the images that a program compiles and loads itself, so that the parent can read their kernels' resources afterwards.

use crate::{sys, world};
use core::ffi::CStr;

/// An image is at most a few megabytes; a larger one is not kept.
const MOST: usize = 64 << 20;

/// Writes the image once, as `image.HASH` in the directory of the records. If that fails, its registers stay unknown.
pub fn keep(image: &[u8], hash: u64) {
    if image.is_empty() || image.len() > MOST {
        return;
    }
    let mut name = *b"/image.0000000000000000\0";
    for (place, digit) in name.iter_mut().skip(7).take(16).enumerate() {
        *digit = b"0123456789abcdef".get((hash >> (60 - 4 * place) & 15) as usize).copied().unwrap_or(b'0');
    }
    let mut buffer = [0; 1024];
    let Some(path) = world::path(&name, &mut buffer) else { return };
    write(path, image);
}

fn write(path: &CStr, image: &[u8]) {
    let Some(fd) = sys::create(path) else { return };
    if sys::grow(fd, 0, image.len() as u64) {
        let at = sys::map_shared(fd, 0, image.len(), core::ptr::null_mut());
        if !at.is_null() {
            // SAFETY: a fresh mapping of the file, as long as the image.
            unsafe {
                core::ptr::copy_nonoverlapping(image.as_ptr(), at, image.len());
                sys::munmap(at.cast(), image.len());
            }
        }
    }
    sys::shut(fd);
}
