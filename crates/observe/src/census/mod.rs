//! The instruction census of a file: every code object in it, every function, every word.
//!
//! The observer `isa` records it; the verbs `isa` and `diff` print it.

mod group;
mod look;
mod observer;
mod question;
mod record;

pub use group::{By, Group, Groups, Key, Place};
pub use look::{Census, FunctionCensus, KernelFacts, ObjectCensus, Select, Unread};
pub use observer::Isa;
pub use question::{Answer, Question};
pub use record::{TOPIC, observations};
