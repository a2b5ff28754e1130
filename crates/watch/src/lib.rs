//! The common input of all launch observers and the conclusions from it: one tally for uprobe, preload, logs and
//! imports.
//!
//! The caller polls a [`Source`], which passes launches to the [`Tally`] through one [`Flow`] per process. The flow
//! expands graph replays and splits the sequence into evaluations. All output and all records come from the tally, so
//! the observers differ only in how they see launches.
#![forbid(unsafe_code)]

mod answers;
pub mod claims;
mod device;
mod device_time;
mod dispatches;
mod fallback;
mod from_trace;
mod gap;
mod graph_tree;
mod graphs;
mod growing_trace;
pub mod imports;
mod launch_counts;
mod launch_key;
mod launch_stream;
pub mod layer;
pub mod logs;
mod nodes;
mod observed_launch;
mod observer_kind;
mod observers;
pub mod preload;
mod record;
mod sightings;
mod source;

pub use crate::answers::{ClaimHeld, DeviceSeen, EndedHow, FallbackSeen, LaunchRow, PerToken, Watched, Whose};
pub use crate::device::{Device, Devices, Maker, compute_device, is_stand_in};
pub use crate::dispatches::{Dispatches, Each};
pub use crate::fallback::{Fallback, Heard, Sign, Why};
pub use crate::from_trace::add_trace;
pub use crate::gap::{Around, Gap, Late, Open, Unprobed, Unseen};
pub use crate::graphs::{Graphs, Part};
pub use crate::launch_counts::{Row, Tally};
pub use crate::launch_key::{Call, Kind, KindId, Name, Pipeline};
pub use crate::launch_stream::Flow;
pub use crate::observer_kind::{ObserverKind, launches_in_view};
pub use crate::observers::{LaunchObserver, ServerClaims};
pub use crate::record::{RecordError, read_record};
pub use crate::sightings::{LaunchSite, ObserverReport, RecordContext, SecondAccount, Word};
pub(crate) use crate::source::of_processes;
pub use crate::source::{Ended, NothingInView, Source, State, WatchError, signal_name};

pub use crate::device_time::Took;
pub use crate::observed_launch::{Fate, ObservedLaunch};
pub use launch::Phase;
