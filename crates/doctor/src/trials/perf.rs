//! perf_event_open(2), with the plainest event there is.

use crate::trials::Trial;
use sys::perf_event::{Attr, Event, bit};

const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;

/// What happens in the kernel is not counted, which is what `perf_event_paranoid` 2 allows.
pub fn count_own_time() -> Trial {
    let attr = Attr { kind: SOFTWARE, config: TASK_CLOCK, flags: bit::EXCLUDE_KERNEL, ..Attr::default() };
    match Event::open(&attr, 0, -1).and_then(|event| event.hits()) {
        Ok(nanoseconds) => Trial::worked(format!("task-clock {nanoseconds} ns")),
        Err(error) => Trial::refused("perf_event_open", &error),
    }
}
