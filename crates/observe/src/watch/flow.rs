//! One process's launches in order: graphs multiplied out, evaluations cut, as they come.
//!
//! The same reading as `launch::expand` gives a finished trace, without keeping the trace: what waits for its evaluation to
//! end is counted by kind, so that a program that never reads anything back costs no memory either.

use super::fallback::Unpacked;
use super::{KindId, Phase, Tally};
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Debug, Default)]
pub struct Flow {
    graphs: HashMap<u64, HashMap<KindId, u64>>,
    /// What each executable graph launches: as its graph was when it was made or updated.
    execs: HashMap<u64, Rc<HashMap<KindId, u64>>>,
    pending: HashMap<KindId, u64>,
    /// Nodes that were added by hand: what each launches.
    nodes: HashMap<u64, KindId>,
    unpacked: Unpacked,
}

impl Flow {
    /// A launch or call; `graph` is the capture it is part of, 0 for none; `status` what it returned, 0 where accepted.
    pub fn launch(&mut self, tally: &mut Tally, kind: KindId, graph: u64, status: u32) {
        if status == 0 {
            tally.follow(&mut self.unpacked, kind);
        }
        match (status, graph) {
            (0, 0) => *self.pending.entry(kind).or_default() += 1,
            (0, graph) => *self.graphs.entry(graph).or_default().entry(kind).or_default() += 1,
            _ => tally.rejected(kind, 1),
        }
    }

    /// Accepted launches of one kind, one after the other.
    pub fn launch_often(&mut self, tally: &mut Tally, kind: KindId, count: u64) {
        if count > 0 {
            tally.follow(&mut self.unpacked, kind);
            *self.pending.entry(kind).or_default() += count;
        }
    }

    /// The capture `from` has become the graph `to`.
    pub fn captured(&mut self, from: u64, to: u64) {
        let nodes = self.graphs.remove(&from).unwrap_or_default();
        self.graphs.insert(to, nodes);
    }

    /// An executable graph was made from a graph, or updated to one.
    pub fn instantiated(&mut self, exec: u64, graph: u64) {
        match self.graphs.get(&graph) {
            Some(nodes) => drop(self.execs.insert(exec, Rc::new(nodes.clone()))),
            None => drop(self.execs.remove(&exec)),
        }
    }

    /// An empty graph: one that had this address before is gone.
    pub fn created(&mut self, graph: u64) {
        self.graphs.insert(graph, HashMap::new());
    }

    pub fn cloned(&mut self, from: u64, to: u64) {
        let nodes = self.graphs.get(&from).cloned();
        nodes.map(|nodes| self.graphs.insert(to, nodes));
    }

    /// A kernel node was added to a graph by hand.
    pub fn node(&mut self, graph: u64, node: u64, kind: KindId) {
        *self.graphs.entry(graph).or_default().entry(kind).or_default() += 1;
        self.nodes.insert(node, kind);
    }

    /// All of one graph became part of another.
    pub fn add(&mut self, graph: u64, child: u64) {
        let nodes = self.graphs.get(&child).cloned().unwrap_or_default();
        let into = self.graphs.entry(graph).or_default();
        for (kind, count) in nodes {
            *into.entry(kind).or_default() += count;
        }
    }

    /// A node of an executable graph launches this from now on. False where that changes what is launched in a way that is not
    /// known: the node was captured, and nothing in the graph has this kernel.
    pub fn set_node(&mut self, tally: &Tally, exec: u64, node: u64, kind: KindId) -> bool {
        let Some(nodes) = self.execs.get_mut(&exec) else { return true };
        match self.nodes.get(&node) {
            Some(before) if *before == kind => true,
            Some(before) => {
                let nodes = Rc::make_mut(nodes);
                if let Some(count) = nodes.get_mut(before) {
                    *count = count.saturating_sub(1);
                }
                nodes.retain(|_, count| *count > 0);
                *nodes.entry(kind).or_default() += 1;
                self.nodes.insert(node, kind);
                true
            }
            None => {
                let name = |kind: &KindId| tally.get(*kind).map(|kind| &kind.name);
                nodes.keys().any(|known| name(known) == name(&kind))
            }
        }
    }

    /// Each replay launches everything in the graph once.
    pub fn replayed(&mut self, tally: &mut Tally, exec: u64) {
        match self.execs.get(&exec) {
            Some(nodes) => nodes.iter().for_each(|(kind, count)| *self.pending.entry(*kind).or_default() += count),
            None => tally.unknown_replays += 1,
        }
    }

    /// So many launches of one kind, whoever made them.
    pub fn again(&mut self, kind: KindId, count: u64) {
        *self.pending.entry(kind).or_default() += count;
    }

    /// The host read a result back: the evaluation ends here.
    pub fn readback(&mut self, tally: &mut Tally) {
        if !self.pending.is_empty() {
            let (phase, width) = tally.phase_of(self.pending.keys());
            tally.evaluated(phase);
            if phase == Phase::Decode {
                tally.check_whole(&self.pending);
            }
            for (kind, count) in self.pending.drain() {
                tally.launched(phase, width, kind, count);
            }
        }
    }

    /// A launch that was counted when it was made has returned an error: it was none.
    pub fn reject(&mut self, tally: &mut Tally, kind: KindId, graph: u64) {
        let waiting = match graph {
            0 => Some(&mut self.pending),
            graph => self.graphs.get_mut(&graph),
        };
        match waiting.and_then(|waiting| waiting.get_mut(&kind)).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => tally.take_back(kind),
        }
        self.pending.retain(|_, count| *count > 0);
        tally.rejected(kind, 1);
    }

    /// What is still waiting is counted; it may be half an evaluation, so it counts for no token.
    pub fn finish(&mut self, tally: &mut Tally) {
        let (phase, width) = tally.phase_of(self.pending.keys());
        for (kind, count) in self.pending.drain() {
            tally.launched(phase, width, kind, count);
            if phase == Phase::Decode {
                tally.unfinished(kind, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Name};
    use super::*;

    #[test]
    fn captures_launch_nothing_and_every_replay_all_of_it() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Unnamed(1), "hipLaunchKernel"));
        let mut flow = Flow::default();
        flow.launch(&mut tally, kind, 7, 0);
        flow.launch(&mut tally, kind, 7, 0);
        flow.captured(7, 0x100);
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
