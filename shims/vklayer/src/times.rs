//! The device time of each dispatch, if the parent requests it: two timestamps around each, in our own query pools.
//!
//! Both are written when all earlier work has ended, so nothing waits for them. If two dispatches overlap, the second
//! gets only the time after the end of the first. A pool is reset in the command buffer at a dispatch, where no render
//! pass can be open. Results are read when a fence after the submission has signalled, when its queue or device is
//! idle, or when the buffer begins again; nothing waits for them. A dispatch that cannot be timed (a queue without
//! timestamps, secondary buffers, a buffer that is submitted again before it ended, no space) has no time, and the
//! program's own calls are forwarded unchanged.

use crate::abi::*;
use crate::bodies::{self, done, kind};
use crate::lock::{Guard, Lock};
use crate::tables::Get;
use crate::trace::{bytes, write};
use crate::{blind, sys};
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

mod state;

/// The number of dispatches that one pool can time.
const PAIRS: usize = 512;
/// The maximum number of pools of one command buffer, and in total.
const MOST_OF_BUFFER: usize = 64;
const MOST_POOLS: usize = 1024;
const MOST_BUFFERS: usize = 4096;
/// The number of slots, from its own on, that a command buffer may use.
const REACH: usize = 64;
const MOST_COMMAND_POOLS: usize = 1024;
const MOST_PENDING: usize = 4096;
const MOST_DEVICES: usize = 16;
const MOST_FAMILIES: usize = 32;

const QUERY_POOL_CREATE_INFO: u32 = 11;
const TIMESTAMP: u32 = 2;
/// VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
const BOTTOM: u32 = 0x2000;
/// 64 bits, with availability.
const RESULTS: u32 = 1 | 4;
const PRIMARY: u32 = 0;
/// `limits.timestampPeriod` in VkPhysicalDeviceProperties.
const PERIOD_AT: usize = 296 + 424;
/// The valid range of a tick's length in nanoseconds.
const TICKS: core::ops::Range<f32> = 1e-3..1e6;

type CreatePool = unsafe extern "C" fn(Handle, *const PoolInfo, *const c_void, *mut u64) -> Result;
type DestroyPool = unsafe extern "C" fn(Handle, u64, *const c_void);
type ResetPool = unsafe extern "C" fn(Handle, u64, u32, u32);
type WriteTimestamp = unsafe extern "C" fn(Handle, u32, u64, u32);
type GetResults = unsafe extern "C" fn(Handle, u64, u32, u32, usize, *mut u64, u64, u32) -> Result;
type GetFamilies = unsafe extern "C" fn(Handle, *mut u32, *mut Family);

/// VkQueryPoolCreateInfo
#[repr(C)]
struct PoolInfo {
    base: Base,
    flags: u32,
    query: u32,
    count: u32,
    statistics: u32,
}

/// VkQueueFamilyProperties
#[repr(C)]
#[derive(Clone, Copy)]
struct Family {
    flags: u32,
    count: u32,
    bits: u32,
    granularity: [u32; 3],
}

#[derive(Clone, Copy)]
struct Functions {
    create: CreatePool,
    destroy: DestroyPool,
    reset: ResetPool,
    stamp: WriteTimestamp,
    results: GetResults,
}

#[derive(Clone, Copy)]
struct Device {
    handle: usize,
    functions: Option<Functions>,
    /// Nanoseconds of a tick, as the bits of a float.
    period: u32,
    /// Valid bits of a timestamp, by queue family.
    bits: [u8; MOST_FAMILIES],
}

#[derive(Clone, Copy)]
struct CommandPool {
    handle: u64,
    device: usize,
    family: u32,
}

#[derive(Clone, Copy)]
struct Pool {
    handle: u64,
    device: u32,
    taken: bool,
}

#[derive(Clone, Copy)]
struct Buffer {
    handle: usize,
    command_pool: u64,
    device: u32,
    /// The valid bits of its queue family; 0 if it is not timed.
    bits: u32,
    /// The number of timed dispatches since it began.
    count: u32,
    /// The number of its pools, and of those reset since it began.
    pools: u32,
    fresh: u32,
    /// The number of its submissions so far.
    submissions: u32,
    pool: [u16; MOST_OF_BUFFER],
}

