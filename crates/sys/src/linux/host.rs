//! Small questions to the system: who we are, the name of this machine, free space; and signals.

use rustix::fs::StatVfsMountFlags;
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;

/// The desktop's program that opens a file or an address.
pub const OPENER: &str = "xdg-open";

/// The user whose rights this process has.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The group whose rights this process has.
pub fn group() -> u32 {
    rustix::process::getegid().as_raw()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The name of this machine.
pub fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Free bytes on the file system of a path, as far as this user may use them.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The flags that the file system of a path is mounted with, as mount(2) takes them.
pub fn mount_flags(path: &Path) -> io::Result<u64> {
    let have = rustix::fs::statvfs(path)?.f_flag;
    let pairs = [
        (StatVfsMountFlags::NOSUID, libc::MS_NOSUID),
        (StatVfsMountFlags::NODEV, libc::MS_NODEV),
        (StatVfsMountFlags::NOEXEC, libc::MS_NOEXEC),
        (StatVfsMountFlags::NOATIME, libc::MS_NOATIME),
        (StatVfsMountFlags::NODIRATIME, libc::MS_NODIRATIME),
        (StatVfsMountFlags::RELATIME, libc::MS_RELATIME),
    ];
    Ok(pairs.into_iter().filter(|(flag, _)| have.contains(*flag)).fold(0, |all, (_, flag)| all | flag))
}

/// Whether this user may write to a directory.
pub fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Whether a program gets rights from its file (`setcap`).
pub fn has_file_rights(program: &Path) -> bool {
    let mut buffer = [0_u8; 64];
    rustix::fs::getxattr(program, "security.capability", &mut buffer[..]).is_ok_and(|len| len > 0)
}

/// Whether this process may only write files of limited length.
pub fn limits_files() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some()
}

/// Time since the machine started, in nanoseconds, as in the events of the Linux kernel.
pub fn monotonic() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned().saturating_mul(1_000_000_000).saturating_add(now.tv_nsec.cast_unsigned())
}

/// The CPU time of this process with all its threads.
pub fn cpu_time() -> std::time::Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    std::time::Duration::new(used.tv_sec.cast_unsigned(), u32::try_from(used.tv_nsec).unwrap_or(0))
}

/// A name that only one process of this machine can hold at a time, without a file; it is free again when the process
/// ends.
pub fn hold_name(name: &str) -> io::Result<std::os::unix::net::UnixListener> {
    use std::os::linux::net::SocketAddrExt as _;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    std::os::unix::net::UnixListener::bind_addr(&address)
}

/// Tells the service manager about this service (sd_notify(3)); without one, nothing happens.
pub fn notify(state: &str) {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let bytes = path.as_encoded_bytes();
    let address = match bytes.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        let _ = socket.set_nonblocking(true).and_then(|()| socket.send_to_addr(state.as_bytes(), &address));
    }
}

/// A copy of standard error, for a child's output.
pub fn standard_error() -> io::Result<Stdio> {
    Ok(Stdio::from(rustix::io::dup(io::stderr())?))
}

/// A file that exists only in memory.
pub fn file_in_memory(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?))
}

/// Returns the storage of a part of a file to the file system; the part then reads as zeros.
pub fn punch_hole(file: &File, start: u64, len: u64) -> io::Result<()> {
    use rustix::fs::FallocateFlags;
    Ok(rustix::fs::fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, start, len)?)
}

/// Sends a signal (`abi::SIGTERM`) to a process.
pub fn signal(pid: u32, signal: i32) -> io::Result<()> {
    Ok(rustix::process::kill_process(process(pid)?, named(signal)?)?)
}

/// Sends a signal to every process of a group.
pub fn signal_group(leader: u32, signal: i32) -> io::Result<()> {
    Ok(rustix::process::kill_process_group(process(leader)?, named(signal)?)?)
}

fn process(pid: u32) -> io::Result<Pid> {
    Pid::from_raw(pid.cast_signed()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn named(signal: i32) -> io::Result<Signal> {
    Signal::from_named_raw(signal).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
