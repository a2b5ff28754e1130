//! Programs whose launches are known, under an observer, and the verdict by count. It needs nothing of this workspace: the command's
//! own tests include this folder too, and meet the observers as a user does, through the command.
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
