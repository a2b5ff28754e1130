//! Limits how many bytes may be unpacked at one time, and how far the workers may run ahead of the reader.
//!
//! Budgets are taken in the order of the bundles, so the bundle that the reader waits for always has its budget. A
//! worker further ahead may wait for the reader without causing a deadlock.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct State {
    bytes: u64,
    taken: usize,
    handed_out: usize,
    /// Pieces that were delivered but not yet consumed, by bundle.
    pieces: BTreeMap<usize, u32>,
    stopped: bool,
}

/// Workers wait here for room. A worker that needs more than the whole budget waits until it is alone.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    ahead: usize,
    state: Mutex<State>,
    room: Condvar,
}

impl Budget {
    pub fn new(limit: u64, ahead: usize) -> Self {
        Budget { limit, ahead, state: Mutex::default(), room: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the reader has caught up enough for one more item. False if the reader has stopped.
    pub fn take_turn(&self) -> bool {
        let full = |state: &mut State| !state.stopped && state.taken >= state.handed_out + self.ahead;
        let mut state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.taken += 1;
        !state.stopped
    }

    /// Waits until `bytes` more fit, and counts them until the guard is dropped.
    pub fn hold(&self, bytes: u64) -> Held<'_> {
        let full =
            |state: &mut State| !state.stopped && state.bytes > 0 && state.bytes.saturating_add(bytes) > self.limit;
        let mut state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.bytes = state.bytes.saturating_add(bytes);
        Held { budget: self, bytes }
    }

    /// Waits until the reader has taken all pieces of the bundle `index` but one. False if the reader has stopped.
    pub fn take_piece(&self, index: usize) -> bool {
        let full = |state: &mut State| !state.stopped && state.pieces.get(&index).is_some_and(|pieces| *pieces > 0);
        let mut state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        *state.pieces.entry(index).or_default() += 1;
        !state.stopped
    }

    /// The reader has taken a piece of the bundle `index`.
    pub fn piece_taken(&self, index: usize) {
        self.lock().pieces.remove(&index);
        self.room.notify_all();
    }

    /// The reader has taken one item.
    pub fn hand_out(&self) {
        self.lock().handed_out += 1;
        self.room.notify_all();
    }

    /// Releases every worker, because there is no reader any more.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.room.notify_all();
    }
}

#[derive(Debug)]
pub struct Held<'b> {
    budget: &'b Budget,
    bytes: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.bytes = state.bytes.saturating_sub(self.bytes);
        drop(state);
        self.budget.room.notify_all();
    }
}
