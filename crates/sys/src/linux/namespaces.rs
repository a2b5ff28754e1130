//! The steps of a child between fork and exec: a sequence of prepared system calls.
//!
//! Only async-signal-safe work is allowed there (signal-safety(7)): no allocation, no locks. All strings are created
//! before the fork. An error is written to a pipe as an errno and the number of the step.

use crate::fake;
pub use crate::kernel_types::NamespaceStep;
use crate::mount::{check, mount};
use std::ffi::CStr;
use std::io;

/// The command's child takes these steps between fork and exec; `tell` receives the number of a failed step.
pub fn before_exec(command: &mut std::process::Command, steps: Vec<NamespaceStep>, tell: i32) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure makes system calls on memory that was prepared before the fork, and nothing else.
    unsafe {
        command.pre_exec(move || run(&steps, tell));
    }
}

fn run(steps: &[NamespaceStep], tell: i32) -> io::Result<()> {
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

fn one(step: &NamespaceStep) -> io::Result<()> {
    match step {
        NamespaceStep::Unshare { root, uid_map, gid_map } => unshare(*root, uid_map, gid_map),
        NamespaceStep::Private => mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None),
        NamespaceStep::Tmpfs(at) => mount(Some(c"tmpfs"), at, Some(c"tmpfs"), 0, Some(c"mode=755")),
        // SAFETY: a NUL-terminated path.
        NamespaceStep::Directory(at) => match check(unsafe { libc::mkdir(at.as_ptr(), 0o755) }) {
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
            made => made,
        },
        NamespaceStep::File(at) => {
            // SAFETY: a NUL-terminated path.
            let fd = unsafe { libc::open(at.as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o644) };
            check(fd)?;
            // SAFETY: opened just above, without another owner.
            check(unsafe { libc::close(fd) })
        }
        // SAFETY: two NUL-terminated paths.
        NamespaceStep::Link { target, at } => check(unsafe { libc::symlink(target.as_ptr(), at.as_ptr()) }),
        NamespaceStep::Bind { source, target } => mount(Some(source), target, None, libc::MS_BIND | libc::MS_REC, None),
        NamespaceStep::ReadOnly { target, flags } => {
            let _ = mount(None, target, None, libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY | flags, None);
            Ok(())
        }
        NamespaceStep::Chroot(to) => change_root(to),
        // SAFETY: a NUL-terminated path.
        NamespaceStep::Chdir(to) => check(unsafe { libc::chdir(to.as_ptr()) }),
    }
}

fn unshare(root: bool, uid_map: &[u8], gid_map: &[u8]) -> io::Result<()> {
    // SAFETY: no pointers; the child has a single thread.
    if root && unsafe { libc::unshare(libc::CLONE_NEWNS) } == 0 {
        return Ok(());
    }
    own_user_and_mounts()?;
    deny_groups()?;
    map_users(uid_map)?;
    map_groups(gid_map)
}

/// Enters a new user and mount namespace; for single-threaded processes.
pub(crate) fn own_user_and_mounts() -> io::Result<()> {
    fake::outcome(fake::Call::Unshare)?;
    // SAFETY: no pointers.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) })
}

/// user_namespaces(7): gid_map may be written by an ordinary user only after setgroups is denied.
pub(crate) fn deny_groups() -> io::Result<()> {
    put(c"/proc/self/setgroups", b"deny")
}

pub(crate) fn map_users(text: &[u8]) -> io::Result<()> {
    put(c"/proc/self/uid_map", text)
}

pub(crate) fn map_groups(text: &[u8]) -> io::Result<()> {
    put(c"/proc/self/gid_map", text)
}

pub(crate) fn change_root(to: &CStr) -> io::Result<()> {
    // SAFETY: a NUL-terminated path.
    check(unsafe { libc::chroot(to.as_ptr()) })
}

fn put(path: &CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: a NUL-terminated path.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    check(fd)?;
    // SAFETY: a live slice.
    let written = unsafe { libc::write(fd, text.as_ptr().cast(), text.len()) };
    let error = io::Error::last_os_error();
    // SAFETY: opened just above, without another owner.
    unsafe { libc::close(fd) };
    // The kernel accepts the text in full or not at all.
    if written < 0 { Err(error) } else { Ok(()) }
}
