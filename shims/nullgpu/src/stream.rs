//! Streams: all work on them is finished immediately. Only whether one is capturing matters.

use crate::error::{INVALID_HANDLE, INVALID_VALUE, SUCCESS, Status, keep};
use crate::graph::Graph;
use crate::registry;
use crate::world::thread;
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

const MARK: u64 = u64::from_le_bytes(*b"WKSTREAM");
/// The range of priorities (clr, amd::CommandQueue::Priority): a smaller number is more urgent.
const HIGH: c_int = -1;
const LOW: c_int = 1;

/// A function of the host that a stream calls.
pub type HostCall = unsafe extern "C" fn(*mut c_void);
/// Kinds of graph nodes, for comparing two graphs.
pub const KERNEL: u64 = 1;
pub const COPY: u64 = 2;
pub const FILL: u64 = 3;
pub const CALL: u64 = 4;
pub const CHILD: u64 = 5;
#[allow(dead_code, reason = "only the HIP stand-in has such nodes")]
pub const EMPTY: u64 = 6;

#[repr(C)]
pub struct Stream {
    mark: u64,
    id: u32,
    device: u32,
    flags: u32,
    priority: c_int,
    capture: Option<&'static Graph>,
}

/// The null stream is 0, hipStreamLegacy 1 and hipStreamPerThread 2: values, not pointers.
pub fn id(on: *mut c_void) -> u64 {
    match on as usize {
        value @ 0..=2 => value as u64,
        _ => find(on).map_or(u64::MAX, |stream| u64::from(stream.id)),
    }
}

pub fn find(on: *mut c_void) -> Option<&'static mut Stream> {
    // SAFETY: a stream handle from the program.
    unsafe { registry::known(on, MARK) }
}

fn capture(on: *mut c_void) -> Option<&'static Graph> {
    find(on).and_then(|stream| stream.capture).filter(|graph| graph.capturing.load(Ordering::Acquire) != 0)
}

/// The graph that this stream is capturing into; 0 if none.
pub fn captured(on: *mut c_void) -> u32 {
    capture(on).map_or(0, |graph| graph.id)
}

pub fn capture_of(on: *mut c_void) -> Option<&'static Graph> {
    capture(on)
}

/// Adds a node of kind `what` to the graph being captured.
pub fn node(on: *mut c_void, what: u64) {
    if let Some(graph) = capture(on) {
        graph.add(what);
    }
}

/// Another stream's capture extends to this one through an event.
pub fn join(on: *mut c_void, graph: &'static Graph) {
    if let Some(stream) = find(on) {
        stream.capture = Some(graph);
    }
}

pub fn device(on: *mut c_void) -> u32 {
    find(on).map_or_else(|| thread().device, |stream| stream.device)
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn create(to: *mut *mut c_void, flags: c_uint, priority: c_int) -> Status {
    static NEXT: AtomicU32 = AtomicU32::new(16);
    if to.is_null() {
        return keep(INVALID_VALUE);
    }
    let Some(stream) = registry::new::<Stream>() else { return keep(crate::error::OUT_OF_MEMORY) };
    stream.mark = MARK;
    stream.id = NEXT.fetch_add(1, Ordering::Relaxed);
    stream.device = thread().device;
    stream.flags = flags;
    stream.priority = priority.clamp(HIGH, LOW);
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(stream).cast() };
    SUCCESS
}