#[derive(Clone, Copy)]
struct Pending {
    queue: usize,
    /// The pointer that a device, its queues and its buffers share.
    family: usize,
    fence: u64,
    order: u64,
    /// The slot of its buffer, and the buffer itself; 0 for a fence alone.
    place: u32,
    buffer: usize,
    number: u32,
}

struct State {
    devices: [Device; MOST_DEVICES],
    command_pools: [CommandPool; MOST_COMMAND_POOLS],
    pools: [Pool; MOST_POOLS],
    buffers: [Buffer; MOST_BUFFERS],
    pending: [Pending; MOST_PENDING],
    waiting: usize,
    order: u64,
    /// Value and availability of each query of a pool.
    read: [u64; PAIRS * 4],
}

// SAFETY: accessed only through the lock; it contains only numbers and functions.
unsafe impl Send for State {}

static ON: AtomicBool = AtomicBool::new(false);
static STATE: Lock<State> = Lock::new(State {
    devices: [Device { handle: 0, functions: None, period: 0, bits: [0; MOST_FAMILIES] }; MOST_DEVICES],
    command_pools: [CommandPool { handle: 0, device: 0, family: 0 }; MOST_COMMAND_POOLS],
    pools: [Pool { handle: 0, device: 0, taken: false }; MOST_POOLS],
    buffers: [Buffer { handle: 0, command_pool: 0, device: 0, bits: 0, count: 0, pools: 0, fresh: 0, submissions: 0, pool: [0; MOST_OF_BUFFER] };
        MOST_BUFFERS],
    pending: [Pending { queue: 0, family: 0, fence: 0, order: 0, place: 0, buffer: 0, number: 0 }; MOST_PENDING],
    waiting: 0,
    order: 0,
    read: [0; PAIRS * 4],
});

pub fn decide() {
    ON.store(sys::env(c"WHICHKERNEL_VULKAN_TIMES").is_some(), Ordering::Release);
}

fn state() -> Option<Guard<'static, State>> {
    ON.load(Ordering::Relaxed).then(|| STATE.lock())
}

/// Reports each reason once.
fn say(number: u32, why: &[u8]) {
    static SAID: AtomicU32 = AtomicU32::new(0);
    if SAID.fetch_or(1 << number, Ordering::Relaxed) & (1 << number) == 0 {
        blind(why);
    }
}

/// SAFETY: the device's function of this name must have this type.
unsafe fn found<T: Copy>(get: Get, handle: Handle, name: &CStr) -> Option<T> {
    const { assert!(size_of::<T>() == size_of::<usize>()) };
    // SAFETY: guaranteed by the caller.
    let function = unsafe { get(handle, name.as_ptr()) }?;
    // SAFETY: both are function pointers.
    Some(unsafe { core::mem::transmute_copy::<unsafe extern "C" fn(), T>(&function) })
}

/// SAFETY: `handle` must be dispatchable.
unsafe fn family(handle: Handle) -> usize {
    // SAFETY: guaranteed by the caller; all dispatchable objects begin with the loader's pointer.
    unsafe { *handle.cast::<usize>() }
}

/// A device was created.
///
/// SAFETY: must be the program's own handles, with their functions.
pub unsafe fn opened(get: Get, instance: Handle, physical: Handle, device: Handle, of_device: Get, properties: &Properties) {
    let Some(mut state) = state() else { return };
    // SAFETY: the function of this name has this type.
    let functions = unsafe {
        let found = (
            found::<CreatePool>(of_device, device, c"vkCreateQueryPool"),
            found::<DestroyPool>(of_device, device, c"vkDestroyQueryPool"),
            found::<ResetPool>(of_device, device, c"vkCmdResetQueryPool"),
            found::<WriteTimestamp>(of_device, device, c"vkCmdWriteTimestamp"),
            found::<GetResults>(of_device, device, c"vkGetQueryPoolResults"),
        );
        match found {
            (Some(create), Some(destroy), Some(reset), Some(stamp), Some(results)) => {
                Some(Functions { create, destroy, reset, stamp, results })
            }
            _ => None,
        }
    };
    // SAFETY: the function of this name has this type.
    let families = unsafe { found::<GetFamilies>(get, instance, c"vkGetPhysicalDeviceQueueFamilyProperties") };
    let (Some(functions), Some(families)) = (functions, families) else { return say(0, b"timestamps: functions that the device does not have") };
    let nothing = Family { flags: 0, count: 0, bits: 0, granularity: [0; 3] };
    let (mut list, mut count) = ([nothing; MOST_FAMILIES], MOST_FAMILIES as u32);
    // SAFETY: the buffer has space for `count` items.
    unsafe { families(physical, &raw mut count, list.as_mut_ptr()) };
    let mut bits = [0; MOST_FAMILIES];
    for (to, from) in bits.iter_mut().zip(list.iter().take(count as usize)) {
        *to = from.bits.min(64) as u8;
    }
    // SAFETY: plain data that is longer than this offset.
    let period = unsafe { (&raw const *properties).cast::<u8>().add(PERIOD_AT).cast::<u32>().read_unaligned() };
    if !TICKS.contains(&f32::from_bits(period)) {
        return say(1, b"timestamps: a device that does not say how long a tick is");
    }
    match state.devices.iter_mut().find(|of| of.handle == 0) {
        Some(to) => *to = Device { handle: device as usize, functions: Some(functions), period, bits },
        None => say(2, b"timestamps: more devices than are kept apart"),
    }
}

