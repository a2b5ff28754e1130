//! Searches for the cheapest path from one function to another, over calls and the steps that replace them.

use super::edge::{Edge, Kind};
use super::index::{Index, Language, Reach};
use super::resolve::{Resolved, resolve};
use super::types::local;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

impl Index {
    /// The edges out of a function; cached.
    pub fn edges(&self, from: usize) -> &[Edge] {
        self.edges.get(from).map_or(&[], |known| known.get_or_init(|| edges(self, from)))
    }
}

/// Every edge out of a function that the declarations of the tree determine.
fn edges(index: &Index, from: usize) -> Vec<Edge> {
    let Some(function) = index.functions.get(from) else { return Vec::new() };
    let mut out = Vec::new();
    for used in &function.uses {
        match used.reach {
            Reach::Call | Reach::Spawn => {
                if let Resolved::To(kind, targets) = resolve(index, function, used) {
                    let kind = if used.reach == Reach::Spawn { Kind::Goroutine } else { kind };
                    add(index, &mut out, &targets, kind, used.line);
                }
            }
            // A parameter or variable of that name is not a function.
            Reach::Reference if used.object.is_empty() && local(function, &used.name, used.line).is_some() => {}
            Reach::Reference => {
                if let Resolved::To(_, targets) = resolve(index, function, used) {
                    add(index, &mut out, &targets, Kind::Callback, used.line);
                }
            }
            Reach::Cgo => {
                let fits = |&id: &usize| {
                    let to = &index.functions[id];
                    to.language == Language::Cpp
                        && to.owner.is_empty()
                        && !to.internal
                        && index.same_tree(to.file, function.file)
                };
                let targets: Vec<usize> = index.named(&used.name).iter().copied().filter(fits).collect();
                add(index, &mut out, &targets, Kind::Cgo, used.line);
            }
            Reach::Wake => {
                let here = index.directory(function.file);
                let fits = |id: &usize| {
                    let to = &index.functions[*id];
                    index.directory(to.file) == here && *id != from && to.owner == function.owner
                };
                let waiting: Vec<usize> = index.waiting(&used.name).iter().map(|(id, _)| *id).filter(fits).collect();
                add(index, &mut out, &waiting, Kind::HandOff, used.line);
            }
            Reach::Wait | Reach::Launch => {}
        }
    }
    out
}

/// Calls in a function on receivers of unknown type, if the tree has methods of that name.
pub fn unresolved(index: &Index, from: usize) -> impl Iterator<Item = &super::index::Use> {
    let function = index.functions.get(from);
    function.into_iter().flat_map(move |function| {
        let calls = function.uses.iter().filter(|used| matches!(used.reach, Reach::Call | Reach::Spawn));
        calls.filter(move |used| resolve(index, function, used) == Resolved::Open)
    })
}

fn add(index: &Index, out: &mut Vec<Edge>, targets: &[usize], kind: Kind, line: u32) {
    for &to in targets {
        // Overloads with the same name in the same place count as one target.
        let same = |other: usize| {
            let (a, b) = (&index.functions[to], &index.functions[other]);
            a.name == b.name && a.owner == b.owner && index.directory(a.file) == index.directory(b.file)
        };
        let others = targets.iter().copied().filter(|&other| !same(other)).collect();
        out.push(Edge { to, kind, line, others });
    }
}

/// The cheapest path from any of `starts` to a function that `goal` accepts. Each edge comes with the function where it
/// starts. Returns None if there is no path.
pub fn path(
    index: &Index,
    starts: &[usize],
    goal: impl Fn(usize) -> bool,
    allowed: impl Fn(usize, &Edge) -> bool,
) -> Option<Vec<(usize, Edge)>> {
    let mut seen = reach(index, starts, goal, allowed);
    let mut here = seen.found?;
    let mut steps = Vec::new();
    while let Some((from, edge)) = seen.came.remove(&here) {
        steps.push((from, edge));
        here = from;
    }
    steps.reverse();
    Some(steps)
}

/// The functions that a search visited.
pub struct Reached {
    pub found: Option<usize>,
    came: HashMap<usize, (usize, Edge)>,
    /// The visited functions, cheapest first.
    pub looked_at: Vec<usize>,
}

pub fn reach(
    index: &Index,
    starts: &[usize],
    goal: impl Fn(usize) -> bool,
    allowed: impl Fn(usize, &Edge) -> bool,
) -> Reached {
    let mut best: HashMap<usize, u32> = starts.iter().map(|&start| (start, 0)).collect();
    let mut queue: BinaryHeap<Reverse<(u32, usize)>> = starts.iter().map(|&start| Reverse((0, start))).collect();
    let mut out = Reached { found: None, came: HashMap::new(), looked_at: Vec::new() };
    while let Some(Reverse((cost, at))) = queue.pop() {
        if best.get(&at).is_some_and(|&known| known < cost) {
            continue;
        }
        out.looked_at.push(at);
        if goal(at) {
            out.found = Some(at);
            return out;
        }
        for edge in index.edges(at) {
            if !allowed(at, edge) {
                continue;
            }
            let ambiguity = u32::try_from(edge.others.len().min(4)).unwrap_or(4);
            let next = cost.saturating_add(edge.kind.cost()).saturating_add(ambiguity);
            if best.get(&edge.to).is_none_or(|&known| next < known) {
                best.insert(edge.to, next);
                queue.push(Reverse((next, edge.to)));
                out.came.insert(edge.to, (at, edge.clone()));
            }
        }
    }
    out
}
