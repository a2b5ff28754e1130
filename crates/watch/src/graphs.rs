//! Tracks the launches of each graph of a process: how it was captured, built, cloned, nested and changed.
//!
//! A captured kernel is a node without an observed handle; a manually added node has one. An operation on a graph whose
//! creation was not observed, or on an unknown node, makes the graph uncertain, and its replays are counted as such.

use crate::KindId;
use crate::graph_tree::{Node, Tree};
use std::collections::HashMap;

/// The content of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Kernel(KindId),
    /// All of another graph, in its current state.
    Child(u64),
    /// The device decides how often the body of the node runs.
    Conditional,
    /// A copy, a fill or a host call: not a kernel.
    Other,
}

#[derive(Debug, Clone, Default)]
struct Exec {
    tree: Tree,
    /// The launches of one replay.
    counts: HashMap<KindId, u64>,
}

impl Exec {
    fn new(tree: Tree) -> Exec {
        let mut counts = HashMap::new();
        tree.add_to(&mut counts);
        Exec { tree, counts }
    }
}

/// The launches of a replay, as far as they are known.
#[derive(Debug)]
pub struct Replayed<'g> {
    pub counts: &'g HashMap<KindId, u64>,
    /// Whether the list contains all launches.
    pub whole: bool,
}

#[derive(Debug, Default)]
pub struct Graphs {
    /// The graphs by handle; captures in progress by their number.
    graphs: HashMap<u64, Tree>,
    execs: HashMap<u64, Exec>,
    /// The graph of a node.
    owners: HashMap<u64, u64>,
    /// The outer graph and the node of each nested graph.
    inside: HashMap<u64, (u64, u64)>,
    /// Captures into existing graphs.
    into: HashMap<u64, u64>,
    /// Nodes added to graphs whose creation was not observed: a capture's handle is seen only at its end.
    loose: HashMap<u64, Vec<(u64, Part)>>,
    /// The launches of nodes according to the process's own queries: the kinds as which they may have been captured.
    told: HashMap<u64, Vec<KindId>>,
}

impl Graphs {
    fn tree(&mut self, graph: u64) -> Option<&mut Tree> {
        let Some((outer, node)) = self.inside.get(&graph).copied() else { return self.graphs.get_mut(&graph) };
        match self.tree(outer)?.nodes.get_mut(&node)? {
            Node::Child(tree) => Some(tree),
            _ => None,
        }
    }

    /// A launch in a capture.
    pub fn launch(&mut self, capture: u64, kind: KindId) {
        *self.graphs.entry(capture).or_default().captured.entry(kind).or_default() += 1;
    }

    /// The launch was refused. Returns false if it is not in the capture.
    pub fn reject(&mut self, capture: u64, kind: KindId) -> bool {
        let count = self.graphs.get_mut(&capture).and_then(|tree| tree.captured.get_mut(&kind));
        count.filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    }

    /// A capture into an existing graph begins.
    pub fn begun(&mut self, capture: u64, graph: u64) {
        self.into.insert(capture, graph);
    }

    /// The capture has become the graph; 0 is a capture that began before the observation.
    pub fn captured(&mut self, capture: u64, graph: u64) {
        let mut tree = match capture {
            0 => Tree::unsure(),
            capture => self.graphs.remove(&capture).unwrap_or_default(),
        };
        if self.into.remove(&capture).is_some() {
            match self.tree(graph) {
                Some(there) => {
                    there.unsure |= tree.unsure;
                    for (kind, count) in tree.captured {
                        *there.captured.entry(kind).or_default() += count;
                    }
                    return;
                }
                None => tree.unsure = true,
            }
        }
        let loose = self.loose.remove(&graph).unwrap_or_default();
        self.forget(graph);
        self.graphs.insert(graph, tree);
        for (node, part) in loose {
            self.add(graph, node, part);
        }
    }

    /// An empty graph was created. An earlier graph at this address no longer exists.
    pub fn created(&mut self, graph: u64) {
        self.forget(graph);
        self.loose.remove(&graph);
        self.graphs.insert(graph, Tree::default());
    }

