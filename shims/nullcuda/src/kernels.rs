//! The facts about a kernel (registers, shared memory, threads), and the values that CUDA derives from them: attributes
//! and occupancy.

use crate::cuda_occupancy::{CubinNeeds, active_blocks};
use crate::device::{current, known};
use crate::error::{INVALID_DEVICE_FUNCTION, INVALID_HANDLE, INVALID_VALUE, NO_BINARY_FOR_GPU, NOT_SUPPORTED, SUCCESS, Status, keep};
use crate::function::{Function, by_function, by_handle};
use crate::nullgpu_input::flag;
use crate::world::thread;
use crate::{cubin, stubs};
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

/// Numbers of `cudaDeviceAttr`.
const SHARED_PER_BLOCK: usize = 8;
const SHARED_OPT_IN: usize = 97;

#[derive(Clone, Copy)]
pub struct Facts {
    pub registers: u32,
    /// Static shared memory without the bytes that the system reserves.
    pub shared: u32,
    pub local: u32,
    pub max_threads: u32,
    /// The compute capability that the code was made for; PTX too.
    pub version: u32,
    /// Whether the code of another target describes it.
    pub foreign: bool,
}

/// From the parent's table or, for an image that the program loaded, from the image itself. None if neither knows it.
pub fn facts(function: &Function) -> Option<Facts> {
    let device = current()?;
    let most = |threads: u32| if threads == 0 { device.max_block } else { threads.min(device.max_block) };
    if let Some(entry) = function.entry() {
        return Some(Facts {
            registers: u32::from(entry.vgprs),
            shared: entry.lds,
            local: entry.private,
            max_threads: most(u32::from(entry.max_block)),
            // The parent's table stores it in this field (crates/dryrun, cuda/kernels.rs).
            version: u32::from(entry.sgprs),
            foreign: entry.flags & flag::FOREIGN != 0,
        });
    }
    let kernel = cubin::kernel(function.module.image(), function.name)?;
    let (registers, shared, local) = (kernel.registers, kernel.shared, kernel.local);
    let version = cubin::capability(function.module.image()).unwrap_or(0);
    Some(Facts { registers, shared, local, max_threads: most(kernel.max_threads), version, foreign: false })
}

const KEPT: usize = 1 << 18;
/// Dynamic shared memory that the program has allowed for a kernel, by the kernel's id; 0 if none.
static ALLOWED: [AtomicU32; KEPT] = [const { AtomicU32::new(0) }; KEPT];

fn allowed(function: &Function) -> u32 {
    ALLOWED.get(function.id as usize).map_or(0, |bytes| bytes.load(Ordering::Acquire))
}

/// Static and dynamic shared memory that a launch may use: more than the default only after the program asked for it.
pub fn shared_limit(function: &Function, facts: &Facts) -> u64 {
    let usual = known(SHARED_PER_BLOCK, thread().device as i32).unwrap_or(0).max(0) as u64;
    usual.max(u64::from(facts.shared) + u64::from(allowed(function)))
}

