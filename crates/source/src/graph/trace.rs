//! The launches of a recorded trace, and the comparison of a predicted graph with them.

use super::{GraphAnswer, Ran, RecordedLaunch, SeenRun};

/// A trace of `dryrun --trace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub name: String,
    pub evaluations: Vec<SeenEvaluation>,
    /// Whether the trace is complete, according to its end record. A trace without one may be truncated.
    pub whole: bool,
}

/// One evaluation of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenEvaluation {
    pub number: u64,
    pub columns: i64,
    pub launches: Vec<(At, RecordedLaunch)>,
}

/// The time and the device of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub process: u64,
    pub device: Option<u32>,
    pub time_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceError {
    NoEvaluation { trace: String, columns: i64 },
    TooMany { trace: String, count: usize },
}

say::worded! { TraceError {
    NoEvaluation { trace, columns } => "source-trace-no-evaluation",
    TooMany { trace, count } => "source-trace-too-many",
}}

impl At {
    fn within(self, ran: &Ran) -> bool {
        let there = ran.device().is_none_or(|device| self.device.is_none_or(|on| on == device));
        there && self.process == ran.process && (ran.from_ns..=ran.to_ns).contains(&self.time_ns)
    }
}

impl Trace {
    /// The recorded launches to compare an evaluation with. A written graph has no columns: it is compared with all
    /// launches, or with those made while a program computed it.
    fn runs(&self, columns: Option<i64>, ran: Option<&Ran>) -> Vec<SeenRun> {
        let run = |of: &[SeenEvaluation]| {
            let all = of.iter().flat_map(|seen| &seen.launches);
            let kept = all.filter(|(at, _)| ran.is_none_or(|ran| at.within(ran)));
            let evaluation = of.first().map_or(0, |seen| seen.number);
            SeenRun { evaluation, launches: kept.map(|(_, seen)| seen.clone()).collect(), whole: self.whole }
        };
        let Some(columns) = columns else { return vec![run(&self.evaluations)] };
        let alike = self.evaluations.iter().filter(|seen| seen.columns == columns);
        alike.map(|seen| run(std::slice::from_ref(seen))).collect()
    }
}

impl GraphAnswer {
    /// Compares every evaluation with the trace. `ran` has, for each graph of a file, when a program computed it.
    pub fn against(&mut self, trace: &Trace, ran: &[Option<Ran>]) -> Result<(), TraceError> {
        let mut left: usize = trace.evaluations.iter().map(|seen| seen.launches.len()).sum();
        for (index, evaluation) in self.evaluations.iter_mut().enumerate() {
            let seen = trace.runs(evaluation.columns, ran.get(index).and_then(Option::as_ref));
            if let (Some(columns), []) = (evaluation.columns, seen.as_slice()) {
                return Err(TraceError::NoEvaluation { trace: trace.name.clone(), columns });
            }
            let count: usize = seen.iter().map(|seen| seen.launches.len()).sum();
            if !evaluation.against(&seen) {
                return Err(TraceError::TooMany { trace: trace.name.clone(), count });
            }
            left = left.saturating_sub(count);
        }
        self.not_compared = Some(left as u64);
        Ok(())
    }
}