    /// The nodes of a clone have their own handles, which become known when the process asks for them.
    pub fn cloned(&mut self, from: u64, to: u64) {
        let tree = self.tree(from).cloned();
        self.forget(to);
        self.loose.remove(&to);
        tree.map(|tree| self.graphs.insert(to, tree));
    }

    /// The clone's node for a node of the original.
    pub fn found(&mut self, original: u64, clone: u64, node: u64) {
        if let Some(tree) = self.tree(clone)
            && let Some(same) = tree.nodes.remove(&original)
        {
            tree.nodes.insert(node, same);
            self.owners.insert(node, clone);
        }
    }

    /// The graph inside a node has this handle.
    pub fn child_of(&mut self, node: u64, graph: u64) {
        self.graphs.remove(&graph);
        match self.owners.get(&node) {
            Some(owner) => drop(self.inside.insert(graph, (*owner, node))),
            None => drop(self.inside.remove(&graph)),
        }
    }

    pub fn destroyed(&mut self, graph: u64) {
        self.forget(graph);
        self.loose.remove(&graph);
    }

    fn forget(&mut self, graph: u64) {
        self.inside.remove(&graph);
        for node in self.graphs.remove(&graph).unwrap_or_default().nodes.keys() {
            self.owners.remove(node);
            self.told.remove(node);
        }
    }

    fn node_of(&mut self, part: Part) -> (Node, bool) {
        match part {
            Part::Kernel(kind) => (Node::Kernel { kind, on: true }, false),
            Part::Child(graph) => (Node::Child(self.tree(graph).map_or_else(Tree::unsure, |tree| tree.clone())), false),
            Part::Conditional => (Node::Other, true),
            Part::Other => (Node::Other, false),
        }
    }

    /// A node was added to a graph explicitly.
    pub fn add(&mut self, graph: u64, node: u64, part: Part) {
        let (made, unsure) = self.node_of(part);
        self.told.remove(&node);
        match self.tree(graph) {
            Some(tree) => {
                tree.unsure |= unsure;
                tree.nodes.insert(node, made);
                self.owners.insert(node, graph);
            }
            None => self.loose.entry(graph).or_default().push((node, part)),
        }
    }

    /// The number of nodes that were added to graphs which never became known.
    pub fn loose(&self) -> u64 {
        self.loose.values().map(|list| list.len() as u64).sum()
    }

    /// A node is removed from its graph. False if the node or graph is unknown: then all captured graphs become
    /// uncertain.
    pub fn remove(&mut self, node: u64) -> bool {
        let told = self.told.remove(&node);
        let owner = self.owners.remove(&node);
        if let Some(tree) = owner.and_then(|graph| self.tree(graph)) {
            if tree.nodes.remove(&node).is_none() {
                tree.unsure = true;
            }
            return true;
        }
        let mut suspects: Vec<&mut Tree> = self.graphs.values_mut().filter(|tree| !tree.captured.is_empty()).collect();
        // If only one graph can have contained the node and its kernel is known, the result is still certain.
        if let ([tree], Some(kinds)) = (&mut suspects[..], told)
            && tree.place(node, &kinds)
        {
            tree.nodes.remove(&node);
            return true;
        }
        suspects.into_iter().for_each(|tree| tree.unsure = true);
        false
    }

    /// The process queried the launch of a node.
    pub fn asked(&mut self, node: u64, kinds: Vec<KindId>) {
        if !self.owners.contains_key(&node) {
            self.told.insert(node, kinds);
        }
    }

    /// Changes the launch of a node in later instantiations. Returns false if the node's previous launch is unknown.
    pub fn change(&mut self, node: u64, part: Part) -> bool {
        let (made, unsure) = self.node_of(part);
        if let Some(tree) = self.owners.get(&node).copied().and_then(|graph| self.tree(graph)) {
            tree.unsure |= unsure;
            tree.nodes.insert(node, made);
            return true;
        }
        let told = self.told.get(&node).cloned();
        let mut suspects: Vec<(&u64, &mut Tree)> =
            self.graphs.iter_mut().filter(|(_, tree)| !tree.captured.is_empty()).collect();
        if let [(graph, tree)] = &mut suspects[..]
            && tree.known(node, told.as_deref())
        {
            tree.nodes.insert(node, made);
            self.owners.insert(node, **graph);
            return true;
        }
        // The same kernel with other arguments is the same launch.
        matches!((part, told), (Part::Kernel(kind), Some(before)) if before.contains(&kind))
    }

