//! The interpreter: runs functions with real values, up to the hand-off that settles the question.
//!
//! Unknown values stay unknown: a decision on one is a fork. A construct that is not understood ends the run and
//! reports its position. Nothing is guessed.

mod arith;
mod bounds;
mod builtin;
mod call;
mod call_builtin;
mod configuration;
mod container;
mod convert;
pub mod dialect;
mod environment;
mod exec;
mod expr;
mod external_bytes;
mod footprint;
mod handoff;
mod init;
mod input_window;
mod invoke;
mod joined;
mod layout;
mod linear_pieces;
mod machine;
mod method;
mod overload;
mod records;
mod rows;
mod static_type;
mod statics;
mod symbolic_int;
mod taint;
mod text;
mod types;
mod value;

pub use builtin::Builtin;
pub use configuration::{Extent, ExtentPart, NotKnown, Setting, Settings};
pub use environment::NOT_SET;
pub use machine::Machine;
pub use records::{Arrival, AskedCondition, Decision, Handoff, Platform, Property, Run, Stop, Window};
pub use value::{Agg, CURVED, FnValue, Instance, MemoryPlace, Shape, Ty, Value};
