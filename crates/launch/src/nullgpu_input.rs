//! The parent's input for the stand-in GPU: the devices, and the known facts about each kernel that may be launched.
//!
//! Only `core` is used, because the shim includes this file by path. It maps both input files read-only. All integers
//! are little-endian, and all structs are plain data with 8-byte alignment.

/// First bytes of `device`.
pub const DEVICE_MAGIC: [u8; 8] = *b"WKDEVIC2";
/// First bytes of `kernels`.
pub const KERNELS_MAGIC: [u8; 8] = *b"WKKERNE1";
/// First bytes of `kernels` if it contains a table for each device.
pub const TABLES_MAGIC: [u8; 8] = *b"WKTABLE1";
/// The maximum number of devices with their own tables.
pub const MOST_TABLES: usize = 16;
/// The environment variable with the directory that contains `device` and `kernels` and receives the trace files
/// `trace.PID.N`.
pub const DIRECTORY: &str = "WHICHKERNEL_DRYRUN";
/// A page of counters in that directory. It is created before the program starts, so if the disk is full, records are
/// lost but counts are not.
pub const COUNTS: &str = "counts";
/// The size of that page in bytes. It uses [`COUNTED`] words of eight bytes.
pub const COUNTS_SIZE: usize = 4096;
/// Counts of records by kind, written or not. Index 0 is not a kind: it counts processes that called HIP.
pub const COUNTED: usize = 24;

/// A CUDA device's attributes: the file `attributes` has this many values of four bytes per device, by the numbers of
/// `cudaDeviceAttr`.
pub const ATTRIBUTES: usize = 192;
/// The value of an attribute that the profile does not have.
pub const UNKNOWN_ATTRIBUTE: i32 = i32::MIN;

/// A device. The file `device` contains a `DeviceFile`, then `count` of these.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Device {
    pub name: [u8; 128],
    pub arch: [u8; 64],
    /// The generic target whose code HIP uses for it, `gfx12-generic`; empty if there is none.
    pub generic: [u8; 32],
    pub version: [u32; 3],
    pub multiprocessors: u32,
    pub memory: u64,
    pub shared_per_block: u32,
    pub warp: u32,
    pub max_block: u32,
    pub max_threads_per_mp: u32,
    pub regs_per_block: u32,
    pub clock_khz: u32,
    pub memory_clock_khz: u32,
    pub bus_bits: u32,
    pub l2: u32,
    pub integrated: u32,
    pub cooperative: u32,
    pub compute_units: u32,
    pub pci_bus: u32,
    pub pci_device_id: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DeviceFile {
    pub magic: [u8; 8],
    pub count: u32,
    /// With 1, a file without code for the target is refused, as by the real runtime. With 0, the host's choice
    /// continues, except for devices whose own table says otherwise.
    pub strict: u32,
    /// The result of cudaRuntimeGetVersion. A HIP library has the version that belongs to its name.
    pub runtime_version: u32,
    pub reserved: u32,
}

/// The head of `kernels`, if it contains a table for each device, in order. `count` of [`TableAt`] follow.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TablesFile {
    pub magic: [u8; 8],
    pub count: u32,
    pub reserved: u32,
}

/// The table of one device. Devices with the same target share a table.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TableAt {
    /// The offset from the start of the file, a multiple of 8.
    pub at: u64,
    pub len: u64,
    /// Like [`DeviceFile::strict`], for this device.
    pub strict: u32,
    pub reserved: u32,
}

/// The head of a table. Offsets are relative to its start.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KernelsFile {
    pub magic: [u8; 8],
    pub files: u32,
    pub bundles: u32,
    /// The size of the hash table; a power of two.
    pub slots: u32,
    pub entries: u32,
    pub files_at: u64,
    pub bundles_at: u64,
    pub slots_at: u64,
    pub entries_at: u64,
    pub args_at: u64,
    pub args: u64,
    pub text_at: u64,
    pub text: u64,
}

/// A library with device code: its path as the process sees it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct File {
    pub path: u32,
    pub path_len: u32,
    pub first_bundle: u32,
    pub bundles: u32,
}

/// A bundle, by its address in the file's memory image.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Bundle {
    pub address: u64,
    pub index: u32,
    /// Whether the library contains code for the device's target.
    pub ships: u32,
}

/// One kernel of one bundle, for the target of the stand-in (or a near target, if not strict).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub key: u64,
    pub name: u32,
    pub name_len: u32,
    /// The index of the kernel's bundle.
    pub bundle: u32,
    pub args: u32,
    pub args_len: u16,
    pub flags: u16,
    pub vgprs: u16,
    pub sgprs: u16,
    pub lds: u32,
    pub kernarg: u32,
    pub max_block: u16,
    pub wavefront: u16,
    pub private: u32,
    /// The arguments that control expert routing, if a flag `ROUTE_*` is set: ids, rows, used.
    pub route: [u8; 4],
    pub experts: u32,
}

pub mod flag {
    pub const STUB: u16 = 1;
    pub const WGP: u16 = 2;
    /// The kernel writes the expert numbers of each token to `ids[row][used]`. `route` has the argument indices.
    pub const ROUTE_TOPK: u16 = 4;
    /// The kernel writes a complete order of the experts for each row to `dst[row][ncols]`.
    pub const ROUTE_ARGSORT: u16 = 8;
    /// The metadata of another target describes the kernel: good enough for an estimate, but not for refusing a launch.
    pub const FOREIGN: u16 = 16;
}

/// An explicit argument.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arg {
    pub offset: u16,
    pub size: u16,
}

/// The key of a kernel in the hash table: its name, combined with the bundle's index.
pub const fn key(name: &[u8], bundle: u32) -> u64 {
    let hash = crate::record::fnv(crate::record::FNV, name);
    let key = hash ^ (bundle as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    if key == 0 { 1 } else { key }
}
