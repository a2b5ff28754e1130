//! The launch calls: passed on first, recorded with what they returned.

use crate::record::{self, api, kind};
use crate::{behind, graph, kernels, start, sys, trace};
use core::ffi::{c_uint, c_void};
use core::sync::atomic::AtomicPtr;

/// Where no runtime is to be found behind us: what such a runtime would say.
pub const NOT_SUPPORTED: u32 = 801;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

fn note(api: u32, handle: usize, grid: [u32; 3], block: [u32; 3], shared: u32, on: *mut c_void, status: u32) {
    let kernel = kernels::number(handle);
    let record = record::Launch {
        time_ns: sys::now_ns(),
        stream: on as u64,
        graph: graph::capturing(on),
        kernel,
        thread: 0,
        device: 0,
        api,
        status,
        grid,
        block,
        shared,
        args_len: 0,
    };
    trace::write(kind::LAUNCH, &[trace::bytes(&record)]);
}

macro_rules! by_handle {
    ($($name:ident $text:literal $api:expr, $shared:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: $shared, on: *mut c_void,
        ) -> u32 {
            static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
            type Real = unsafe extern "C" fn(*const c_void, Dim3, Dim3, *mut *mut c_void, $shared, *mut c_void) -> u32;
            start();
            let real = behind(&REAL, $text);
            if real.is_null() {
                return NOT_SUPPORTED;
            }
            // SAFETY: the function of that name, with the caller's own arguments.
            let status = unsafe {
                core::mem::transmute::<*mut c_void, Real>(real)(handle, grid, block, args, shared, on)
            };
            let (grid, block) = ([grid.x, grid.y, grid.z], [block.x, block.y, block.z]);
            note($api, handle as usize, grid, block, shared as u32, on, status);
            status
        }
    )*};
}

by_handle! {
    hipLaunchKernel c"hipLaunchKernel" api::LAUNCH_KERNEL, usize;
    hipLaunchKernel_spt c"hipLaunchKernel_spt" api::LAUNCH_KERNEL, usize;
    hipLaunchCooperativeKernel c"hipLaunchCooperativeKernel" api::LAUNCH_COOPERATIVE, c_uint;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: *mut c_void,
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    bx: c_uint,
    by: c_uint,
    bz: c_uint,
    shared: c_uint,
    on: *mut c_void,
    args: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> u32 {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    type Real = unsafe extern "C" fn(
        *mut c_void,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        *mut c_void,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> u32;
    start();
    let real = behind(&REAL, c"hipModuleLaunchKernel");
    if real.is_null() {
        return NOT_SUPPORTED;
    }
    // SAFETY: the function of that name, with the caller's own arguments.
    let status = unsafe {
        core::mem::transmute::<*mut c_void, Real>(real)(function, gx, gy, gz, bx, by, bz, shared, on, args, extra)
    };
    note(api::MODULE_LAUNCH, function as usize, [gx, gy, gz], [bx, by, bz], shared, on, status);
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtModuleLaunchKernel(
    function: *mut c_void,
    gx: u32,
    gy: u32,
    gz: u32,
    bx: u32,
    by: u32,
    bz: u32,
    shared: usize,
    on: *mut c_void,
    args: *mut *mut c_void,
    extra: *mut *mut c_void,
    from: *mut c_void,
    to: *mut c_void,
    flags: u32,
) -> u32 {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    type Real = unsafe extern "C" fn(
        *mut c_void,
        u32,
        u32,
        u32,
        u32,
        u32,
        u32,
        usize,
        *mut c_void,
        *mut *mut c_void,
        *mut *mut c_void,
        *mut c_void,
        *mut c_void,
        u32,
    ) -> u32;
    start();
    let real = behind(&REAL, c"hipExtModuleLaunchKernel");
    if real.is_null() {
        return NOT_SUPPORTED;
    }
    // SAFETY: the function of that name, with the caller's own arguments.
    let status = unsafe {
        core::mem::transmute::<*mut c_void, Real>(real)(
            function, gx, gy, gz, bx, by, bz, shared, on, args, extra, from, to, flags,
        )
    };
    // This call counts the grid in threads.
    let groups = |threads: u32, block: u32| if block == 0 { 0 } else { threads.div_ceil(block) };
    let grid = [groups(gx, bx), groups(gy, by), groups(gz, bz)];
    note(api::EXT_MODULE_LAUNCH, function as usize, grid, [bx, by, bz], shared as u32, on, status);
    status
}
