//! One process's records, as they come: what was made, recorded, submitted, and what of it ended.

use crate::fields::Fields;
use crate::pipeline::{Device, Module, Pipeline};
use crate::record::{how, kind};
use crate::replay::{Dispatch, Replay};
use crate::run::Run;
use std::collections::HashMap;
use std::sync::Arc;

/// VK_OBJECT_TYPE_PIPELINE
const PIPELINE: u32 = 19;
/// Pipelines and modules that are kept: a program that makes new ones for ever costs names, not memory.
const MOST: usize = 1 << 17;

#[derive(Debug, Default)]
pub struct Stream {
    run: Run,
    replay: Replay,
    modules: HashMap<u64, Arc<Module>>,
    /// Where a pipeline's handle stands among the run's pipelines.
    places: HashMap<u64, usize>,
}

impl Stream {
    pub fn new(pid: u32) -> Stream {
        Stream { run: Run { pid, ..Run::default() }, ..Stream::default() }
    }

    /// What is known so far: devices, pipelines, the program. Its dispatches come out of [`Stream::take`].
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// One record. Says whether with it everything that was submitted has ended: the program waited for its results.
    pub fn feed(&mut self, record: u32, body: &[u8]) -> bool {
        let (run, replay) = (&mut self.run, &mut self.replay);
        let body = &mut Fields::new(body);
        match record {
            kind::DEVICE if run.devices.len() < 1024 => run.devices.push(Device::read(body)),
            kind::MODULE if self.modules.len() < MOST => {
                let (handle, module) = Module::read(body);
                self.modules.insert(handle, Arc::new(module));
            }
            kind::PIPELINE if run.pipelines.len() < MOST => {
                let (handle, module, mut pipeline) = Pipeline::read(body);
                pipeline.module = self.modules.get(&module).cloned();
                self.places.insert(handle, run.pipelines.len());
                run.pipelines.push(pipeline);
            }
            // One that is too many has the handle of another, perhaps.
            kind::PIPELINE => drop(self.places.remove(&body.u64())),
            kind::NAME | kind::STATISTIC | kind::ASSEMBLY => {
                let (handle, object, len) = (body.u64(), body.u32(), body.u32());
                let Some(pipeline) = self.places.get(&handle).and_then(|place| run.pipelines.get_mut(*place)) else {
                    return false;
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
                replay.bind(buffer, self.places.get(&pipeline).copied());
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
                return replay.done(what, handle, run.devices.len() == 1);
            }
            launch::record::kind::PROCESS => {
                let (len, _) = (body.u32(), body.u32());
                run.program = body.text(len);
            }
            launch::record::kind::UNSUPPORTED if run.blind.len() < 1024 => {
                let (len, _) = (body.u32(), body.u32());
                run.blind.push(body.text(len));
            }
            _ => {}
        }
        false
    }

    /// Dispatches that were submitted and not taken yet, in their order: those that ended, or `all`.
    pub fn take(&mut self, all: bool) -> Vec<Dispatch> {
        self.replay.take(all)
    }

    /// Dispatches that wait for their end.
    pub fn waiting(&self) -> usize {
        self.replay.dispatches.len()
    }

    /// Dispatches that were too many to keep.
    pub fn dropped(&self) -> u64 {
        self.replay.dropped
    }

    /// Dispatches in submissions that the driver refused.
    pub fn refused(&self) -> u64 {
        self.replay.refused
    }

    /// The whole, with the dispatches that were not taken.
    pub fn finish(self) -> Run {
        let Replay { dispatches, recorded, refused, dropped, .. } = self.replay;
        Run { dispatches, recorded, refused, lost: self.run.lost + dropped, ..self.run }
    }
}
