//! What the child does between fork and exec: prepared system calls, one after the other.
//!
//! Only async-signal-safe work is allowed there (signal-safety(7)): no allocation, no locks. All strings are made
//! before the fork; an error is an errno and the number of the step, written to a pipe.

#![allow(unsafe_code, reason = "raw system calls after fork; each call passes pointers that outlive it")]

use std::{ffi::CString, io, ptr};

#[derive(Debug)]
pub enum Step {
    /// A mount namespace; root tries without a user namespace first. The maps keep the user's own ids.
    Unshare {
        root: bool,
        uid_map: Vec<u8>,
        gid_map: Vec<u8>,
    },
    /// No mount of ours shall show outside.
    Private,
    Tmpfs(CString),
    Directory(CString),
    File(CString),
    Link {
        target: CString,
        at: CString,
    },
    Bind {
        source: CString,
        target: CString,
    },
    /// Best effort: a tree on an odd file system is still usable when it cannot be made read-only.
    ReadOnly {
        target: CString,
        flags: libc::c_ulong,
    },
    Chroot(CString),
    Chdir(CString),
}

/// The command's child takes these steps between fork and exec; `tell` hears the number of one that failed.
pub fn before_exec(command: &mut std::process::Command, steps: Vec<Step>, tell: i32) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure makes system calls on memory that was prepared before the fork, and nothing else.
    unsafe {
        command.pre_exec(move || run(&steps, tell));
    }
}

fn run(steps: &[Step], tell: i32) -> io::Result<()> {
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = one(step) {
            let number = (number as u16).to_le_bytes();
            // SAFETY: two bytes on this stack.
            unsafe { libc::write(tell, number.as_ptr().cast(), number.len()) };
            return Err(error);
        }
    }
    Ok(())
}

fn one(step: &Step) -> io::Result<()> {
    // SAFETY (all calls below): every pointer is a NUL-terminated string or buffer owned by `step`.
    match step {
        Step::Unshare { root, uid_map, gid_map } => unshare(*root, uid_map, gid_map),
        Step::Private => mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None),
        Step::Tmpfs(at) => mount(Some(c"tmpfs"), at, Some(c"tmpfs"), 0, Some(c"mode=755")),
        Step::Directory(at) => match check(unsafe { libc::mkdir(at.as_ptr(), 0o755) }) {
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
            made => made,
        },
        Step::File(at) => {
            let fd = unsafe { libc::open(at.as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o644) };
            check(fd)?;
            check(unsafe { libc::close(fd) })
        }
        Step::Link { target, at } => check(unsafe { libc::symlink(target.as_ptr(), at.as_ptr()) }),
        Step::Bind { source, target } => mount(Some(source), target, None, libc::MS_BIND | libc::MS_REC, None),
        Step::ReadOnly { target, flags } => {
            let _ = mount(None, target, None, libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY | flags, None);
            Ok(())
        }
        Step::Chroot(to) => check(unsafe { libc::chroot(to.as_ptr()) }),
        Step::Chdir(to) => check(unsafe { libc::chdir(to.as_ptr()) }),
    }
}

fn unshare(root: bool, uid_map: &[u8], gid_map: &[u8]) -> io::Result<()> {
    // SAFETY: no pointers.
    if root && unsafe { libc::unshare(libc::CLONE_NEWNS) } == 0 {
        return Ok(());
    }
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) })?;
    // user_namespaces(7): gid_map may be written by an ordinary user only after setgroups is denied.
    put(c"/proc/self/setgroups", b"deny")?;
    put(c"/proc/self/uid_map", uid_map)?;
    put(c"/proc/self/gid_map", gid_map)
}

fn put(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: `path` is NUL-terminated, `text` is a live slice.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    check(fd)?;
    let written = unsafe { libc::write(fd, text.as_ptr().cast(), text.len()) };
    let error = io::Error::last_os_error();
    unsafe { libc::close(fd) };
    if written < 0 { Err(error) } else { Ok(()) }
}

fn mount(
    source: Option<&std::ffi::CStr>,
    target: &std::ffi::CStr,
    kind: Option<&std::ffi::CStr>,
    flags: libc::c_ulong,
    data: Option<&std::ffi::CStr>,
) -> io::Result<()> {
    let pointer = |text: Option<&std::ffi::CStr>| text.map_or(ptr::null(), std::ffi::CStr::as_ptr);
    // SAFETY: null or NUL-terminated strings that live through the call.
    check(unsafe {
        libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, pointer(data).cast::<libc::c_void>())
    })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
