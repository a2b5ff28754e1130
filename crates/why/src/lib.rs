//! Why is my model slow? Upper bounds from stated inputs, a closed list of causes, and the verdict.
//!
//! The verdict is a pure function of [`Facts`]: no I/O, no clock. A bound whose inputs are unknown is omitted. A cause
//! is a claim; `evidence` computes its rung and grade from the observations. Every cause is reported as found, fine,
//! not checked or not applicable. [`gather`] reads facts from a machine (or from a tree of files that represents one)
//! and from the server's own statements.
#![forbid(unsafe_code)]

pub mod bound;
pub mod cause;
pub mod checks;
pub mod dry_run;
pub mod facts;
pub mod fix_run;
pub mod fixes;
pub mod gather;
pub mod model;
pub mod speed;
mod sure;
pub mod verdict;

pub use cause::{Cause, Change, Cost, Fix, Id, Phase, Seen};
pub use dry_run::DryRun;
pub use facts::{Card, Facts, Known, Rules, Server, State};
pub use fix_run::FixRun;
pub use model::Model;
pub use speed::{ANSWER, Now, PROMPT, RUNS, Speed};
pub use sure::Sure;
pub use verdict::{Answer, Asked, Says};
