//! Splits the launches of a run into evaluations: by the graphs that the program computed, if they are known, and
//! otherwise at the points where the host read a result back.

use crate::names::Names;
use crate::products::{Computed, Pass};
use crate::session::Outcome;
use launch::Phase;
use launch::graph_replay::{Evaluation, evaluations};
use launch::trace::{Event, Trace};
use std::collections::BTreeMap;

/// An evaluation: its launches, phase and width.
#[derive(Debug)]
pub struct Evaluated<'o> {
    pub phase: Phase,
    pub width: u64,
    /// The graph, if known.
    pub pass: Option<&'o Pass>,
    pub evaluation: Evaluation,
}

impl Evaluated<'_> {
    /// Whether a product belongs only to experts: none of the graph's dense products has this size.
    pub fn is_routed(&self, trace: &Trace, names: &Names<'_>, (place, ne11): (usize, Option<u64>)) -> bool {
        let Some(pass) = self.pass.filter(|pass| pass.has_experts()) else { return false };
        if !names.is_weight_product(trace, place) {
            return false;
        }
        let dense = || pass.products().filter(|(part, of)| part.on_device() && !of.experts).map(|(_, of)| of);
        match (names.blas(trace, place), ne11) {
            (Some(call), _) => {
                !dense().any(|of| (of.m, of.k) == (call.m, call.k) && i64::try_from(of.columns) == Ok(call.n))
            }
            (None, Some(columns)) => !dense().any(|of| of.columns == columns),
            (None, None) => false,
        }
    }
}

/// The evaluations of a trace. Launches outside every graph belong to the next readback.
pub fn evaluated<'o>(outcome: &'o Outcome, trace: &Trace, names: &Names<'_>) -> Vec<Evaluated<'o>> {
    let plain = evaluations(trace);
    let told = |evaluation: Evaluation| {
        let (phase, width) = names.phase(outcome, trace, &evaluation);
        Evaluated { phase, width, pass: None, evaluation }
    };
    let Some(computed) = outcome.products.get(&trace.pid).filter(|computed| !computed.passes.is_empty()) else {
        return plain.into_iter().map(told).collect();
    };
    let mut inside: BTreeMap<usize, Evaluation> = BTreeMap::new();
    let mut list = Vec::new();
    for evaluation in plain {
        let mut rest = Evaluation { readback: evaluation.readback, ..Evaluation::default() };
        for (&place, &time) in evaluation.items.iter().zip(&evaluation.times) {
            match pass_of(computed, trace, place, time) {
                Some(number) => inside.entry(number).or_default().add(place, time),
                None => rest.add(place, time),
            }
        }
        if !rest.items.is_empty() {
            list.push(told(rest));
        }
    }
    for (number, evaluation) in inside {
        let pass = computed.passes.get(number);
        let (phase, width) = pass.map_or((Phase::Other, 0), phase);
        list.push(Evaluated { phase, width, pass, evaluation });
    }
    list.sort_by_key(|one| one.evaluation.times.first().copied());
    list
}

/// The index of the graph that was being computed at the time of a launch.
fn pass_of(computed: &Computed, trace: &Trace, place: usize, time: u64) -> Option<usize> {
    let thread = match trace.events.get(place) {
        Some(Event::Launch(launch)) if launch.head.graph == 0 => Some(launch.head.thread),
        _ => None,
    };
    let before = computed.passes.partition_point(|pass| pass.from <= time);
    // Several threads may each compute a graph.
    (before.saturating_sub(64)..before)
        .rev()
        .find(|&at| computed.passes.get(at).is_some_and(|it| it.holds(thread, time)))
}

/// The phase and width of a graph. One column is a decoded token. A prompt with several columns needs only the logits
/// of its last one.
fn phase(pass: &Pass) -> (Phase, u64) {
    match (pass.width(), pass.outputs()) {
        (None | Some(0), _) => (Phase::Other, 0),
        (Some(1), _) => (Phase::Decode, 1),
        (Some(width), Some(outputs)) if outputs == width => (Phase::Decode, width),
        (Some(width), _) => (Phase::Prefill, width),
    }
}

/// The phase and width of all evaluations, on any backend.
pub fn passes(outcome: &Outcome) -> impl Iterator<Item = (Phase, u64, &Pass)> {
    outcome.products.values().flat_map(|computed| &computed.passes).map(|pass| {
        let (phase, width) = phase(pass);
        (phase, width, pass)
    })
}
