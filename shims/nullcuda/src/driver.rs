//! The driver's functions: modules, launches, memory, streams and events. They share their implementation with the
//! runtime's functions.

use crate::error::{INVALID_HANDLE, INVALID_VALUE, SUCCESS, Status};
use crate::launch::{Args, Call};
use crate::record::api;
use crate::{copy, event, function, launch, memory, module, stream, stubs};
use core::ffi::{c_char, c_int, c_uint, c_void};

/// `CUlaunchConfig`; the attributes change neither grid nor block.
#[repr(C)]
pub struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    on: *mut c_void,
}

/// SAFETY: the arguments are those of a real launch of this kernel.
unsafe fn start(
    handle: *mut c_void,
    api: u32,
    (grid, block): ([c_uint; 3], [c_uint; 3]),
    shared: c_uint,
    on: *mut c_void,
    args: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Status {
    let Some(function) = function::by_function(handle) else { return INVALID_HANDLE };
    // SAFETY: guaranteed by the caller; the tags of `extra` are the same as in HIP.
    let args = match unsafe { launch::extra(extra) } {
        Some((buffer, size)) => Args::Buffer(buffer, size),
        None => Args::Pointers(args),
    };
    // SAFETY: guaranteed by the caller.
    match unsafe { launch::launch(function, &Call { api, grid, block, shared: shared as usize, on, args }) } {
        // The driver has no number of its own for a wrong configuration.
        crate::error::INVALID_CONFIGURATION => INVALID_VALUE,
        status => status,
    }
}

/// SAFETY: as `start`; `config` is null or the caller's structure.
unsafe fn with_config(config: *const Config, handle: *mut c_void, args: *mut *mut c_void, extra: *mut *mut c_void) -> Status {
    // SAFETY: guaranteed by the caller.
    let Some(config) = (unsafe { config.as_ref() }) else { return INVALID_VALUE };
    // SAFETY: guaranteed by the caller.
    unsafe { start(handle, api::CU_LAUNCH_EX, (config.grid, config.block), config.shared, config.on, args, extra) }
}

/// Records that the content of a module that was just loaded into `to` is not known.
///
/// SAFETY: `to` is null or the caller's variable.
unsafe fn kept(status: Status, to: *mut *mut c_void) -> Status {
    if status == SUCCESS && !to.is_null() {
        // SAFETY: just written.
        let handle = unsafe { *to };
        if module::is_opaque(handle) {
            // Whether the code compiles for the device, and with how many registers, is unknown here.
            stubs::note(b"cuModuleLoadData of PTX or a fatbin");
        }
    }
    status
}

forward! {
    extern fn cuModuleLoadData(to: *mut *mut c_void, image: *const c_void) = kept(module::hipModuleLoadData(to, image), to);
    extern fn cuModuleLoadDataEx(
        to: *mut *mut c_void, image: *const c_void, _count: c_uint, _options: *mut c_int, _values: *mut *mut c_void
    ) = kept(module::hipModuleLoadData(to, image), to);
    extern fn cuModuleLoadFatBinary(to: *mut *mut c_void, image: *const c_void)
        = kept(module::hipModuleLoadData(to, image), to);
    extern fn cuModuleLoad(to: *mut *mut c_void, path: *const c_char) = kept(module::hipModuleLoad(to, path), to);
    extern fn cuModuleUnload(module: *mut c_void) = module::hipModuleUnload(module);
    extern fn cuModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char)
        = module::hipModuleGetFunction(to, module, name);
    /// A library is a module here, and a kernel its function.
    extern fn cuLibraryLoadData(
        to: *mut *mut c_void, image: *const c_void, _jit: *mut c_int, _jit_values: *mut *mut c_void, _jit_count: c_uint, _options:
        *mut c_int, _values: *mut *mut c_void, _count: c_uint
    ) = kept(module::hipModuleLoadData(to, image), to);
    extern fn cuLibraryUnload(library: *mut c_void) = module::hipModuleUnload(library);
    extern fn cuLibraryGetKernel(to: *mut *mut c_void, library: *mut c_void, name: *const c_char)
        = module::hipModuleGetFunction(to, library, name);
    extern fn cuLibraryGetModule(to: *mut *mut c_void, library: *mut c_void)
        = if to.is_null() { INVALID_VALUE } else { *to = library; SUCCESS };
    extern fn cuKernelGetFunction(to: *mut *mut c_void, kernel: *mut c_void)
        = if to.is_null() { INVALID_VALUE } else { *to = kernel; SUCCESS };

    extern fn cuLaunchKernel(
        function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, on:
        *mut c_void, args: *mut *mut c_void, extra: *mut *mut c_void
    ) = start(function, api::CU_LAUNCH, ([gx, gy, gz], [bx, by, bz]), shared, on, args, extra);
    extern fn cuLaunchCooperativeKernel(
        function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, on:
        *mut c_void, args: *mut *mut c_void
    ) = start(function, api::CU_COOPERATIVE, ([gx, gy, gz], [bx, by, bz]), shared, on, args, core::ptr::null_mut());
    extern fn cuLaunchKernelEx(config: *const Config, function: *mut c_void, args: *mut *mut c_void, extra: *mut *mut c_void)
        = with_config(config, function, args, extra);

    extern fn cuMemAlloc_v2(to: *mut *mut c_void, size: usize) = memory::hipMalloc(to, size);
    extern fn cuMemAllocManaged(to: *mut *mut c_void, size: usize, flags: c_uint) = memory::hipMallocManaged(to, size, flags);
    extern fn cuMemAllocAsync(to: *mut *mut c_void, size: usize, on: *mut c_void) = memory::hipMallocAsync(to, size, on);
    extern fn cuMemFree_v2(at: *mut c_void) = memory::hipFree(at);
    extern fn cuMemFreeAsync(at: *mut c_void, on: *mut c_void) = memory::hipFreeAsync(at, on);
    extern fn cuMemHostAlloc(to: *mut *mut c_void, size: usize, flags: c_uint) = memory::hipHostMalloc(to, size, flags);
    extern fn cuMemAllocHost_v2(to: *mut *mut c_void, size: usize) = memory::hipHostMalloc(to, size, 0);
    extern fn cuMemFreeHost(at: *mut c_void) = memory::hipHostFree(at);
    extern fn cuMemHostGetDevicePointer_v2(to: *mut *mut c_void, host: *mut c_void, flags: c_uint)
        = memory::hipHostGetDevicePointer(to, host, flags);
    extern fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) = memory::hipMemGetInfo(free, total);
    extern fn cuPointerGetAttribute(value: *mut c_void, which: c_int, at: *const c_void) = pointer(value, which, at);
    extern fn cuMemcpyHtoD_v2(to: *mut c_void, from: *const c_void, len: usize) = copy::hipMemcpy(to, from, len, 1);
    extern fn cuMemcpyDtoH_v2(to: *mut c_void, from: *const c_void, len: usize) = copy::hipMemcpy(to, from, len, 2);
    extern fn cuMemcpyDtoD_v2(to: *mut c_void, from: *const c_void, len: usize) = copy::hipMemcpy(to, from, len, 3);
    extern fn cuMemcpyHtoDAsync_v2(to: *mut c_void, from: *const c_void, len: usize, on: *mut c_void)
        = copy::hipMemcpyAsync(to, from, len, 1, on);
    extern fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: *const c_void, len: usize, on: *mut c_void)
        = copy::hipMemcpyAsync(to, from, len, 2, on);
    extern fn cuMemcpyDtoDAsync_v2(to: *mut c_void, from: *const c_void, len: usize, on: *mut c_void)
        = copy::hipMemcpyAsync(to, from, len, 3, on);
    extern fn cuMemsetD8_v2(at: *mut c_void, value: u8, len: usize) = copy::hipMemset(at, c_int::from(value), len);
    extern fn cuMemsetD8Async(at: *mut c_void, value: u8, len: usize, on: *mut c_void)
        = copy::hipMemsetAsync(at, c_int::from(value), len, on);
    extern fn cuMemsetD32_v2(at: *mut u32, value: u32, count: usize) = fill(at, value, count, core::ptr::null_mut());
    extern fn cuMemsetD32Async(at: *mut u32, value: u32, count: usize, on: *mut c_void) = fill(at, value, count, on);

    extern fn cuStreamCreate(to: *mut *mut c_void, flags: c_uint) = stream::hipStreamCreateWithFlags(to, flags);
    extern fn cuStreamCreateWithPriority(to: *mut *mut c_void, flags: c_uint, priority: c_int)
        = stream::hipStreamCreateWithPriority(to, flags, priority);
    extern fn cuStreamDestroy_v2(on: *mut c_void) = stream::hipStreamDestroy(on);
    extern fn cuStreamSynchronize(on: *mut c_void) = stream::hipStreamSynchronize(on);
    extern fn cuStreamQuery(on: *mut c_void) = stream::hipStreamQuery(on);
    extern fn cuStreamWaitEvent(on: *mut c_void, event: *mut c_void, flags: c_uint) = event::hipStreamWaitEvent(on, event, flags);
    extern fn cuEventCreate(to: *mut *mut c_void, flags: c_uint) = event::hipEventCreateWithFlags(to, flags);
    extern fn cuEventDestroy_v2(event: *mut c_void) = event::hipEventDestroy(event);
    extern fn cuEventRecord(event: *mut c_void, on: *mut c_void) = event::hipEventRecord(event, on);
    extern fn cuEventSynchronize(event: *mut c_void) = event::hipEventSynchronize(event);
    extern fn cuEventQuery(event: *mut c_void) = event::hipEventQuery(event);
    extern fn cuProfilerStart() = SUCCESS;
    extern fn cuProfilerStop() = SUCCESS;
}

