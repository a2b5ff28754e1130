//! Kernels by handle: the address that a launch passes, or the function of a module.

use crate::device::current;
use crate::error::{INVALID_DEVICE_FUNCTION, INVALID_VALUE, SUCCESS, Status, keep};
use crate::nullgpu_input::{Arg, Entry, MOST_TABLES, flag};
use crate::lock::Lock;
use crate::module::Module;
use crate::occupancy::{Resources, active_blocks};
use crate::record::{self, kind};
use crate::world::world;
use crate::{registry, sys, trace};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

const MARK: u64 = u64::from_le_bytes(*b"WKKERNEL");
const SLOTS: usize = 1 << 18;

#[repr(C)]
pub struct Function {
    mark: u64,
    pub id: u32,
    /// Index in each table that was handed over, from 1.
    entries: [u32; MOST_TABLES],
    pub name: &'static [u8],
    pub module: &'static Module,
    /// Facts from the metadata of its own image, if the parent does not know it.
    own: AtomicPtr<Own>,
    generation: AtomicU32,
}

/// Resources, and the layout of the explicit arguments.
#[derive(Clone, Copy)]
pub struct Own {
    entry: &'static Entry,
    args: &'static [Arg],
}

/// The image was read and does not describe the kernel.
static NOTHING: u8 = 0;

fn nothing() -> *mut Own {
    (&raw const NOTHING).cast_mut().cast()
}

impl Function {
    /// The facts of its own image. They are read on first use, because a library registers thousands of kernels.
    fn own(&self) -> Option<&'static Own> {
        let known = self.own.load(Ordering::Acquire);
        if known == nothing() {
            return None;
        }
        if !known.is_null() {
            // SAFETY: set once, never freed.
            return unsafe { known.as_ref() };
        }
        let found = self.module.kernel(self.name).and_then(|(entry, args)| {
            let kept = registry::new::<Own>()?;
            *kept = Own { entry, args };
            Some(&*kept)
        });
        let at = found.map_or(nothing(), |own| core::ptr::from_ref(own).cast_mut());
        self.own.store(at, Ordering::Release);
        found
    }

    /// The known facts about it for the current device.
    pub fn entry(&self) -> Option<&'static Entry> {
        self.listed().or_else(|| self.own().map(|own| own.entry))
    }

    /// The facts that the parent handed over.
    fn listed(&self) -> Option<&'static Entry> {
        let place = self.entries.get(world().table_number()).copied()?;
        world().table().entries.get((place as usize).checked_sub(1)?)
    }

    /// Where its explicit arguments are in the kernarg segment; empty if that is not known.
    pub fn layout(&self) -> &'static [Arg] {
        let Some(entry) = self.listed() else { return self.own().map_or(&[], |own| own.args) };
        let rest = world().table().args.get(entry.args as usize..);
        rest.and_then(|rest| rest.get(..usize::from(entry.args_len))).unwrap_or(&[])
    }

    /// Whether the current device refuses it, as the real runtime refuses code that is not for its target.
    pub fn is_refused(&self) -> bool {
        world().table().strict && !self.module.ships()
    }

    /// Records its name once per trace file, before its first launch.
    pub fn note(&self) {
        let now = trace::generation().load(Ordering::Acquire);
        if self.generation.load(Ordering::Acquire) == now {
            return;
        }
        self.module.note();
        let record = record::Kernel {
            id: self.id,
            module: self.module.id,
            entry: self.entries.first().copied().unwrap_or(0),
            name_len: self.name.len() as u32,
        };
        trace::write(kind::KERNEL, &[trace::bytes(&record), self.name]);
        self.generation.store(now, Ordering::Release);
    }
}

#[repr(C)]
struct Slot {
    handle: AtomicUsize,
    function: AtomicPtr<Function>,
}

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static WRITING: Lock<()> = Lock::new(());

fn table() -> Option<&'static [Slot]> {
    let at = TABLE.load(Ordering::Acquire);
    // SAFETY: SLOTS slots, all zero at first, never unmapped.
    (!at.is_null()).then(|| unsafe { core::slice::from_raw_parts(at, SLOTS) })
}

fn slots(handle: usize) -> impl Iterator<Item = usize> {
    let start = (handle >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..SLOTS).map(move |step| (start + step) & (SLOTS - 1))
}

fn make(name: &'static [u8], module: &'static Module) -> Option<&'static Function> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let function = registry::new::<Function>()?;
    let mut entries = [0; MOST_TABLES];
    for ((place, table), bundle) in entries.iter_mut().zip(world().tables()).zip(module.bundles) {
        *place = table.entry(name, bundle);
    }
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let own = AtomicPtr::new(core::ptr::null_mut());
    *function = Function { mark: MARK, id, entries, name, module, own, generation: AtomicU32::new(0) };
    Some(function)
}

