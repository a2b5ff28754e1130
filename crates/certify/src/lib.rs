//! The certificate: the same program unobserved, observed, unobserved again, and what differed.
//!
//! An observer that changes what it observes has observed something else. A point counts only where the two unobserved
//! runs agree with each other: what varies by itself shows nothing about the observer. Speed is told, with its spread, and
//! never decides. A server is started for each run, asked the same few questions, and stopped again.
#![forbid(unsafe_code)]

mod certificate;
mod compare;
mod ending;
mod libraries;
mod point;
mod process_tree;
mod program_output;
mod questions;
mod run;
mod sightings;

pub use crate::certificate::{Certificate, Certified, Outcome, PointCompared, difference};
pub use crate::compare::{Counted, Mix, Trial, compare};
pub use crate::ending::{Ending, Exit, Stopped};
pub use crate::libraries::Libraries;
pub use crate::point::{Cell, Compared, Point, Verdict};
pub use crate::program_output::Said;
pub use crate::questions::{Answers, Server};
pub use crate::run::{Observed, Observer, Runner, once};
pub use crate::sightings::{Certifier, sighting};

use std::collections::BTreeMap;

/// One run, as far as it can be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Exit code or signal; of a server, whether it answered.
    pub ending: Ending,
    /// For a program that generates, its tokens: standard output, or what a server answered.
    pub out: String,
    pub err: String,
    /// Libraries that the program had mapped.
    pub libraries: Libraries,
    /// Launches by kernel, if counted.
    pub mix: Option<BTreeMap<String, u64>>,
    /// Tokens per second that a server told, one for each question; else what the program printed counts.
    pub speeds: Vec<f64>,
    /// The whole run; of a server, the time that it took to answer.
    pub seconds: f64,
    /// Processor time of the program and its children, where it ran to its end: other programs on the machine do not count.
    pub processor: Option<f64>,
    /// Launches in that time, if counted.
    pub launches: u64,
}
