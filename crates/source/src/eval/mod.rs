//! The interpreter: host code, run with real values, up to the launch that it makes.
//!
//! Whatever is not known is carried as unknown; a decision on it is a fork, and a construct that is not understood
//! ends the run with its place. Nothing is guessed.

mod arith;
mod builtin;
mod call;
mod container;
mod convert;
mod exec;
mod expr;
mod form;
mod init;
mod invoke;
mod launch;
mod layout;
mod machine;
mod method;
mod overload;
mod poison;
mod ready;
mod text;
mod types;
mod value;
mod window;

pub use machine::{Launch, Machine, Platform, Property, Run, Stop};
pub use value::{Agg, CURVED, FnValue, Place, Shape, Ty, Value};
pub use window::Window;
