//! Kernels by the address that a launch passes. Filled at registration, read without a lock.

use crate::preload_input::Arg;
use crate::modules::Module;
use crate::record::{self, kind};
use crate::{lock::Lock, memory, runtimes, sys, trace};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

const SLOTS: usize = 1 << 18;

#[repr(C)]
pub struct Kernel {
    pub id: u32,
    generation: AtomicU32,
    name: &'static [u8],
    module: Option<&'static Module>,
    pub layout: &'static [Arg],
    handle: usize,
    /// The module's next kernel.
    next: AtomicPtr<Kernel>,
}

#[repr(C)]
struct Slot {
    handle: AtomicUsize,
    /// Null if the library that registered it was closed.
    kernel: AtomicPtr<Kernel>,
}

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static WRITING: Lock<()> = Lock::new(());

fn table() -> &'static [Slot] {
    let at = TABLE.load(Ordering::Acquire);
    // SAFETY: SLOTS slots, zeroed, never unmapped.
    if at.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(at, SLOTS) } }
}

#[inline]
fn slot(handle: usize) -> Option<&'static Slot> {
    let start = (handle >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let table = table();
    for step in 0..table.len() {
        let slot = table.get((start + step) & (SLOTS - 1))?;
        let there = slot.handle.load(Ordering::Acquire);
        if there == handle || there == 0 {
            return Some(slot);
        }
    }
    None
}

#[inline]
pub fn find(handle: usize) -> Option<&'static Kernel> {
    let slot = slot(handle)?;
    if slot.handle.load(Ordering::Acquire) != handle {
        return None;
    }
    // SAFETY: null or a kernel, which is never freed.
    unsafe { slot.kernel.load(Ordering::Acquire).as_ref() }
}

/// `again`: a known handle gets the new name (functions of modules); otherwise the first registration wins, as in the
/// runtime.
pub fn learn(handle: usize, name: &[u8], module: Option<&'static Module>, layout: &'static [Arg], again: bool) {
    let guard = WRITING.lock();
    insert(handle, name, module, layout, again);
    drop(guard);
}

/// On the path of a launch: never blocks.
pub fn learn_at_once(handle: usize, name: &[u8]) -> Option<&'static Kernel> {
    let guard = WRITING.try_lock()?;
    insert(handle, name, None, &[], false);
    drop(guard);
    find(handle)
}

/// Allocates the table in advance, because it will be impossible later.
pub fn prepare() {
    let guard = WRITING.lock();
    if TABLE.load(Ordering::Acquire).is_null() {
        TABLE.store(sys::zeroed(SLOTS * size_of::<Slot>()).cast(), Ordering::Release);
    }
    drop(guard);
}

fn insert(handle: usize, name: &[u8], module: Option<&'static Module>, layout: &'static [Arg], again: bool) {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    if TABLE.load(Ordering::Acquire).is_null() {
        TABLE.store(sys::zeroed(SLOTS * size_of::<Slot>()).cast(), Ordering::Release);
    }
    let Some(slot) = slot(handle).filter(|_| handle != 0) else { return };
    let known = slot.kernel.load(Ordering::Acquire);
    // SAFETY: null or a kernel, which is never freed.
    let same = unsafe { known.as_ref() }.is_some_and(|known| !again || known.name == name);
    if same && !known.is_null() {
        return;
    }
    let (Some(name), at) = (memory::keep(name), memory::take(size_of::<Kernel>()).cast::<Kernel>()) else { return };
    if at.is_null() {
        return;
    }
    let next = module.map_or(core::ptr::null_mut(), |module| module.kernels.load(Ordering::Acquire));
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let kernel = Kernel { id, generation: AtomicU32::new(0), name, module, layout, handle, next: AtomicPtr::new(next) };
    // SAFETY: fresh memory of that size.
    unsafe { at.write(kernel) };
    if let Some(module) = module {
        module.kernels.store(at, Ordering::Release);
    }
    slot.kernel.store(at, Ordering::Release);
    slot.handle.store(handle, Ordering::Release);
}

/// The library is closed: the next registration at these addresses is something else.
pub fn forget(module: &Module) {
    let guard = WRITING.lock();
    let mut at = module.kernels.swap(core::ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: kernels are never freed.
    while let Some(kernel) = unsafe { at.as_ref() } {
        if let Some(slot) = slot(kernel.handle) {
            let _ = slot.kernel.compare_exchange(at, core::ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed);
        }
        at = kernel.next.load(Ordering::Acquire);
    }
    drop(guard);
}

/// A handle for which the runtime returned a name: the only registered kernel with that name, or one of an unknown
/// library.
pub fn known_as(handle: usize, name: &[u8]) {
    let named = |slot: &&Slot| {
        // SAFETY: null or a kernel, which is never freed.
        unsafe { slot.kernel.load(Ordering::Acquire).as_ref() }.is_some_and(|kernel| kernel.name == name && kernel.module.is_some())
    };
    let mut all = table().iter().filter(named);
    // SAFETY: as above.
    let of = |slot: &Slot| unsafe { slot.kernel.load(Ordering::Acquire).as_ref() };
    let first = all.next().and_then(of);
    let module = |kernel: &Kernel| kernel.module.map_or(0, |module| core::ptr::from_ref(module) as usize);
    let alone = first.is_some_and(|first| all.filter_map(of).all(|other| module(other) == module(first)));
    match first.filter(|_| alone) {
        Some(kernel) => learn(handle, name, kernel.module, kernel.layout, true),
        None => learn(handle, name, None, &[], true),
    }
}

impl Kernel {
    pub fn name(&self) -> &'static [u8] {
        self.name
    }

    /// Records its name once per trace file, before its first launch.
    #[inline]
    pub fn note(&self) {
        if self.generation.load(Ordering::Acquire) != trace::generation().load(Ordering::Acquire) {
            self.write();
        }
    }

    #[cold]
    fn write(&self) {
        let now = trace::generation().load(Ordering::Acquire);
        runtimes::note();
        if let Some(module) = self.module {
            module.note();
        }
        let module = self.module.map_or(0, |module| module.id);
        let record = record::Kernel { id: self.id, module, entry: 0, name_len: self.name.len() as u32 };
        if trace::write(kind::KERNEL, &[trace::bytes(&record), self.name]) {
            self.generation.store(now, Ordering::Release);
        }
    }
}

/// In a forked child the owner of the lock does not exist.
pub fn after_fork() {
    WRITING.reset();
}

/// Another handle of a known kernel.
pub fn also(known: usize, other: usize) {
    if let Some(kernel) = find(known).filter(|_| other != known) {
        learn(other, kernel.name, kernel.module, kernel.layout, true);
    }
}
