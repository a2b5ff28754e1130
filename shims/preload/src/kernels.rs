//! Names of kernels by the address that a launch passes. Filled at registration, read without a lock.

use crate::record::{self, kind};
use crate::{lock::Lock, sys, trace};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

const SLOTS: usize = 1 << 18;

#[repr(C)]
struct Slot {
    handle: AtomicUsize,
    name: AtomicPtr<u8>,
    len: AtomicU32,
    module: AtomicU32,
    id: AtomicU32,
    generation: AtomicU32,
}

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static WRITING: Lock<()> = Lock::new(());

fn table() -> &'static [Slot] {
    let at = TABLE.load(Ordering::Acquire);
    // SAFETY: SLOTS slots lie there, zeroed, never unmapped.
    if at.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(at, SLOTS) } }
}

fn slots(handle: usize) -> impl Iterator<Item = &'static Slot> {
    let start = (handle >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let table = table();
    (0..table.len()).filter_map(move |step| table.get((start + step) & (SLOTS - 1)))
}

/// The first registration of a handle wins, as in the runtime. `name` must live as long as the process.
pub fn learn(handle: usize, name: *const u8, len: usize, module: u32) {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let _guard = WRITING.lock();
    if TABLE.load(Ordering::Acquire).is_null() {
        TABLE.store(sys::zeroed(SLOTS * size_of::<Slot>()).cast(), Ordering::Release);
    }
    for slot in slots(handle) {
        match slot.handle.load(Ordering::Acquire) {
            0 => {
                slot.name.store(name.cast_mut(), Ordering::Relaxed);
                slot.len.store(len as u32, Ordering::Relaxed);
                slot.module.store(module, Ordering::Relaxed);
                slot.id.store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                slot.handle.store(handle, Ordering::Release);
                return;
            }
            known if known == handle => return,
            _ => {}
        }
    }
}

/// The kernel's number in the trace, its name written there first; 0: never registered in our sight.
pub fn number(handle: usize) -> u32 {
    let found = slots(handle).take_while(|slot| slot.handle.load(Ordering::Acquire) != 0);
    let Some(slot) = found.into_iter().find(|slot| slot.handle.load(Ordering::Acquire) == handle) else { return 0 };
    let id = slot.id.load(Ordering::Acquire);
    let now = trace::generation().load(Ordering::Acquire);
    if slot.generation.load(Ordering::Acquire) != now {
        let (name, len) = (slot.name.load(Ordering::Acquire), slot.len.load(Ordering::Acquire));
        // SAFETY: registered strings live in the library's data, copied ones for ever.
        let name = unsafe { core::slice::from_raw_parts(name, len as usize) };
        let record = record::Kernel { id, module: slot.module.load(Ordering::Acquire), entry: 0, name_len: len };
        if trace::write(kind::KERNEL, &[trace::bytes(&record), name]) {
            slot.generation.store(now, Ordering::Release);
        }
    }
    id
}
