//! The interpreter: functions, run with real values, up to the hand-off that settles the question.
//!
//! Whatever is not known is carried as unknown; a decision on it is a fork, and a construct that is not understood
//! ends the run with its place. Nothing is guessed.

mod arith;
mod arrivals;
mod bounds;
mod builtin;
mod call;
mod container;
mod convert;
mod environment;
mod exec;
mod expr;
mod footprint;
mod handoff;
mod init;
mod input_window;
mod invoke;
mod layout;
mod machine;
mod method;
mod overload;
mod rows;
mod static_type;
mod statics;
mod symbolic_int;
mod taint;
mod text;
mod types;
mod value;

pub use arrivals::Arrival;
pub use builtin::Builtin;
pub use environment::NOT_SET;
pub use handoff::{Decision, Handoff};
pub use input_window::Window;
pub use machine::{Machine, Platform, Property, Run, Step, Stop};
pub(crate) use overload::same_type;
pub use value::{Agg, CURVED, FnValue, Instance, Place, Shape, Ty, Value};
