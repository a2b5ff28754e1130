//! Runs whole programs with known values: classes with bases and virtual methods, lambdas, containers, the heap.
//!
//! [`eval`](crate::eval) follows one decision over a range of inputs and keeps what is unknown apart. This module instead
//! follows a program from its start, in which nothing may be unknown: names are looked up while it runs, every variable
//! is a place of its own, and whatever is not understood ends the run with its position. Functions of the host
//! (files, memory, clocks) are provided by the caller.

mod call;
mod constants;
mod eval;
mod library;
mod machine;
mod read;
mod read_decl;
mod read_expr;
mod read_stmt;
mod tree;
mod types;
mod units;
mod value;

pub use library::formatted;
pub use machine::{Halt, Machine, Run};
pub use types::address;
pub use units::Units;
pub use value::{List, Map, Object, Place, Slot, Ty, Value, place};
