//! The CUDA counterpart: the same calls under other names, in the runtime and, if that is linked statically, in the
//! driver.
//!
//! The runtime's launch calls the driver's: an inner call of a thread is not recorded again.

use crate::args::{self, Args};
use crate::launch::{Call, Config, Dim3, NOT_SUPPORTED, note};
use crate::modules::{self, Origin};
use crate::record::api;
use crate::cuda_graph::outermost;
use crate::{graph, kernels, lookup};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

macro_rules! by_handle {
    ($($name:ident $api:expr;)*) => {
        wrap! {$(
            fn $name(handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void)
                -> u32, or NOT_SUPPORTED; |real| {
                // SAFETY: forwards the caller's own arguments.
                let (status, ours) = outermost(|| unsafe { real(handle, grid, block, args, shared, on) });
                if ours {
                    note(&Call {
                        api: $api, handle: handle as usize, grid: grid.list(), block: block.list(), shared: shared as u32, on,
                        args: Args::Pointers(args), status,
                    });
                }
                status
            }
        )*}
    };
}

by_handle! {
    cudaLaunchKernel api::CUDA_LAUNCH;
    cudaLaunchKernel_ptsz api::CUDA_LAUNCH;
    cudaLaunchCooperativeKernel api::CUDA_COOPERATIVE;
    cudaLaunchCooperativeKernel_ptsz api::CUDA_COOPERATIVE;
}

macro_rules! by_config {
    ($($name:ident)*) => {
        wrap! {$(
            fn $name(config: *const Config, handle: *const c_void, args: *mut *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
                // SAFETY: forwards the caller's own arguments.
                let (status, ours) = outermost(|| unsafe { real(config, handle, args) });
                // SAFETY: null or the caller's structure.
                if let Some(config) = unsafe { config.as_ref() }.filter(|_| ours) {
                    note(&Call {
                        api: api::CUDA_LAUNCH_EXC, handle: handle as usize, grid: config.grid.list(),
                        block: config.block.list(), shared: config.shared as u32, on: config.on,
                        args: Args::Pointers(args), status,
                    });
                }
                status
            }
        )*}
    };
}

by_config! { cudaLaunchKernelExC cudaLaunchKernelExC_ptsz }

macro_rules! driver {
    ($($name:ident)*) => {
        wrap! {$(
            fn $name(
                function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
                shared: c_uint, on: *mut c_void, list: *mut *mut c_void, extra: *mut *mut c_void,
            ) -> u32, or NOT_SUPPORTED; |real| {
                // SAFETY: the caller's own list of arguments.
                let args = unsafe { args::extra(extra, list) };
                // SAFETY: forwards the caller's own arguments.
                let (status, ours) =
                    outermost(|| unsafe { real(function, gx, gy, gz, bx, by, bz, shared, on, list, extra) });
                if ours {
                    note(&Call {
                        api: api::CU_LAUNCH, handle: function as usize, grid: [gx, gy, gz], block: [bx, by, bz], shared, on,
                        args, status,
                    });
                }
                status
            }
        )*}
    };
}

driver! { cuLaunchKernel cuLaunchKernel_ptsz }

macro_rules! cooperative {
    ($($name:ident)*) => {
        wrap! {$(
            fn $name(
                function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
                shared: c_uint, on: *mut c_void, list: *mut *mut c_void,
            ) -> u32, or NOT_SUPPORTED; |real| {
                // SAFETY: forwards the caller's own arguments.
                let (status, ours) = outermost(|| unsafe { real(function, gx, gy, gz, bx, by, bz, shared, on, list) });
                if ours {
                    note(&Call {
                        api: api::CU_COOPERATIVE, handle: function as usize, grid: [gx, gy, gz], block: [bx, by, bz], shared,
                        on, args: Args::Pointers(list), status,
                    });
                }
                status
            }
        )*}
    };
}

cooperative! { cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz }

/// `CUlaunchConfig`.
#[repr(C)]
pub struct DriverConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub on: *mut c_void,
}

