//! Claim against observed: what a server says of itself (`server::claims`), beside what it was seen to launch.
//!
//! Each claim is held against the launches of the window: supported, contradicted, or not decidable, with the figures. A verdict that
//! rests on something *not* having been seen is never stronger than the observer's canary.

mod record;
mod shown;
mod verdict;

pub use crate::claims::record::sightings;
pub use crate::claims::shown::Shown;
pub use crate::claims::verdict::{Held, Reason, Verdict, Weakness, hold, pieces};
