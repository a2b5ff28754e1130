//! The launch calls of HIP: forwarded first, then recorded with their result.

use crate::args::{self, Args};
use crate::record::{self, api, kind};
use crate::{graph, kernels, lookup, memory, runtimes, shapes, sys, thread, trace};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The result if no runtime is found: the result of a runtime without this function.
pub const NOT_SUPPORTED: u32 = 801;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    #[inline]
    pub fn list(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// One finished launch call.
pub struct Call {
    pub api: u32,
    pub handle: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub on: *mut c_void,
    pub args: Args,
    pub status: u32,
}

/// Records a launch. If it was rejected, its arguments may be invalid and are not read.
#[inline]
pub fn note(call: &Call) {
    note_in(call, graph::capturing(call.on));
}

pub fn note_in(call: &Call, graph: u32) {
    let kernel = match kernels::find(call.handle) {
        Some(kernel) => Some(kernel),
        None => stranger(call),
    };
    let (id, layout) = match kernel {
        Some(kernel) => {
            kernel.note();
            (kernel.id, kernel.layout)
        }
        None => {
            runtimes::note();
            (0, &[][..])
        }
    };
    let args_len = if args::wanted() && call.status == 0 { args::len(layout, call.args) } else { 0 };
    let thread = thread::now();
    let time_ns = sys::coarse_ns();
    // Captures and rejections are rare.
    if args_len == 0 && (graph | call.status) == 0 && trace::is_open() {
        let key = shapes::key(call, id, thread);
        let number = match shapes::find(&key) {
            shapes::Found::Number(number) => Some(number),
            shapes::Found::Free(slot) => shapes::claim(slot, key, &record(call, graph, id, thread, time_ns, 0)),
            shapes::Found::No => None,
        };
        if let Some(shape) = number {
            let time = (time_ns.saturating_sub(trace::start_ns()) >> record::REPEAT_SHIFT) as u32;
            let Some(place) = trace::begin(size_of::<record::Repeat>()) else { return };
            // SAFETY: the reservation has space for it.
            unsafe { place.body().cast::<record::Repeat>().write(record::Repeat { shape, time }) };
            place.finish(kind::REPEAT);
            return;
        }
    }
    let Some(place) = trace::begin(size_of::<record::Launch>() + args_len) else { return };
    let body = place.body();
    // SAFETY: the reservation has space for the record and the arguments, which belong to an accepted launch of this
    // kernel.
    unsafe {
        body.cast::<record::Launch>().write_unaligned(record(call, graph, id, thread, time_ns, args_len));
        if args_len != 0 {
            args::copy(layout, call.args, body.add(size_of::<record::Launch>()), args_len);
        }
    }
    place.finish(kind::LAUNCH);
}

#[inline]
pub fn record(call: &Call, graph: u32, kernel: u32, thread: &thread::Thread, time_ns: u64, args_len: usize) -> record::Launch {
    record::Launch {
        time_ns,
        stream: call.on as u64,
        graph,
        kernel,
        thread: thread.id,
        device: thread.device,
        api: call.api,
        status: call.status,
        grid: call.grid,
        block: call.block,
        shared: call.shared,
        args_len: args_len as u32,
    }
}

/// A kernel whose registration was not seen: the runtime is asked for its name once. A rejected handle may not be a
/// kernel.
#[cold]
fn stranger(call: &Call) -> Option<&'static kernels::Kernel> {
    if call.status != 0 {
        return None;
    }
    if sys::sealed() {
        return kernels::learn_at_once(call.handle, memory::address(call.handle).as_slice());
    }
    let mut name: *const c_char = core::ptr::null();
    let handle = call.handle as *mut c_void;
    // SAFETY: the runtime's own functions, on a handle that it has just launched.
    unsafe {
        match call.api {
            api::CU_LAUNCH | api::CU_LAUNCH_EX | api::CU_COOPERATIVE => {
                let ask = lookup::symbol(lookup::loaded(c"libcuda.so.1"), c"cuFuncGetName");
                if !ask.is_null() {
                    type Ask = unsafe extern "C" fn(*mut *const c_char, *mut c_void) -> u32;
                    core::mem::transmute::<*mut c_void, Ask>(ask)(&raw mut name, handle);
                }
            }
            api::MODULE_LAUNCH | api::EXT_MODULE_LAUNCH | api::MODULE_COOPERATIVE => {
                let ask = crate::wrapped::unwrapped(c"hipKernelNameRef");
                if !ask.is_null() {
                    type Ask = unsafe extern "C" fn(*mut c_void) -> *const c_char;
                    name = core::mem::transmute::<*mut c_void, Ask>(ask)(handle);
                }
            }
            api::LAUNCH_KERNEL | api::LAUNCH_COOPERATIVE | api::EXT_LAUNCH | api::LAUNCH_EXC => {
                let ask = crate::wrapped::unwrapped(c"hipKernelNameRefByPtr");
                if !ask.is_null() {
                    type Ask = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const c_char;
                    name = core::mem::transmute::<*mut c_void, Ask>(ask)(handle, call.on);
                }
            }
            _ => {}
        }
        if name.is_null() {
            return kernels::learn_at_once(call.handle, memory::address(call.handle).as_slice());
        }
        kernels::learn_at_once(call.handle, CStr::from_ptr(name).to_bytes())
    }
}

