//! Memory of the card: plain, lazily zeroed, limited to the card's size.

use crate::device::{by_number, current};
use crate::error::{INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, OUT_OF_MEMORY, SUCCESS, Status, keep};
use crate::lock::Lock;
use crate::record::{NoMemory, kind};
use crate::world::thread;
use crate::{sys, trace};
use core::ffi::{c_int, c_uint, c_void};

const MOST: usize = 1 << 16;
const DEVICES: usize = 16;

#[derive(Clone, Copy)]
struct Block {
    start: usize,
    /// The requested size.
    size: usize,
    device: u32,
    host: bool,
}

/// The list is in separate memory, so that it takes no pages until it is used.
struct Blocks {
    list: *mut Block,
    count: usize,
    used: [u64; DEVICES],
}

static BLOCKS: Lock<Blocks> = Lock::new(Blocks { list: core::ptr::null_mut(), count: 0, used: [0; DEVICES] });

impl Blocks {
    fn slice(&mut self) -> &mut [Block] {
        if self.list.is_null() {
            self.list = sys::zeroed(MOST * size_of::<Block>()).cast();
        }
        if self.list.is_null() {
            return &mut [];
        }
        // SAFETY: MOST blocks, and all zero is a valid block.
        unsafe { core::slice::from_raw_parts_mut(self.list, MOST) }
    }

    fn find(&mut self, at: usize) -> Option<Block> {
        let count = self.count;
        let inside = |block: &&Block| at >= block.start && at < block.start + block.size.max(1);
        self.slice().get(..count)?.iter().rev().find(inside).copied()
    }
}

fn give(size: usize, host: bool) -> Result<*mut u8, Status> {
    let Some(device) = current() else { return Err(NO_DEVICE) };
    let number = thread().device;
    let mut blocks = BLOCKS.lock();
    let used = blocks.used.get(number as usize).copied().unwrap_or(0);
    let free = device.memory.saturating_sub(used);
    let rounded = (size as u64).next_multiple_of(4096);
    if !host && rounded > free {
        let record = NoMemory { wanted: size as u64, free, total: device.memory };
        drop(blocks);
        crate::world::record(kind::NO_MEMORY, &[trace::bytes(&record)]);
        return Err(OUT_OF_MEMORY);
    }
    let start = sys::zeroed(size);
    let place = blocks.count;
    let Some(slot) = blocks.slice().get_mut(place).filter(|_| !start.is_null()) else { return Err(OUT_OF_MEMORY) };
    *slot = Block { start: start as usize, size, device: number, host };
    blocks.count += 1;
    if let Some(used) = blocks.used.get_mut(number as usize).filter(|_| !host) {
        *used += rounded;
    }
    Ok(start)
}

