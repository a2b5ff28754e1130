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
mod nodes;
pub mod request;
mod sightings;
mod source;
mod tally;
mod traced;

pub use device::{Device, Devices, Maker, is_stand_in};
pub use fallback::{Fallback, Heard, Sign, Why};
pub use flow::Flow;
pub use graphs::{Graphs, Part};
pub use kind::{Call, Kind, KindId, Name};
pub use sightings::{Account, Scene, Word};
pub use source::{Ended, Source, State, WatchError, signal_name};
pub use tally::{Row, Tally};
pub use traced::add_trace;

pub use crate::dryrun::Phase;
