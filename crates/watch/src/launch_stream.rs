//! One process's launches in order: expands graph replays and splits the sequence into evaluations as launches arrive.
//!
//! The result is the same that `launch::graph_replay` gives for a finished trace, but the trace is not kept. Launches
//! that wait for the end of their evaluation are counted by kind, so memory use stays bounded even for a program that
//! never reads anything back.

use crate::fallback::Unpacked;
use crate::graphs::Graphs;
use crate::{KindId, Phase, Tally, Took};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Flow {
    pub graphs: Graphs,
    pending: HashMap<KindId, u64>,
    /// The device time of pending launches, if known.
    took: HashMap<KindId, Took>,
    unpacked: Unpacked,
    /// The evaluation in progress was not seen from its beginning.
    torn: bool,
}

impl Flow {
    /// Launches are not seen for a while: the evaluation before and the one after are known only in part, and count
    /// for nothing.
    pub fn tear(&mut self) {
        self.pending.clear();
        self.took.clear();
        self.unpacked = Unpacked::default();
        self.torn = true;
    }

    /// Whether the launches so far are a part of an evaluation; they are dropped.
    fn drops_part(&mut self) -> bool {
        let torn = std::mem::take(&mut self.torn);
        if torn {
            self.pending.clear();
            self.took.clear();
        }
        torn
    }

    /// A launch or call. `graph` is the capture that it is part of, 0 for none; `status` is its return value, 0 if
    /// accepted.
    pub fn launch(&mut self, tally: &mut Tally, kind: KindId, graph: u64, status: u32) {
        if status == 0 {
            tally.follow(&mut self.unpacked, kind);
        }
        match (status, graph) {
            (0, 0) => *self.pending.entry(kind).or_default() += 1,
            (0, graph) => self.graphs.launch(graph, kind),
            _ => tally.rejected(kind, 1),
        }
    }

    /// The device time of a launch that was just passed in.
    pub fn took(&mut self, kind: KindId, ns: u64) {
        self.took.entry(kind).or_default().add(Took::once(ns));
    }

    /// Accepted consecutive launches of one kind.
    pub fn launch_often(&mut self, tally: &mut Tally, kind: KindId, count: u64) {
        if count > 0 {
            tally.follow(&mut self.unpacked, kind);
            *self.pending.entry(kind).or_default() += count;
        }
    }

    /// An executable graph was made from a graph, or updated to one.
    pub fn instantiated(&mut self, exec: u64, graph: u64) {
        self.graphs.instantiated(exec, graph);
    }

    /// Each replay launches everything in the graph once.
    pub fn replayed(&mut self, tally: &mut Tally, exec: u64) {
        let replayed = self.graphs.replay(exec);
        if let Some(replayed) = &replayed {
            replayed.counts.iter().for_each(|(kind, count)| *self.pending.entry(*kind).or_default() += count);
        }
        tally.unknown_replays += u64::from(replayed.is_none_or(|replayed| !replayed.whole));
    }

    /// More launches of one kind, by any process.
    pub fn again(&mut self, kind: KindId, count: u64) {
        *self.pending.entry(kind).or_default() += count;
    }

    /// The host read a result back: the evaluation ends here.
    pub fn readback(&mut self, tally: &mut Tally) {
        if self.drops_part() {
            return;
        }
        if !self.pending.is_empty() {
            let (phase, width) = tally.phase_of(self.pending.keys());
            let process = self.pending.keys().next().and_then(|kind| tally.get(*kind)).map_or(0, |kind| kind.process);
            tally.evaluated(process, phase);
            if phase == Phase::Decode {
                tally.check_whole(&self.pending);
            }
            for (kind, count) in self.pending.drain() {
                tally.launched(phase, width, kind, count);
            }
        }
    }

    /// The program waited, and it is unknown whether an evaluation ended. The launches count for the phase that their
    /// widths show, but for no token.
    pub fn pause(&mut self, tally: &mut Tally) {
        if self.drops_part() {
            return;
        }
        let (phase, width) = tally.phase_of(self.pending.keys());
        for (kind, count) in self.pending.drain() {
            tally.launched(phase, width, kind, count);
        }
        self.tell_times(tally, phase, width);
    }

    fn tell_times(&mut self, tally: &mut Tally, phase: Phase, width: u64) {
        for (kind, took) in self.took.drain() {
            tally.took(phase, width, kind, took);
        }
    }

