//! Launches: checked like in the real runtime, recorded, not executed.

use crate::error::{INVALID_DEVICE_FUNCTION, INVALID_HANDLE, INVALID_VALUE, SUCCESS, Status, keep, replace};
use crate::function::{self, Function};
use crate::record::{self, api, kind};
use crate::world::thread;
use crate::{route, rules, stream, sys, trace};
use core::ffi::{c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// The maximum size of a launch's arguments, laid out as in the kernarg segment.
pub const MOST_ARGS: usize = 4096;

pub enum Args {
    /// One pointer per argument; sizes come from metadata.
    Pointers(*mut *mut c_void),
    /// One buffer, with its size (Tensile).
    Buffer(*const u8, usize),
}

pub struct Call {
    pub api: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: usize,
    pub on: *mut c_void,
    pub args: Args,
}

/// Launches, replays and library calls so far. An event that is recorded after one of them may measure it.
static WORK: AtomicU64 = AtomicU64::new(0);

pub fn work() -> u64 {
    WORK.load(Ordering::Relaxed)
}

pub fn worked() {
    WORK.fetch_add(1, Ordering::Relaxed);
}

/// SAFETY: the arguments must be those of a real launch of this kernel.
pub unsafe fn launch(function: &'static Function, call: &Call) -> Status {
    let mut buffer = [0_u8; MOST_ARGS];
    // SAFETY: guaranteed by the caller.
    let record = unsafe { describe(function, call, stream::captured(call.on), &mut buffer) };
    let args = buffer.get(..record.args_len as usize).unwrap_or(&[]);
    write(function, &record, args);
    if record.status == SUCCESS {
        match stream::capture_of(call.on) {
            Some(graph) => graph.keep(function, &record, args),
            None => worked(),
        }
        if let (Some(entry), Args::Pointers(args)) = (function.entry(), &call.args) {
            // SAFETY: guaranteed by the caller.
            unsafe { route::write(entry, *args, call.grid) };
        }
    }
    record.status
}

/// The record of a launch; its arguments are put into `buffer`.
///
/// SAFETY: the arguments must be those of a real launch of this kernel.
pub unsafe fn describe(function: &'static Function, call: &Call, graph: u32, buffer: &mut [u8; MOST_ARGS]) -> record::Launch {
    let status = rules::check(function, call);
    // SAFETY: guaranteed by the caller.
    let len = unsafe { arguments(function, &call.args, buffer) };
    let thread = thread();
    if thread.id == 0 {
        thread.id = sys::thread_id();
    }
    record::Launch {
        time_ns: sys::now_ns(),
        stream: stream::id(call.on),
        graph,
        kernel: function.id,
        thread: thread.id,
        device: crate::world::world().machines_number(),
        api: call.api,
        status,
        grid: call.grid,
        block: call.block,
        shared: call.shared as u32,
        args_len: len as u32,
    }
}

pub fn write(function: &'static Function, record: &record::Launch, args: &[u8]) {
    function.note();
    crate::world::record(kind::LAUNCH, &[trace::bytes(record), args]);
}

/// SAFETY: the arguments must be those of a real launch of this kernel.
unsafe fn arguments(function: &Function, args: &Args, buffer: &mut [u8; MOST_ARGS]) -> usize {
    match *args {
        Args::Buffer(from, size) => {
            let len = size.min(MOST_ARGS);
            if from.is_null() {
                return 0;
            }
            // SAFETY: the caller passed `size` bytes.
            unsafe { core::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), len) };
            len
        }
        Args::Pointers(list) => {
            let layout = function.layout();
            if list.is_null() {
                return 0;
            }
            let mut end = 0;
            for (place, arg) in layout.iter().enumerate() {
                let (at, size) = (usize::from(arg.offset), usize::from(arg.size));
                let Some(to) = buffer.get_mut(at..at + size) else { break };
                // SAFETY: one pointer per explicit argument, each to `size` bytes.
                unsafe {
                    let from = *list.add(place);
                    if from.is_null() {
                        break;
                    }
                    core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.as_mut_ptr(), size);
                }
                end = at + size;
            }
            end
        }
    }
}

