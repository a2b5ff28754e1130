//! The instruction census of a file: every code object, every function, every word.
//!
//! `findings` counts; the observer `isa` records it; the verbs `isa` and `diff` print it.

mod observer;
mod record;

pub use crate::census::observer::Isa;
pub use crate::census::record::{TOPIC, observations};
pub use findings::census::*;
