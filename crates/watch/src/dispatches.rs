//! One process's Vulkan dispatches from any observer: named, counted on submission, and kept until their end is
//! observed.

use crate::{Fate, Flow, Kind, KindId, Name, ObservedLaunch, Pipeline, Tally};
use std::collections::{BTreeSet, HashMap};
use vulkan::{Dispatch, Ending, Kernel, Stream};

/// A callback for every single dispatch.
pub type Each<'e> = Option<&'e mut dyn FnMut(&ObservedLaunch<'_>)>;

/// Pipeline, groups and columns: dispatches of a process with equal values are counted together.
type Shape = (Option<usize>, [u32; 3], Option<u64>);

/// The maximum number of dispatches that wait for their end. Further ones are counted as submitted only.
const MOST_WAITING: usize = 1 << 18;
const MOST_KINDS: usize = 1 << 16;
const SUBMIT: &str = "vkQueueSubmit";

#[derive(Debug, Default)]
pub struct Dispatches {
    pub pid: u32,
    pub stream: Stream,
    /// Dispatches that were counted.
    pub dispatches: u64,
    pub completed: u64,
    pub lost_with_device: u64,
    /// Dispatches of pipelines that are known by their module only.
    pub by_module: u64,
    /// Dispatches of pipelines that were created before the observation began and whose name was found.
    pub by_name_alone: u64,
    pub indirect: u64,
    /// Dispatches with a known device time.
    pub timed: u64,
    /// Handles of the devices that received dispatches.
    pub used: BTreeSet<u64>,
    kinds: HashMap<Shape, KindId>,
    flow: Flow,
    refused: u64,
}

impl Dispatches {
    pub fn new(pid: u32) -> Dispatches {
        Dispatches { pid, stream: Stream::new(pid), ..Dispatches::default() }
    }

    /// Counts the dispatches that ended if `ended` is true, or all of them if too many are waiting.
    pub fn settle(&mut self, tally: &mut Tally, ended: bool, each: &mut Each<'_>) {
        if ended || self.stream.waiting() > MOST_WAITING {
            self.count(tally, !ended, each);
        }
        if ended {
            // A program may wait several times in one evaluation: the widths show the phase, but tokens cannot be
            // counted.
            self.flow.pause(tally);
        }
    }

    /// Ends the observation of this process and counts its remaining dispatches.
    pub fn finish(&mut self, tally: &mut Tally, each: &mut Each<'_>) {
        self.count(tally, true, each);
        self.flow.finish(tally);
    }

    /// Adds the submissions that the driver refused since the last call.
    pub fn refusals(&mut self, tally: &mut Tally) {
        let refused = self.stream.refused();
        if refused > self.refused {
            let kind = tally.kind(&Kind { process: self.pid, ..Kind::kernel(Name::Unnamed(0), SUBMIT) });
            tally.rejected(kind, refused - self.refused);
            self.refused = refused;
        }
    }

    /// Counts the dispatches that ended, or all of them.
    pub fn count(&mut self, tally: &mut Tally, all: bool, each: &mut Each<'_>) {
        for dispatch in self.stream.take(all) {
            self.dispatches += 1;
            self.completed += u64::from(dispatch.ending == Ending::Completed);
            self.lost_with_device += u64::from(dispatch.ending == Ending::Lost);
            self.indirect += u64::from(dispatch.indirect);
            let kind = self.kind(&dispatch, tally);
            // A dispatch whose device was lost, or whose end was not seen, has no time.
            let took_ns = dispatch.took.filter(|_| dispatch.ending == Ending::Completed).map(|took| took.ns);
            if let (Some(each), Some(known)) = (each.as_mut(), tally.get(kind)) {
                each(&ObservedLaunch {
                    time_ns: dispatch.submitted_ns,
                    pid: self.pid,
                    thread: 0,
                    kind: known,
                    id: kind,
                    // Refused submissions are not in this list.
                    fate: Fate::Returned(0),
                    stream: 0,
                    graph: 0,
                    exec: None,
                    args: dispatch.push.clone(),
                    took_ns,
                });
            }
            self.flow.launch(tally, kind, 0, 0);
            if let Some(ns) = took_ns {
                self.timed += 1;
                self.flow.took(kind, ns);
            }
        }
    }

    fn kind(&mut self, dispatch: &Dispatch, tally: &mut Tally) -> KindId {
        let run = self.stream.run();
        let pipeline = run.pipeline(dispatch);
        let kernel = pipeline.map(|pipeline| Kernel::of(pipeline, &dispatch.push));
        if let Some(device) = run.device(dispatch) {
            self.used.insert(device.handle);
        }
        let named = kernel.as_ref().is_some_and(|kernel| !kernel.name.is_empty());
        match pipeline {
            Some(of) if of.unseen => self.by_name_alone += u64::from(named),
            Some(_) => self.by_module += u64::from(!named),
            None => {}
        }
        let multiplies = kernel.as_ref().and_then(|kernel| kernel.multiplies.as_ref());
        let ne11 = multiplies.and_then(|of| of.columns).map(u64::from);
        let key = (dispatch.pipeline, dispatch.groups, ne11);
        if let Some(kind) = self.kinds.get(&key) {
            return *kind;
        }
        let name = match (pipeline, &kernel) {
            (Some(pipeline), _) if pipeline.unseen && !named => Name::Unnamed(pipeline.handle),
            (Some(pipeline), Some(kernel)) => Name::Pipeline(Pipeline {
                name: if named { kernel.name.clone() } else { module(pipeline) },
                weights: multiplies.and_then(|of| of.ggml_type.clone()),
                identity: pipeline.identity(),
            }),
            _ => Name::Unnamed(0),
        };
        let api = if dispatch.indirect { "vkCmdDispatchIndirect" } else { "vkCmdDispatch" };
        let kind = Kind { process: self.pid, grid: dispatch.groups, ne11, ..Kind::kernel(name, api) };
        let id = tally.kind(&kind);
        // The name may become known later, so unnamed kinds are not cached.
        if self.kinds.len() < MOST_KINDS && !matches!(kind.name, Name::Unnamed(_)) {
            self.kinds.insert(key, id);
        }
        id
    }
}

/// A name made from the module, for a pipeline without a name.
fn module(pipeline: &vulkan::Pipeline) -> String {
    let hash = pipeline.module.as_deref().and_then(|module| module.identity.as_deref());
    hash.and_then(|hash| hash.get(..12)).map_or_else(|| "module ?".to_owned(), |hash| format!("module {hash}"))
}
