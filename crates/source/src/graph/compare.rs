//! Compares predicted launches with those that a program was seen to make, launch by launch.

use super::answers::{GraphEvaluation, GraphLaunch, dims};
use super::instance_name::instance;
use super::symbol;
use crate::argument::Argument;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// A recorded launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedLaunch {
    /// The symbol as the compiler wrote it; for a library call, the function.
    pub kernel: String,
    /// None for a call into a library.
    pub grid: Option<[i64; 3]>,
    pub block: Option<[i64; 3]>,
    /// Whether the driver refused the launch, so that it did not run.
    pub refused: bool,
}

/// A recorded evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRun {
    /// The evaluation's number in the trace.
    pub evaluation: u64,
    pub launches: Vec<RecordedLaunch>,
    /// Whether the writer states that the record is complete: a launch that is not in it did not happen.
    pub whole: bool,
}

/// The result of comparing the two sequences of launches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Compared {
    /// Compared evaluations of the trace, and the launches in them.
    pub evaluations: u64,
    pub seen: u64,
    /// Predicted with the right kernel, template arguments, grid and block; for a library call, with the right
    /// function.
    pub exact: u64,
    /// The same kernel as far as its template arguments are known; then the unknown arguments, by kernel.
    pub without_arguments: u64,
    pub unknown_arguments: BTreeSet<String>,
    /// The right kernel and template arguments; grid or block is UNDETERMINED.
    pub without_grid: u64,
    /// Predicted, but refused by the driver: these did not run.
    pub refused: u64,
    /// Predicted, but not in the record. The record has nothing of this evaluation or may be incomplete, so the launch
    /// may have happened.
    pub not_seen: u64,
    /// Observed where the source does not determine the launches.
    pub not_predicted: Vec<String>,
    /// Predictions that differ from the observation.
    pub different: Vec<Mismatch>,
}

impl Compared {
    /// Adds the results of another evaluation.
    pub(super) fn add(&mut self, other: Compared) {
        self.evaluations += other.evaluations;
        self.seen += other.seen;
        self.exact += other.exact;
        self.without_arguments += other.without_arguments;
        self.unknown_arguments.extend(other.unknown_arguments);
        self.without_grid += other.without_grid;
        self.refused += other.refused;
        self.not_seen += other.not_seen;
        self.not_predicted.extend(other.not_predicted);
        self.different.extend(other.different);
    }
}

/// A launch that differs from the prediction. One of the two is missing if only one side has a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mismatch {
    /// The evaluation's number in the trace.
    pub evaluation: u64,
    /// The index among the observed launches of this evaluation.
    pub at: usize,
    pub predicted: Option<String>,
    pub seen: Option<String>,
}

/// Longer sequences are not compared; the largest models launch half as many per evaluation.
const MOST: usize = 4_000;

struct Predicted<'a> {
    instance: String,
    launch: &'a GraphLaunch,
    /// Whether the step is open: further launches may come before or after it.
    open: bool,
}

/// None if there are too many launches.
pub fn compare(evaluation: &GraphEvaluation, run: &SeenRun) -> Option<Compared> {
    let (number, seen) = (run.evaluation, run.launches.as_slice());
    let mut predicted: Vec<Predicted<'_>> = Vec::new();
    // The positions of open steps without a known launch: each is before the launch with this index.
    let mut unknown: Vec<usize> = Vec::new();
    for step in &evaluation.steps {
        let open = step.undetermined.is_some();
        if open && step.launches.is_empty() {
            unknown.push(predicted.len());
        }
        let launches = step.launches.iter();
        predicted.extend(launches.map(|launch| Predicted { instance: launch.instance(), launch, open }));
    }
    if predicted.len() > MOST || seen.len() > MOST {
        return None;
    }
    let names: Vec<String> = seen.iter().map(|seen| instance(&seen.kernel)).collect();
    let ours: Vec<&str> = predicted.iter().map(|predicted| predicted.instance.as_str()).collect();
    let theirs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut out = Compared { evaluations: 1, seen: seen.len() as u64, ..Compared::default() };
    let mut before = (0_usize, 0_usize);
    let ends = std::iter::once((ours.len(), theirs.len()));
    for (p, s) in common(&ours, &theirs).into_iter().chain(ends) {
        // The gap, with the launches on both sides of it.
        let around = predicted.get(before.0.saturating_sub(1)..(p + 1).min(predicted.len())).unwrap_or_default();
        let open = around.iter().any(|launch| launch.open) || unknown.iter().any(|at| (before.0..=p).contains(at));
        let mut missed = predicted.get(before.0..p).unwrap_or_default().iter();
        for at in before.1..s {
            let shown = seen.get(at).map(show);
            if open {
                out.not_predicted.extend(shown);
            } else {
                let predicted = missed.next().map(|p| p.launch.shown());
                out.different.push(Mismatch { evaluation: number, at, predicted, seen: shown });
            }
        }
        let missing =
            missed.map(|p| Mismatch { evaluation: number, at: s, predicted: Some(p.launch.shown()), seen: None });
        match run.whole && !seen.is_empty() {
            true => out.different.extend(missing),
            false => out.not_seen += missing.count() as u64,
        }
        if let (Some(predicted), Some(seen)) = (predicted.get(p), seen.get(s)) {
            let fits = |ours: Option<[i64; 3]>, theirs: Option<[i64; 3]>| ours.is_none() || ours == theirs;
            let arguments = same_arguments(predicted.launch, &seen.kernel);
            let dims = fits(predicted.launch.grid, seen.grid) && fits(predicted.launch.block, seen.block);
            if arguments == Some(false) || !dims {
                // If grid and block are the same, the difference is in the full argument list.
                let ours = if dims { predicted.launch.shown_full() } else { predicted.launch.shown() };
                let theirs = if dims { show_full(seen) } else { show(seen) };
                let (ours, theirs) = (Some(ours), Some(theirs));
                out.different.push(Mismatch { evaluation: number, at: s, predicted: ours, seen: theirs });
            } else if seen.refused {
                out.refused += 1;
            } else if (predicted.launch.grid, predicted.launch.block) != (seen.grid, seen.block) {
                out.without_grid += 1;
            } else if arguments.is_none() {
                out.without_arguments += 1;
                out.unknown_arguments.extend(predicted.launch.unknown_arguments(&seen.kernel));
            } else {
                out.exact += 1;
            }
        }
        before = (p + 1, s + 1);
    }
    Some(out)
}