/// A device is destroyed; its pools are destroyed first.
///
/// SAFETY: must be the program's own call.
pub unsafe fn closed(device: Handle) {
    let Some(mut state) = state() else { return };
    let state = &mut *state;
    let Some(place) = state.devices.iter().position(|of| of.handle == device as usize) else { return };
    let functions = state.devices.get(place).and_then(|of| of.functions);
    for pool in state.pools.iter_mut().filter(|of| of.handle != 0 && of.device == place as u32) {
        if let Some(functions) = functions {
            // SAFETY: our own pool; no work of the device may still be in progress.
            unsafe { (functions.destroy)(device, pool.handle, core::ptr::null()) };
        }
        *pool = Pool { handle: 0, device: 0, taken: false };
    }
    for buffer in state.buffers.iter_mut().filter(|of| of.device == place as u32) {
        buffer.handle = 0;
        buffer.pools = 0;
    }
    for pool in state.command_pools.iter_mut().filter(|of| of.device == device as usize) {
        pool.handle = 0;
    }
    // SAFETY: the program's own handle.
    let whose = unsafe { family(device) };
    state.drop_pending(|of| of.family == whose);
    if let Some(of) = state.devices.get_mut(place) {
        of.handle = 0;
    }
}

pub fn command_pool(device: Handle, pool: u64, family: u32) {
    let Some(mut state) = state() else { return };
    match state.command_pools.iter_mut().find(|of| of.handle == 0) {
        Some(to) => *to = CommandPool { handle: pool, device: device as usize, family },
        None => say(3, b"timestamps: more command pools than are kept apart"),
    }
}

pub fn command_pool_gone(device: Handle, pool: u64) {
    let Some(mut state) = state() else { return };
    let state = &mut *state;
    for of in state.command_pools.iter_mut().filter(|of| of.handle == pool && of.device == device as usize) {
        of.handle = 0;
    }
    for place in 0..MOST_BUFFERS {
        let Some(buffer) = state.buffers.get(place).filter(|of| of.handle != 0 && of.command_pool == pool) else { continue };
        let handle = buffer.handle;
        state.forget(handle as Handle);
    }
}

/// SAFETY: `buffers` must contain `count` handles.
pub unsafe fn allocated(device: Handle, pool: u64, level: u32, count: u32, buffers: *const Handle) {
    let Some(mut state) = state() else { return };
    let state = &mut *state;
    let of_pool = state.command_pools.iter().find(|of| of.handle == pool && of.device == device as usize);
    let Some(queue_family) = of_pool.map(|of| of.family as usize) else { return };
    let Some(place) = state.devices.iter().position(|of| of.handle == device as usize) else { return };
    let bits = state.devices.get(place).and_then(|of| of.bits.get(queue_family)).copied().unwrap_or(0);
    if level != PRIMARY {
        return say(4, b"timestamps in secondary command buffers");
    }
    if bits == 0 {
        return say(5, b"timestamps of a queue that writes none");
    }
    for at in 0..count as usize {
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { *buffers.add(at) } as usize;
        let first = place_of(handle);
        let free = (0..REACH).map(|step| (first + step) % MOST_BUFFERS).find(|at| state.buffers.get(*at).is_some_and(|of| of.handle == 0));
        let Some(to) = free.and_then(|at| state.buffers.get_mut(at)) else {
            return say(6, b"timestamps: more command buffers than are kept apart");
        };
        let submissions = to.submissions;
        *to = Buffer {
            handle,
            command_pool: pool,
            device: place as u32,
            bits: u32::from(bits),
            count: 0,
            pools: 0,
            fresh: 0,
            submissions,
            pool: [0; MOST_OF_BUFFER],
        };
    }
}