    /// An executable graph was made from a graph, or updated to one.
    pub fn instantiated(&mut self, exec: u64, graph: u64) {
        match self.tree(graph).cloned() {
            Some(tree) => drop(self.execs.insert(exec, Exec::new(tree))),
            None => drop(self.execs.remove(&exec)),
        }
    }

    /// An executable graph was updated to a graph. It is unspecified whether disabled nodes stay disabled.
    pub fn updated(&mut self, exec: u64, graph: u64) {
        let off = |exec: &Exec| exec.tree.nodes.values().any(|node| matches!(node, Node::Kernel { on: false, .. }));
        let had = self.execs.get(&exec).is_some_and(off);
        self.instantiated(exec, graph);
        if let Some(exec) = self.execs.get_mut(&exec) {
            exec.tree.unsure |= had;
        }
    }

    pub fn exec_destroyed(&mut self, exec: u64) {
        self.execs.remove(&exec);
    }

    /// Changes the launch of a node in an executable graph. Returns false if its previous launch is unknown: the total
    /// count is then right, but the kernels may be wrong.
    pub fn set(&mut self, exec: u64, node: u64, part: Part) -> bool {
        let told = self.told.get(&node).cloned();
        let (made, unsure) = self.node_of(part);
        let Some(known) = self.execs.get_mut(&exec) else { return true };
        known.tree.unsure |= unsure;
        let found = known.tree.known(node, told.as_deref());
        if found && let Some(there) = known.tree.find(node) {
            let on = !matches!(there, Node::Kernel { on: false, .. });
            *there = match made {
                Node::Kernel { kind, .. } => Node::Kernel { kind, on },
                other => other,
            };
            *known = Exec::new(std::mem::take(&mut known.tree));
        }
        found
    }

    /// Enables or disables a node of an executable graph. Returns false if its launch is unknown: its replays are then
    /// uncertain.
    pub fn enable(&mut self, exec: u64, node: u64, enabled: bool) -> bool {
        let told = self.told.get(&node).cloned();
        let Some(known) = self.execs.get_mut(&exec) else { return true };
        let found = known.tree.known(node, told.as_deref());
        match known.tree.find(node) {
            Some(Node::Kernel { on, .. }) => *on = enabled,
            Some(_) => {}
            None => known.tree.unsure = true,
        }
        *known = Exec::new(std::mem::take(&mut known.tree));
        found
    }

