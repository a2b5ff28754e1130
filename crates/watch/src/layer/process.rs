//! One process under the layer: its records as they come, its dispatches counted, its device looked at.

use crate::growing_trace::GrowingTrace;
use crate::preload::is_of_session;
use crate::{Flow, Kind, KindId, Maker, Name, Pipeline, Seen, Tally};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;
use vulkan::{Dispatch, Ending, Kernel, Stream};

/// Who wants every single dispatch.
pub(super) type Each<'e> = Option<&'e mut dyn FnMut(&Seen<'_>)>;

/// Pipeline, groups, columns and whether the device read them: what makes two dispatches of a process alike.
type Shape = (Option<usize>, [u32; 3], Option<u64>);

/// Dispatches that may wait for an end that nobody waits for; beyond, they count as submitted.
const MOST_WAITING: usize = 1 << 18;
const MOST_KINDS: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Process {
    pub trace: GrowingTrace,
    pub stream: Stream,
    /// Dispatches that were counted.
    pub dispatches: u64,
    pub completed: u64,
    pub lost_with_device: u64,
    pub unnamed: u64,
    pub indirect: u64,
    /// Why it is not read any further.
    pub broken: Option<String>,
    /// Handles of the devices that took dispatches.
    used: BTreeSet<u64>,
    kinds: HashMap<Shape, KindId>,
    flow: Flow,
    /// Records and dispatches that are counted as lost or refused already.
    lost: u64,
    refused: u64,
}

impl Process {
    /// None while the writer has not made its header yet.
    pub fn open(path: &Path) -> io::Result<Option<Process>> {
        let Some(trace) = GrowingTrace::open(path)? else { return Ok(None) };
        if trace.writer != vulkan::WRITER {
            return Err(io::Error::other("was not written by the Vulkan layer"));
        }
        Ok(Some(Process {
            stream: Stream::new(trace.pid),
            trace,
            dispatches: 0,
            completed: 0,
            lost_with_device: 0,
            unnamed: 0,
            indirect: 0,
            broken: None,
            used: BTreeSet::new(),
            kinds: HashMap::new(),
            flow: Flow::default(),
            lost: 0,
            refused: 0,
        }))
    }

    /// Takes what is there; says whether something was. `gone`: the process has ended.
    pub fn drain(&mut self, tally: &mut Tally, gone: bool, each: &mut Each<'_>) -> io::Result<bool> {
        let mut any = false;
        loop {
            let chunk = self.trace.next(gone)?;
            if chunk.is_empty() {
                break;
            }
            any = true;
            for (record, body) in chunk.iter() {
                let ended = self.stream.feed(record, body);
                if ended || self.stream.waiting() > MOST_WAITING {
                    self.count(tally, !ended, each);
                }
                if ended {
                    // A program may wait several times in one evaluation: the phase is known by the widths, tokens are not counted.
                    self.flow.pause(tally);
                }
            }
            self.count(tally, false, each);
        }
        if gone {
            self.count(tally, true, each);
            self.flow.finish(tally);
        }
        let lost = self.trace.lost + self.stream.dropped() + if gone { self.trace.torn } else { 0 };
        tally.lost += lost.saturating_sub(self.lost);
        self.lost = self.lost.max(lost);
        let refused = self.stream.refused();
        if refused > self.refused {
            let kind = tally.kind(&Kind { process: self.trace.pid, ..Kind::kernel(Name::Unnamed(0), SUBMIT) });
            tally.rejected(kind, refused - self.refused);
            self.refused = refused;
        }
        Ok(any)
    }

    fn count(&mut self, tally: &mut Tally, all: bool, each: &mut Each<'_>) {
        for dispatch in self.stream.take(all) {
            self.dispatches += 1;
            self.completed += u64::from(dispatch.ending == Ending::Completed);
            self.lost_with_device += u64::from(dispatch.ending == Ending::Lost);
            self.indirect += u64::from(dispatch.indirect);
            let kind = self.kind(&dispatch, tally);
            if let (Some(each), Some(kind)) = (each.as_mut(), tally.get(kind)) {
                let (pid, args) = (self.trace.pid, dispatch.push.clone());
                each(&Seen { time_ns: 0, pid, thread: 0, kind, stream: 0, graph: 0, exec: None, args });
            }
            self.flow.launch(tally, kind, 0, 0);
        }
    }

    fn kind(&mut self, dispatch: &Dispatch, tally: &mut Tally) -> KindId {
        let run = self.stream.run();
        let pipeline = run.pipeline(dispatch);
        let kernel = pipeline.map(|pipeline| Kernel::of(pipeline, &dispatch.push));
        if let Some(device) = run.device(dispatch) {
            self.used.insert(device.handle);
        }
        self.unnamed += u64::from(kernel.as_ref().is_some_and(|kernel| kernel.name.is_empty()));
        let multiplies = kernel.as_ref().and_then(|kernel| kernel.multiplies.as_ref());
        let ne11 = multiplies.and_then(|of| of.columns).map(u64::from);
        let key = (dispatch.pipeline, dispatch.groups, ne11);
        if let Some(kind) = self.kinds.get(&key) {
            return *kind;
        }
        let name = match (pipeline, &kernel) {
            (Some(pipeline), Some(kernel)) => Name::Pipeline(Pipeline {
                name: if kernel.name.is_empty() { module(pipeline) } else { kernel.name.clone() },
                weights: multiplies.and_then(|of| of.ggml_type.clone()),
                identity: pipeline.identity(),
            }),
            _ => Name::Unnamed(0),
        };
        let api = if dispatch.indirect { "vkCmdDispatchIndirect" } else { "vkCmdDispatch" };
        let pid = self.trace.pid;
        let kind = Kind { process: pid, grid: dispatch.groups, ne11, ..Kind::kernel(name, api) };
        let kind = tally.kind(&kind);
        if self.kinds.len() < MOST_KINDS {
            self.kinds.insert(key, kind);
        }
        kind
    }

    /// What it dispatched to, looked at while it runs: afterwards nobody can tell what it had open.
    pub fn look_at_device(&self, session: &Path, tally: &mut Tally) {
        let pid = self.trace.pid;
        let devices = &self.stream.run().devices;
        let used: Vec<_> = devices.iter().filter(|device| self.used.contains(&device.handle)).collect();
        if used.is_empty() {
            return;
        }
        if used.iter().all(|device| device.is_processor()) {
            let names: BTreeSet<&str> = used.iter().map(|device| device.name.as_str()).collect();
            return tally.devices.computes(pid, &names.into_iter().collect::<Vec<_>>().join(", "));
        }
        if !tally.devices.wants_look(pid, Maker::Vulkan) {
            return;
        }
        let gone = !Path::new(&format!("/proc/{pid}")).exists();
        if gone || is_of_session(pid, session) {
            tally.devices.launched(pid, Maker::Vulkan, has_stand_in(pid));
        } else {
            let why = "the number that it gives itself is another process's here (a PID namespace of its own)";
            tally.devices.unlooked(pid, Maker::Vulkan, why);
        }
    }
}

const SUBMIT: &str = "vkQueueSubmit";

/// Mesa's stand-ins for kernel drivers (`libamdgpu_noop_drm_shim.so` and others) are preloaded.
fn has_stand_in(pid: u32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with("_drm_shim.so"))
}

/// What a pipeline without a name is called.
fn module(pipeline: &vulkan::Pipeline) -> String {
    let hash = pipeline.module.as_deref().and_then(|module| module.identity.as_deref());
    hash.and_then(|hash| hash.get(..12)).map_or_else(|| "module ?".to_owned(), |hash| format!("module {hash}"))
}
