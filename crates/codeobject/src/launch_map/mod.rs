//! The static launch map: host handle, registered kernel name, wrapper and bundle, read from the constructors of a host
//! library, which may be stripped.
//!
//! A small machine executes the constructors. It has only registers, memory and the image: no system calls, no other
//! library, a bounded number of instructions. See [`launch_map`] for what is read.

mod flags;
mod image;
mod leaves;
mod machine;
mod memory;
mod operands;
mod reader;
mod registration;
mod sites;
mod slots;
mod sparse;
mod vector;

pub use image::{Image, ImageError, Segment};
pub use leaves::leaves;
pub use reader::{Completeness, LaunchMap, Unresolved, launch_map};
pub use registration::{Kind, Registration, Vendor, Wrapper};
pub use slots::slots;
