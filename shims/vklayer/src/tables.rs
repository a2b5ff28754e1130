//! The functions below this layer, by device. A device, its queues and its command buffers all begin with the same
//! loader pointer, which is the key.

use crate::abi::{Function, Handle};
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of devices and instances at once.
const MOST: usize = 256;

macro_rules! functions {
    ($($name:ident = $wrapper:path,)*) => {
        /// Indexes in a device's table.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy)]
        #[repr(usize)]
        pub enum At { $($name,)* Count }

        const NAMES: [&CStr; At::Count as usize] = [$(
            // SAFETY: the string has one NUL, at its end.
            unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
        )*];

        /// The wrapper of a device function.
        pub fn wrapper(name: &CStr) -> Option<(At, Function)> {
            $(if name.to_bytes() == stringify!($name).as_bytes() {
                // SAFETY: only called with the type of the function of this name.
                let function = unsafe { core::mem::transmute::<*const (), Function>($wrapper as *const ()) };
                return Some((At::$name, function));
            })*
            None
        }
    };
}

functions! {
    vkDestroyDevice = crate::create::destroy_device,
    vkCreateShaderModule = crate::pipelines::create_module,
    vkCreateComputePipelines = crate::pipelines::create_pipelines,
    vkSetDebugUtilsObjectNameEXT = crate::pipelines::set_name,
    vkCreateCommandPool = crate::commands::create_pool,
    vkDestroyCommandPool = crate::commands::destroy_pool,
    vkAllocateCommandBuffers = crate::commands::allocate,
    vkBeginCommandBuffer = crate::commands::begin,
    vkResetCommandBuffer = crate::commands::reset,
    vkFreeCommandBuffers = crate::commands::free,
    vkCmdBindPipeline = crate::commands::bind,
    vkCmdPushConstants = crate::commands::push,
    vkCmdPushConstants2 = crate::commands::push2,
    vkCmdPushConstants2KHR = crate::commands::push2_khr,
    vkCmdDispatch = crate::commands::dispatch,
    vkCmdDispatchIndirect = crate::commands::dispatch_indirect,
    vkCmdDispatchBase = crate::commands::dispatch_base,
    vkCmdDispatchBaseKHR = crate::commands::dispatch_base_khr,
    vkCmdBeginDebugUtilsLabelEXT = crate::commands::label,
    vkCmdEndDebugUtilsLabelEXT = crate::commands::label_end,
    vkCmdExecuteCommands = crate::commands::execute,
    vkQueueSubmit = crate::submit::submit,
    vkQueueSubmit2 = crate::submit::submit2,
    vkQueueSubmit2KHR = crate::submit::submit2_khr,
    vkQueueWaitIdle = crate::submit::queue_idle,
    vkDeviceWaitIdle = crate::submit::device_idle,
    vkWaitForFences = crate::submit::wait,
    vkGetFenceStatus = crate::submit::status,
}

pub struct DispatchTable {
    key: AtomicUsize,
    /// vkGetDeviceProcAddr of the next layer, or vkGetInstanceProcAddr for an instance.
    get: AtomicUsize,
    /// The handle itself, for an instance.
    handle: AtomicUsize,
    next: [AtomicUsize; At::Count as usize],
}

impl DispatchTable {
    const EMPTY: DispatchTable = DispatchTable {
        key: AtomicUsize::new(0),
        get: AtomicUsize::new(0),
        handle: AtomicUsize::new(0),
        next: [const { AtomicUsize::new(0) }; At::Count as usize],
    };
}

pub type Get = unsafe extern "C" fn(Handle, *const c_char) -> Function;

pub static DEVICES: [DispatchTable; MOST] = [const { DispatchTable::EMPTY }; MOST];
pub static INSTANCES: [DispatchTable; MOST] = [const { DispatchTable::EMPTY }; MOST];

/// SAFETY: `handle` must be dispatchable, or null.
unsafe fn key(handle: Handle) -> usize {
    if handle.is_null() {
        return 0;
    }
    // SAFETY: dispatchable handles point to the loader's pointer.
    unsafe { *handle.cast::<usize>() }
}

fn find(tables: &'static [DispatchTable], key: usize) -> Option<&'static DispatchTable> {
    if key == 0 {
        return None;
    }
    tables.iter().find(|table| table.key.load(Ordering::Acquire) == key)
}

/// SAFETY: `handle` must be dispatchable, or null.
pub unsafe fn get(tables: &'static [DispatchTable], handle: Handle) -> Option<(Get, Handle)> {
    // SAFETY: guaranteed by the caller.
    let table = find(tables, unsafe { key(handle) })?;
    let at = table.get.load(Ordering::Acquire);
    // SAFETY: only functions of this type are stored there.
    (at != 0).then(|| (unsafe { core::mem::transmute::<usize, Get>(at) }, table.handle.load(Ordering::Acquire) as Handle))
}

/// Registers a new device or instance. False if there is no space.
///
/// SAFETY: `handle` must be a dispatchable handle that was just created, with its own functions.
pub unsafe fn enter(tables: &'static [DispatchTable], handle: Handle, get: Get, with_functions: bool) -> bool {
    // SAFETY: guaranteed by the caller.
    let key = unsafe { key(handle) };
    for table in tables {
        // A slot that is being filled has this key, which is not a valid pointer.
        let free = table.key.compare_exchange(0, usize::MAX, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !free {
            continue;
        }
        table.get.store(get as usize, Ordering::Release);
        table.handle.store(handle as usize, Ordering::Release);
        if with_functions {
            for (place, name) in table.next.iter().zip(NAMES) {
                // SAFETY: the next layer's own function.
                let function = unsafe { get(handle, name.as_ptr()) };
                place.store(function.map_or(0, |function| function as usize), Ordering::Release);
            }
        }
        table.key.store(key, Ordering::Release);
        return true;
    }
    false
}

/// SAFETY: `handle` must be dispatchable, or null.
pub unsafe fn leave(tables: &'static [DispatchTable], handle: Handle) {
    // SAFETY: guaranteed by the caller.
    if let Some(table) = find(tables, unsafe { key(handle) }) {
        table.key.store(0, Ordering::Release);
    }
}

/// The next function for a handle, as a number; 0 if there is none.
///
/// SAFETY: `handle` must be dispatchable, or null.
pub unsafe fn next(handle: Handle, at: At) -> usize {
    // SAFETY: guaranteed by the caller.
    let table = find(&DEVICES, unsafe { key(handle) });
    table.and_then(|table| table.next.get(at as usize)).map_or(0, |place| place.load(Ordering::Relaxed))
}

/// The next function by its type.
#[macro_export]
macro_rules! next {
    ($handle:expr, $name:ident as $type:ty) => {{
        #[allow(unused_unsafe, reason = "used within unsafe blocks, too")]
        // SAFETY: a handle of the program's own call; the stored function has this type.
        let at = unsafe { $crate::tables::next($handle, $crate::tables::At::$name) };
        #[allow(unused_unsafe, reason = "as above")]
        // SAFETY: as above.
        let function = (at != 0).then(|| unsafe { core::mem::transmute::<usize, $type>(at) });
        function
    }};
}
