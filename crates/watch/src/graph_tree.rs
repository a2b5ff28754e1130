//! The nodes of one graph, including those of nested graphs.

use crate::KindId;
use std::collections::HashMap;

#[derive(Debug, Clone)]
pub enum Node {
    Kernel { kind: KindId, on: bool },
    Child(Tree),
    Other,
}

/// A graph's nodes, including those of nested graphs.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub nodes: HashMap<u64, Node>,
    /// Kernels without an observed node.
    pub captured: HashMap<KindId, u64>,
    /// Whether part of the graph is unknown or decided on the device.
    pub unsure: bool,
}

impl Tree {
    pub fn unsure() -> Tree {
        Tree { unsure: true, ..Tree::default() }
    }

    pub fn is_unsure(&self) -> bool {
        self.unsure || self.nodes.values().any(|node| matches!(node, Node::Child(tree) if tree.is_unsure()))
    }

    pub fn add_to(&self, counts: &mut HashMap<KindId, u64>) {
        for (kind, count) in &self.captured {
            *counts.entry(*kind).or_default() += count;
        }
        for node in self.nodes.values() {
            match node {
                Node::Kernel { kind, on: true } => *counts.entry(*kind).or_default() += 1,
                Node::Kernel { .. } | Node::Other => {}
                Node::Child(tree) => tree.add_to(counts),
            }
        }
    }

    pub fn find(&mut self, node: u64) -> Option<&mut Node> {
        if self.nodes.contains_key(&node) {
            return self.nodes.get_mut(&node);
        }
        self.nodes.values_mut().find_map(|inner| match inner {
            Node::Child(tree) => tree.find(node),
            _ => None,
        })
    }

    /// Identifies a captured kernel as this node; false if no captured kernel has one of these kinds.
    pub fn place(&mut self, node: u64, kinds: &[KindId]) -> bool {
        let Some(kind) = kinds.iter().copied().find(|kind| self.captured.get(kind).is_some_and(|count| *count > 0))
        else {
            return false;
        };
        self.captured.entry(kind).and_modify(|count| *count -= 1);
        self.captured.retain(|_, count| *count > 0);
        self.nodes.insert(node, Node::Kernel { kind, on: true });
        true
    }

    /// Whether the node can be identified: by its handle, by the process's own queries about it, or because all
    /// candidates are alike.
    pub fn known(&mut self, node: u64, told: Option<&[KindId]>) -> bool {
        if self.find(node).is_some() {
            return true;
        }
        let only = self.captured.keys().next().copied().filter(|_| self.captured.len() == 1 && self.nodes.is_empty());
        told.or(only.as_ref().map(std::slice::from_ref)).is_some_and(|kinds| self.place(node, kinds))
    }
}