/// The first registration of a handle wins, as in the real runtime (clr hipamd/src/hip_platform.cpp).
pub fn register(handle: usize, name: &'static [u8], module: &'static Module) {
    let _guard = WRITING.lock();
    if TABLE.load(Ordering::Acquire).is_null() {
        TABLE.store(sys::zeroed(SLOTS * size_of::<Slot>()).cast(), Ordering::Release);
    }
    let Some(table) = table() else { return };
    for slot in slots(handle).filter_map(|index| table.get(index)) {
        match slot.handle.load(Ordering::Acquire) {
            0 => {
                let Some(function) = make(name, module) else { return };
                slot.function.store(core::ptr::from_ref(function).cast_mut(), Ordering::Release);
                slot.handle.store(handle, Ordering::Release);
                return;
            }
            known if known == handle => return,
            _ => {}
        }
    }
}

pub fn by_handle(handle: usize) -> Option<&'static Function> {
    let table = table()?;
    for slot in slots(handle).filter_map(|index| table.get(index)) {
        match slot.handle.load(Ordering::Acquire) {
            0 => return None,
            known if known == handle => {
                // SAFETY: stored before the handle, never freed.
                return unsafe { slot.function.load(Ordering::Acquire).as_ref() };
            }
            _ => {}
        }
    }
    None
}

/// A function of a loaded module; the name is copied, because the caller may free its string.
pub fn of_module(name: &[u8], module: &'static Module) -> Option<&'static Function> {
    // The name is also given to the program, as a C string.
    let kept = registry::list((0..name.len() + 1).map(|at| name.get(at).copied().unwrap_or(0)))?;
    make(kept.get(..name.len())?, module)
}

/// Looks up a `hipFunction_t`.
pub fn by_function(function: *mut c_void) -> Option<&'static Function> {
    // SAFETY: a handle from the program.
    unsafe { registry::known::<Function>(function, MARK) }.map(|function| &*function)
}

/// By the address that a launch passes, or by the function of a module: these calls take both.
fn any(handle: *const c_void) -> Option<&'static Function> {
    by_handle(handle as usize).or_else(|| by_function(handle.cast_mut()))
}

/// The kernel's resources; unknown kernels are assumed to need only threads.
fn resources(function: &Function, warp: u32) -> Resources {
    match function.entry() {
        Some(entry) => Resources {
            vgprs: u32::from(entry.vgprs),
            sgprs: u32::from(entry.sgprs),
            lds: entry.lds,
            wavefront: u32::from(entry.wavefront),
            wgp_mode: entry.flags & flag::WGP != 0,
        },
        None => Resources { vgprs: 0, sgprs: 0, lds: 0, wavefront: warp, wgp_mode: true },
    }
}

pub fn blocks_per_unit(function: &Function, block: u32, dynamic: u64) -> Option<u32> {
    let device = current()?;
    let [major, minor, stepping] = device.version;
    let needs = resources(function, device.warp);
    active_blocks((major, minor, stepping), device.shared_per_block, device.max_block, &needs, block, dynamic)
}

/// SAFETY: `blocks` is null or the caller's variable.
unsafe fn occupancy(blocks: *mut c_int, function: Option<&Function>, block: c_int, dynamic: usize) -> Status {
    let (Some(function), false) = (function, blocks.is_null()) else { return INVALID_DEVICE_FUNCTION };
    let Ok(block) = u32::try_from(block) else { return INVALID_VALUE };
    if function.is_refused() {
        return crate::error::NO_BINARY_FOR_GPU;
    }
    let Some(count) = blocks_per_unit(function, block, dynamic as u64) else { return INVALID_VALUE };
    // SAFETY: the caller's variable.
    unsafe { *blocks = c_int::try_from(count).unwrap_or(c_int::MAX) };
    SUCCESS
}

forward! {
    extern fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, handle: *const c_void, block: c_int, dynamic: usize
    ) = keep(occupancy(blocks, by_handle(handle as usize), block, dynamic));
    extern fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, handle: *const c_void, block: c_int, dynamic: usize, _flags: c_uint
    ) = keep(occupancy(blocks, by_handle(handle as usize), block, dynamic));
    extern fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: *mut c_void, block: c_int, dynamic: usize
    ) = keep(occupancy(blocks, by_function(function), block, dynamic));
}

