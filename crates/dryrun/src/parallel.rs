//! Runs several tasks in parallel and returns their results in the requested order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::interrupt;

/// The result is None for tasks that did not run because of an interrupt.
pub fn each<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<Option<R>> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(item), Some(slot)) = (items.get(place), results.get(place)) else { break };
                    if interrupt::asked() {
                        break;
                    }
                    let result = run(item);
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(result);
                    }
                }
            });
        }
    });
    results.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect()
}
