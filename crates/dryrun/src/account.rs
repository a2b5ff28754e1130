//! Compares two accounts of one run: the matrix products in the graphs that the program computed, and the launches.

use crate::evaluated::{Evaluated, evaluated};
use crate::names::Names;
use crate::products::{Account as Graphs, Part};
use crate::selection::weights;
use crate::session::Outcome;
use evidence::{Account, Blind, BlindSpot, Witness};
use launch::grammar::Family;
use launch::trace::{Event, Trace};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Up to this width, a vector kernel computes two products of one column vector at once (gate and up of a feed-forward
/// network).
const FUSED_UP_TO: u64 = 8;

/// Products with the model's matrices, in all computed graphs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checked {
    /// Products on the simulated devices.
    #[serde(rename = "on_device")]
    pub nodes: u64,
    /// Products on the simulated devices that have a launch.
    #[serde(rename = "launched")]
    pub covered: u64,
    /// Products on other backends, by backend.
    pub elsewhere: BTreeMap<String, u64>,
    /// The number of graphs that could not be read, plus processes that launched but computed no graph. Only their
    /// launches are known.
    pub unread: u64,
}

impl Checked {
    /// Compares the two accounts of a run. None if the program computed no ggml graph.
    pub fn of(outcome: &Outcome) -> Option<Checked> {
        let mut checked = Checked::counted(&outcome.products, Part::on_device)?;
        for trace in outcome.traces.iter().filter(|trace| trace.events.iter().any(is_work)) {
            if outcome.products.get(&trace.pid).is_none_or(|of| of.passes.is_empty()) {
                checked.unread += 1;
                continue;
            }
            let names = Names::new(trace);
            for one in evaluated(outcome, trace, &names) {
                match one.pass {
                    Some(_) => checked.covered += covered(outcome, trace, &names, &one),
                    // The product is in no graph.
                    None if one.width > 0 => checked.unread += 1,
                    None => {}
                }
            }
        }
        Some(checked)
    }

    /// The products of all graphs, before the comparison. `own` states whether a part was computed on a simulated
    /// device.
    pub(crate) fn counted(computed: &Graphs, own: impl Fn(&Part) -> bool) -> Option<Checked> {
        let unread = computed.values().map(|of| of.unread).sum();
        let mut checked = Checked { unread, ..Checked::default() };
        for pass in computed.values().flat_map(|of| &of.passes) {
            for (part, of) in pass.products().filter(|(_, of)| of.weights && of.columns > 0) {
                match own(part) {
                    true => checked.nodes += of.count,
                    false => *checked.elsewhere.entry(part.backend.clone()).or_default() += of.count,
                }
            }
        }
        (!computed.is_empty()).then_some(checked)
    }

    /// Whether the program computed graphs and every product in them was launched.
    pub fn agrees(outcome: &Outcome) -> bool {
        Checked::of(outcome).and_then(|checked| checked.account()).is_some_and(|account| account.agrees())
    }

    /// The second count, if it covers every launch.
    pub fn account(&self) -> Option<Account> {
        (self.unread == 0 && self.nodes > 0).then(|| Account::counted(Witness::GraphNodes, self.nodes, self.covered))
    }
}

fn is_work(event: &Event) -> bool {
    matches!(event, Event::Launch(_) | Event::Blas(_) | Event::Graph(_))
}

/// The blind spots of a dry run of a program that computes no ggml graph.
pub fn blind() -> [BlindSpot; 2] {
    [Blind::Processes.spot(), Blind::DirectCalls.spot()]
}

/// How many of the graph's products with the model's matrices have a launch of their type and width.
fn covered(outcome: &Outcome, trace: &Trace, names: &Names<'_>, one: &Evaluated<'_>) -> u64 {
    let Some(pass) = one.pass else { return 0 };
    let mut kernels: BTreeMap<(Option<&str>, u64), u64> = BTreeMap::new();
    let mut calls: BTreeMap<(i64, u64, i64), u64> = BTreeMap::new();
    let mut routed = 0_u64;
    for &place in &one.evaluation.items {
        let columns = names.columns(outcome, trace, place);
        if names.is_routed(outcome, trace, place) || one.is_routed(trace, names, (place, columns)) {
            routed += 1;
        }
        match trace.events.get(place) {
            Some(Event::Blas(call)) => {
                let size = (call.m, u64::try_from(call.n).unwrap_or(0), call.k);
                *calls.entry(size).or_default() += 1;
            }
            Some(Event::Launch(launch)) if !names.inside.contains_key(&place) => {
                let Some(facts) = names.facts.get(&launch.head.kernel) else { continue };
                let product = facts.is_weight_product() && facts.family != Family::MmqFixup;
                if let (true, Some(columns)) = (product, columns) {
                    *kernels.entry((weights(facts), columns)).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    /// The number of products, and their shapes.
    type Wanted = (u64, BTreeSet<(i64, u64, i64)>);
    let mut wanted: BTreeMap<(&str, u64), Wanted> = BTreeMap::new();
    let mut found = 0;
    for (_, of) in pass.products().filter(|(part, of)| part.on_device() && of.weights && of.columns > 0) {
        if of.experts {
            found += if routed > 0 { of.count } else { 0 };
            continue;
        }
        // A matrix of one row is used as the vector, and the activations as the matrix.
        if of.m == 1 && of.columns > 1 {
            let swapped = kernels.iter().filter(|((_, columns), _)| *columns == 1).map(|(_, count)| count).sum::<u64>();
            found += of.count.min(swapped);
            continue;
        }
        let (nodes, sizes) = wanted.entry((of.kind.as_str(), of.columns)).or_default();
        *nodes += of.count;
        sizes.insert((of.m, of.columns, of.k));
    }
    for ((kind, columns), (nodes, sizes)) in wanted {
        let of_kernels = [Some(kind), None].into_iter().filter_map(|kind| kernels.get(&(kind, columns))).sum::<u64>();
        let of_calls = sizes.iter().filter_map(|size| calls.get(size)).sum::<u64>();
        let each = if columns <= FUSED_UP_TO { 2 } else { 1 };
        found += nodes.min(of_kernels * each + of_calls);
    }
    found
}
