//! How many workgroups of a kernel fit on one multiprocessor, as HIP computes it.
//!
//! Uses the same arithmetic as `ihipOccupancyMaxActiveBlocksPerMultiprocessor` in ROCm's clr
//! (hipamd/src/hip_platform.cpp), with the register-file sizes of rocclr/device/rocm/rocdevice.cpp. The result decides
//! grids (flash attention, stream-k), so it follows HIP's counting, not the hardware's finer rules. This file uses only
//! `core`, because the stand-in HIP library includes it by path.

/// The fields of a kernel's metadata that limit its occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    pub vgprs: u32,
    pub sgprs: u32,
    /// Static LDS, bytes.
    pub lds: u32,
    /// 32 or 64, as the kernel was compiled.
    pub wavefront: u32,
    /// For gfx10 and later: whether it was compiled for a work-group processor (two compute units) rather than for one
    /// compute unit.
    pub wgp_mode: bool,
}

/// The registers of one SIMD of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterFile {
    pub vgprs: u32,
    pub vgpr_granule: u32,
    pub sgprs: u32,
}

/// The register file by processor version (major, minor, stepping). From gfx10 on, counts are for wave32.
pub fn register_file(version: (u32, u32, u32)) -> RegisterFile {
    let (vgprs, vgpr_granule) = match version {
        (12, ..) | (11, 0, 0 | 1) | (11, 5, 1) => (1536, 24),
        (11, ..) => (1024, 16),
        (10, 0 | 1, _) => (1024, 8),
        (10, ..) => (1024, 16),
        (9, 0, 10) | (9, 4 | 5, _) => (512, 8),
        _ => (256, 4),
    };
    // Since gfx10, SGPRs are not shared between waves and are never the limit.
    let sgprs = if version.0 >= 10 { u32::MAX } else { 800 };
    RegisterFile { vgprs, vgpr_granule, sgprs }
}

/// Workgroups of `block` threads per multiprocessor; None if HIP returns an error (not even one wave fits, or `block`
/// is zero).
pub fn active_blocks(
    version: (u32, u32, u32),
    lds_per_unit: u32,
    max_block: u32,
    kernel: &Resources,
    block: u32,
    dynamic_lds: u64,
) -> Option<u32> {
    if block == 0 {
        return None;
    }
    if block > max_block {
        return Some(0);
    }
    let wavefront = if kernel.wavefront == 64 { 64 } else { 32 };
    let file = register_file(version);
    // Up to gfx9, the workgroup dispatcher allows 32 waves per compute unit, which is 8 per SIMD.
    let max_waves: u32 = if version.0 <= 9 { 8 } else { 16 };
    let (mut total, mut granule) = (file.vgprs, file.vgpr_granule);
    if version.0 >= 10 && wavefront == 64 {
        total /= 2;
        granule /= 2;
    }
    let mut waves = if kernel.vgprs > 0 { total / round_up(kernel.vgprs, granule) } else { max_waves };
    if waves == 0 {
        return None;
    }
    if kernel.sgprs > 0 {
        waves = waves.min(file.sgprs / round_up(kernel.sgprs, 16));
    }
    let simds = match (version.0 <= 9, kernel.wgp_mode) {
        (true, _) | (false, true) => 4,
        (false, false) => 2,
    };
    let threads = simds * waves.min(max_waves) * wavefront;
    let by_registers = threads / round_up(block, wavefront);
    let used = u64::from(kernel.lds).saturating_add(dynamic_lds);
    let by_lds = u64::from(lds_per_unit).checked_div(used).unwrap_or(u64::MAX);
    Some(by_registers.min(if by_lds > u64::from(u32::MAX) { u32::MAX } else { by_lds as u32 }))
}

/// Rounds up to a multiple of `step`, which is one of the granules above and never zero.
fn round_up(value: u32, step: u32) -> u32 {
    match value % step {
        0 => value,
        rest => value.saturating_add(step - rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LDS: u32 = 65536;

    fn kernel(vgprs: u32, lds: u32, wavefront: u32) -> Resources {
        Resources { vgprs, sgprs: 36, lds, wavefront, wgp_mode: true }
    }

    #[test]
    fn registers_limit() {
        // gfx906: 256 registers / 128 = 2 waves x 4 SIMDs x 64 lanes = 512 threads.
        assert_eq!(active_blocks((9, 0, 6), LDS, 1024, &kernel(128, 0, 64), 256, 0), Some(2));
        // gfx90a has twice the registers.
        assert_eq!(active_blocks((9, 0, 10), LDS, 1024, &kernel(128, 0, 64), 256, 0), Some(4));
        // gfx1100: 1536 / 192 = 8 waves x 4 SIMDs x 32 lanes = 1024 threads.
        assert_eq!(active_blocks((11, 0, 0), LDS, 1024, &kernel(190, 0, 32), 256, 0), Some(4));
    }

    #[test]
    fn granules_matter() {
        // 1536 / 168 = 9 waves on gfx1100, where 161 registers round up to 168; 1024 / 176 = 5 on gfx1102.
        assert_eq!(active_blocks((11, 0, 0), LDS, 1024, &kernel(161, 0, 32), 128, 0), Some(9));
        assert_eq!(active_blocks((11, 0, 2), LDS, 1024, &kernel(161, 0, 32), 128, 0), Some(5));
    }

    #[test]
    fn lds_limits_and_static_adds_to_dynamic() {
        assert_eq!(active_blocks((11, 0, 0), LDS, 1024, &kernel(32, 20_000, 32), 128, 12_000), Some(2));
        assert_eq!(active_blocks((11, 0, 0), LDS, 1024, &kernel(32, 40_000, 32), 128, 40_000), Some(0));
    }

    #[test]
    fn a_compute_unit_kernel_has_half_the_simds() {
        let mut one = kernel(96, 0, 32);
        assert_eq!(active_blocks((10, 3, 0), LDS, 1024, &one, 128, 0), Some(10));
        one.wgp_mode = false;
        assert_eq!(active_blocks((10, 3, 0), LDS, 1024, &one, 128, 0), Some(5));
    }

    #[test]
    fn what_cannot_run_is_none_or_zero() {
        assert_eq!(active_blocks((9, 0, 6), LDS, 1024, &kernel(512, 0, 64), 256, 0), None);
        assert_eq!(active_blocks((9, 0, 6), LDS, 1024, &kernel(32, 0, 64), 0, 0), None);
        assert_eq!(active_blocks((9, 0, 6), LDS, 1024, &kernel(32, 0, 64), 2048, 0), Some(0));
        assert_eq!(active_blocks((11, 0, 0), LDS, 1024, &kernel(u32::MAX, u32::MAX, 7), 1024, u64::MAX), None);
    }
}
