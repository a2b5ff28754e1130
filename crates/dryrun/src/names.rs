//! The known facts about one trace's kernels and BLAS calls, looked up once.

use crate::session::Outcome;
use launch::Phase;
use launch::columns::{columns, routed};
use launch::grammar::{self, Facts, Family, Library};
use launch::graph_replay::Evaluation;
use launch::record;
use launch::table::{KernelInfo, KernelPlace};
use launch::trace::{Event, Trace};
use std::collections::{HashMap, HashSet};

/// The minimum size of one token's logits in bytes. No vocabulary in use is smaller, and no pooled embedding has that
/// many bytes per column.
const LEAST_LOGITS: u64 = 4 * 1024;

/// The known facts about a trace's kernels, each looked up once.
pub struct Names<'t> {
    pub facts: HashMap<u32, Facts>,
    pub kernels: HashMap<u32, &'t launch::trace::Kernel>,
    /// The BLAS call that a launch belongs to, by index of the launch.
    pub inside: HashMap<usize, usize>,
    /// BLAS calls that launched something.
    pub served: HashSet<usize>,
    /// The end record of each bracketed call.
    ends: HashMap<usize, record::Blas>,
    /// Products of a single expert, for types that have no kernel for all experts at once.
    one_expert: HashSet<usize>,
}

impl<'t> Names<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let kernels: HashMap<u32, _> = trace.kernels.iter().map(|kernel| (kernel.id, kernel)).collect();
        let facts = trace.kernels.iter().map(|kernel| (kernel.id, grammar::read(&kernel.name))).collect();
        let mut inside = HashMap::new();
        let mut ends = HashMap::new();
        let mut open = None;
        for (place, event) in trace.events.iter().enumerate() {
            match event {
                Event::Blas(call) if call.bracket == 1 => open = Some(place),
                Event::Blas(call) if call.bracket == 2 => drop(open.take().map(|begin| ends.insert(begin, **call))),
                Event::Launch(_) => drop(open.map(|call| inside.insert(place, call))),
                _ => {}
            }
        }
        let served = inside.values().copied().collect();
        let mut names = Names { facts, kernels, inside, served, ends, one_expert: HashSet::new() };
        names.one_expert = names.sorted_products(trace);
        names
    }

    /// The host reads the routing, gathers the columns of each expert (a get_rows), multiplies them expert by expert,
    /// and restores the order of the results (another get_rows): ggml_cuda_mul_mat_id in ggml-cuda.cu.
    fn sorted_products(&self, trace: &Trace) -> HashSet<usize> {
        let mut found = HashSet::new();
        let mut gathers = 2;
        for (place, event) in trace.events.iter().enumerate() {
            match event {
                Event::Readback(readback) if readback.bytes == 0 => gathers = 0,
                Event::Launch(launch) => {
                    let family = self.facts.get(&launch.head.kernel).map(|facts| facts.family);
                    gathers += usize::from(family == Some(Family::GetRows));
                }
                _ => {}
            }
            if gathers == 1 && self.is_weight_product(trace, place) {
                found.insert(place);
            }
        }
        found
    }

    /// Whether the launch is a product with the weights of experts.
    pub fn is_routed(&self, outcome: &Outcome, trace: &Trace, place: usize) -> bool {
        let listed = || match trace.events.get(place) {
            Some(Event::Launch(launch)) => {
                let facts = self.facts.get(&launch.head.kernel)?;
                let layout = self.info(outcome, trace, &launch.head).map_or(&[][..], |(info, _)| &info.args);
                routed(facts, layout, trace.args(launch))
            }
            _ => None,
        };
        self.one_expert.contains(&place) || listed().unwrap_or(false)
    }

    /// The call at `place`, with the data from its end record.
    pub fn call(&self, trace: &Trace, place: usize) -> Option<record::Blas> {
        match (trace.events.get(place)?, self.ends.get(&place)) {
            (Event::Blas(call), Some(end)) => {
                Some(record::Blas { status: end.status, solution: end.solution, ..**call })
            }
            (Event::Blas(call), None) => Some(**call),
            _ => None,
        }
    }

    /// The BLAS call at this index, or the BLAS call that contains the launch at this index.
    pub fn blas<'e>(&self, trace: &'e Trace, place: usize) -> Option<&'e record::Blas> {
        match trace.events.get(self.inside.get(&place).copied().unwrap_or(place))? {
            Event::Blas(call) => Some(call),
            _ => None,
        }
    }

    /// The metadata of the launched kernel on its device.
    pub fn info<'o>(
        &self,
        outcome: &'o Outcome,
        trace: &Trace,
        head: &record::Launch,
    ) -> Option<(&'o KernelInfo, &'o KernelPlace)> {
        let kernel = self.kernels.get(&head.kernel)?;
        outcome.tables.kernel(head.device, kernel, trace.module(kernel.module))
    }

    pub fn columns(&self, outcome: &Outcome, trace: &Trace, place: usize) -> Option<u64> {
        match trace.events.get(place)? {
            Event::Launch(launch) => {
                if let Some(Event::Blas(call)) = self.inside.get(&place).and_then(|call| trace.events.get(*call)) {
                    return u64::try_from(call.n).ok();
                }
                let facts = self.facts.get(&launch.head.kernel)?;
                let layout = self.info(outcome, trace, &launch.head).map_or(&[][..], |(info, _)| &info.args);
                columns(facts, layout, trace.args(launch))
            }
            Event::Blas(call) => u64::try_from(call.n).ok(),
            _ => None,
        }
    }

    /// The phase and width, for a launch that belongs to no graph. They are derived from the products with a layer's
    /// own weights, because experts have their own column counts. A prompt with several columns needs only the output
    /// of its last column, so the last product is narrower. If the last product is as wide as all others, it is unknown
    /// whether every column's output was requested or the rest was computed elsewhere.
    pub fn phase(&self, outcome: &Outcome, trace: &Trace, evaluation: &Evaluation) -> (Phase, u64) {
        // Prompts and tokens exist only in language models; the products of other programs have no phase.
        if !self.facts.values().any(|facts| facts.library == Library::Ggml) {
            return (Phase::Other, 0);
        }
        let of = |place: &&usize| self.is_weight_product(trace, **place) && !self.is_routed(outcome, trace, **place);
        let products = evaluation.items.iter().filter(of);
        let widths: Vec<u64> = products.filter_map(|&place| self.columns(outcome, trace, place)).collect();
        match (widths.iter().max(), widths.last()) {
            (Some(1), _) => (Phase::Decode, 1),
            (Some(&width), Some(&head)) if width == head && evaluation.readback / width >= LEAST_LOGITS => {
                (Phase::Batch, width)
            }
            (Some(&width), _) => (Phase::Prefill, width),
            (None, _) => (Phase::Other, 0),
        }
    }

    /// Whether the column count of a product determines the width of an evaluation. It does not for attention's batched
    /// products.
    pub fn is_weight_product(&self, trace: &Trace, place: usize) -> bool {
        match trace.events.get(place) {
            Some(Event::Launch(launch)) => self.facts.get(&launch.head.kernel).is_some_and(Facts::is_weight_product),
            Some(Event::Blas(call)) => launch::blas::is_weight_product(call.batch),
            _ => false,
        }
    }
}
