//! `runtime fetch`: installs a distribution's packages into the cache, without root and without touching the system.
//!
//! There are two steps, so that sizes can be shown before anything large is downloaded. [`plan`] reads the suite's
//! signed index through a private apt root and determines the packages. [`Plan::carry_out`] downloads them with apt
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

/// The user's request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub suite: String,
    /// The parts; empty means the suite's default.
    pub parts: Vec<String>,
    /// None: the targets of the cached runtime, or all for a new one. An empty list: all.
    pub targets: Option<Vec<String>>,
    pub mirror: Option<String>,
    pub keyring: Option<PathBuf>,
}
