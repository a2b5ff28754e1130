//! Which launches CUDA refuses.

use crate::device::{current, known};
use crate::error::{INVALID_CONFIGURATION, INVALID_VALUE, NO_BINARY_FOR_GPU, NO_DEVICE, SUCCESS, Status};
use crate::function::Function;
use crate::kernels::{self, Facts};
use crate::launch::Call;
use crate::record::api;
use crate::world::thread;

const OUT_OF_RESOURCES: Status = 701;
const COOPERATIVE_TOO_LARGE: Status = 720;
/// Numbers of `cudaDeviceAttr`.
const BLOCK_LIMITS: [usize; 3] = [2, 3, 4];
const GRID_LIMITS: [usize; 3] = [5, 6, 7];

/// The documented limits of a launch: dimensions, code for the device, shared memory, threads, registers.
pub fn check(function: &Function, call: &Call) -> Status {
    let Some(device) = current() else { return NO_DEVICE };
    let number = thread().device as i32;
    let within = |sizes: &[u32; 3], limits: &[usize; 3]| {
        let fits = |(size, limit): (&u32, &usize)| known(*limit, number).is_none_or(|most| i64::from(*size) <= i64::from(most));
        !sizes.contains(&0) && sizes.iter().zip(limits).all(fits)
    };
    let threads = call.block.iter().fold(1_u64, |product, &n| product.saturating_mul(u64::from(n)));
    if !within(&call.block, &BLOCK_LIMITS) || !within(&call.grid, &GRID_LIMITS) || threads > u64::from(device.max_block) {
        return INVALID_CONFIGURATION;
    }
    if function.is_refused() {
        return NO_BINARY_FOR_GPU;
    }
    let Some(facts) = kernels::facts(function).filter(|facts| !facts.foreign) else { return SUCCESS };
    if u64::from(facts.shared) + call.shared as u64 > kernels::shared_limit(function, &facts) {
        return INVALID_VALUE;
    }
    if threads > u64::from(facts.max_threads) || registers(&facts, threads) > 65_536 {
        return OUT_OF_RESOURCES;
    }
    if matches!(call.api, api::CUDA_COOPERATIVE | api::CU_COOPERATIVE) {
        let Some(fit) = kernels::blocks(&facts, threads as u32, call.shared as u64) else { return INVALID_VALUE };
        let blocks = call.grid.iter().fold(1_u64, |product, &n| product.saturating_mul(u64::from(n)));
        if blocks > u64::from(fit) * u64::from(device.multiprocessors) {
            return COOPERATIVE_TOO_LARGE;
        }
    }
    SUCCESS
}

/// Registers are given to warps in units of 256, and to all four schedulers (`cuda_occupancy.h`).
fn registers(facts: &Facts, threads: u64) -> u64 {
    u64::from(facts.registers * 32).next_multiple_of(256) * threads.div_ceil(32).next_multiple_of(4)
}
