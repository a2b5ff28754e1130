//! The runtime's functions whose work is the same as in the HIP stand-in: registration, launches, streams, events, memory.

use crate::error::{INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, SUCCESS, Status, keep};
use crate::launch::{Args, Call, Dim3};
use crate::record::api;
use crate::{copy, device, event, function, launch, memory, module, stream};
use core::ffi::{c_char, c_int, c_uint, c_void};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    // SAFETY: the wrapper has the same fields: magic, version, address of the container.
    unsafe { module::__hipRegisterFatBinary(wrapper) }
}

#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_modules: *mut *mut c_void) {}

#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(modules: *mut *mut c_void) {
    module::__hipUnregisterFatBinary(modules);
}

#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(_modules: *mut *mut c_void) -> c_char {
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    modules: *mut *mut c_void,
    handle: *const c_void,
    stub: *const c_char,
    name: *const c_char,
    threads: c_uint,
    tid: *mut c_void,
    bid: *mut c_void,
    block: *mut c_void,
    grid: *mut c_void,
    warp: *mut c_int,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { module::__hipRegisterFunction(modules, handle, stub, name, threads, tid, bid, block, grid, warp) }
}

/// Returns 0, or 1 if too many configurations are pushed.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, on: *mut c_void) -> c_uint {
    launch::__hipPushCallConfiguration(grid, block, shared, on)
}

/// `cudaLaunchConfig_t`: the attributes (clusters, programmatic launches) change neither grid nor block.
#[repr(C)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    on: *mut c_void,
}

/// SAFETY: `config` is null or the caller's structure; the arguments are those of a real launch.
unsafe fn with_config(config: *const Config, handle: *const c_void, args: *mut *mut c_void) -> Status {
    // SAFETY: guaranteed by the caller.
    let Some(config) = (unsafe { config.as_ref() }) else { return keep(INVALID_VALUE) };
    let known = function::by_handle(handle as usize).or_else(|| function::by_function(handle.cast_mut()));
    // SAFETY: guaranteed by the caller.
    unsafe { start(known, api::CUDA_LAUNCH_EXC, config.grid, config.block, args, config.shared, config.on) }
}

/// SAFETY: the arguments are those of a real launch of this kernel.
unsafe fn start(
    function: Option<&'static function::Function>,
    api: u32,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared: usize,
    on: *mut c_void,
) -> Status {
    let Some(function) = function else { return keep(crate::error::INVALID_DEVICE_FUNCTION) };
    let (grid, block) = ([grid.x, grid.y, grid.z], [block.x, block.y, block.z]);
    // SAFETY: guaranteed by the caller.
    keep(unsafe { launch::launch(function, &Call { api, grid, block, shared, on, args: Args::Pointers(args) }) })
}

