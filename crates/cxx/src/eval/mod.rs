//! The interpreter: runs functions with real values, up to the hand-off that answers the question.
//!
//! Unknown values stay unknown: a decision on an unknown value is a fork. If a construct is not understood, the run
//! ends and reports its position. Values are never guessed.
//!
//! Terms: a *hand-off* is a call that passes a function to run elsewhere. The *input* of a run is one integer, also
//! called the *count*. A *window* is a range of counts for which one run gives the answer. The caller can limit its
//! question to some *wanted* counts.

mod arith;
mod bounds;
mod builtin;
mod call;
mod call_builtin;
mod char_array;
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
mod owned;
mod places;
mod records;
mod rows;
mod settings;
mod static_type;
mod statics;
mod symbolic_int;
mod taint;
mod text;
mod types;
mod value;

pub use builtin::Builtin;
pub use environment::NOT_SET;
pub use machine::{Machine, Moment};
pub use records::{
    Arrival, AskedCondition, Decision, Handoff, Platform, Property, Run, Stop, UnknownCondition, Window,
};
pub use settings::{CallValue, Extent, ExtentPart, NotKnown, Setting, Settings};
pub use value::{Agg, CURVED, FnValue, Instance, MemoryPlace, Shape, Ty, Value};
