//! Identical launches are recorded by number: from the second one on, each takes sixteen bytes instead of eighty.
//!
//! The table has a fixed size and never waits: a shape without a slot is recorded in full. The thread that claims an
//! entry writes it, records it, and only then publishes it, so that a reader always finds the shape first.

use crate::launch::Call;
use crate::record::{self, kind};
use crate::thread::Thread;
use crate::{sys, trace};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// One megabyte; a decoded token of a large model has a few hundred shapes.
const SLOTS: usize = 1 << 14;
const STEPS: usize = 8;
const EMPTY: u32 = 0;
const BUSY: u32 = 1;

/// Everything that two launches must share, except their time.
pub type Key = [u64; 7];

#[repr(C, align(64))]
pub struct Slot {
    /// The number of the shape, or one of the states above.
    state: AtomicU32,
    key: UnsafeCell<Key>,
}

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static NEXT: AtomicU32 = AtomicU32::new(BUSY + 1);

#[inline]
pub fn key(call: &Call, kernel: u32, thread: &Thread) -> Key {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let ([gx, gy, gz], [bx, by, bz]) = (call.grid, call.block);
    [
        call.on as u64,
        pair(kernel, thread.id),
        pair(thread.device, call.api),
        pair(gx, gy),
        pair(gz, bx),
        pair(by, bz),
        u64::from(call.shared),
    ]
}

/// Compares word by word, because comparing arrays would call the C library.
#[inline]
fn same(one: &Key, two: &Key) -> bool {
    (one[0] ^ two[0]) | (one[1] ^ two[1]) | (one[2] ^ two[2]) | (one[3] ^ two[3]) | (one[4] ^ two[4]) | (one[5] ^ two[5]) | (one[6] ^ two[6]) == 0
}

#[inline]
fn place(key: &Key) -> usize {
    let mixed = key[1].wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ key[3].wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
        ^ (key[0] ^ key[4]).wrapping_mul(0x1656_67b1_9e37_79f9);
    (mixed >> (64 - SLOTS.trailing_zeros())) as usize
}

/// The table's answer for a shape.
pub enum Found {
    Number(u32),
    /// The shape is new; this slot is free for it.
    Free(&'static Slot),
    /// The launch must be recorded in full.
    No,
}

#[inline]
pub fn find(key: &Key) -> Found {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        make();
        return Found::No;
    }
    let start = place(key);
    for step in 0..STEPS {
        // SAFETY: SLOTS slots, zeroed at first, for the life of this process.
        let slot = unsafe { &*table.add((start + step) & (SLOTS - 1)) };
        match slot.state.load(Ordering::Acquire) {
            EMPTY => return Found::Free(slot),
            BUSY => return Found::No,
            // SAFETY: a key is written before its number is stored, and never again.
            number if same(unsafe { &*slot.key.get() }, key) => return Found::Number(number),
            _ => {}
        }
    }
    Found::No
}

#[cold]
pub fn claim(slot: &Slot, key: Key, launch: &record::Launch) -> Option<u32> {
    slot.state.compare_exchange(EMPTY, BUSY, Ordering::AcqRel, Ordering::Acquire).ok()?;
    // SAFETY: claimed, so there is no other writer, and no reader until it has a number.
    unsafe { *slot.key.get() = key };
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let shape = record::Shape { id, reserved: 0, launch: *launch };
    let told = trace::try_write(kind::SHAPE, &[trace::bytes(&shape)]);
    slot.state.store(if told { id } else { EMPTY }, Ordering::Release);
    told.then_some(id)
}

/// Allocates the table in advance, because it will be impossible later.
pub fn prepare() {
    if TABLE.load(Ordering::Acquire).is_null() {
        make();
    }
}

#[cold]
fn make() {
    let new = sys::zeroed(SLOTS * size_of::<Slot>()).cast::<Slot>();
    let made = TABLE.compare_exchange(core::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
    if made.is_err() && !new.is_null() {
        // SAFETY: our own mapping, which is not shared yet.
        unsafe { sys::munmap(new.cast(), SLOTS * size_of::<Slot>()) };
    }
}

/// The new file of a forked child contains none of these shapes. No other thread uses the table.
pub fn after_fork() {
    if sys::sealed() {
        return;
    }
    let old = TABLE.swap(core::ptr::null_mut(), Ordering::AcqRel);
    if !old.is_null() {
        // SAFETY: our own mapping.
        unsafe { sys::munmap(old.cast(), SLOTS * size_of::<Slot>()) };
    }
}
