//! Which launches HIP refuses.

use crate::device::current;
use crate::error::{
    COOPERATIVE_TOO_LARGE, INVALID_CONFIGURATION, INVALID_VALUE, LAUNCH_FAILURE, NO_BINARY_FOR_GPU, NO_DEVICE, SUCCESS, Status,
};
use crate::function::{Function, blocks_per_unit};
use crate::launch::Call;
use crate::nullgpu_input::flag;
use crate::record::api;

/// The checks of clr's ihipLaunchKernel_validate (hipamd/src/hip_module.cpp), plus static LDS, which the dispatch checks.
pub fn check(function: &Function, call: &Call) -> Status {
    let Some(device) = current() else { return NO_DEVICE };
    let threads = call.block.iter().fold(1_u64, |product, &n| product.saturating_mul(u64::from(n)));
    if call.block.contains(&0) || threads > u64::from(device.max_block) {
        return INVALID_CONFIGURATION;
    }
    if call.grid.contains(&0) {
        return INVALID_VALUE;
    }
    for (grid, block) in call.grid.iter().zip(&call.block) {
        if u64::from(*grid) * u64::from(*block) > u64::from(u32::MAX) {
            return INVALID_CONFIGURATION;
        }
    }
    if function.is_refused() {
        return NO_BINARY_FOR_GPU;
    }
    let entry = function.entry().filter(|entry| entry.flags & flag::FOREIGN == 0);
    let shared = call.shared as u64 + entry.map_or(0, |entry| u64::from(entry.lds));
    if shared > u64::from(device.shared_per_block) {
        return INVALID_VALUE;
    }
    if entry.is_some_and(|entry| entry.max_block != 0 && threads > u64::from(entry.max_block)) {
        return LAUNCH_FAILURE;
    }
    if matches!(call.api, api::LAUNCH_COOPERATIVE | api::MODULE_COOPERATIVE) {
        let Some(fit) = blocks_per_unit(function, threads as u32, call.shared as u64) else { return INVALID_VALUE };
        let blocks = call.grid.iter().fold(1_u64, |product, &n| product.saturating_mul(u64::from(n)));
        if blocks > u64::from(fit) * u64::from(device.multiprocessors) {
            return COOPERATIVE_TOO_LARGE;
        }
    }
    SUCCESS
}