    /// A launch that was counted when it was made has returned an error, so it does not count. Returns whether it had
    /// been counted.
    pub fn reject(&mut self, tally: &mut Tally, kind: KindId, graph: u64) -> bool {
        tally.rejected(kind, 1);
        (graph != 0 && self.graphs.reject(graph, kind)) || self.take_back(tally, kind, 1) == 1
    }

    /// Launches of a kind turned out to have failed. Returns how many of them had been counted.
    pub fn take_back(&mut self, tally: &mut Tally, kind: KindId, count: u64) -> u64 {
        let mut taken = 0;
        if let Some(waiting) = self.pending.get_mut(&kind) {
            taken = count.min(*waiting);
            *waiting -= taken;
            if *waiting == 0 {
                self.pending.remove(&kind);
            }
        }
        taken + tally.take_back(kind, count - taken)
    }

    /// Calls of one kind that were only counted, without individual records. `refused` is how many calls of this kind
    /// failed, including those with records.
    pub fn counted(&mut self, tally: &mut Tally, kind: KindId, calls: u64, refused: u64) {
        if calls > refused {
            tally.launched(Phase::Other, 0, kind, calls - refused);
        }
        if refused > 0 {
            tally.rejected(kind, refused);
            self.take_back(tally, kind, refused.saturating_sub(calls));
        }
    }

    /// Counts the launches that still wait. They may be half an evaluation, so they count for no token.
    pub fn finish(&mut self, tally: &mut Tally) {
        if self.drops_part() {
            return;
        }
        let (phase, width) = tally.phase_of(self.pending.keys());
        for (kind, count) in self.pending.drain() {
            tally.launched(phase, width, kind, count);
            if phase == Phase::Decode {
                tally.unfinished(kind, count);
            }
        }
        self.tell_times(tally, phase, width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Name};

    /// A refusal is subtracted only from the count of its own kind, wherever that count is kept.
    #[test]
    fn a_refusal_takes_back_what_was_counted() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Unnamed(1), "hipLaunchKernel"));
        let call = crate::Call { m: 1, n: 1, k: 1, batch: 1, type_a: 0 };
        let call = tally.kind(&Kind::call("rocblas_sgemm", call));
        let mut flow = Flow::default();
        assert!(!flow.reject(&mut tally, kind, 0), "it was never counted");
        for of in [kind, kind, call] {
            flow.launch(&mut tally, of, 0, 0);
        }
        flow.readback(&mut tally);
        flow.launch(&mut tally, kind, 0, 0);
        assert!(
            flow.reject(&mut tally, kind, 0) && flow.reject(&mut tally, kind, 0) && flow.reject(&mut tally, call, 0)
        );
        flow.finish(&mut tally);
        assert_eq!((tally.launches(), tally.calls(), tally.rejections()), (1, 0, 4));
        assert_eq!(flow.take_back(&mut tally, kind, 9), 1);
        assert_eq!(tally.launches(), 0);
    }

    /// A sample begins and ends in the middle of an evaluation: only whole ones count.
    #[test]
    fn a_torn_evaluation_counts_for_nothing() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Unnamed(1), "hipLaunchKernel"));
        let mut flow = Flow::default();
        flow.tear();
        for launches in [1, 2, 3] {
            flow.launch_often(&mut tally, kind, launches);
            flow.readback(&mut tally);
        }
        flow.launch_often(&mut tally, kind, 7);
        flow.tear();
        flow.finish(&mut tally);
        assert_eq!(tally.launches(), 5, "the first and the last were seen in part");
    }

    #[test]
    fn captures_launch_nothing_and_every_replay_all_of_it() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Unnamed(1), "hipLaunchKernel"));
        let mut flow = Flow::default();
        flow.launch(&mut tally, kind, 7, 0);
        flow.launch(&mut tally, kind, 7, 0);
        flow.graphs.captured(7, 0x100);
        flow.instantiated(0x200, 0x100);
        flow.readback(&mut tally);
        assert_eq!(tally.launches(), 0);
        flow.replayed(&mut tally, 0x200);
        flow.replayed(&mut tally, 0x200);
        flow.replayed(&mut tally, 0x999);
        flow.readback(&mut tally);
        assert_eq!((tally.launches(), tally.unknown_replays), (4, 1));
    }
}
