//! An investigation run: every observer there is, what they saw, and every claim graded from it.
//!
//! It owns the registry. Nothing here looks at a machine itself, and nothing is printed.
#![forbid(unsafe_code)]

mod abilities;
mod graded;
mod registry;
mod run_observers;

pub use abilities::abilities;
pub use graded::{Counts, Graded, Next};
pub use registry::registry;
pub use run_observers::{Looked, RunError, run_observers};
