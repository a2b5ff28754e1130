//! The kernel's constants, for crates that write them into programs or compare with them but make no system calls.

pub use libc::MS_NOEXEC;
pub use libc::{CLOCK_MONOTONIC, MAP_ANONYMOUS, PROT_EXEC, S_ISGID, S_ISUID, SYS_mmap};
pub use libc::{EACCES, EAGAIN, EINVAL, ENOSPC, ENOSYS, EPERM, ESRCH, EUSERS};
pub use libc::{
    SIGABRT, SIGBUS, SIGCONT, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGPIPE, SIGQUIT, SIGSEGV, SIGSTOP, SIGSYS,
    SIGTERM, SIGTRAP, SIGXCPU, SIGXFSZ,
};
pub use libc::{major, makedev};
