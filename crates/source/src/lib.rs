//! The rules that a source tree declares, evaluated: preprocessor, parser, interpreter, call chains.
//!
//! Nothing from the tree is ever executed. What is not understood is undetermined, with its place.
#![forbid(unsafe_code)]

pub mod chain;
mod cmake;
mod cpp;
pub mod device;
mod eval;
pub mod op;
mod path;
pub mod preset;
mod program;
pub mod rocblas;
mod rules;
pub mod tree;

pub use device::{DEFAULT as DEFAULT_GPUS, Device, DeviceError, Vendor};
pub use path::{Choice, Path};
pub use preset::Preset;
pub use rules::{Answer, Defines, Outcome, Reason, Rules, RulesError};
pub use tree::{Tree, TreeError};