/// The largest block, and the smallest grid that fills the card with it (clr, ihipOccupancyMaxPotentialBlockSize: the block
/// with the most threads per multiprocessor, in steps of a wave).
///
/// SAFETY: `grid` and `block` are null or the caller's variables.
unsafe fn potential(grid: *mut c_int, block: *mut c_int, function: Option<&Function>, dynamic: usize, limit: c_int) -> Status {
    let (Some(function), Some(device)) = (function, current()) else { return INVALID_DEVICE_FUNCTION };
    if grid.is_null() || block.is_null() {
        return INVALID_VALUE;
    }
    if function.is_refused() {
        return crate::error::NO_BINARY_FOR_GPU;
    }
    let own = function.entry().map_or(device.max_block, |entry| u32::from(entry.max_block)).min(device.max_block);
    let most = u32::try_from(limit).ok().filter(|limit| *limit > 0).map_or(own, |limit| limit.min(own));
    let (mut best, mut threads) = ((0, 0), most);
    while threads > 0 {
        let blocks = blocks_per_unit(function, threads, dynamic as u64).unwrap_or(0);
        if blocks * threads > best.0 * best.1 {
            best = (blocks, threads);
        }
        // The first block is the largest; the others are whole waves.
        threads = (threads - 1) / device.warp.max(1) * device.warp;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { (*grid, *block) = ((best.0 * device.multiprocessors) as c_int, best.1 as c_int) };
    SUCCESS
}

/// Numbers of `hipFunction_attribute`. One without an answer is refused and recorded.
///
/// SAFETY: `value` is null or the caller's variable.
unsafe fn attribute(value: *mut c_int, which: c_int, function: Option<&Function>) -> Status {
    let (Some(function), Some(device), false) = (function, current(), value.is_null()) else { return INVALID_VALUE };
    let entry = function.entry();
    let answer = match which {
        0 => entry.map_or(device.max_block, |entry| u32::from(entry.max_block)),
        1 => entry.map_or(0, |entry| entry.lds),
        2 => 0,
        3 => entry.map_or(0, |entry| entry.private),
        4 => entry.map_or(0, |entry| u32::from(entry.vgprs)),
        5 | 6 => {
            let [major, minor, _] = device.version;
            major * 10 + minor
        }
        7 => 0,
        8 => device.shared_per_block.saturating_sub(entry.map_or(0, |entry| entry.lds)),
        9 => 0,
        _ => {
            crate::stubs::note(b"hipFuncGetAttribute");
            return INVALID_VALUE;
        }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { *value = answer as c_int };
    SUCCESS
}

forward! {
    extern fn hipOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, handle: *const c_void, dynamic: usize, limit: c_int)
        = keep(potential(grid, block, by_handle(handle as usize), dynamic, limit));
    extern fn hipModuleOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: *mut c_void, dynamic: usize, limit: c_int)
        = keep(potential(grid, block, by_function(function), dynamic, limit));
    extern fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        grid: *mut c_int, block: *mut c_int, function: *mut c_void, dynamic: usize, limit: c_int, _flags: c_uint
    ) = keep(potential(grid, block, by_function(function), dynamic, limit));
    extern fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: *mut c_void, block: c_int, dynamic: usize, _flags: c_uint
    ) = keep(occupancy(blocks, by_function(function), block, dynamic));
    extern fn hipFuncGetAttribute(value: *mut c_int, which: c_int, function: *mut c_void)
        = keep(attribute(value, which, by_function(function)));
    extern fn hipFuncSetSharedMemConfig(_handle: *const c_void, _config: c_int) = SUCCESS;
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFuncSetAttribute(handle: *const c_void, _attribute: c_int, _value: c_int) -> Status {
    let Some(function) = any(handle) else { return keep(INVALID_DEVICE_FUNCTION) };
    keep(if function.is_refused() { crate::error::NO_BINARY_FOR_GPU } else { SUCCESS })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFuncSetCacheConfig(handle: *const c_void, _config: c_int) -> Status {
    keep(if any(handle).is_some() { SUCCESS } else { INVALID_DEVICE_FUNCTION })
}

/// `hipFuncAttributes`: 56 bytes; local, threads, registers and shared at 16, 28, 32 and 48.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttributes(attributes: *mut u8, handle: *const c_void) -> Status {
    let (Some(function), false) = (any(handle), attributes.is_null()) else {
        return keep(INVALID_DEVICE_FUNCTION);
    };
    let Some(device) = current() else { return keep(crate::error::NO_DEVICE) };
    let entry = function.entry();
    // SAFETY: the caller's structure.
    unsafe {
        core::ptr::write_bytes(attributes, 0, 56);
        attributes.add(16).cast::<u64>().write_unaligned(entry.map_or(0, |e| u64::from(e.private)));
        let shared = device.shared_per_block.saturating_sub(entry.map_or(0, |e| e.lds));
        attributes.add(24).cast::<u32>().write_unaligned(shared);
        let most = entry.map_or(device.max_block, |e| u32::from(e.max_block));
        attributes.add(28).cast::<u32>().write_unaligned(most);
        attributes.add(32).cast::<u32>().write_unaligned(entry.map_or(0, |e| u32::from(e.vgprs)));
        attributes.add(48).cast::<u64>().write_unaligned(entry.map_or(0, |e| u64::from(e.lds)));
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetFuncBySymbol(to: *mut *mut c_void, handle: *const c_void) -> Status {
    let (Some(function), false) = (by_handle(handle as usize), to.is_null()) else {
        return keep(INVALID_DEVICE_FUNCTION);
    };
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_ref(function).cast_mut().cast() };
    SUCCESS
}

/// Names end in NUL.
#[unsafe(no_mangle)]
pub extern "C" fn hipKernelNameRef(function: *mut c_void) -> *const c_char {
    by_function(function).map_or(core::ptr::null(), |function| function.name.as_ptr().cast())
}
