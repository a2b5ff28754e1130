//! The agent of a machine: counts the launches of every process with little overhead, and serves them as metrics.
//!
//! `uprobe` sees the launches, `watch` gives them a meaning; this crate decides how much is looked at ([`Sampler`]),
//! adds it up under a bounded number of labels ([`Metrics`]), and passes it on as OpenMetrics and OTLP. It never enters
//! a process, and keeps no kernel names.
#![forbid(unsafe_code)]

mod claims;
mod endpoint;
mod files;
mod identity;
mod metrics;
mod openmetrics;
mod otlp;
mod protobuf;
mod run;
mod sampler;
mod session;

pub use crate::files::Printed;
pub use crate::identity::{Identity, Origin};
pub use crate::metrics::{Kind, METRICS, Metric, Metrics};
pub use crate::otlp::{Receiver, encode};
pub use crate::run::{AgentError, News, Settings, run};
pub use crate::sampler::{Sampler, Turn};
