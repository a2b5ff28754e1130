//! A program's Vulkan calls as the layer recorded them: pipelines, dispatches, submissions, and what was seen to end.
//!
//! A dispatch that is recorded into a command buffer has not run. It counts when its buffer is submitted, as often as it is, and
//! is complete when a fence behind it was seen signalled (or its queue or device idle). Bytes in, values out; no I/O.
#![forbid(unsafe_code)]

mod fields;
mod kernel;
mod pipeline;
pub mod record;
mod replay;
mod run;
mod stream;

pub use kernel::{Kernel, Multiplies};
pub use pipeline::{Device, Made, Pipeline};
pub use replay::{Dispatch, Ending, Took};
pub use run::{Run, RunError, WRITER};
pub use stream::Stream;
