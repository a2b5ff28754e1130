//! Replays command buffers: the content of a buffer when it was submitted, and which dispatches completed.

use crate::record::done;
use std::collections::{HashMap, HashSet};

/// One dispatch that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// Index in [`crate::Run::pipelines`]; None if no pipeline was bound whose creation the layer observed.
    pub pipeline: Option<usize>,
    pub push: Vec<u8>,
    pub groups: [u32; 3],
    /// The device read the group counts, so they are unknown.
    pub indirect: bool,
    /// The outermost label around it that is not just a submission number: the node of the graph.
    pub node: Option<String>,
    pub ending: Ending,
    /// The time of submission, by the host's clock; 0 if unknown.
    pub submitted_ns: u64,
    /// The device time, if it was requested and reported.
    pub took: Option<Took>,
    /// The number of the dispatch among the timed dispatches of its buffer; 0 if it is not timed.
    timed: u32,
}

/// A time by the device's own clock, which differs from the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Took {
    pub begin_ns: u64,
    pub ns: u64,
}

/// The unit of a device's ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// Nanoseconds per tick.
    pub period: f32,
    /// The number of valid bits of a tick.
    pub bits: u32,
}

impl Clock {
    /// None if it is not a valid time: nothing was written, or the clock ran backwards.
    fn took(self, begin: u64, end: u64) -> Option<Took> {
        let mask = u64::MAX.checked_shr(64_u32.saturating_sub(self.bits)).unwrap_or(0);
        let ticks = end.wrapping_sub(begin) & mask;
        if (begin, end) == (0, 0) || mask == 0 || ticks > mask / 2 || !self.period.is_finite() || self.period <= 0.0 {
            return None;
        }
        let ns = |ticks: u64| (ticks as f64 * f64::from(self.period)) as u64;
        Some(Took { begin_ns: ns(begin & mask), ns: ns(ticks) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Submitted, but no later work was seen to complete.
    Submitted,
    /// A later fence signalled, or its queue or device was idle.
    Completed,
    /// The device was lost first.
    Lost,
}

/// The state of one command buffer.
#[derive(Debug, Default)]
struct Buffer {
    dispatches: Vec<Dispatch>,
    bound: Option<usize>,
    push: Vec<u8>,
    labels: Vec<String>,
    /// Whether the start of the recording was observed, so that the content of the buffer is complete.
    begun: bool,
    /// Whether the buffer was submitted, or executed by another buffer.
    used: bool,
}

impl Buffer {
    fn unused(&self) -> u64 {
        if self.used { 0 } else { self.dispatches.len() as u64 }
    }
}

#[derive(Debug)]
struct Pending {
    queue: u64,
    fence: u64,
    /// The index among all dispatches that were ever submitted.
    from: usize,
    to: usize,
    /// The same two indexes for each of its command buffers with timed dispatches.
    timed: Vec<(u64, usize, usize)>,
}

/// The maximum numbers of dispatches kept, per buffer and per run; further ones count as lost. A buffer may be
/// submitted any number of times.
const MOST_IN_BUFFER: usize = 1 << 18;
const MOST_IN_RUN: usize = 1 << 22;
/// The maximum size of push constants; Vulkan drivers allow a few hundred bytes.
const MOST_PUSH: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Replay {
    buffers: HashMap<u64, Buffer>,
    pending: Vec<Pending>,
    pub dispatches: Vec<Dispatch>,
    /// How many dispatches were already taken out.
    taken: usize,
    /// Dispatches in submissions that the driver refused.
    pub refused: u64,
    /// Dispatches beyond the limit.
    pub dropped: u64,
    /// Recorded dispatches; those in a buffer that is never submitted never run.
    pub recorded: u64,
    /// Submissions of buffers whose beginning was not observed.
    pub unbegun: u64,
    pub submissions: u64,
    /// The fences of observed submissions.
    fences: HashSet<u64>,
    /// Signals of fences that no observed submission had.
    strange: u64,
    /// Dispatches in buffers that began again without having been submitted.
    unused: u64,
}

/// The maximum number of fences kept; a program has a few hundred.
const MOST_FENCES: usize = 1 << 16;

impl Replay {
    pub fn unsubmitted(&self) -> u64 {
        let sign = self.strange > 0 || self.submissions == 0;
        if sign { self.unused + self.buffers.values().map(Buffer::unused).sum::<u64>() } else { 0 }
    }

    pub fn begin(&mut self, buffer: u64) {
        self.reset(buffer);
        self.buffers.insert(buffer, Buffer { begun: true, ..Buffer::default() });
    }

    pub fn unknown(&mut self, buffer: u64) {
        if let Some(of) = self.buffers.get_mut(&buffer) {
            of.bound = None;
            of.push.clear();
        }
    }

    pub fn tear(&mut self) -> u64 {
        let lost = self.buffers.values().map(|of| of.dispatches.len() as u64).sum();
        self.buffers.clear();
        lost
    }

    pub fn reset(&mut self, buffer: u64) {
        self.unused += self.buffers.remove(&buffer).map_or(0, |of| of.unused());
    }

    pub fn bind(&mut self, buffer: u64, pipeline: Option<usize>) {
        self.buffers.entry(buffer).or_default().bound = pipeline;
    }

    pub fn push(&mut self, buffer: u64, offset: u32, bytes: &[u8]) {
        let (from, of) = (offset as usize, self.buffers.entry(buffer).or_default());
        let to = from.saturating_add(bytes.len());
        if to > MOST_PUSH {
            return;
        }
        // A shorter push at the start drops bytes that an earlier dispatch pushed after it.
        if from == 0 {
            of.push.clear();
        }
        of.push.resize(of.push.len().max(to), 0);
        if let Some(place) = of.push.get_mut(from..to) {
            place.copy_from_slice(bytes);
        }
    }

    pub fn label(&mut self, buffer: u64, name: String) {
        self.buffers.entry(buffer).or_default().labels.push(name);
    }

    pub fn label_end(&mut self, buffer: u64) {
        self.buffers.entry(buffer).or_default().labels.pop();
    }

    /// `timed`: its number among the timed dispatches of its buffer; 0 if it is not timed.
    pub fn dispatch(&mut self, buffer: u64, groups: [u32; 3], indirect: bool, timed: u32) {
        let of = self.buffers.entry(buffer).or_default();
        self.recorded += 1;
        if of.dispatches.len() >= MOST_IN_BUFFER {
            self.dropped += 1;
            return;
        }
        let (node, push) = (of.labels.iter().find(|name| !is_submission(name)).cloned(), of.push.clone());
        let (pipeline, ending) = (of.bound, Ending::Submitted);
        of.dispatches.push(Dispatch {
            pipeline,
            push,
            groups,
            indirect,
            node,
            ending,
            submitted_ns: 0,
            took: None,
            timed,
        });
    }

    /// Appends the current content of secondary buffers to the primary.
    pub fn execute(&mut self, primary: u64, secondaries: &[u64]) {
        for secondary in secondaries {
            let of = self.buffers.get_mut(secondary);
            let mut list = of.map_or_else(Vec::new, |of| {
                of.used = true;
                of.dispatches.clone()
            });
            // The numbers are relative to the secondary buffer.
            list.iter_mut().for_each(|dispatch| dispatch.timed = 0);
            let to = &mut self.buffers.entry(primary).or_default().dispatches;
            let room = MOST_IN_BUFFER.saturating_sub(to.len());
            self.dropped += list.len().saturating_sub(room) as u64;
            to.extend(list.into_iter().take(room));
        }
        // Vulkan does not keep bindings after secondary buffers were executed.
        self.bind(primary, None);
    }

    pub fn submit(&mut self, time_ns: u64, queue: u64, fence: u64, accepted: bool, buffers: &[u64]) {
        let from = self.taken + self.dispatches.len();
        let mut timed = Vec::new();
        self.submissions += 1;
        if fence != 0 && self.fences.len() < MOST_FENCES {
            self.fences.insert(fence);
        }
        for buffer in buffers {
            let of = self.buffers.get_mut(buffer);
            self.unbegun += u64::from(!of.as_ref().is_some_and(|of| of.begun));
            let Some(of) = of else { continue };
            of.used = true;
            match accepted {
                true => {
                    let room = MOST_IN_RUN.saturating_sub(self.dispatches.len());
                    self.dropped += of.dispatches.len().saturating_sub(room) as u64;
                    let first = self.taken + self.dispatches.len();
                    let submitted = of.dispatches.iter().take(room).cloned();
                    self.dispatches.extend(submitted.map(|of| Dispatch { submitted_ns: time_ns, ..of }));
                    if of.dispatches.iter().any(|dispatch| dispatch.timed > 0) {
                        timed.push((*buffer, first, self.taken + self.dispatches.len()));
                    }
                }
                false => self.refused += of.dispatches.len() as u64,
            }
        }
        if accepted {
            self.pending.push(Pending { queue, fence, from, to: self.taken + self.dispatches.len(), timed });
        }
    }

    /// Timestamps of a buffer's last submission: `first` is the number of the first pair.
    pub fn times(&mut self, buffer: u64, clock: Clock, first: u32, ticks: &[(u64, u64)]) {
        let ranges = self.pending.iter().rev().flat_map(|of| of.timed.iter().rev());
        let Some((_, from, to)) = ranges.copied().find(|(of, ..)| *of == buffer) else { return };
        let here = from.saturating_sub(self.taken)..to.saturating_sub(self.taken);
        let Some(dispatches) = self.dispatches.get_mut(here) else { return };
        // If records were lost, numbers may occur twice; it is then unknown to which dispatch a time belongs.
        let numbers = || dispatches.iter().map(|of| of.timed).filter(|number| *number > 0);
        if numbers().zip(numbers().skip(1)).any(|(one, next)| next <= one) {
            return;
        }
        for dispatch in dispatches.iter_mut().filter(|of| of.took.is_none()) {
            let place = dispatch.timed.checked_sub(first).filter(|_| dispatch.timed > 0);
            let pair = place.and_then(|place| ticks.get(place as usize));
            dispatch.took = pair.and_then(|(begin, end)| clock.took(*begin, *end));
        }
    }

    /// Takes out completed dispatches from the front; with `all`, every dispatch. One taken before its completion stays
    /// [`Ending::Submitted`].
    pub fn take(&mut self, all: bool) -> Vec<Dispatch> {
        let waits = self.pending.iter().filter(|of| of.from < of.to).map(|of| of.from).min();
        let until = match waits {
            Some(first) if !all => first.saturating_sub(self.taken).min(self.dispatches.len()),
            _ => self.dispatches.len(),
        };
        self.taken += until;
        self.dispatches.drain(..until).collect()
    }

    /// `what`: one of `done::*`; `alone`: there is only one device. Returns whether this completed everything that was
    /// submitted.
    pub fn done(&mut self, what: u32, handle: u64, alone: bool) -> bool {
        let waited = !self.pending.is_empty();
        let ends: Vec<bool> = match what {
            // A signalled fence also completes everything submitted to its queue before.
            done::FENCE => {
                let Some(last) = self.pending.iter().rposition(|of| of.fence == handle && handle != 0) else {
                    let known = self.fences.len() >= MOST_FENCES || self.fences.contains(&handle);
                    self.strange += u64::from(!known);
                    return false;
                };
                let queue = self.pending.get(last).map_or(0, |of| of.queue);
                self.pending.iter().enumerate().map(|(place, of)| of.queue == queue && place <= last).collect()
            }
            done::QUEUE => self.pending.iter().map(|of| of.queue == handle).collect(),
            // It is unknown which queues belong to which device; with a single device, all do.
            done::DEVICE if alone => vec![true; self.pending.len()],
            // With several devices, any of them may have been lost, so later fence signals are no longer evidence.
            done::LOST => vec![true; self.pending.len()],
            _ => return false,
        };
        let ending = |of: &Pending| match what {
            done::LOST if alone || of.queue == handle => Ending::Lost,
            done::LOST => Ending::Submitted,
            _ => Ending::Completed,
        };
        let mut ends = ends.into_iter();
        let (dispatches, taken) = (&mut self.dispatches, self.taken);
        self.pending.retain(|of| {
            let ended = ends.next().unwrap_or(false);
            if ended {
                let here = of.from.saturating_sub(taken)..of.to.saturating_sub(taken);
                for dispatch in dispatches.get_mut(here).unwrap_or_default() {
                    dispatch.ending = ending(of);
                }
            }
            !ended
        });
        waited && self.pending.is_empty()
    }
}

/// ggml 0.27 numbers its command buffers around everything: `submit 12`.
fn is_submission(label: &str) -> bool {
    label.strip_prefix("submit ").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_has_a_length_and_so_many_bits() {
        let clock = Clock { period: 10.0, bits: 36 };
        assert_eq!(clock.took(5, 7), Some(Took { begin_ns: 50, ns: 20 }));
        assert_eq!(clock.took((1 << 36) - 1, 2).map(|of| of.ns), Some(30), "it turned over");
        assert_eq!(clock.took(7, 7).map(|of| of.ns), Some(0), "shorter than a tick");
        assert_eq!((clock.took(0, 0), clock.took(7, 5)), (None, None), "nothing was written, and backwards");
        for strange in [f32::NAN, 0.0, -1.0, f32::INFINITY] {
            assert_eq!(Clock { period: strange, bits: 64 }.took(1, 2), None);
        }
        assert_eq!(Clock { period: 1.0, bits: 0 }.took(1, 2), None);
        assert_eq!(Clock { period: 1.0, bits: 200 }.took(1, 3).map(|of| of.ns), Some(2));
    }
}
