//! The instruction census of a file: every code object, every function, every word.

mod conclusions;
mod count_object;
mod group;
mod kernel_diff;
mod kernel_names;
mod mix;
mod question;

pub use conclusions::completeness;
pub use count_object::{Census, FunctionCensus, KernelFacts, ObjectCensus, Select, Unread};
pub use group::{By, Group, Groups, Key, WordPlace};
pub use kernel_diff::{KernelDiff, KernelDifference, Pair, Several, Side, kernel_diff, pairs};
pub use mix::{KernelMix, mixes};
pub use question::Question;
