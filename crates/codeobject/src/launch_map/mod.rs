//! The static launch map: host handles, registered kernel names, wrappers and bundles, read from the constructors of a
//! host library, even if it is stripped.
//!
//! A small machine executes the constructors. It has only registers, memory and the image. It makes no system calls,
//! loads no other library, and executes a bounded number of instructions. See [`launch_map`] for the details.

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