forward! {
    extern fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, on: *mut *mut c_void)
        = launch::__hipPopCallConfiguration(grid, block, shared, on);
    extern fn cudaLaunchKernel(handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void)
        = start(function::by_handle(handle as usize), api::CUDA_LAUNCH, grid, block, args, shared, on);
    /// The kernel is a handle of `__cudaGetKernel`.
    extern fn __cudaLaunchKernel(kernel: *mut c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void)
        = start(function::by_function(kernel), api::CUDA_LAUNCH, grid, block, args, shared, on);
    extern fn cudaLaunchCooperativeKernel(
        handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void
    ) = start(function::by_handle(handle as usize), api::CUDA_COOPERATIVE, grid, block, args, shared, on);
    extern fn cudaLaunchKernelExC(config: *const Config, handle: *const c_void, args: *mut *mut c_void)
        = with_config(config, handle, args);

    extern fn cudaStreamCreate(to: *mut *mut c_void) = stream::hipStreamCreate(to);
    extern fn cudaStreamCreateWithFlags(to: *mut *mut c_void, flags: c_uint) = stream::hipStreamCreateWithFlags(to, flags);
    extern fn cudaStreamCreateWithPriority(to: *mut *mut c_void, flags: c_uint, priority: c_int)
        = stream::hipStreamCreateWithPriority(to, flags, priority);
    extern fn cudaStreamDestroy(on: *mut c_void) = stream::hipStreamDestroy(on);
    extern fn cudaStreamSynchronize(on: *mut c_void) = stream::hipStreamSynchronize(on);
    extern fn cudaStreamQuery(on: *mut c_void) = stream::hipStreamQuery(on);
    extern fn cudaStreamGetFlags(on: *mut c_void, flags: *mut c_uint) = stream::hipStreamGetFlags(on, flags);
    extern fn cudaStreamGetDevice(on: *mut c_void, number: *mut c_int) = stream::hipStreamGetDevice(on, number);
    extern fn cudaStreamGetPriority(on: *mut c_void, priority: *mut c_int) = {
        if priority.is_null() || stream::id(on) == u64::MAX { keep(INVALID_VALUE) } else { *priority = 0; SUCCESS }
    };
    extern fn cudaStreamGetId(on: *mut c_void, id: *mut u64) = {
        if id.is_null() { keep(INVALID_VALUE) } else { *id = stream::id(on); SUCCESS }
    };
    extern fn cudaStreamWaitEvent(on: *mut c_void, event: *mut c_void, flags: c_uint) = event::hipStreamWaitEvent(on, event, flags);
    /// All earlier work is already finished, so the function is called at once, on the caller's thread.
    extern fn cudaLaunchHostFunc(on: *mut c_void, call: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) = {
        match call {
            Some(_) if stream::captured(on) != 0 => stream::node(on, stream::CALL),
            Some(call) => call(data),
            None => return keep(INVALID_VALUE),
        }
        SUCCESS
    };
    extern fn cudaStreamAddCallback(
        on: *mut c_void, call: Option<unsafe extern "C" fn(*mut c_void, Status, *mut c_void)>, data: *mut c_void, _flags: c_uint
    ) = {
        let Some(call) = call else { return keep(INVALID_VALUE) };
        call(on, SUCCESS, data);
        SUCCESS
    };
    extern fn cudaDeviceSynchronize() = stream::hipDeviceSynchronize();
    extern fn cudaDeviceReset() = SUCCESS;
    extern fn cudaProfilerStart() = SUCCESS;
    extern fn cudaProfilerStop() = SUCCESS;
    extern fn cudaCtxResetPersistingL2Cache() = SUCCESS;
    extern fn cudaDeviceSetCacheConfig(_config: c_int) = SUCCESS;
    extern fn cudaDeviceSetSharedMemConfig(_config: c_int) = SUCCESS;

    extern fn cudaEventCreate(to: *mut *mut c_void) = event::hipEventCreate(to);
    extern fn cudaEventCreateWithFlags(to: *mut *mut c_void, flags: c_uint) = event::hipEventCreateWithFlags(to, flags);
    extern fn cudaEventDestroy(event: *mut c_void) = event::hipEventDestroy(event);
    extern fn cudaEventRecord(event: *mut c_void, on: *mut c_void) = event::hipEventRecord(event, on);
    extern fn cudaEventRecordWithFlags(event: *mut c_void, on: *mut c_void, _flags: c_uint) = event::hipEventRecord(event, on);
    extern fn cudaEventSynchronize(event: *mut c_void) = event::hipEventSynchronize(event);
    extern fn cudaEventQuery(event: *mut c_void) = event::hipEventQuery(event);

    extern fn cudaMalloc(to: *mut *mut c_void, size: usize) = memory::hipMalloc(to, size);
    extern fn cudaMallocManaged(to: *mut *mut c_void, size: usize, flags: c_uint) = memory::hipMallocManaged(to, size, flags);
    extern fn cudaMallocAsync(to: *mut *mut c_void, size: usize, on: *mut c_void) = memory::hipMallocAsync(to, size, on);
    extern fn cudaMallocFromPoolAsync(to: *mut *mut c_void, size: usize, _pool: *mut c_void, on: *mut c_void)
        = memory::hipMallocAsync(to, size, on);
    extern fn cudaMallocHost(to: *mut *mut c_void, size: usize) = memory::hipHostMalloc(to, size, 0);
    extern fn cudaHostAlloc(to: *mut *mut c_void, size: usize, flags: c_uint) = memory::hipHostMalloc(to, size, flags);
    /// Rows are aligned to 512 bytes, as on every card since Fermi.
    extern fn cudaMallocPitch(to: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) = {
        if pitch.is_null() {
            keep(INVALID_VALUE)
        } else {
            *pitch = width.next_multiple_of(512);
            memory::hipMalloc(to, (*pitch).saturating_mul(height))
        }
    };
    extern fn cudaFree(at: *mut c_void) = memory::hipFree(at);
    extern fn cudaFreeAsync(at: *mut c_void, on: *mut c_void) = memory::hipFreeAsync(at, on);
    extern fn cudaFreeHost(at: *mut c_void) = memory::hipHostFree(at);
    extern fn cudaHostRegister(at: *mut c_void, size: usize, flags: c_uint) = memory::hipHostRegister(at, size, flags);
    extern fn cudaHostUnregister(at: *mut c_void) = memory::hipHostUnregister(at);
    extern fn cudaHostGetDevicePointer(to: *mut *mut c_void, host: *mut c_void, flags: c_uint)
        = memory::hipHostGetDevicePointer(to, host, flags);
    extern fn cudaMemGetInfo(free: *mut usize, total: *mut usize) = memory::hipMemGetInfo(free, total);
    extern fn cudaPointerGetAttributes(to: *mut u8, at: *const c_void) = keep(pointer(to, at));
    extern fn cudaMemAdvise(_at: *const c_void, _size: usize, _advice: c_int, _device: c_int) = SUCCESS;
    extern fn cudaMemPrefetchAsync(at: *const c_void, _size: usize) = keep(if at.is_null() { INVALID_VALUE } else { SUCCESS });
    extern fn cudaDeviceGetDefaultMemPool(pool: *mut *mut c_void, number: c_int) = keep(default_pool(pool, number));
    extern fn cudaDeviceGetMemPool(pool: *mut *mut c_void, number: c_int) = keep(default_pool(pool, number));
    extern fn cudaMemPoolSetAttribute(pool: *mut c_void, _attribute: c_int, _value: *mut c_void)
        = keep(if pool.is_null() { INVALID_HANDLE } else { SUCCESS });
    extern fn cudaMemPoolSetAccess(pool: *mut c_void, _list: *const c_void, _count: usize)
        = keep(if pool.is_null() { INVALID_HANDLE } else { SUCCESS });
    extern fn cudaMemPoolTrimTo(pool: *mut c_void, _keep: usize) = keep(if pool.is_null() { INVALID_HANDLE } else { SUCCESS });

    extern fn cudaMemcpy(to: *mut c_void, from: *const c_void, len: usize, how: c_int) = copy::hipMemcpy(to, from, len, how);
    extern fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, len: usize, how: c_int, on: *mut c_void)
        = copy::hipMemcpyAsync(to, from, len, how, on);
    extern fn cudaMemcpy2D(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, how: c_int
    ) = copy::hipMemcpy2D(to, to_pitch, from, from_pitch, width, height, how);
    extern fn cudaMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, how: c_int, on:
        *mut c_void
    ) = copy::hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, how, on);
    extern fn cudaMemcpyPeer(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, len: usize)
        = copy::hipMemcpyPeerAsync(to, to_device, from, from_device, len, core::ptr::null_mut());
    extern fn cudaMemcpyPeerAsync(
        to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, len: usize, on: *mut c_void
    ) = copy::hipMemcpyPeerAsync(to, to_device, from, from_device, len, on);
    extern fn cudaMemset(at: *mut c_void, value: c_int, len: usize) = copy::hipMemset(at, value, len);
    extern fn cudaMemsetAsync(at: *mut c_void, value: c_int, len: usize, on: *mut c_void) = copy::hipMemsetAsync(at, value, len, on);
}

