//! The certificate: runs the same program unobserved, observed and unobserved again, and compares the runs.
//!
//! An observer must not change the program that it observes. A point counts only if the two unobserved runs agree,
//! because a value that varies between unobserved runs shows nothing about the observer. Speed is shown with its spread
//! but does not affect the result. A server is started for each run, sent the same few requests, and stopped.
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

/// The comparable results of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Exit code or signal; for a server, whether it answered.
    pub ending: Ending,
    /// Standard output, or a server's answers. If the program generates text, this contains its tokens.
    pub out: String,
    pub err: String,
    /// Libraries that the program had mapped.
    pub libraries: Libraries,
    /// Launches by kernel, if counted.
    pub mix: Option<BTreeMap<String, u64>>,
    /// Tokens per second reported by a server, one for each request. For other programs, speeds are read from the
    /// output.
    pub speeds: Vec<f64>,
    /// Duration of the run; for a server, the time it took to answer.
    pub seconds: f64,
    /// CPU time of the program and its children, if it ran to its end. Other programs on the machine do not affect it.
    pub processor: Option<f64>,
    /// Launches in that time, if counted.
    pub launches: u64,
}