/// SAFETY: as `launch`.
pub unsafe fn by_handle(handle: *const c_void, api: u32, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void) -> Status {
    let Some(function) = function::by_handle(handle as usize) else { return keep(INVALID_DEVICE_FUNCTION) };
    let call = Call {
        api,
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        shared,
        on,
        args: Args::Pointers(args),
    };
    // SAFETY: guaranteed by the caller.
    keep(unsafe { launch(function, &call) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernel(handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { by_handle(handle, api::LAUNCH_KERNEL, grid, block, args, shared, on) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernel_spt(handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void) -> Status {
    let on = if on.is_null() { 2 as *mut c_void } else { on };
    // SAFETY: guaranteed by the caller.
    unsafe { by_handle(handle, api::LAUNCH_KERNEL, grid, block, args, shared, on) }
}

forward! {
    extern fn hipLaunchCooperativeKernel(
        handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: c_uint, on: *mut c_void
    ) = by_handle(handle, api::LAUNCH_COOPERATIVE, grid, block, args, shared as usize, on);
    extern fn hipExtLaunchKernel(
        handle: *const c_void, grid: Dim3, block: Dim3, args: *mut *mut c_void, shared: usize, on: *mut c_void, _start:
        *mut c_void, _stop: *mut c_void, _flags: c_uint
    ) = by_handle(handle, api::EXT_LAUNCH, grid, block, args, shared, on);
}

/// `hipLaunchConfig_t`: grid, block, dynamic shared memory, stream, attributes.
#[repr(C)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    on: *mut c_void,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchKernelExC(config: *const Config, handle: *const c_void, args: *mut *mut c_void) -> Status {
    // SAFETY: null or the caller's structure.
    let Some(config) = (unsafe { config.as_ref() }) else { return keep(INVALID_VALUE) };
    // SAFETY: guaranteed by the caller.
    unsafe { by_handle(handle, api::LAUNCH_EXC, config.grid, config.block, args, config.shared, config.on) }
}

/// `extra` is a list of tagged values: 1 buffer pointer, 2 pointer to its size, 3 end.
///
/// SAFETY: `list` must be null or a list of this form.
pub unsafe fn extra(list: *mut *mut c_void) -> Option<(*const u8, usize)> {
    if list.is_null() {
        return None;
    }
    let (mut buffer, mut size) = (core::ptr::null(), 0_usize);
    for pair in 0..4 {
        // SAFETY: the list ends with tag 3.
        unsafe {
            let value = *list.add(pair * 2 + 1);
            match *list.add(pair * 2) as usize {
                1 => buffer = value.cast_const().cast(),
                2 => size = value.cast::<usize>().read(),
                _ => break,
            }
        }
    }
    Some((buffer, size))
}

/// SAFETY: as `launch`.
pub unsafe fn by_function(handle: *mut c_void, api: u32, grid: [u32; 3], block: [u32; 3], shared: u32, on: *mut c_void, args: *mut *mut c_void, list: *mut *mut c_void) -> Status {
    let Some(function) = function::by_function(handle) else { return keep(INVALID_HANDLE) };
    // SAFETY: guaranteed by the caller.
    let args = match unsafe { extra(list) } {
        Some((buffer, size)) => Args::Buffer(buffer, size),
        None => Args::Pointers(args),
    };
    // SAFETY: guaranteed by the caller.
    replace(unsafe { launch(function, &Call { api, grid, block, shared: shared as usize, on, args }) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: *mut c_void,
    gx: c_uint, gy: c_uint, gz: c_uint,
    bx: c_uint, by: c_uint, bz: c_uint,
    shared: c_uint,
    on: *mut c_void,
    args: *mut *mut c_void,
    list: *mut *mut c_void,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { by_function(function, api::MODULE_LAUNCH, [gx, gy, gz], [bx, by, bz], shared, on, args, list) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchCooperativeKernel(
    function: *mut c_void,
    gx: c_uint, gy: c_uint, gz: c_uint,
    bx: c_uint, by: c_uint, bz: c_uint,
    shared: c_uint,
    on: *mut c_void,
    args: *mut *mut c_void,
) -> Status {
    let none = core::ptr::null_mut();
    // SAFETY: guaranteed by the caller.
    unsafe { by_function(function, api::MODULE_COOPERATIVE, [gx, gy, gz], [bx, by, bz], shared, on, args, none) }
}

/// This call gives the grid in threads; the record has workgroups, rounded up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtModuleLaunchKernel(
    function: *mut c_void,
    gx: u32, gy: u32, gz: u32,
    bx: u32, by: u32, bz: u32,
    shared: usize,
    on: *mut c_void,
    args: *mut *mut c_void,
    list: *mut *mut c_void,
    _start: *mut c_void,
    _stop: *mut c_void,
    _flags: u32,
) -> Status {
    let groups = |threads: u32, block: u32| if block == 0 { 0 } else { threads.div_ceil(block) };
    let grid = [groups(gx, bx), groups(gy, by), groups(gz, bz)];
    // SAFETY: guaranteed by the caller.
    unsafe { by_function(function, api::EXT_MODULE_LAUNCH, grid, [bx, by, bz], shared as u32, on, args, list) }
}

/// The configuration of `<<<...>>>`, kept per thread until the kernel's stub pops it.
#[unsafe(no_mangle)]
pub extern "C" fn __hipPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, on: *mut c_void) -> Status {
    let thread = thread();
    let pack = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let Some(slot) = thread.pushed.get_mut(thread.depth as usize) else { return keep(INVALID_VALUE) };
    *slot = [
        pack(grid.x, grid.y),
        pack(grid.z, block.x),
        pack(block.y, block.z),
        shared as u64,
        on as u64,
    ];
    thread.depth += 1;
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, on: *mut *mut c_void) -> Status {
    let thread = thread();
    let Some(depth) = thread.depth.checked_sub(1) else { return keep(INVALID_VALUE) };
    thread.depth = depth;
    let Some([a, b, c, bytes, handle]) = thread.pushed.get(depth as usize).copied() else { return keep(INVALID_VALUE) };
    let low = |value: u64| value as u32;
    let high = |value: u64| (value >> 32) as u32;
    // SAFETY: the stub's own variables.
    unsafe {
        *grid = Dim3 { x: low(a), y: high(a), z: low(b) };
        *block = Dim3 { x: high(b), y: low(c), z: high(c) };
        *shared = bytes as usize;
        *on = handle as *mut c_void;
    }
    SUCCESS
}