/// The handle is only passed back to this library.
///
/// SAFETY: `pool` is null or the caller's variable.
unsafe fn default_pool(pool: *mut *mut c_void, number: c_int) -> Status {
    if pool.is_null() || device::by_number(number).is_none() {
        return INVALID_DEVICE;
    }
    // SAFETY: the caller's variable.
    unsafe { *pool = (0x9001 + number as usize) as *mut c_void };
    SUCCESS
}

/// `cudaPointerAttributes`: type, device, device pointer, host pointer; later fields are reserved. Memory that CUDA
/// does not know is not an error: its type is 0.
///
/// SAFETY: `to` is null or the caller's structure.
unsafe fn pointer(to: *mut u8, at: *const c_void) -> Status {
    const SIZE: usize = 24;
    if to.is_null() {
        return INVALID_VALUE;
    }
    let mut found = [0_u64; 4];
    let before = crate::world::thread().last_error;
    // SAFETY: our own variable, which has the size of HIP's structure.
    let status = unsafe { memory::hipPointerGetAttributes((&raw mut found).cast(), at) };
    if status != SUCCESS {
        crate::world::thread().last_error = before;
        // Type 0, device -2, and the address itself as the host pointer.
        found = [u64::from(-2_i32 as u32) << 32, 0, at as u64, 0];
    }
    // SAFETY: the caller's structure has at least this size.
    unsafe { core::ptr::copy_nonoverlapping((&raw const found).cast::<u8>(), to, SIZE) };
    SUCCESS
}
