//! Small questions to the system.

use super::unsupported;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;

/// The desktop's program that opens a file or an address.
pub const OPENER: &str = "explorer.exe";

/// A number that belongs to no user, because this system has no numbered users.
pub fn user() -> u32 {
    u32::MAX
}

pub fn group() -> u32 {
    u32::MAX
}

pub fn is_root() -> bool {
    false
}

/// The name of this machine.
pub fn name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Free bytes on the file system of a path, as far as this user may use them.
#[cfg(windows)]
pub fn free_space(path: &Path) -> io::Result<u64> {
    use std::os::windows::ffi::OsStrExt as _;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetDiskFreeSpaceExW(dir: *const u16, free: *mut u64, all: *mut u64, all_free: *mut u64) -> i32;
    }
    let wide: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let mut free = 0;
    // SAFETY: reads a path that ends in 0 and writes one number; the other two may be null.
    match unsafe { GetDiskFreeSpaceExW(wide.as_ptr(), &raw mut free, std::ptr::null_mut(), std::ptr::null_mut()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(free),
    }
}

#[cfg(not(windows))]
pub fn free_space(_: &Path) -> io::Result<u64> {
    unsupported()
}

pub fn mount_flags(_: &Path) -> io::Result<u64> {
    unsupported()
}

pub fn may_write(_: &Path) -> bool {
    true
}

pub fn has_file_rights(_: &Path) -> bool {
    false
}

pub fn limits_files() -> bool {
    false
}

/// Always zero: the records that contain this time exist only on Linux.
pub fn monotonic() -> u64 {
    0
}

/// A copy of standard error, for a child's output.
#[cfg(windows)]
pub fn standard_error() -> io::Result<Stdio> {
    use std::os::windows::io::AsHandle as _;
    Ok(Stdio::from(io::stderr().as_handle().try_clone_to_owned()?))
}

#[cfg(not(windows))]
pub fn standard_error() -> io::Result<Stdio> {
    unsupported()
}

pub fn file_in_memory(_: &str) -> io::Result<File> {
    unsupported()
}

pub fn punch_hole(_: &File, _: u64, _: u64) -> io::Result<()> {
    unsupported()
}

pub fn signal(_: u32, _: i32) -> io::Result<()> {
    unsupported()
}

pub fn signal_group(_: u32, _: i32) -> io::Result<()> {
    unsupported()
}

/// Not measured on this system.
pub fn cpu_time() -> std::time::Duration {
    std::time::Duration::ZERO
}

/// No other process can be told from this one here.
pub fn hold_name(_name: &str) -> io::Result<()> {
    unsupported()
}

/// This system has no such service manager.
pub fn notify(_state: &str) {}
