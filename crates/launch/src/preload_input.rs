//! The parent's input for the preload shim: the offset of each kernel argument, so that its bytes can be copied.
//!
//! Only `core` is used; the shim includes this file by path and maps the file read-only. A kernel is found by its name
//! and the build id of the library that registers it: a layout from another build of the same kernel could make a copy
//! leave the caller's arguments, so it is never used.

/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"WKLAYOU1";
/// The file's name in the session's directory. Argument bytes are recorded if it exists.
pub const FILE: &str = "layouts";
/// Arguments beyond this are not recorded.
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
    /// 0: free.
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
