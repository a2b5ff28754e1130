//! The launches of executable graphs, node by node, as reported by the runtime, and later changes to them.

use crate::KindId;
use launch::record::{self, api, asked};
use std::collections::HashMap;

#[derive(Debug, Clone, Copy)]
struct Node {
    /// None for a node that contains a graph.
    kind: Option<KindId>,
    under: u64,
    enabled: bool,
}

/// An executable graph.
#[derive(Debug, Default, Clone)]
struct Exec {
    nodes: HashMap<u64, Node>,
    /// The launches of a replay, by kind.
    counts: HashMap<KindId, u64>,
    /// Whether the graph contains a launch that cannot be counted.
    partly: bool,
}

#[derive(Debug, Default)]
pub struct Graphs {
    /// Nodes reported since the last record that they could belong to.
    told: HashMap<u64, Node>,
    answer: Option<(u32, u64)>,
    execs: HashMap<u32, Exec>,
    /// Graphs about which the runtime did not answer.
    pub unanswered: u64,
    /// Changes of unknown nodes: the number of launches is right, but their kernels are the previous ones.
    pub unplaced: u64,
}

impl Graphs {
    /// Adds a reported node. `kind`: set for a node that launches.
    pub fn node(&mut self, node: &record::Node, head: &record::Launch, kind: Option<KindId>) {
        let kind = kind.filter(|_| head.api != api::GRAPH_CHILD);
        self.told.insert(node.node, Node { kind, under: node.under, enabled: true });
    }

    /// Takes the summary of the reported nodes.
    pub fn asked(&mut self, record: &record::Graph) {
        self.answer = Some((record.status, record.stream));
        self.unanswered += u64::from(record.status == asked::NONE);
    }

    /// Returns the reported nodes and whether they are complete.
    fn take(&mut self) -> Option<(HashMap<u64, Node>, bool)> {
        let told = std::mem::take(&mut self.told);
        match self.answer.take() {
            Some((asked::NONE, _)) | None => None,
            // Fails if a record was lost for lack of space.
            Some((how, count)) => Some((told.clone(), how == asked::ALL && told.len() as u64 == count)),
        }
    }

    /// An executable graph was created from a graph, or updated to one. False if no nodes were reported: the captured
    /// launches then count.
    pub fn instantiated(&mut self, exec: u32) -> bool {
        let disabled = self.execs.get(&exec).is_some_and(|old| old.nodes.values().any(|node| !node.enabled));
        let Some((nodes, whole)) = self.take() else {
            self.execs.remove(&exec);
            return false;
        };
        // The runtime does not report which new node corresponds to a disabled old node.
        let mut exec_now = Exec { nodes, partly: !whole || disabled, ..Exec::default() };
        exec_now.count();
        self.execs.insert(exec, exec_now);
        true
    }

    pub fn set(&mut self, exec: u32, node: u64) {
        let told = std::mem::take(&mut self.told).remove(&node);
        let Some(exec) = self.execs.get_mut(&exec) else { return };
        match (exec.nodes.get_mut(&node), told) {
            (Some(known), Some(new)) => known.kind = new.kind,
            _ => self.unplaced += 1,
        }
        exec.count();
    }

    pub fn child(&mut self, exec: u32, node: u64) {
        let told = self.take();
        let Some(exec) = self.execs.get_mut(&exec) else { return };
        let Some((nodes, whole)) = told.filter(|_| exec.nodes.contains_key(&node)) else {
            exec.partly = true;
            return;
        };
        let mut gone = vec![node];
        while let Some(parent) = gone.pop() {
            gone.extend(exec.nodes.iter().filter(|(_, inner)| inner.under == parent).map(|(handle, _)| *handle));
            exec.nodes.retain(|_, inner| inner.under != parent);
        }
        exec.nodes.extend(nodes);
        exec.partly |= !whole;
        exec.count();
    }

    pub fn enable(&mut self, exec: u32, node: u64, on: bool) {
        let Some(exec) = self.execs.get_mut(&exec) else { return };
        // Copies can be disabled as well; only kernels are reported. After an update it is unknown which one it is.
        if let Some(known) = exec.nodes.get_mut(&node) {
            known.enabled = on;
        }
        exec.count();
    }

    /// The launches of a replay, and whether there are more; None if nothing was reported about the graph.
    pub fn replay(&self, exec: u32) -> Option<(&HashMap<KindId, u64>, bool)> {
        self.execs.get(&exec).map(|exec| (&exec.counts, exec.partly))
    }
}

impl Exec {
    fn count(&mut self) {
        self.counts.clear();
        for kind in self.nodes.values().filter(|node| node.enabled).filter_map(|node| node.kind) {
            *self.counts.entry(kind).or_default() += 1;
        }
    }
}
