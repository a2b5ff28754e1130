//! The constants of Linux on x86-64: logs and records from Linux contain them, regardless of the system that reads
//! them.

pub const CLOCK_MONOTONIC: i32 = 1;
pub const MAP_ANONYMOUS: i32 = 0x20;
pub const PROT_EXEC: i32 = 4;
pub const MS_NOEXEC: u64 = 8;
pub const S_ISGID: u32 = 0o2000;
pub const S_ISUID: u32 = 0o4000;
#[allow(non_upper_case_globals, reason = "the name in the C library's headers")]
pub const SYS_mmap: i64 = 9;

pub const EPERM: i32 = 1;
pub const ESRCH: i32 = 3;
pub const EAGAIN: i32 = 11;
pub const EACCES: i32 = 13;
pub const EINVAL: i32 = 22;
pub const ENOSPC: i32 = 28;
pub const ENOSYS: i32 = 38;
pub const EUSERS: i32 = 87;

pub const SIGHUP: i32 = 1;
pub const SIGINT: i32 = 2;
pub const SIGQUIT: i32 = 3;
pub const SIGILL: i32 = 4;
pub const SIGTRAP: i32 = 5;
pub const SIGABRT: i32 = 6;
pub const SIGBUS: i32 = 7;
pub const SIGFPE: i32 = 8;
pub const SIGKILL: i32 = 9;
pub const SIGSEGV: i32 = 11;
pub const SIGPIPE: i32 = 13;
pub const SIGTERM: i32 = 15;
pub const SIGCONT: i32 = 18;
pub const SIGSTOP: i32 = 19;
pub const SIGXCPU: i32 = 24;
pub const SIGXFSZ: i32 = 25;
pub const SIGSYS: i32 = 31;

/// gnu_dev_major of glibc.
pub const fn major(dev: u64) -> u32 {
    (((dev >> 8) & 0xfff) | ((dev >> 32) & 0xffff_f000)) as u32
}

/// gnu_dev_makedev of glibc.
pub const fn makedev(major: u32, minor: u32) -> u64 {
    let (major, minor) = (major as u64, minor as u64);
    ((major & 0xfff) << 8) | ((major & 0xffff_f000) << 32) | (minor & 0xff) | ((minor & 0xffff_ff00) << 12)
}
