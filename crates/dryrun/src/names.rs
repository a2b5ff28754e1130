//! What is known of one trace's kernels and BLAS calls, looked up once.

use crate::session::Outcome;
use launch::columns::columns;
use launch::grammar::{self, Facts};
use launch::record::{self, blas as calls};
use launch::table::{KernelInfo, Place};
use launch::trace::{Event, Trace};
use std::collections::{HashMap, HashSet};

/// What is known of a trace's kernels, looked up once each.
pub struct Names<'t> {
    pub facts: HashMap<u32, Facts>,
    pub kernels: HashMap<u32, &'t launch::trace::Kernel>,
    /// The BLAS call that a launch was made for, by place of the launch.
    pub inside: HashMap<usize, usize>,
    /// BLAS calls for which something was launched.
    pub served: HashSet<usize>,
    /// How each bracketed call ended: the record of its end.
    ends: HashMap<usize, record::Blas>,
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
        Names { facts, kernels, inside, served, ends }
    }

    /// The call at `place`, with what its end says.
    pub fn call(&self, trace: &Trace, place: usize) -> Option<record::Blas> {
        match (trace.events.get(place)?, self.ends.get(&place)) {
            (Event::Blas(call), Some(end)) => {
                Some(record::Blas { status: end.status, solution: end.solution, ..**call })
            }
            (Event::Blas(call), None) => Some(**call),
            _ => None,
        }
    }

    pub fn info<'o>(&self, outcome: &'o Outcome, kernel: u32) -> Option<(&'o KernelInfo, &'o Place)> {
        outcome.table.kernel(self.kernels.get(&kernel)?.entry)
    }

    pub fn columns(&self, outcome: &Outcome, trace: &Trace, place: usize) -> Option<u64> {
        match trace.events.get(place)? {
            Event::Launch(launch) => {
                if let Some(Event::Blas(call)) = self.inside.get(&place).and_then(|call| trace.events.get(*call)) {
                    return u64::try_from(call.n).ok();
                }
                let facts = self.facts.get(&launch.head.kernel)?;
                let layout = self.info(outcome, launch.head.kernel).map_or(&[][..], |(info, _)| &info.args);
                columns(facts, layout, trace.args(launch))
            }
            Event::Blas(call) => u64::try_from(call.n).ok(),
            _ => None,
        }
    }

    /// Whether a column count counts for the width of an evaluation: attention's batched products do not.
    pub fn is_weight_product(&self, trace: &Trace, place: usize) -> bool {
        match trace.events.get(place) {
            Some(Event::Launch(launch)) => {
                self.facts.get(&launch.head.kernel).is_some_and(|facts| facts.path().is_some())
            }
            Some(Event::Blas(call)) => matches!(call.call, calls::GEMM_EX | calls::SGEMM | calls::HGEMM),
            _ => false,
        }
    }
}
