//! A program's Vulkan calls as recorded by the layer: pipelines, dispatches, submissions, and observed completions.
//!
//! A dispatch that is recorded into a command buffer has not run. It counts each time its buffer is submitted. It is
//! complete when a later fence was seen signalled, or its queue or device idle. Bytes in, values out; no I/O.
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
