//! May an unprivileged process have its own user and mount namespace, map itself to root there and chroot?
//!
//! The dry run enters an unpacked distribution that way. Some systems refuse the first step, others allow it and
//! then refuse what it is for (AppArmor on Ubuntu), so all three are tried.

#![allow(unsafe_code, reason = "unshare, chroot and raw file writes in a forked child")]

use crate::trials::Trial;
use std::ffi::{CStr, CString};
use std::io;
use sys::child;
use sys::child::Failure;

pub fn enter() -> Trial {
    // SAFETY: no arguments, cannot fail.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    // Made before the fork: the child must not allocate.
    let (Ok(uid_map), Ok(gid_map)) = (CString::new(format!("0 {uid} 1")), CString::new(format!("0 {gid} 1"))) else {
        return Trial::missing("uid");
    };
    let steps = || {
        // SAFETY: flags only; the child has a single thread, as CLONE_NEWUSER requires.
        if unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) } != 0 {
            return Err(Failure::last(1));
        }
        write(c"/proc/self/setgroups", c"deny", 2)?;
        write(c"/proc/self/uid_map", &uid_map, 3)?;
        write(c"/proc/self/gid_map", &gid_map, 4)?;
        // SAFETY: a constant, NUL-terminated path.
        if unsafe { libc::chroot(c"/".as_ptr()) } != 0 {
            return Err(Failure::last(5));
        }
        Ok(())
    };
    match child::run(steps) {
        Ok(Ok(())) => Trial::worked("unshare, uid_map, chroot"),
        Ok(Err(failure)) => {
            let call = match failure.stage {
                1 => "unshare(CLONE_NEWUSER | CLONE_NEWNS)",
                2 => "/proc/self/setgroups",
                3 => "/proc/self/uid_map",
                4 => "/proc/self/gid_map",
                _ => "chroot",
            };
            Trial::refused(call, &io::Error::from_raw_os_error(failure.errno))
        }
        Err(error) => Trial::refused("fork", &error),
    }
}

fn write(path: &CStr, text: &CStr, stage: u8) -> Result<(), Failure> {
    let bytes = text.to_bytes();
    // SAFETY: the path is NUL-terminated, the buffer has `len` bytes, the descriptor is closed here.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(Failure::last(stage));
        }
        let written = libc::write(fd, bytes.as_ptr().cast(), bytes.len());
        let failure = Failure::last(stage);
        libc::close(fd);
        if usize::try_from(written) == Ok(bytes.len()) { Ok(()) } else { Err(failure) }
    }
}
