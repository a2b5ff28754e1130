//! `runtime fetch`: a distribution's packages into the cache, without root and without touching the system.
//!
//! Two steps, so that the sizes can be said before anything big moves: [`plan`] reads the suite's signed index
//! through a private apt root and works out which packages are needed; [`Plan::carry_out`] downloads them with apt
//! (which checks signatures and hashes), streams each through the unpacker, and moves the finished tree into place.

pub mod apt;
pub mod control;
mod execute;
mod plan;
pub mod resolve;
pub mod sources;
pub mod suites;
pub mod targets;

pub use execute::{Plan, Progress};
pub(crate) use execute::{remove, sha256, skeleton};
pub use plan::{Planned, plan};

use std::path::PathBuf;

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub suite: String,
    /// Empty: the suite's own default.
    pub parts: Vec<String>,
    /// None: whatever the cached runtime has, all for a new one. An empty list: all.
    pub targets: Option<Vec<String>>,
    pub mirror: Option<String>,
    pub keyring: Option<PathBuf>,
}