    /// The launches of a replay; None if the creation of the executable graph was not observed.
    pub fn replay(&self, exec: u64) -> Option<Replayed<'_>> {
        self.execs.get(&exec).map(|exec| Replayed { counts: &exec.counts, whole: !exec.tree.is_unsure() })
    }

    /// A replay on a capturing stream becomes part of the capture.
    pub fn replay_into(&mut self, exec: u64, capture: u64) {
        let replayed = self.execs.get(&exec).cloned();
        let tree = self.graphs.entry(capture).or_default();
        match replayed {
            Some(replayed) => {
                tree.unsure |= replayed.tree.is_unsure();
                for (kind, count) in replayed.counts {
                    *tree.captured.entry(kind).or_default() += count;
                }
            }
            None => tree.unsure = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: KindId = KindId(1);
    const B: KindId = KindId(2);
    const C: KindId = KindId(3);

    /// The launches of a replay, in order, and whether they are complete.
    fn replay(graphs: &Graphs, exec: u64) -> Option<(Vec<(u32, u64)>, bool)> {
        let replayed = graphs.replay(exec)?;
        let mut counts: Vec<(u32, u64)> = replayed.counts.iter().map(|(kind, count)| (kind.0, *count)).collect();
        counts.sort_unstable();
        Some((counts, replayed.whole))
    }

    #[test]
    fn clones_children_and_changes_keep_to_their_own_graph() {
        let mut graphs = Graphs::default();
        graphs.created(0x10);
        graphs.add(0x10, 0xa, Part::Kernel(A));
        graphs.add(0x10, 0xb, Part::Kernel(B));
        graphs.cloned(0x10, 0x20);
        graphs.found(0xb, 0x20, 0x2b);
        assert!(graphs.change(0x2b, Part::Kernel(C)));
        graphs.created(0x30);
        graphs.add(0x30, 0xc, Part::Child(0x10));
        graphs.child_of(0xc, 0x40);
        graphs.add(0x40, 0xd, Part::Kernel(C));
        for (exec, graph) in [(1, 0x10), (2, 0x20), (3, 0x30)] {
            graphs.instantiated(exec, graph);
        }
        assert_eq!(replay(&graphs, 1), Some((vec![(1, 1), (2, 1)], true)));
        assert_eq!(replay(&graphs, 2), Some((vec![(1, 1), (3, 1)], true)), "the clone alone was changed");
        assert_eq!(
            replay(&graphs, 3),
            Some((vec![(1, 1), (2, 1), (3, 1)], true)),
            "what was added to the graph inside"
        );
        assert!(graphs.remove(0xa) && graphs.enable(1, 0xb, false));
        assert_eq!(replay(&graphs, 1), Some((vec![(1, 1)], true)), "an executable graph keeps what leaves its graph");
        assert!(graphs.set(1, 0xb, Part::Kernel(C)));
        assert_eq!(replay(&graphs, 1), Some((vec![(1, 1)], true)), "what is off stays off");
        assert!(graphs.enable(1, 0xb, true));
        assert_eq!(replay(&graphs, 1), Some((vec![(1, 1), (3, 1)], true)));
    }

    #[test]
    fn a_capture_may_go_into_a_graph_and_have_nodes_added_and_graphs_launched() {
        let mut graphs = Graphs::default();
        graphs.created(0x10);
        graphs.add(0x10, 0xa, Part::Kernel(A));
        graphs.instantiated(1, 0x10);
        graphs.begun(7, 0x10);
        graphs.launch(7, B);
        graphs.captured(7, 0x10);
        graphs.instantiated(2, 0x10);
        assert_eq!(replay(&graphs, 2), Some((vec![(1, 1), (2, 1)], true)));
        graphs.launch(8, C);
        graphs.add(0x50, 0xe, Part::Kernel(A));
        graphs.replay_into(2, 8);
        graphs.captured(8, 0x50);
        graphs.instantiated(3, 0x50);
        assert_eq!(replay(&graphs, 3), Some((vec![(1, 2), (2, 1), (3, 1)], true)));
        assert_eq!(graphs.loose(), 0);
    }

    #[test]
    fn what_nobody_saw_made_is_not_sure() {
        let mut graphs = Graphs::default();
        graphs.add(0x10, 0xa, Part::Kernel(A));
        graphs.instantiated(1, 0x10);
        assert_eq!((replay(&graphs, 1), graphs.loose()), (None, 1), "it may hold more than what was added since");
        graphs.captured(0, 0x20);
        graphs.instantiated(2, 0x20);
        assert_eq!(replay(&graphs, 2), Some((vec![], false)), "the capture began before the attach");
        graphs.created(0x30);
        graphs.add(0x30, 0xb, Part::Kernel(A));
        graphs.add(0x30, 0xc, Part::Conditional);
        graphs.add(0x30, 0xd, Part::Child(0x999));
        graphs.instantiated(3, 0x30);
        assert_eq!(replay(&graphs, 3), Some((vec![(1, 1)], false)));
        graphs.launch(9, A);
        graphs.launch(9, B);
        graphs.captured(9, 0x40);
        graphs.instantiated(4, 0x40);
        assert!(!graphs.set(4, 0xe, Part::Kernel(C)), "which of the two it was is not known");
        graphs.asked(0xe, vec![B]);
        assert!(graphs.set(4, 0xe, Part::Kernel(C)), "the process asked");
        assert_eq!(replay(&graphs, 4), Some((vec![(1, 1), (3, 1)], true)));
        assert!(!graphs.remove(0xf));
        graphs.instantiated(5, 0x40);
        assert_eq!(replay(&graphs, 5), Some((vec![(1, 1), (2, 1)], false)));
    }
}
