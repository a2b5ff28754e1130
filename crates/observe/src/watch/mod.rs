//! What every observer of launches feeds, and what is said of it: one tally for uprobe, preload, logs and imports.
//!
//! A [`Source`] is polled and hands launches to the [`Tally`] through one [`Flow`] per process, which multiplies graph
//! replays out and cuts the sequence into evaluations. What is printed and recorded comes from the tally alone, so that
//! the observers differ only in how they see.

mod device;
mod fallback;
mod flow;
mod graphs;
pub mod interrupt;
mod kind;
pub mod request;
mod sightings;
mod source;
mod tally;
mod traced;

pub use device::{device_of, has_device, runtime_kind};
pub use fallback::{Fallback, Heard, Sign, Why};
pub use flow::Flow;
pub use graphs::{Graphs, Part};
pub use kind::{Call, Kind, KindId, Name};
pub use sightings::{Account, Scene};
pub use source::{Ended, Source, State, WatchError};
pub use tally::{Row, Tally};
pub use traced::add_trace;

pub use crate::dryrun::Phase;
