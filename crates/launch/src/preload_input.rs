//! The parent's input for the preload shim: the offset of each kernel argument, so that its bytes can be copied.
//!
//! Only `core` is used, because the shim includes this file by path. It maps the input file read-only. A kernel is
//! found by its name and the build id of the library that registers it. A layout from another build is never used,
//! because with it a copy could read beyond the caller's arguments.

/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"WKLAYOU1";
/// The name of the file in the session's directory. If it exists, argument bytes are recorded.
pub const FILE: &str = "layouts";
/// The maximum size of recorded arguments in bytes. Arguments beyond it are not recorded.
pub const MOST: usize = 4096;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Head {
    pub magic: [u8; 8],
    /// The size of the hash table that follows; a power of two.
    pub slots: u32,
    /// The number of arguments after the table.
    pub args: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// 0 means that the slot is free.
    pub key: u64,
    pub first: u32,
    pub count: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arg {
    pub offset: u16,
    pub size: u16,
}

pub const fn key(build_id: &[u8], name: &[u8]) -> u64 {
    let key = crate::record::fnv(crate::record::fnv(crate::record::FNV, build_id), name);
    if key == 0 { 1 } else { key }
}
