//! Asks vLLM's own rules: which attention, MoE, linear and KV cache code vLLM chooses for a model on an AMD GPU.
//!
//! vLLM decides in Python, in functions that change with every release. So nothing is re-implemented here: the installed
//! or fetched vLLM builds the model itself, on torch's meta device (shapes without memory) and on a stand-in GPU, in the
//! sandbox of [`dryrun`]. The programs in `python/` follow its selecting functions. It needs no weights, no network and
//! no GPU. Where a rule asks something that only a real package or GPU can answer, the answer is "not known".
#![forbid(unsafe_code)]

mod answer;
mod ask;
mod compare;
mod error;
pub mod fetch;
mod python;
mod question;
pub mod tables;

pub use crate::answer::{
    Asked, At, Cache, CaseAnswer, Choice, Failure, Gemm, Layer, Line, ModelFacts, Outcome, Rejected, Rules,
};
pub use crate::ask::ask;
pub use crate::compare::{Changed, RulesDiff, changed, compare, flips};
pub use crate::error::VllmError;
pub use crate::python::Python;
pub use crate::question::{Case, Engine, Model, Question};
