//! The rules that a source tree declares, evaluated: preprocessor, parser, interpreter, call chains.
//!
//! Nothing from the tree is ever executed. What is not understood is undetermined, with its place.
#![forbid(unsafe_code)]

mod build_script;
mod bypass;
pub mod chain;
mod cmake;
mod cpp;
pub mod device;
mod dispatcher;
mod eval;
mod op;
pub mod parting;
mod path;
pub mod preset;
mod program;
pub mod ranges;
pub mod rocblas;
mod rules;
mod session;
mod survey;
pub mod table;
mod tile;
pub mod tree;
mod unknown;

pub use bypass::Bypass;
pub use device::{DEFAULT as DEFAULT_GPUS, Device, DeviceError, Vendor};
pub use op::{Op, Shape};
pub use path::{Choice, Path};
pub use preset::Preset;
pub use rules::{Answer, Defines, Launched, Outcome, Reason, Rules, RulesError};
pub use survey::{ALL_TYPES, Backend, DEFAULT_COLUMNS, DEFAULT_TYPES, Overrides, Question, Row, Survey};
pub use tree::{Skipped, Tree, TreeError};
