//! The records of one process as they arrive: created objects, and recorded, submitted and completed dispatches.
//!
//! The layer's records come through [`Stream::feed`]; an observer of the calls themselves reports each through its own
//! function.

use crate::fields::Fields;
use crate::pipeline::{Device, Made, Module, Pipeline};
use crate::record::{how, kind};
use crate::replay::{Clock, Dispatch, Replay};
use crate::run::Run;
use std::collections::HashMap;
use std::sync::Arc;

/// VK_OBJECT_TYPE_PIPELINE
const PIPELINE: u32 = 19;
/// The maximum number of pipelines and modules kept, so that a program that keeps creating them cannot exhaust memory.
const MOST: usize = 1 << 17;

#[derive(Debug, Default)]
pub struct Stream {
    run: Run,
    replay: Replay,
    modules: HashMap<u64, Arc<Module>>,
    /// The index of a pipeline's handle among the run's pipelines.
    places: HashMap<u64, usize>,
}

impl Stream {
    pub fn new(pid: u32) -> Stream {
        Stream { run: Run { pid, ..Run::default() }, ..Stream::default() }
    }

    /// The state so far: devices, pipelines, the program. [`Stream::take`] returns its dispatches.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Processes one record. Returns whether everything that was submitted has now completed: the program waited for
    /// its results.
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
            // A pipeline beyond the limit may reuse the handle of another one.
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
                let word = body.u32();
                let (way, timed) = (word & ((1 << how::TIMED) - 1), word >> how::TIMED);
                replay.dispatch(buffer, groups, way == how::INDIRECT, timed);
            }
            kind::EXECUTE | kind::SUBMIT => {
                let (time_ns, queue, fence) = (body.u64(), body.u64(), body.u64());
                let (result, count) = (body.u32(), body.u32());
                let buffers: Vec<u64> = (0..count.min(1 << 16)).map(|_| body.u64()).collect();
                match record {
                    kind::EXECUTE => replay.execute(queue, &buffers),
                    _ => replay.submit(time_ns, queue, fence, result == 0, &buffers),
                }
            }
            kind::TIMES => {
                let (buffer, period, bits) = (body.u64(), f32::from_bits(body.u32()), body.u32());
                let (first, count) = (body.u32(), body.u32());
                let told = body.bytes(count.saturating_mul(16));
                let pair = |pair: &[u8]| {
                    let mut pair = Fields::new(pair);
                    (pair.u64(), pair.u64())
                };
                let ticks: Vec<(u64, u64)> = told.chunks_exact(16).map(pair).collect();
                replay.times(buffer, Clock { period, bits }, first, &ticks);
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

    /// The words of a shader module.
    pub fn module(&mut self, handle: u64, words: &[u8]) {
        if self.modules.len() < MOST {
            self.modules.insert(handle, Arc::new(Module::of(words, words.len() as u64)));
        }
    }

    /// A module is destroyed, or belonged to one pipeline only.
    pub fn unmodule(&mut self, handle: u64) {
        self.modules.remove(&handle);
    }

    /// The creation of a pipeline was observed.
    pub fn made(&mut self, handle: u64, made: Made) {
        if self.run.pipelines.len() >= MOST {
            self.places.remove(&handle);
            return;
        }
        let module = self.modules.get(&made.module).cloned();
        self.places.insert(handle, self.run.pipelines.len());
        self.run.pipelines.push(Pipeline { module, ..Pipeline::of(handle, made) });
    }

    /// A handle refers to another pipeline from now on.
    pub fn unmade(&mut self, handle: u64) {
        self.places.remove(&handle);
    }

    /// A pipeline that was created before the observation. Returns whether it is new.
    pub fn met(&mut self, handle: u64) -> bool {
        if self.places.contains_key(&handle) || self.run.pipelines.len() >= MOST {
            return false;
        }
        self.places.insert(handle, self.run.pipelines.len());
        self.run.pipelines.push(Pipeline::unseen(handle));
        true
    }

    /// Sets the program's name for a pipeline.
    pub fn named(&mut self, handle: u64, name: String) {
        if let Some(pipeline) = self.places.get(&handle).and_then(|place| self.run.pipelines.get_mut(*place)) {
            pipeline.name = Some(name);
        }
    }

    pub fn begin(&mut self, buffer: u64) {
        self.replay.begin(buffer);
    }

    pub fn reset(&mut self, buffer: u64) {
        self.replay.reset(buffer);
    }

    pub fn bind(&mut self, buffer: u64, pipeline: u64) {
        self.replay.bind(buffer, self.places.get(&pipeline).copied());
    }

    pub fn push(&mut self, buffer: u64, offset: u32, bytes: &[u8]) {
        self.replay.push(buffer, offset, bytes);
    }

    /// The bindings and push constants of a buffer become unknown.
    pub fn unknown(&mut self, buffer: u64) {
        self.replay.unknown(buffer);
    }

    pub fn dispatch(&mut self, buffer: u64, groups: [u32; 3], indirect: bool) {
        self.replay.dispatch(buffer, groups, indirect, 0);
    }

    pub fn execute(&mut self, primary: u64, secondaries: &[u64]) {
        self.replay.execute(primary, secondaries);
    }

    pub fn submit(&mut self, queue: u64, fence: u64, accepted: bool, buffers: &[u64]) {
        self.replay.submit(0, queue, fence, accepted, buffers);
    }

    /// `what`: one of [`crate::record::done`]. Returns whether everything that was submitted has now completed.
    /// `alone`: there is only one device.
    pub fn done(&mut self, what: u32, handle: u64, alone: bool) -> bool {
        self.replay.done(what, handle, alone)
    }

    /// Called after lost calls: the content of command buffers is unknown until they begin again. Returns the number of
    /// affected dispatches.
    pub fn tear(&mut self) -> u64 {
        self.replay.tear()
    }

    /// Submissions of command buffers whose beginning was not observed: they may contain more than is counted.
    pub fn unbegun(&self) -> u64 {
        self.replay.unbegun
    }

    /// The number of observed submissions.
    pub fn submissions(&self) -> u64 {
        self.replay.submissions
    }

    /// Dispatches in command buffers whose submission was not observed, if there is evidence that one happened: no
    /// submission was observed at all, or a fence signalled that no observed submission had.
    pub fn unsubmitted(&self) -> u64 {
        self.replay.unsubmitted()
    }

    /// Submitted dispatches that were not taken yet, in order: the completed ones, or `all`.
    pub fn take(&mut self, all: bool) -> Vec<Dispatch> {
        self.replay.take(all)
    }

    /// Dispatches that have not completed yet.
    pub fn waiting(&self) -> usize {
        self.replay.dispatches.len()
    }

    /// Dispatches beyond the limit.
    pub fn dropped(&self) -> u64 {
        self.replay.dropped
    }

    /// Dispatches in submissions that the driver refused.
    pub fn refused(&self) -> u64 {
        self.replay.refused
    }

    /// The complete run, with the dispatches that were not taken.
    pub fn finish(self) -> Run {
        let Replay { dispatches, recorded, refused, dropped, .. } = self.replay;
        Run { dispatches, recorded, refused, lost: self.run.lost + dropped, ..self.run }
    }
}
