//! One process's records, read as a whole.

use crate::pipeline::{Device, Pipeline};
use crate::replay::Dispatch;
use crate::stream::Stream;
use launch::frames::{Frame, Frames, TraceError};

#[derive(Debug)]
pub enum RunError {
    Frame(TraceError),
    OtherWriter,
}

say::worded! { RunError {
    Frame(error) => error,
    OtherWriter => "vulkan-other-writer",
}}

say::wraps! { RunError { Frame(TraceError) }}

/// What one process did through Vulkan, in order.
#[derive(Debug, Default)]
pub struct Run {
    pub pid: u32,
    pub program: String,
    pub devices: Vec<Device>,
    pub pipelines: Vec<Pipeline>,
    /// Every dispatch that was submitted, as often as it was.
    pub dispatches: Vec<Dispatch>,
    /// Dispatches that were recorded into buffers; how many of those were never submitted is not this number's difference: one
    /// buffer may be submitted many times.
    pub recorded: u64,
    /// Dispatches in submissions that the driver refused.
    pub refused: u64,
    /// Records that found no room, those that were begun and never finished, and dispatches that were too many to keep.
    pub lost: u64,
    /// What the layer did not look into, by name.
    pub blind: Vec<String>,
}

/// The layer's number among those that write traces.
pub const WRITER: u32 = 3;

impl Run {
    pub fn read(bytes: &[u8]) -> Result<Run, RunError> {
        let mut frames = Frames::of(bytes)?;
        if frames.writer != WRITER {
            return Err(RunError::OtherWriter);
        }
        let mut stream = Stream::new(frames.pid);
        for Frame { kind, body, .. } in &mut frames {
            stream.feed(kind, body);
        }
        let mut run = stream.finish();
        run.lost += frames.lost + frames.torn;
        Ok(run)
    }

    pub fn pipeline(&self, dispatch: &Dispatch) -> Option<&Pipeline> {
        self.pipelines.get(dispatch.pipeline?)
    }

    /// The device of a dispatch.
    pub fn device(&self, dispatch: &Dispatch) -> Option<&Device> {
        let handle = self.pipeline(dispatch)?.device;
        self.devices.iter().rev().find(|device| device.handle == handle)
    }
}
