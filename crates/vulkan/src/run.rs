//! One process's records, read as a whole.

use crate::fields::Fields;
use crate::pipeline::{Device, Module, Pipeline};
use crate::record::{how, kind};
use crate::replay::{Dispatch, Replay};
use launch::frames::{FrameError, Frames};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("this trace was not written by the Vulkan layer")]
    OtherWriter,
}

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
const WRITER: u32 = 3;
/// VK_OBJECT_TYPE_PIPELINE
const PIPELINE: u32 = 19;

impl Run {
    pub fn read(bytes: &[u8]) -> Result<Run, RunError> {
        let frames = Frames::of(bytes)?;
        if frames.writer != WRITER {
            return Err(RunError::OtherWriter);
        }
        let mut run = Run { pid: frames.pid, lost: frames.lost, ..Run::default() };
        let mut replay = Replay::default();
        let mut modules: HashMap<u64, Arc<Module>> = HashMap::new();
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut frames = frames;
        for (record, body) in &mut frames {
            let body = &mut Fields::new(body);
            match record {
                kind::DEVICE => run.devices.push(Device::read(body)),
                kind::MODULE => {
                    let (handle, module) = Module::read(body);
                    modules.insert(handle, Arc::new(module));
                }
                kind::PIPELINE => {
                    let (handle, module, mut pipeline) = Pipeline::read(body);
                    pipeline.module = modules.get(&module).cloned();
                    places.insert(handle, run.pipelines.len());
                    run.pipelines.push(pipeline);
                }
                kind::NAME | kind::STATISTIC | kind::ASSEMBLY => {
                    let (handle, object, len) = (body.u64(), body.u32(), body.u32());
                    let Some(pipeline) = places.get(&handle).and_then(|place| run.pipelines.get_mut(*place)) else {
                        continue;
                    };
                    match record {
                        kind::NAME if object == PIPELINE => pipeline.name = Some(body.text(len)),
                        kind::STATISTIC => {
                            let value = body.u64();
                            pipeline.statistics.insert(body.text(len.saturating_sub(8)), value);
                        }
                        kind::ASSEMBLY => pipeline.assembly.push_str(&body.text(len)),
                        _ => {}
                    }
                }
                kind::BEGIN => replay.begin(body.u64()),
                kind::RESET => replay.reset(body.u64()),
                kind::BIND => {
                    let (buffer, pipeline) = (body.u64(), body.u64());
                    replay.bind(buffer, places.get(&pipeline).copied());
                }
                kind::PUSH => {
                    let (buffer, offset, len) = (body.u64(), body.u32(), body.u32());
                    replay.push(buffer, offset, body.bytes(len));
                }
                kind::LABEL => {
                    let (buffer, _, len) = (body.u64(), body.u32(), body.u32());
                    replay.label(buffer, body.text(len));
                }
                kind::LABEL_END => replay.label_end(body.u64()),
                kind::DISPATCH => {
                    let (buffer, groups) = (body.u64(), [body.u32(), body.u32(), body.u32()]);
                    replay.dispatch(buffer, groups, body.u32() == how::INDIRECT);
                }
                kind::EXECUTE | kind::SUBMIT => {
                    let (_time, queue, fence) = (body.u64(), body.u64(), body.u64());
                    let (result, count) = (body.u32(), body.u32());
                    let buffers: Vec<u64> = (0..count.min(1 << 16)).map(|_| body.u64()).collect();
                    match record {
                        kind::EXECUTE => replay.execute(queue, &buffers),
                        _ => replay.submit(queue, fence, result == 0, &buffers),
                    }
                }
                kind::DONE => {
                    let (_time, handle, what) = (body.u64(), body.u64(), body.u32());
                    replay.done(what, handle, run.devices.len() == 1);
                }
                launch::record::kind::PROCESS => {
                    let (len, _) = (body.u32(), body.u32());
                    run.program = body.text(len);
                }
                launch::record::kind::UNSUPPORTED => {
                    let (len, _) = (body.u32(), body.u32());
                    run.blind.push(body.text(len));
                }
                _ => {}
            }
        }
        run.lost += frames.torn + replay.dropped;
        (run.dispatches, run.recorded, run.refused) = (replay.dispatches, replay.recorded, replay.refused);
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
