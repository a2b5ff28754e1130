//! perf_event_open(2): the system call, and the plainest event there is.

#![allow(unsafe_code, reason = "perf_event_open is a raw system call")]

use super::Trial;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

/// The first 72 bytes of `struct perf_event_attr` (PERF_ATTR_SIZE_VER1, include/uapi/linux/perf_event.h): all that
/// a counter and a uprobe need, and understood by every kernel since 2.6.33.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Attr {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup: u32,
    pub bp_type: u32,
    pub config1: u64,
    pub config2: u64,
}

/// Bit 5 of the flags: what happens in the kernel is not counted, which is what `perf_event_paranoid` 2 allows.
pub const EXCLUDE_KERNEL: u64 = 1 << 5;
const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;

/// Opens an event on the calling thread, on any CPU. `attr` may hold the address of a C string, which must outlive the call.
pub fn open(attr: &Attr) -> io::Result<File> {
    let attr = Attr { size: size_of::<Attr>() as u32, ..*attr };
    let (own_thread, any_cpu, no_group) = (0_i32, -1_i32, -1_i32);
    // SAFETY: the kernel reads `size` bytes of `attr`, and a NUL-terminated path where the caller put one.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attr,
            own_thread,
            any_cpu,
            no_group,
            libc::c_ulong::from(8_u8),
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the kernel just gave us this descriptor, and nobody else has it.
        Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The counter's value: eight bytes, as `read_format` 0 gives them.
pub fn value(event: &mut File) -> io::Result<u64> {
    let mut bytes = [0; 8];
    event.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

pub fn count_own_time() -> Trial {
    let attr = Attr { kind: SOFTWARE, config: TASK_CLOCK, flags: EXCLUDE_KERNEL, ..Attr::default() };
    let counted = open(&attr).and_then(|mut event| value(&mut event));
    match counted {
        Ok(nanoseconds) => Trial::worked(format!("task-clock {nanoseconds} ns")),
        Err(error) => Trial::refused("perf_event_open", &error),
    }
}