fn place_of(handle: usize) -> usize {
    (handle >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & (MOST_BUFFERS - 1)
}

/// A dispatch that is being timed: its number, and how to write its end.
pub struct Timed {
    pub number: u32,
    end: Option<(WriteTimestamp, u64, u32)>,
}

/// Writes the first timestamp, before a dispatch is recorded.
///
/// SAFETY: `command` must be a command buffer that the program is recording.
pub unsafe fn before(command: Handle) -> Timed {
    let none = Timed { number: 0, end: None };
    let Some(mut state) = state() else { return none };
    // SAFETY: guaranteed by the caller.
    unsafe { state.stamp(command) }.unwrap_or(none)
}

impl Timed {
    /// Writes the second timestamp, after the dispatch was recorded.
    ///
    /// SAFETY: must be the same command buffer.
    pub unsafe fn after(self, command: Handle) {
        if let Some((stamp, pool, query)) = self.end {
            // SAFETY: as the caller says; the pool is ours.
            unsafe { stamp(command, BOTTOM, pool, query) }
        }
    }
}

/// A buffer begins again, is reset or freed: it is not in progress.
pub fn begins(command: Handle) {
    if let Some(mut state) = state() {
        state.renew(command);
    }
}

pub fn freed(command: Handle) {
    if let Some(mut state) = state() {
        state.forget(command);
    }
}

/// Announces a submission before it is made; see [`refused`].
///
/// SAFETY: must be the program's own queue.
pub unsafe fn submitting(queue: Handle, fence: u64, buffers: impl Iterator<Item = Handle>) {
    let Some(mut state) = state() else { return };
    let state = &mut *state;
    // SAFETY: guaranteed by the caller.
    let (queue, family) = (queue as usize, unsafe { family(queue) });
    state.order += 1;
    let order = state.order;
    for buffer in buffers {
        let Some(place) = state.at(buffer) else { continue };
        let Some(of) = state.buffers.get_mut(place) else { continue };
        of.submissions = of.submissions.wrapping_add(1);
        let number = of.submissions;
        state.wait_for(Pending { queue, family, fence, order, place: place as u32, buffer: buffer as usize, number });
    }
    if fence != 0 {
        state.wait_for(Pending { queue, family, fence, order, place: 0, buffer: 0, number: 0 });
    }
}

/// The last announced submission on this queue was refused.
pub fn refused(queue: Handle) {
    let Some(mut state) = state() else { return };
    let of = |of: &&Pending| of.queue == queue as usize;
    let waiting = state.waiting;
    let Some(last) = state.pending.iter().take(waiting).filter(of).map(|of| of.order).max() else { return };
    state.drop_pending(|of| of.queue == queue as usize && of.order == last);
}

/// Records the times of work that was seen to end, before its end is recorded.
///
/// SAFETY: `handle` must be the program's own handle, of the kind in `what`.
pub unsafe fn ended(what: u32, handle: u64) {
    let Some(mut state) = state() else { return };
    let state = &mut *state;
    let waiting = state.waiting;
    let list = state.pending.iter().take(waiting);
    let (queue, until) = match what {
        done::FENCE => {
            let Some(last) = list.filter(|of| of.fence == handle).max_by_key(|of| of.order) else { return };
            (last.queue, last.order)
        }
        done::QUEUE => (handle as usize, u64::MAX),
        _ => (0, u64::MAX),
    };
    // SAFETY: guaranteed by the caller.
    let whose = if what == done::DEVICE || what == done::LOST { unsafe { family(handle as Handle) } } else { 0 };
    let ends = |of: &Pending| if whose != 0 { of.family == whose } else { of.queue == queue && of.order <= until };
    if what != done::LOST {
        for at in 0..waiting {
            let Some(of) = state.pending.get(at).copied().filter(|of| ends(of) && of.buffer != 0) else { continue };
            state.tell(of.place as usize, of.buffer, of.number);
        }
    }
    state.drop_pending(ends);
}