pub fn blocks(facts: &Facts, threads: u32, dynamic: u64) -> Option<u32> {
    let [major, minor, _] = current()?.version;
    active_blocks((major, minor), CubinNeeds { registers: facts.registers, shared: facts.shared }, threads, dynamic)
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn occupancy(to: *mut c_int, function: Option<&Function>, threads: c_int, dynamic: usize, call: &[u8]) -> Status {
    let Some(function) = function else { return INVALID_DEVICE_FUNCTION };
    let (Ok(threads), false) = (u32::try_from(threads), to.is_null()) else { return INVALID_VALUE };
    if function.is_refused() {
        return NO_BINARY_FOR_GPU;
    }
    let Some(facts) = facts(function) else {
        // The registers are unknown, so the number is unknown too: the call is refused and named in the record.
        stubs::note(call);
        return NOT_SUPPORTED;
    };
    let fits = threads <= facts.max_threads && u64::from(facts.shared) + dynamic as u64 <= shared_limit(function, &facts);
    let count = if fits { blocks(&facts, threads, dynamic as u64) } else { Some(0) };
    let Some(count) = count else { return INVALID_VALUE };
    // SAFETY: the caller's variable.
    unsafe { *to = count as c_int };
    SUCCESS
}

/// The block size with the most resident threads, from the largest down (`cuda_occupancy.h`,
/// cudaOccMaxPotentialOccupancyBlockSize).
///
/// SAFETY: both are null or the caller's variables.
unsafe fn best_block(grid: *mut c_int, block: *mut c_int, function: Option<&Function>, dynamic: usize, limit: c_int) -> Status {
    let (Some(function), Some(device)) = (function, current()) else { return INVALID_HANDLE };
    if grid.is_null() || block.is_null() {
        return INVALID_VALUE;
    }
    let Some(facts) = facts(function) else { return stubs::unsupported(b"cuOccupancyMaxPotentialBlockSize") };
    let limit = u32::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(u32::MAX);
    let most = facts.max_threads.min(limit);
    let (mut best, mut resident) = ((0, 0), 0);
    let mut size = most.next_multiple_of(32);
    while size > 0 {
        let tried = size.min(most);
        let fit = blocks(&facts, tried, dynamic as u64).unwrap_or(0);
        if fit * tried > resident {
            (best, resident) = ((fit, tried), fit * tried);
        }
        size -= 32;
    }
    // SAFETY: the caller's variables.
    unsafe { (*grid, *block) = ((best.0 * device.multiprocessors) as c_int, best.1 as c_int) };
    SUCCESS
}

/// `cudaFuncAttributeMaxDynamicSharedMemorySize` and `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` are 8, the carveout 9;
/// cluster attributes change nothing that is checked here.
fn set_attribute(function: Option<&Function>, attribute: c_int, value: c_int) -> Status {
    let Some(function) = function else { return INVALID_DEVICE_FUNCTION };
    if function.is_refused() {
        return NO_BINARY_FOR_GPU;
    }
    if attribute == 8 {
        let most = known(SHARED_OPT_IN, thread().device as i32).unwrap_or(0);
        let fixed = facts(function).map_or(0, |facts| facts.shared);
        let Some(bytes) = u32::try_from(value).ok().filter(|bytes| i64::from(bytes + fixed) <= i64::from(most)) else {
            return INVALID_VALUE;
        };
        if let Some(slot) = ALLOWED.get(function.id as usize) {
            slot.store(bytes, Ordering::Release);
        }
    }
    SUCCESS
}

/// `CUfunction_attribute`: 0 threads per block, 1 static shared, 2 constant, 3 local, 4 registers, 5 and 6 versions, 8 dynamic
/// shared, 9 carveout, 10 and later clusters.
///
/// SAFETY: `value` is null or the caller's variable.
unsafe fn get_attribute(value: *mut c_int, attribute: c_int, function: Option<&Function>) -> Status {
    let Some(function) = function else { return INVALID_HANDLE };
    let (Some(device), false) = (current(), value.is_null()) else { return INVALID_VALUE };
    let facts = facts(function);
    let here = device.version[0] * 10 + device.version[1];
    let answer = match (attribute, facts) {
        (0, Some(facts)) => facts.max_threads,
        (1, Some(facts)) => facts.shared,
        (3, Some(facts)) => facts.local,
        (4, Some(facts)) => facts.registers,
        (5, Some(facts)) => facts.version,
        (6, Some(facts)) => if facts.foreign { here } else { facts.version },
        (7, _) => 0,
        (8, Some(facts)) => {
            let usual = known(SHARED_PER_BLOCK, thread().device as i32).unwrap_or(0).max(0) as u32;
            allowed(function).max(usual.saturating_sub(facts.shared))
        }
        (9, _) => u32::MAX,
        (10..=16, _) => 0,
        _ => return stubs::unsupported(b"cuFuncGetAttribute"),
    };
    // SAFETY: the caller's variable.
    unsafe { *value = answer as c_int };
    SUCCESS
}

/// `cudaFuncAttributes`: shared, constant and local bytes at 0, 8 and 16; threads, registers, versions at 24 to 36; cache mode,
/// dynamic shared and carveout at 40 to 48; the rest zero.
///
/// SAFETY: `to` is null or the caller's structure.
unsafe fn attributes(to: *mut u8, function: Option<&Function>) -> Status {
    const SIZE: usize = 144;
    let Some(function) = function else { return INVALID_DEVICE_FUNCTION };
    if to.is_null() {
        return INVALID_VALUE;
    }
    if function.is_refused() {
        return NO_BINARY_FOR_GPU;
    }
    let Some(facts) = facts(function) else { return stubs::unsupported(b"cudaFuncGetAttributes") };
    let Some(device) = current() else { return crate::error::NO_DEVICE };
    let usual = known(SHARED_PER_BLOCK, thread().device as i32).unwrap_or(0).max(0) as u32;
    let dynamic = allowed(function).max(usual.saturating_sub(facts.shared));
    let here = device.version[0] * 10 + device.version[1];
    let binary = if facts.foreign { here } else { facts.version };
    // SAFETY: the size of the structure in CUDA 12 and 13.
    unsafe {
        core::ptr::write_bytes(to, 0, SIZE);
        to.cast::<u64>().write_unaligned(u64::from(facts.shared));
        to.add(16).cast::<u64>().write_unaligned(u64::from(facts.local));
        for (at, value) in [(24, facts.max_threads), (28, facts.registers), (32, facts.version), (36, binary), (44, dynamic), (48, u32::MAX)] {
            to.add(at).cast::<u32>().write_unaligned(value);
        }
    }
    SUCCESS
}

forward! {
    extern fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut c_int, handle: *const c_void, threads: c_int, dynamic: usize)
        = keep(occupancy(to, by_handle(handle as usize), threads, dynamic, b"cudaOccupancyMaxActiveBlocksPerMultiprocessor"));
    extern fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: *mut c_int, handle: *const c_void, threads: c_int, dynamic: usize, _flags: c_uint
    ) = keep(occupancy(to, by_handle(handle as usize), threads, dynamic, b"cudaOccupancyMaxActiveBlocksPerMultiprocessor"));
    extern fn cuOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut c_int, function: *mut c_void, threads: c_int, dynamic: usize)
        = occupancy(to, by_function(function), threads, dynamic, b"cuOccupancyMaxActiveBlocksPerMultiprocessor");
    extern fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: *mut c_int, function: *mut c_void, threads: c_int, dynamic: usize, _flags: c_uint
    ) = occupancy(to, by_function(function), threads, dynamic, b"cuOccupancyMaxActiveBlocksPerMultiprocessor");
    extern fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int, block: *mut c_int, function: *mut c_void, _per_block: *mut c_void, dynamic: usize, limit: c_int
    ) = best_block(grid, block, by_function(function), dynamic, limit);
    extern fn cudaFuncSetAttribute(handle: *const c_void, attribute: c_int, value: c_int)
        = keep(set_attribute(by_handle(handle as usize), attribute, value));
    extern fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int)
        = set_attribute(by_function(function), attribute, value);
    extern fn cuKernelSetAttribute(attribute: c_int, value: c_int, function: *mut c_void, _device: c_int)
        = set_attribute(by_function(function), attribute, value);
    extern fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void)
        = get_attribute(value, attribute, by_function(function));
    extern fn cuKernelGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void, _device: c_int)
        = get_attribute(value, attribute, by_function(function));
    extern fn cudaFuncGetAttributes(to: *mut u8, handle: *const c_void) = keep(attributes(to, by_handle(handle as usize)));
    extern fn cudaFuncSetCacheConfig(handle: *const c_void, _config: c_int)
        = keep(if by_handle(handle as usize).is_some() { SUCCESS } else { INVALID_DEVICE_FUNCTION });
    extern fn cuFuncSetCacheConfig(function: *mut c_void, _config: c_int)
        = if by_function(function).is_some() { SUCCESS } else { INVALID_HANDLE };
    extern fn cudaFuncSetSharedMemConfig(handle: *const c_void, _config: c_int)
        = keep(if by_handle(handle as usize).is_some() { SUCCESS } else { INVALID_DEVICE_FUNCTION });
    extern fn cudaGetFuncBySymbol(to: *mut *mut c_void, handle: *const c_void) = keep(by_symbol(to, handle));
    /// A `cudaKernel_t` is the same object here.
    extern fn cudaGetKernel(to: *mut *mut c_void, handle: *const c_void) = keep(by_symbol(to, handle));
    extern fn __cudaGetKernel(to: *mut *mut c_void, handle: *const c_void) = keep(by_symbol(to, handle));
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn by_symbol(to: *mut *mut c_void, handle: *const c_void) -> Status {
    let (Some(function), false) = (by_handle(handle as usize), to.is_null()) else { return INVALID_DEVICE_FUNCTION };
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_ref(function).cast_mut().cast() };
    SUCCESS
}
