//! The certificate: the same program unobserved, observed, unobserved again, and what differed.
//!
//! An observer that changes what it observes has observed something else. A point counts only where the two unobserved
//! runs agree with each other: what varies by itself shows nothing about the observer. Speed is told, with its spread, and
//! never decides.

mod compare;
mod run;
mod said;

pub use compare::{Certificate, Point, Verdict, compare};
pub use run::{Observed, Runner, once};
pub use said::Said;

use std::collections::{BTreeMap, BTreeSet};

/// One run, as far as it can be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Exit code or signal, in words.
    pub ending: String,
    /// Standard output: for a program that generates, its tokens.
    pub out: String,
    pub err: String,
    /// Libraries that the program had mapped, by file name.
    pub libraries: BTreeSet<String>,
    /// Launches by kernel, where somebody counted.
    pub mix: Option<BTreeMap<String, u64>>,
    pub seconds: f64,
}
