//! Runs an investigation: runs every observer, and grades every claim by the observations.
//!
//! This crate has the registry of observers. It does not examine the machine itself, and it prints nothing.
#![forbid(unsafe_code)]

mod abilities;
mod advice;
mod answers;
mod feasible;
mod fetchable;
mod graded;
mod init;
mod live_path;
mod local_paths;
mod paths;
mod registry;
mod run_observers;
mod unchanged;

pub use abilities::abilities;
pub use advice::{Advice, FETCH, Need, Places};
pub use answers::{Checked, ClaimReading, Expect, Investigated, NextStep, QuestionAnswer, Readings, Reported, Summary};
pub use feasible::Feasibility;
pub use fetchable::{FetchStep, What};
pub use graded::{Counts, Graded, Next};
pub use init::Machine;
pub use live_path::{Here, LivePath, live_path};
pub use paths::PathRow;
pub use registry::registry;
pub use run_observers::{Looked, RunError, run_observers};
pub use unchanged::{Ran, Unchanged};