fn show(seen: &RecordedLaunch) -> String {
    format!("{} {} {}", instance(&seen.kernel), dims(seen.grid), dims(seen.block))
}

fn show_full(seen: &RecordedLaunch) -> String {
    let name = instance(&seen.kernel);
    let name = name.split('<').next().unwrap_or_default();
    match symbol::arguments(&seen.kernel) {
        Some(found) => {
            let more = if found.complete { "" } else { ",..." };
            let list = crate::argument::joined(&found.list);
            format!("{name}<{list}{more}> {} {}", dims(seen.grid), dims(seen.block))
        }
        None => show(seen),
    }
}

/// Whether a symbol has the predicted template arguments, given that the numbers match; None if some of the arguments
/// are unknown.
fn same_arguments(launch: &GraphLaunch, kernel: &str) -> Option<bool> {
    let list: Vec<&Argument> = launch.arguments.iter().map(|(_, value)| value).collect();
    let Some(seen) = symbol::arguments(kernel) else {
        // The text is a plain name and not a symbol, so it has at most numbers as arguments.
        return list.iter().all(|argument| argument.number().is_some()).then_some(true);
    };
    // Some compilers omit an empty pack from a symbol's argument list.
    let declared = list.iter().copied().filter(|argument| !matches!(argument, Argument::Pack(list) if list.is_empty()));
    let empty = |argument: &&Argument| !matches!(argument, Argument::Pack(list) if list.is_empty());
    let (declared, theirs): (Vec<&Argument>, Vec<&Argument>) =
        (declared.collect(), seen.list.iter().filter(empty).collect());
    let found = symbol::same_all(declared.iter().copied(), theirs.iter().copied());
    match (found, seen.complete) {
        (Some(false), _) => Some(false),
        (_, false) => None,
        // Some compilers' symbols lack an argument for some parameters.
        _ if declared.len() != theirs.len() => None,
        (found, true) => found,
    }
}

impl GraphLaunch {
    /// `k_bin_bcast: bin_op`: the template arguments that are unknown, or missing in the observed symbol.
    fn unknown_arguments(&self, kernel: &str) -> Vec<String> {
        let seen = symbol::arguments(kernel).map(|found| found.list).unwrap_or_default();
        let all = self.arguments.iter().enumerate();
        let open = all.filter(|(at, (_, value))| match seen.get(*at) {
            Some(theirs) => symbol::same(value, theirs).is_none(),
            None => value.number().is_none(),
        });
        open.map(|(_, (name, _))| format!("{}: {name}", self.kernel)).collect()
    }
}

/// The longest common subsequence, as pairs of positions.
fn common(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    let (rest_a, rest_b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    let width = rest_b.len() + 1;
    // The length of the common subsequence from each pair of positions to the ends.
    let mut lengths = vec![0_u16; (rest_a.len() + 1) * width];
    let at = |lengths: &[u16], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or(0);
    for i in (0..rest_a.len()).rev() {
        for j in (0..rest_b.len()).rev() {
            let length = if rest_a.get(i) == rest_b.get(j) {
                at(&lengths, i + 1, j + 1).saturating_add(1)
            } else {
                at(&lengths, i + 1, j).max(at(&lengths, i, j + 1))
            };
            if let Some(slot) = lengths.get_mut(i * width + j) {
                *slot = length;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < rest_a.len() && j < rest_b.len() {
        if rest_a.get(i) == rest_b.get(j) {
            pairs.push((start + i, start + j));
            (i, j) = (i + 1, j + 1);
        } else if at(&lengths, i + 1, j) >= at(&lengths, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_put_side_by_side() {
        assert_eq!(common(&["a", "b", "c"], &["a", "c"]), [(0, 0), (2, 1)]);
        assert_eq!(common(&[], &["a"]), []);
        assert_eq!(common(&["x", "a", "b"], &["a", "y", "b"]), [(1, 0), (2, 2)]);
    }
}