macro_rules! by_handle {
    ($($name:ident $api:expr, $shared:ty;)*) => {
        wrap! {$(
            fn $name(handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: $shared, on: *mut c_void)
                -> u32, or NOT_SUPPORTED; |real| {
                // SAFETY: forwards the caller's own arguments.
                let status = unsafe { real(handle, grid, block, args, shared, on) };
                note(&Call {
                    api: $api, handle: handle as usize, grid: grid.list(), block: block.list(), shared: shared as u32, on,
                    args: Args::Pointers(args), status,
                });
                status
            }
        )*}
    };
}

by_handle! {
    hipLaunchKernel api::LAUNCH_KERNEL, usize;
    hipLaunchKernel_spt api::LAUNCH_KERNEL, usize;
    hipLaunchCooperativeKernel api::LAUNCH_COOPERATIVE, c_uint;
    hipLaunchCooperativeKernel_spt api::LAUNCH_COOPERATIVE, u32;
}

/// `hipLaunchConfig_t` and `cudaLaunchConfig_t`: grid, block, dynamic shared memory, stream, attributes.
#[repr(C)]
pub struct Config {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub on: *mut c_void,
}

/// Converts a grid in threads to workgroups, rounding up.
fn groups(threads: [u32; 3], block: [u32; 3]) -> [u32; 3] {
    let of = |threads: u32, block: u32| if block == 0 { 0 } else { threads.div_ceil(block) };
    [of(threads[0], block[0]), of(threads[1], block[1]), of(threads[2], block[2])]
}

wrap! {
    fn hipExtLaunchKernel(
        handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void,
        from: *mut c_void, to: *mut c_void, flags: c_int,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(handle, grid, block, args, shared, on, from, to, flags) };
        note(&Call {
            api: api::EXT_LAUNCH, handle: handle as usize, grid: grid.list(), block: block.list(), shared: shared as u32, on,
            args: Args::Pointers(args), status,
        });
        status
    }
    fn hipLaunchKernelExC(config: *const Config, handle: *const c_void, args: *mut *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(config, handle, args) };
        // SAFETY: null or the caller's structure.
        if let Some(config) = unsafe { config.as_ref() } {
            note(&Call {
                api: api::LAUNCH_EXC, handle: handle as usize, grid: config.grid.list(), block: config.block.list(),
                shared: config.shared as u32, on: config.on, args: Args::Pointers(args), status,
            });
        }
        status
    }
    fn hipModuleLaunchKernel(
        function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint,
        on: *mut c_void, list: *mut *mut c_void, extra: *mut *mut c_void,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: the caller's own list of arguments.
        let args = unsafe { args::extra(extra, list) };
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(function, gx, gy, gz, bx, by, bz, shared, on, list, extra) };
        note(&Call {
            api: api::MODULE_LAUNCH, handle: function as usize, grid: [gx, gy, gz], block: [bx, by, bz], shared, on, args, status,
        });
        status
    }
    fn hipModuleLaunchCooperativeKernel(
        function: *mut c_void, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint,
        on: *mut c_void, list: *mut *mut c_void,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(function, gx, gy, gz, bx, by, bz, shared, on, list) };
        note(&Call {
            api: api::MODULE_COOPERATIVE, handle: function as usize, grid: [gx, gy, gz], block: [bx, by, bz], shared, on,
            args: Args::Pointers(list), status,
        });
        status
    }
    fn hipSetDevice(device: c_int) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own argument.
        let status = unsafe { real(device) };
        if status == 0 {
            thread::now().device = device as u32;
        }
        status
    }
}

