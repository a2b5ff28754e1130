//! Programs with known launches, run under an observer, and the verdict on the counts. It does not depend on this
//! workspace: the command's own tests include this folder too, and use the observers through the command, like a user.
#![allow(dead_code, unused_imports, reason = "the tests use a part of it")]

mod count;
mod judge;
mod kinds;
mod observed;
mod yard;

pub use count::Count;
pub use judge::{Verdict, judge};
pub use kinds::{KINDS, Kind};
pub const LINKED: kinds::Build = kinds::Build::LinkedHip;
pub use observed::{Observer, plain, wait, watched};
pub use yard::Yard;