/// SAFETY: `at` must be valid for `count` words.
unsafe fn fill(at: *mut u32, value: u32, count: usize, on: *mut c_void) -> Status {
    if at.is_null() && count > 0 {
        return INVALID_VALUE;
    }
    if stream::captured(on) != 0 {
        stream::node(on, stream::FILL);
        return SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    (0..count).for_each(|place| unsafe { at.add(place).write_unaligned(value) });
    SUCCESS
}

/// `CUpointer_attribute`: 1 context, 2 memory type, 3 and 4 device and host pointer, 9 device.
///
/// SAFETY: `value` is null or the caller's variable of the attribute's type.
unsafe fn pointer(value: *mut c_void, which: c_int, at: *const c_void) -> Status {
    let mut found = [0_u64; 4];
    // SAFETY: our own variable.
    let known = unsafe { memory::hipPointerGetAttributes((&raw mut found).cast(), at) } == SUCCESS;
    if value.is_null() || !known {
        return INVALID_VALUE;
    }
    let [head, on_device, on_host, _] = found;
    // SAFETY: guaranteed by the caller.
    unsafe {
        match which {
            2 => value.cast::<u32>().write(head as u32),
            3 => value.cast::<u64>().write(on_device),
            4 => value.cast::<u64>().write(on_host),
            8 => value.cast::<u32>().write(0),
            9 => value.cast::<u32>().write((head >> 32) as u32),
            _ => return stubs::unsupported(b"cuPointerGetAttribute"),
        }
    }
    SUCCESS
}