forward! {
    extern fn hipStreamCreate(to: *mut *mut c_void) = create(to, 0, 0);
    extern fn hipStreamCreateWithFlags(to: *mut *mut c_void, flags: c_uint) = create(to, flags, 0);
    extern fn hipStreamCreateWithPriority(to: *mut *mut c_void, flags: c_uint, priority: c_int)
        = create(to, flags | 0x100, priority);
    /// The mask limits on which units kernels run; nothing runs here.
    extern fn hipExtStreamCreateWithCUMask(to: *mut *mut c_void, _words: u32, _mask: *const u32) = create(to, 0, 0);
    extern fn hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) = {
        if !least.is_null() {
            *least = LOW;
        }
        if !greatest.is_null() {
            *greatest = HIGH;
        }
        SUCCESS
    };
    extern fn hipStreamGetPriority(on: *mut c_void, priority: *mut c_int) = {
        if priority.is_null() || id(on) == u64::MAX {
            keep(INVALID_VALUE)
        } else {
            *priority = find(on).map_or(0, |stream| stream.priority);
            SUCCESS
        }
    };
    extern fn hipStreamGetId(on: *mut c_void, to: *mut u64) = {
        if to.is_null() || id(on) == u64::MAX {
            keep(INVALID_VALUE)
        } else {
            *to = id(on);
            SUCCESS
        }
    };
    /// All earlier work is finished, so the function is called at once, on the caller's thread. In a graph, each replay
    /// calls it.
    extern fn hipLaunchHostFunc(on: *mut c_void, call: Option<HostCall>, data: *mut c_void) = {
        let Some(call) = call else { return keep(INVALID_VALUE) };
        match capture(on) {
            Some(graph) => graph.call(call, data),
            None => call(data),
        }
        SUCCESS
    };
    extern fn hipStreamAddCallback(
        on: *mut c_void, call: Option<unsafe extern "C" fn(*mut c_void, Status, *mut c_void)>, data: *mut c_void, flags: c_uint
    ) = {
        let Some(call) = call.filter(|_| flags == 0) else { return keep(INVALID_VALUE) };
        call(on, SUCCESS, data);
        SUCCESS
    };
    /// Signals in memory: the value is there at once, and a wait is over, because all work is finished.
    extern fn hipStreamWriteValue32(on: *mut c_void, at: *mut u32, value: u32, _flags: c_uint) = signal(on, at, value);
    extern fn hipStreamWriteValue64(on: *mut c_void, at: *mut u64, value: u64, _flags: c_uint) = signal(on, at, value);
    extern fn hipStreamWaitValue32(on: *mut c_void, at: *mut u32, _value: u32, _flags: c_uint, _mask: u32)
        = keep(if at.is_null() || id(on) == u64::MAX { INVALID_VALUE } else { SUCCESS });
    extern fn hipStreamWaitValue64(on: *mut c_void, at: *mut u64, _value: u64, _flags: c_uint, _mask: u64)
        = keep(if at.is_null() || id(on) == u64::MAX { INVALID_VALUE } else { SUCCESS });
}

/// SAFETY: `at` is null or the caller's variable.
unsafe fn signal<T>(on: *mut c_void, at: *mut T, value: T) -> Status {
    if at.is_null() || id(on) == u64::MAX {
        return keep(INVALID_VALUE);
    }
    if captured(on) == 0 {
        // SAFETY: guaranteed by the caller.
        unsafe { at.write_unaligned(value) };
    } else {
        node(on, FILL);
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(on: *mut c_void) -> Status {
    let Some(stream) = find(on) else { return keep(INVALID_HANDLE) };
    stream.mark = 0;
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(on: *mut c_void) -> Status {
    keep(if id(on) == u64::MAX { INVALID_HANDLE } else { SUCCESS })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamQuery(on: *mut c_void) -> Status {
    let known = id(on) != u64::MAX;
    keep(if known { SUCCESS } else { INVALID_HANDLE })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> Status {
    keep(if crate::device::current().is_some() { SUCCESS } else { crate::error::NO_DEVICE })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetFlags(on: *mut c_void, flags: *mut c_uint) -> Status {
    let (Some(stream), false) = (find(on), flags.is_null()) else { return keep(INVALID_VALUE) };
    // SAFETY: the caller's variable.
    unsafe { *flags = stream.flags & 0xff };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetDevice(on: *mut c_void, number: *mut c_int) -> Status {
    if number.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *number = device(on) as c_int };
    SUCCESS
}

/// Returns the device number, not a status.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetStreamDeviceId(on: *mut c_void) -> c_int {
    device(on) as c_int
}
