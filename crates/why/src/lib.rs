//! Why is my model slow? Upper bounds from stated inputs, a closed list of causes, and the verdict.
//!
//! The judgement is a pure function of [`Facts`]: no I/O, no clock. A bound without its inputs is left out; a cause is a claim with the rung and
//! grade that `evidence` computes from what was seen; every cause of the list is found, fine, not checked, or has no meaning here. Facts are read by
//! [`gather`] from a machine, or from a tree of files that stands for one, and from what a server says of itself.
#![forbid(unsafe_code)]

pub mod bound;
pub mod cause;
pub mod checks;
pub mod facts;
pub mod fix_run;
pub mod fixes;
pub mod gather;
pub mod model;
pub mod speed;
mod sure;
pub mod verdict;

pub use cause::{Cause, Change, Cost, Fix, Id, Phase, Seen};
pub use facts::{Card, Facts, Known, Rules, Server, State};
pub use fix_run::FixRun;
pub use model::Model;
pub use speed::{ANSWER, Now, PROMPT, Speed};
pub use sure::Sure;
pub use verdict::{Answer, Asked, Says};
