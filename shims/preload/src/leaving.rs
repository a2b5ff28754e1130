//! Processes that move to a root or mount namespace in which the record's directory is not visible. Processes that they
//! start there are not seen, which is reported.
//!
//! The record is started before that, so that the process itself is still seen.

use crate::blind;
use core::ffi::{c_char, c_int, c_void};

wrap! {
    fn chroot(path: *const c_char) -> c_int, or -1; |real| {
        blind(b"chroot");
        // SAFETY: forwards the caller's own argument.
        unsafe { real(path) }
    }
    fn unshare(what: c_int) -> c_int, or -1; |real| {
        const MOUNTS: c_int = 0x0002_0000;
        if what & MOUNTS != 0 {
            blind(b"unshare");
        }
        // SAFETY: forwards the caller's own argument.
        unsafe { real(what) }
    }
    fn setns(to: c_int, what: c_int) -> c_int, or -1; |real| {
        blind(b"setns");
        // SAFETY: forwards the caller's own arguments.
        unsafe { real(to, what) }
    }
}
