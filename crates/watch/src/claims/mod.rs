//! Compares a server's claims about itself (`server::claims`) with its observed launches.
//!
//! Each claim is compared with the launches of the window: supported, contradicted, or not decidable, with the figures.
//! A verdict that depends on the absence of an event is never stronger than the observer's canary.

mod launch_facts;
mod record;
mod verdict;

pub use crate::claims::launch_facts::Shown;
pub use crate::claims::record::sightings;
pub use crate::claims::verdict::{Held, Reason, Verdict, Weakness, hold, pieces};
