//! The instruction census of a file: every code object, every function, every word.
//!
//! The observer `isa` records it; the verbs `isa` and `diff` print it.

mod conclusions;
mod count_object;
mod group;
mod kernel_diff;
mod kernel_names;
mod mix;
mod observer;
mod question;
mod record;

pub use crate::census::conclusions::completeness;
pub use crate::census::count_object::{Census, FunctionCensus, KernelFacts, ObjectCensus, Select, Unread};
pub use crate::census::group::{By, Group, Groups, Key, WordPlace};
pub use crate::census::kernel_diff::{KernelDiff, KernelDifference, Pair, Several, Side, kernel_diff, pairs};
pub use crate::census::mix::{KernelMix, mixes};
pub use crate::census::observer::Isa;
pub use crate::census::question::Question;
pub use crate::census::record::{TOPIC, observations};