fn take(at: *mut c_void) -> Status {
    if at.is_null() {
        return SUCCESS;
    }
    let mut blocks = BLOCKS.lock();
    let count = blocks.count;
    let found = blocks.slice().get(..count).and_then(|list| list.iter().rposition(|b| b.start == at as usize));
    let Some(place) = found else { return INVALID_VALUE };
    let list = blocks.slice();
    let (Some(&block), Some(&last)) = (list.get(place), list.get(count - 1)) else { return INVALID_VALUE };
    if let Some(slot) = list.get_mut(place) {
        *slot = last;
    }
    blocks.count = count - 1;
    if let Some(used) = blocks.used.get_mut(block.device as usize).filter(|_| !block.host) {
        *used = used.saturating_sub((block.size as u64).next_multiple_of(4096));
    }
    // SAFETY: our own mapping, handed out once.
    unsafe { sys::munmap(at, block.size.max(1)) };
    SUCCESS
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn allocate(to: *mut *mut c_void, size: usize, host: bool) -> Status {
    if to.is_null() {
        return keep(INVALID_VALUE);
    }
    let (start, status) = match (size, give(size, host)) {
        (0, _) => (core::ptr::null_mut(), SUCCESS),
        (_, Ok(start)) => (start, SUCCESS),
        (_, Err(status)) => (core::ptr::null_mut(), status),
    };
    // SAFETY: the caller's variable.
    unsafe { *to = start.cast() };
    keep(status)
}

forward! {
    extern fn hipMalloc(to: *mut *mut c_void, size: usize) = allocate(to, size, false);
    extern fn hipExtMallocWithFlags(to: *mut *mut c_void, size: usize, _flags: c_uint) = allocate(to, size, false);
    extern fn hipMallocManaged(to: *mut *mut c_void, size: usize, _flags: c_uint) = allocate(to, size, false);
    extern fn hipMallocAsync(to: *mut *mut c_void, size: usize, _stream: *mut c_void) = allocate(to, size, false);
    extern fn hipHostMalloc(to: *mut *mut c_void, size: usize, _flags: c_uint) = allocate(to, size, true);
    extern fn hipHostAlloc(to: *mut *mut c_void, size: usize, _flags: c_uint) = allocate(to, size, true);
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFree(at: *mut c_void) -> Status {
    keep(take(at))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFreeAsync(at: *mut c_void, _stream: *mut c_void) -> Status {
    keep(take(at))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostFree(at: *mut c_void) -> Status {
    keep(take(at))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostRegister(at: *mut c_void, _size: usize, _flags: c_uint) -> Status {
    keep(if at.is_null() { INVALID_VALUE } else { SUCCESS })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostUnregister(at: *mut c_void) -> Status {
    let null = at.is_null();
    keep(if null { INVALID_VALUE } else { SUCCESS })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostGetDevicePointer(to: *mut *mut c_void, host: *mut c_void, _flags: c_uint) -> Status {
    if to.is_null() || host.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *to = host };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Status {
    let Some(device) = current() else { return keep(NO_DEVICE) };
    if free.is_null() || total.is_null() {
        return keep(INVALID_VALUE);
    }
    let used = BLOCKS.lock().used.get(thread().device as usize).copied().unwrap_or(0);
    // SAFETY: the caller's variables.
    unsafe {
        *free = device.memory.saturating_sub(used) as usize;
        *total = device.memory as usize;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAdvise(_at: *const c_void, _size: usize, _advice: c_int, device: c_int) -> Status {
    keep(if by_number(device).is_some() || device == -1 { SUCCESS } else { INVALID_DEVICE })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetDefaultMemPool(pool: *mut *mut c_void, device: c_int) -> Status {
    if pool.is_null() || by_number(device).is_none() {
        return keep(INVALID_DEVICE);
    }
    // SAFETY: the caller's variable; the handle is only passed back to this library.
    unsafe { *pool = (0x9001 + device as usize) as *mut c_void };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolTrimTo(pool: *mut c_void, _keep: usize) -> Status {
    let null = pool.is_null();
    keep(if null { INVALID_VALUE } else { 0 })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPointerGetAttributes(attributes: *mut u8, at: *const c_void) -> Status {
    if attributes.is_null() {
        return keep(INVALID_VALUE);
    }
    let block = BLOCKS.lock().find(at as usize);
    let (memory, device) = match block {
        Some(block) if block.host => (1_u32, block.device),
        Some(block) => (2, block.device),
        None => return keep(INVALID_VALUE),
    };
    // SAFETY: hipPointerAttribute_t has 32 bytes: type, device, devicePointer, hostPointer, isManaged, flags.
    unsafe {
        core::ptr::write_bytes(attributes, 0, 32);
        attributes.cast::<u32>().write_unaligned(memory);
        attributes.add(4).cast::<u32>().write_unaligned(device);
        attributes.add(8).cast::<usize>().write_unaligned(at as usize);
        attributes.add(16).cast::<usize>().write_unaligned(if memory == 1 { at as usize } else { 0 });
    }
    SUCCESS
}

/// A block of memory.
#[allow(dead_code, reason = "only the HIP stand-in asks for it")]
pub struct Place {
    pub start: usize,
    pub size: usize,
    pub device: u32,
    pub host: bool,
}

/// The block that contains an address.
#[allow(dead_code, reason = "only the HIP stand-in asks for it")]
pub fn place(at: usize) -> Option<Place> {
    BLOCKS.lock().find(at).map(|Block { start, size, device, host }| Place { start, size, device, host })
}

/// Whether an address is in memory that this library allocated.
pub fn ours(at: *const c_void) -> bool {
    BLOCKS.lock().find(at as usize).is_some()
}

/// Whether `[at, at + len)` is inside one block of the card, so that a result may be written there.
pub fn room(at: usize, len: usize) -> bool {
    BLOCKS.lock().find(at).is_some_and(|block| at + len <= block.start + block.size)
}