macro_rules! driver_ex {
    ($($name:ident)*) => {
        wrap! {$(
            fn $name(config: *const DriverConfig, function: *mut c_void, list: *mut *mut c_void, extra: *mut *mut c_void) -> u32,
                or NOT_SUPPORTED; |real| {
                // SAFETY: the caller's own list of arguments.
                let args = unsafe { args::extra(extra, list) };
                // SAFETY: forwards the caller's own arguments.
                let (status, ours) = outermost(|| unsafe { real(config, function, list, extra) });
                // SAFETY: null or the caller's structure.
                if let Some(config) = unsafe { config.as_ref() }.filter(|_| ours) {
                    note(&Call {
                        api: api::CU_LAUNCH_EX, handle: function as usize, grid: config.grid, block: config.block,
                        shared: config.shared, on: config.on, args, status,
                    });
                }
                status
            }
        )*}
    };
}

driver_ex! { cuLaunchKernelEx cuLaunchKernelEx_ptsz }

/// A driver function that is called but not wrapped; looked up once.
fn ask(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = cache.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let found = lookup::symbol(lookup::loaded(c"libcuda.so.1"), name);
    cache.store(found, Ordering::Release);
    found
}

/// SAFETY: `to` must contain the value that the driver has just written, and `name` must be the caller's string.
unsafe fn learn(to: *mut *mut c_void, name: *const c_char, of: *mut c_void, kernel: bool) {
    static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    static KERNEL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    if to.is_null() || name.is_null() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (cache, question) =
            if kernel { (&KERNEL, c"cuKernelGetParamInfo") } else { (&FUNCTION, c"cuFuncGetParamInfo") };
        let layout = args::ask_driver(if args::wanted() { ask(cache, question) } else { core::ptr::null_mut() }, *to);
        kernels::learn(*to as usize, CStr::from_ptr(name).to_bytes(), modules::find(of as usize), layout, true);
    }
}

wrap! {
    fn cuModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, module, name) };
        if status == 0 {
            // SAFETY: the driver has just written it.
            unsafe { learn(to, name, module, false) };
        }
        status
    }
    fn cuLibraryGetKernel(to: *mut *mut c_void, library: *mut c_void, name: *const c_char) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, library, name) };
        if status == 0 {
            // SAFETY: the driver has just written it.
            unsafe { learn(to, name, library, true) };
        }
        status
    }
    fn cuKernelGetFunction(to: *mut *mut c_void, kernel: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, kernel) };
        if status == 0 && !to.is_null() {
            // SAFETY: the driver has just written it.
            kernels::also(kernel as usize, unsafe { *to } as usize);
        }
        status
    }
    fn __cudaRegisterFatBinary(wrapper: *mut c_void) -> *mut *mut c_void, or core::ptr::null_mut(); |real| {
        graph::CUDA.store(true, Ordering::Relaxed);
        // SAFETY: forwards the caller's own argument.
        let modules = unsafe { real(wrapper) };
        if !wrapper.is_null() {
            // SAFETY: the wrapper is {u32 magic, u32 version, u64 fat binary, u64}, emitted by the compiler.
            let binary = unsafe { wrapper.cast::<u64>().add(1).read_unaligned() } as usize;
            let (origin, base) = modules::owner(binary);
            modules::add(modules as usize, Origin { address: binary.wrapping_sub(base) as u64, ..origin });
        }
        modules
    }
    fn __cudaUnregisterFatBinary(modules: *mut *mut c_void), or (); |real| {
        modules::forget(modules as usize);
        // SAFETY: forwards the caller's own argument.
        unsafe { real(modules) }
    }
    fn __cudaRegisterFunction(
        modules: *mut *mut c_void, handle: *const c_void, stub: *mut c_char, name: *const c_char, threads: c_int,
        tid: *mut c_void, bid: *mut c_void, block: *mut c_void, grid: *mut c_void, wave: *mut c_int,
    ), or (); |real| {
        // SAFETY: forwards the caller's own arguments.
        unsafe { real(modules, handle, stub, name, threads, tid, bid, block, grid, wave) };
        if !name.is_null() {
            // SAFETY: a string in the library's data.
            let name = unsafe { CStr::from_ptr(name) }.to_bytes();
            kernels::learn(handle as usize, name, modules::find(modules as usize), &[], false);
        }
    }
}
