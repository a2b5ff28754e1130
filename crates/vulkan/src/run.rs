//! The records of one process, read as a whole.

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

/// The Vulkan activity of one process, in order.
#[derive(Debug, Default)]
pub struct Run {
    pub pid: u32,
    pub program: String,
    pub devices: Vec<Device>,
    pub pipelines: Vec<Pipeline>,
    /// Every dispatch, once per submission.
    pub dispatches: Vec<Dispatch>,
    /// Dispatches recorded into buffers. Comparing this with the submitted ones does not give the number that was never
    /// submitted, because a buffer may be submitted many times.
    pub recorded: u64,
    /// Dispatches in submissions that the driver refused.
    pub refused: u64,
    /// Records for which there was no space, unfinished records, and dispatches beyond the limit.
    pub lost: u64,
    /// The functions that the layer does not cover, by name.
    pub blind: Vec<String>,
}

/// The layer's number among the writers of traces.
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
