//! Command buffers replayed: what was in a buffer when it was submitted, and what of it ended.

use crate::record::done;
use std::collections::HashMap;

/// One dispatch that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// Place in [`crate::Run::pipelines`]; None where none was bound that the layer saw made.
    pub pipeline: Option<usize>,
    pub push: Vec<u8>,
    pub groups: [u32; 3],
    /// The groups were read by the device, and are not known.
    pub indirect: bool,
    /// The outermost label around it that does not only number a submission: the node of the graph.
    pub node: Option<String>,
    pub ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Submitted; nothing behind it was seen to end.
    Submitted,
    /// A fence behind it signalled, or its queue or device was idle.
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
    /// Its beginning was seen: all that is in it is here.
    begun: bool,
}

#[derive(Debug)]
struct Pending {
    queue: u64,
    fence: u64,
    /// Among all dispatches that were ever submitted.
    from: usize,
    to: usize,
}

/// Dispatches that are kept, of a buffer and of a run; those beyond are counted as lost. A buffer may be submitted for ever.
const MOST_IN_BUFFER: usize = 1 << 18;
const MOST_IN_RUN: usize = 1 << 22;
/// Most bytes of push constants; Vulkan's drivers have a few hundred.
const MOST_PUSH: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Replay {
    buffers: HashMap<u64, Buffer>,
    pending: Vec<Pending>,
    pub dispatches: Vec<Dispatch>,
    /// Dispatches that were taken out already.
    taken: usize,
    /// Submissions that the driver refused, with the dispatches in them.
    pub refused: u64,
    /// Dispatches that were too many to keep.
    pub dropped: u64,
    /// Dispatches that were recorded; those of a buffer that is never submitted never run.
    pub recorded: u64,
    /// Submissions of buffers whose beginning was not seen.
    pub unbegun: u64,
}

impl Replay {
    pub fn begin(&mut self, buffer: u64) {
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
        self.buffers.remove(&buffer);
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
        // What an earlier dispatch pushed further behind is not part of a shorter push at the start.
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

    pub fn dispatch(&mut self, buffer: u64, groups: [u32; 3], indirect: bool) {
        let of = self.buffers.entry(buffer).or_default();
        self.recorded += 1;
        if of.dispatches.len() >= MOST_IN_BUFFER {
            self.dropped += 1;
            return;
        }
        let (node, push) = (of.labels.iter().find(|name| !is_submission(name)).cloned(), of.push.clone());
        of.dispatches.push(Dispatch { pipeline: of.bound, push, groups, indirect, node, ending: Ending::Submitted });
    }

    /// Secondary buffers become part of the primary as they are now.
    pub fn execute(&mut self, primary: u64, secondaries: &[u64]) {
        for secondary in secondaries {
            let list = self.buffers.get(secondary).map(|of| of.dispatches.clone()).unwrap_or_default();
            let to = &mut self.buffers.entry(primary).or_default().dispatches;
            let room = MOST_IN_BUFFER.saturating_sub(to.len());
            self.dropped += list.len().saturating_sub(room) as u64;
            to.extend(list.into_iter().take(room));
        }
        // What was bound before is not after.
        self.bind(primary, None);
    }

    pub fn submit(&mut self, queue: u64, fence: u64, accepted: bool, buffers: &[u64]) {
        let from = self.taken + self.dispatches.len();
        for buffer in buffers {
            let of = self.buffers.get(buffer);
            self.unbegun += u64::from(!of.is_some_and(|of| of.begun));
            let Some(of) = of else { continue };
            match accepted {
                true => {
                    let room = MOST_IN_RUN.saturating_sub(self.dispatches.len());
                    self.dropped += of.dispatches.len().saturating_sub(room) as u64;
                    self.dispatches.extend(of.dispatches.iter().take(room).cloned());
                }
                false => self.refused += of.dispatches.len() as u64,
            }
        }
        if accepted {
            self.pending.push(Pending { queue, fence, from, to: self.taken + self.dispatches.len() });
        }
    }

    /// Takes out what ended, from the front; `all`: whatever is there. A dispatch that is taken before its end stays
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

    /// `what`: one of `done::*`; `alone`: there is but one device. Says whether this was the end of everything that was
    /// submitted.
    pub fn done(&mut self, what: u32, handle: u64, alone: bool) -> bool {
        let waited = !self.pending.is_empty();
        let ends: Vec<bool> = match what {
            // A signalled fence ends what was submitted to its queue before it, too.
            done::FENCE => {
                let Some(last) = self.pending.iter().rposition(|of| of.fence == handle && handle != 0) else {
                    return false;
                };
                let queue = self.pending.get(last).map_or(0, |of| of.queue);
                self.pending.iter().enumerate().map(|(place, of)| of.queue == queue && place <= last).collect()
            }
            done::QUEUE => self.pending.iter().map(|of| of.queue == handle).collect(),
            // Which queues are whose is not told: with one device, all.
            done::DEVICE | done::LOST if alone => vec![true; self.pending.len()],
            _ => return false,
        };
        let ending = if what == done::LOST { Ending::Lost } else { Ending::Completed };
        let mut ends = ends.into_iter();
        let (dispatches, taken) = (&mut self.dispatches, self.taken);
        self.pending.retain(|of| {
            let ended = ends.next().unwrap_or(false);
            if ended {
                let here = of.from.saturating_sub(taken)..of.to.saturating_sub(taken);
                for dispatch in dispatches.get_mut(here).unwrap_or_default() {
                    dispatch.ending = ending;
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