/// These calls give the grid in threads. C++ programs of older releases use their mangled names.
macro_rules! in_threads {
    ($($name:ident($($flags:ident)?);)*) => { wrap! {$(
        fn $name(
            function: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, on: *mut c_void,
            list: *mut *mut c_void, extra: *mut *mut c_void, from: *mut c_void, to: *mut c_void $(, $flags: u32)?
        ) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: the caller's own list of arguments.
            let args = unsafe { args::extra(extra, list) };
            // SAFETY: forwards the caller's own arguments.
            let status = unsafe { real(function, gx, gy, gz, bx, by, bz, shared, on, list, extra, from, to $(, $flags)?) };
            let (grid, block) = (groups([gx, gy, gz], [bx, by, bz]), [bx, by, bz]);
            note(&Call {
                api: api::EXT_MODULE_LAUNCH, handle: function as usize, grid, block, shared: shared as u32, on, args, status,
            });
            status
        }
    )*} };
}

in_threads! {
    hipExtModuleLaunchKernel(flags);
    hipHccModuleLaunchKernel();
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(flags);
    _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_();
}

/// `hipLaunchParams` and `cudaLaunchParams`.
#[repr(C)]
pub struct ByStub {
    handle: *mut c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared: usize,
    on: *mut c_void,
}

/// `hipFunctionLaunchParams` and `CUDA_LAUNCH_PARAMS`.
#[repr(C)]
pub struct ByFunction {
    handle: *mut c_void,
    grid: Dim3,
    block: Dim3,
    shared: c_uint,
    on: *mut c_void,
    args: *mut *mut c_void,
}

/// One kernel on each of several devices, which counts as several launches.
macro_rules! on_each {
    ($($name:ident $of:ty, $api:expr;)*) => { wrap! {$(
        fn $name(list: *mut $of, count: c_uint, flags: c_uint) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = crate::cuda_graph::inner(|| unsafe { real(list, count, flags) });
            for place in 0..if ours && !list.is_null() { count as usize } else { 0 } {
                // SAFETY: the caller's list, with the stated length.
                let one = unsafe { &*list.add(place) };
                note(&Call {
                    api: $api, handle: one.handle as usize, grid: one.grid.list(), block: one.block.list(),
                    shared: one.shared as u32, on: one.on, args: Args::Pointers(one.args), status,
                });
            }
            status
        }
    )*} };
}

on_each! {
    hipExtLaunchMultiKernelMultiDevice ByStub, api::LAUNCH_KERNEL;
    hipLaunchCooperativeKernelMultiDevice ByStub, api::LAUNCH_COOPERATIVE;
    hipModuleLaunchCooperativeKernelMultiDevice ByFunction, api::MODULE_COOPERATIVE;
    cudaLaunchCooperativeKernelMultiDevice ByStub, api::CUDA_COOPERATIVE;
    cuLaunchCooperativeKernelMultiDevice ByFunction, api::CU_COOPERATIVE;
}

wrap! {
    fn hipLaunchByPtr(handle: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own argument.
        let status = unsafe { real(handle) };
        note(&Call {
            api: api::LAUNCH_KERNEL, handle: handle as usize, grid: [0; 3], block: [0; 3], shared: 0, on: core::ptr::null_mut(),
            args: Args::Pointers(core::ptr::null_mut()), status,
        });
        status
    }
    fn hipDrvLaunchKernelEx(
        config: *const crate::cuda::DriverConfig, function: *mut c_void, list: *mut *mut c_void, extra: *mut *mut c_void,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: the caller's own list of arguments.
        let args = unsafe { args::extra(extra, list) };
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(config, function, list, extra) };
        // SAFETY: null or the caller's structure.
        if let Some(config) = unsafe { config.as_ref() } {
            note(&Call {
                api: api::MODULE_LAUNCH, handle: function as usize, grid: config.grid, block: config.block,
                shared: config.shared, on: config.on, args, status,
            });
        }
        status
    }
}
