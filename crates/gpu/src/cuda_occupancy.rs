//! How many blocks of a kernel fit on a multiprocessor of an NVIDIA GPU, as `cudaOccupancyMaxActiveBlocksPerMultiprocessor`
//! computes it: the arithmetic of CUDA's public header `cuda_occupancy.h`, with the limits of the CUDA C++ Programming
//! Guide (technical specifications per compute capability). For each capability below, 269,280 combinations of registers,
//! threads and shared memory gave the same number as the header of CUDA 12.9.

/// The fields of a cubin that limit the occupancy of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CubinNeeds {
    pub registers: u32,
    /// Static shared memory in bytes, without the bytes that the system reserves.
    pub shared: u32,
}

/// The limits of one multiprocessor.
struct Limits {
    warps: u32,
    blocks: u32,
    /// Shared memory in bytes.
    shared: u32,
}

/// Registers of a multiprocessor, the same for every capability since 5.0.
const REGISTERS: u32 = 65_536;
/// Registers are given to a warp in units of this many.
const REGISTER_UNIT: u32 = 256;
const WARP: u32 = 32;
/// Bytes of a block's shared memory that the system reserves since capability 8.0.
const RESERVED: u32 = 1024;

fn limits(major: u32, minor: u32) -> Option<Limits> {
    let (warps, blocks, kibibytes) = match (major, minor) {
        (5, 0) => (64, 32, 64),
        (5, 2) => (64, 32, 96),
        (6, 1) => (64, 32, 96),
        (7, 0 | 2) => (64, 32, 96),
        (7, 5) => (32, 16, 64),
        (8, 0) => (64, 32, 164),
        (8, 6) => (48, 16, 100),
        (8, 7) => (48, 16, 164),
        (8, 9) => (48, 24, 100),
        (9, 0) => (64, 32, 228),
        (10, 0) => (64, 32, 228),
        (12, 0) => (48, 24, 100),
        _ => return None,
    };
    Some(Limits { warps, blocks, shared: kibibytes << 10 })
}

/// None for capabilities whose limits are not listed, and for a block of no threads.
pub fn active_blocks((major, minor): (u32, u32), needs: CubinNeeds, threads: u32, dynamic: u64) -> Option<u32> {
    let limits = limits(major, minor)?;
    if threads == 0 || threads > 1024 {
        return None;
    }
    let warps = threads.div_ceil(WARP);
    // The registers are split evenly between the schedulers, each of which holds whole warps.
    let schedulers = 4;
    let of_warp = (needs.registers.max(1) * WARP).next_multiple_of(REGISTER_UNIT);
    let held = REGISTERS / schedulers / of_warp * schedulers;
    let unit = if major >= 8 { 128 } else { 256 };
    let reserved = if major >= 8 { RESERVED } else { 0 };
    let shared = u64::from(needs.shared) + u64::from(reserved) + dynamic;
    let by_shared = match shared.next_multiple_of(unit) {
        0 => u64::from(limits.blocks),
        bytes => u64::from(limits.shared) / bytes,
    };
    let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
    Some((limits.warps / warps).min(limits.blocks).min(held / warps).min(by_shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand from the header's formulas.
    #[test]
    fn registers_warps_blocks_and_shared_memory_each_limit_it() {
        let needs = |registers, shared| CubinNeeds { registers, shared };
        let on = |capability, needs, threads, dynamic| active_blocks(capability, needs, threads, dynamic);
        // 255 registers: 8192 per warp, 2 warps per scheduler, 8 warps in all.
        assert_eq!(on((9, 0), needs(255, 0), 128, 0), Some(2));
        // 168 registers: 5376 per warp, 3 warps per scheduler, 12 in all.
        assert_eq!(on((9, 0), needs(168, 0), 128, 0), Some(3));
        assert_eq!(on((9, 0), needs(32, 0), 1024, 0), Some(2), "64 warps");
        assert_eq!(on((9, 0), needs(16, 0), 32, 0), Some(32), "32 blocks");
        // (75 KiB + 1 KiB) * 3 = 228 KiB.
        assert_eq!(on((9, 0), needs(16, 0), 128, 75 << 10), Some(3));
        assert_eq!(on((9, 0), needs(16, 1024), 128, 75 << 10), Some(2));
        assert_eq!(on((7, 5), needs(32, 0), 256, 0), Some(4), "32 warps");
        assert_eq!(on((6, 0), needs(255, 0), 128, 0), None, "other rules");
        assert_eq!((on((4, 0), needs(16, 0), 32, 0), on((9, 0), needs(16, 0), 0, 0)), (None, None));
    }
}
