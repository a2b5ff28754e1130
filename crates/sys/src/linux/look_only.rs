//! Restricts this process to reading: the kernel refuses every write, every program except the named ones, and TCP.
//!
//! Landlock (Documentation/userspace-api/landlock.rst): a thread gives up rights for itself and everything that it
//! starts, and cannot get them back. Open descriptors are not affected, so standard output still works.

use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use say::say;
use std::io;
use std::path::Path;

/// include/uapi/linux/landlock.h: `LANDLOCK_ACCESS_FS_*`.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
/// Removing and creating entries of every kind: bits 4 to 12.
const ENTRIES: u64 = 0x1ff0;
/// A right that exists since version 2 of the interface.
const REFER: u64 = 1 << 13;
/// A right that exists since version 3 of the interface.
const TRUNCATE: u64 = 1 << 14;
/// `LANDLOCK_ACCESS_NET_BIND_TCP` and `_CONNECT_TCP`, since version 4.
const TCP: u64 = 3;
const VERSION: u32 = 1;
const PATH_BENEATH: u32 = 1;

#[repr(C)]
struct Ruleset {
    fs: u64,
    net: u64,
}

#[repr(C, packed)]
struct Beneath {
    access: u64,
    parent: i32,
}

/// The operations that the kernel refuses from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    pub writes: bool,
    pub tcp: bool,
}

/// Must be called before the first thread is started. `programs` and their loaders may still be executed. Fails with
/// kind Unsupported if the kernel has no Landlock; then nothing was given up.
pub fn look_only(programs: &[&Path]) -> io::Result<Refused> {
    // SAFETY: with a null pointer and this flag, the call only returns the version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION) };
    if version < 1 {
        return Err(io::Error::new(io::ErrorKind::Unsupported, say!("sys-no-landlock")));
    }
    let mut fs = EXECUTE | WRITE_FILE | ENTRIES;
    fs |= if version >= 2 { REFER } else { 0 };
    fs |= if version >= 3 { TRUNCATE } else { 0 };
    let tcp = version >= 4;
    let rules = Ruleset { fs, net: if tcp { TCP } else { 0 } };
    // Before version 4 the structure had one field; the kernel accepts the smaller size.
    let size = if tcp { size_of::<Ruleset>() } else { size_of::<u64>() };
    // SAFETY: `rules` lives across the call and `size` is at most its size.
    let made = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rules, size, 0_u32) };
    let made = i32::try_from(made).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the call returned this descriptor, and it has no other owner.
    let ruleset = unsafe { OwnedFd::from_raw_fd(made) };
    for program in programs {
        allow(&ruleset, program, EXECUTE)?;
    }
    // Programs open /dev/null to discard output.
    allow(&ruleset, Path::new("/dev/null"), WRITE_FILE)?;
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: takes a descriptor and no pointer.
    let restricted = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
    if restricted != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Refused { writes: true, tcp })
}

/// A missing file needs no rule.
fn allow(ruleset: &OwnedFd, path: &Path, access: u64) -> io::Result<()> {
    let Ok(file) = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return Ok(()) };
    let rule = Beneath { access, parent: file.as_raw_fd() };
    // SAFETY: `rule` lives across the call and has the layout for this kind of rule.
    let added = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0_u32)
    };
    if added == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Runs in a separate thread, because only that thread loses its rights.
    #[test]
    fn nothing_is_written_started_or_connected_to_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("there");
        std::fs::write(&file, "before").unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let path = file.clone();
        let done = std::thread::spawn(move || {
            let refused = match look_only(&[]) {
                Ok(refused) => refused,
                // Cannot be tested on a kernel without Landlock; the server reports that in its instructions.
                Err(error) => return assert_eq!(error.kind(), io::ErrorKind::Unsupported),
            };
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
            assert!(std::fs::write(&path, "after").is_err());
            assert!(std::fs::write(path.with_extension("new"), "x").is_err());
            assert!(std::fs::remove_file(&path).is_err());
            assert!(std::fs::create_dir(path.with_extension("dir")).is_err());
            assert!(Command::new("/bin/true").status().is_err());
            assert!(!refused.tcp || std::net::TcpStream::connect(address).is_err());
        });
        done.join().unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
    }
}
