//! Plain types in front of the kernel's interfaces: the same on every system, so that code about them compiles everywhere.

use std::ffi::CString;

/// The kind of a BPF map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    Hash = 1,
    Array = 2,
    /// Evicts the oldest entry for the newest.
    Lru = 9,
    Ring = 27,
}

/// The purpose of a BPF program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// A perf event.
    Event,
    /// A BPF link, created with `bpf::uprobe`.
    Link,
    /// A tracepoint, by its name.
    Tracepoint,
}

/// The first 128 bytes of `struct perf_event_attr` (PERF_ATTR_SIZE_VER7, include/uapi/linux/perf_event.h).
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
    pub branch: u64,
    pub regs_user: u64,
    pub stack_user: u32,
    pub clockid: i32,
    pub regs_intr: u64,
    pub aux_watermark: u32,
    pub max_stack: u16,
    pub reserved: u16,
}

/// Bits of `flags`.
pub mod bit {
    pub const DISABLED: u64 = 1;
    pub const INHERIT: u64 = 1 << 1;
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub const MMAP: u64 = 1 << 8;
    pub const COMM: u64 = 1 << 9;
    pub const ENABLE_ON_EXEC: u64 = 1 << 12;
    pub const TASK: u64 = 1 << 13;
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub const MMAP2: u64 = 1 << 23;
    pub const COMM_EXEC: u64 = 1 << 24;
    pub const USE_CLOCKID: u64 = 1 << 25;
}

/// Bits of `sample_type`.
pub mod sample {
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ID: u64 = 1 << 6;
    pub const REGS_USER: u64 = 1 << 12;
    pub const STACK_USER: u64 = 1 << 13;
}

/// The position of a uprobe.
#[derive(Debug, Clone, Copy)]
pub struct UprobePlace<'p> {
    /// The PMU's type number.
    pub pmu: u32,
    pub path: &'p str,
    /// The offset in the file.
    pub offset: u64,
    pub at_return: bool,
}

/// A step of a sandbox, between fork and exec.
#[derive(Debug)]
pub enum NamespaceStep {
    /// A mount namespace; root tries without a user namespace first. The maps keep the user's own ids.
    Unshare {
        root: bool,
        uid_map: Vec<u8>,
        gid_map: Vec<u8>,
    },
    /// Makes mounts invisible outside.
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
    /// Best effort: a tree on an unusual file system is still usable if it cannot be made read-only.
    ReadOnly {
        target: CString,
        flags: u64,
    },
    Chroot(CString),
    Chdir(CString),
}
