//! mount(2) and umount2(2).

use crate::fake;
use std::ffi::CStr;
use std::io;
use std::ptr;

/// Mounts the kernel's tracefs on a directory.
pub fn tracefs(at: &CStr) -> io::Result<()> {
    mount(Some(c"nodev"), at, Some(c"tracefs"), 0, None)
}

/// Removes an unused mount.
pub fn unmount(at: &CStr) -> io::Result<()> {
    // SAFETY: a NUL-terminated path.
    check(unsafe { libc::umount2(at.as_ptr(), 0) })
}

/// Makes a single system call, so a forked child may call it.
pub(crate) fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    data: Option<&CStr>,
) -> io::Result<()> {
    fake::outcome(fake::Call::Mount)?;
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    let data = pointer(data).cast::<libc::c_void>();
    // SAFETY: null or NUL-terminated strings that live through the call.
    check(unsafe { libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, data) })
}

/// Converts the result of a call that returns -1 on failure.
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
