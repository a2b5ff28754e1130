//! Reconstructs command buffers, submissions and pipelines, per process, from the Vulkan calls that the probes on the
//! loader report.
//!
//! A dispatch counts once for each submission of its command buffer that the driver accepted. Names come from ggml's
//! memory. Otherwise a pipeline is identified by its module if its creation was seen; an earlier pipeline cannot be
//! identified.

use crate::bpf::program::{CONSTANTS, DATA, SUBMITS};
use crate::bpf::wire::{Event, Key, key, kind};
use crate::coverage::Window;
use crate::probes::entries::{ENTRIES, Role, Vk};
use crate::target::drivers;
use crate::target::memory::Memory;
use crate::target::pipeline_names::{self, Distance};
use crate::watcher::Watcher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vulkan::Made;
use vulkan::record::done;
use watch::layer::has_stand_in;
use watch::{Dispatches, Each, Gap, Maker, Tally};

/// VK_ERROR_DEVICE_LOST
const LOST: u32 = -4_i32 as u32;
/// The number of attempts to find a pipeline's name.
const TRIES: u32 = 2;
/// The number of unsuccessful searches after which a process is no longer searched for names.
const FRUITLESS: u32 = 4;
/// The largest module that the BPF programs report.
const LARGEST: usize = 1 << 18;
/// Device functions that dispatch: a program that obtains them bypasses the loader.
const DISPATCHING: [&str; 8] = [
    "vkCmdDispatch",
    "vkCmdDispatchBase",
    "vkCmdDispatchBaseKHR",
    "vkCmdDispatchIndirect",
    "vkCmdBindPipeline",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
];

#[derive(Debug, Default)]
pub(crate) struct VulkanCalls {
    processes: BTreeMap<u32, Called>,
    /// Processes that ended or executed another program.
    past: Vec<Called>,
    /// Whether records were lost in the range being read: a dispatch may then belong to another pipeline.
    doubtful: bool,
    /// The last value of the kernel's counter of lost records.
    pub torn: u64,
    /// Processes that had the Vulkan loader before the probes: it is unknown which device functions they had obtained.
    pub before: BTreeSet<u32>,
}

/// The calls of one process.
#[derive(Debug, Default)]
struct Called {
    counted: Dispatches,
    /// Submissions that have not returned, by thread.
    under_way: HashMap<u32, Submission>,
    /// Incomplete modules, by thread.
    modules: HashMap<u32, Vec<u8>>,
    devices: BTreeSet<u64>,
    /// Bound pipelines without a name, with the number of attempts to find it.
    nameless: BTreeMap<u64, u32>,
    distance: Distance,
    /// Consecutive searches that found no name: a program without ggml has none and is not searched forever.
    fruitless: u32,
    looked: bool,
}

#[derive(Debug, Default)]
struct Submission {
    queue: u64,
    fence: u64,
    infos: u32,
    parts: u32,
    /// Whether some command buffers of the submission could not be read.
    cut: bool,
    buffers: Vec<u64>,
}

/// The key that a function's calls are counted under.
pub(crate) fn counted_key(key: &Key) -> Key {
    let (grid, block, columns) = ([0; 3], [0; 3], key::NONE);
    Key { handle: 0, tgid: key.tgid, entry: key.entry, grid, block, shared: 0, columns, graph: 0 }
}

impl VulkanCalls {
    /// Records were lost: called at the beginning and at the end of the affected range.
    pub fn tear(&mut self, doubtful: bool, tally: &mut Tally) {
        self.doubtful = doubtful;
        for called in self.processes.values_mut() {
            tally.lost += called.counted.stream.tear();
            called.under_way.clear();
            called.modules.clear();
        }
    }

    /// The process has ended or executes another program.
    pub fn over(&mut self, pid: u32) {
        self.past.extend(self.processes.remove(&pid));
    }

    /// Counts everything that was submitted, and reports the gaps.
    pub fn finish(&mut self, tally: &mut Tally, window: &mut Window, mut each: Each<'_>) {
        // A process that computes in another way also has a loader.
        if tally.launches() == 0 {
            let submits = |of: &Called| of.counted.stream.submissions() > 0;
            let passed = self.processes.values().chain(&self.past).filter(|of| submits(of)).map(|of| of.counted.pid);
            let passed: BTreeSet<u32> = passed.collect();
            for process in self.before.difference(&passed) {
                window.gap(Gap::NothingPassed { process: *process });
            }
        }
        let all = std::mem::take(&mut self.processes).into_values().chain(std::mem::take(&mut self.past));
        for mut called in all {
            called.learn_names();
            let of = &mut called.counted;
            of.finish(tally, &mut each);
            of.refusals(tally);
            tally.lost += of.stream.dropped();
            window.ended += of.completed;
            for (gap, count) in [
                (Gap::NamedByModule, of.by_module),
                (Gap::NamedFromMemory, of.by_name_alone),
                (Gap::Indirect, of.indirect),
                (Gap::DeviceLost, of.lost_with_device),
                (Gap::NotSeenToEnd, of.dispatches - of.completed - of.lost_with_device),
                (Gap::BuffersBefore, of.stream.unbegun()),
                (Gap::SubmittedElsewhere, of.stream.unsubmitted()),
            ] {
                window.missed(gap, count);
            }
        }
    }
}

impl Watcher {
    pub(crate) fn vulkan(&mut self, tally: &mut Tally, event: &Event<'_>, of: Vk) {
        let pid = event.key.tgid;
        if event.kind == kind::CALL && of.is_counted() {
            let count = self.queue.shipped.entry(counted_key(&event.key)).or_default();
            *count += 1;
            if *count == 1 {
                self.queue.last_new = std::time::Instant::now();
            }
        }
        let doubtful = self.vulkan.doubtful;
        let called = self.vulkan.processes.entry(pid).or_insert_with(|| Called::new(pid));
        if of == Vk::AskDevice {
            if let Some(call) = asked(event.bytes) {
                self.window.gap(Gap::ByPassed { process: pid, call: call.to_owned() });
            }
            return;
        }
        if of.dispatches() && !called.looked {
            called.looked = true;
            let mapped = self.resolver.processes.mapped(pid);
            look_at_driver(pid, event.key.handle, mapped, &mut self.window);
        }
        let ended = called.call(event, of, doubtful, &mut self.window);
        // While submitted work is running, the program is certainly alive.
        if ended || (event.kind == kind::ANSWER && matches!(of, Vk::Submit | Vk::Submit2)) {
            called.learn_names();
        }
        let mut each: Each<'_> =
            self.each.as_mut().map(|each| &mut **each as &mut dyn FnMut(&watch::ObservedLaunch<'_>));
        called.counted.settle(tally, ended, &mut each);
        called.counted.refusals(tally);
    }

    /// Checks every process for the last time.
    pub(crate) fn finish_vulkan(&mut self, tally: &mut Tally) {
        let each: Each<'_> = self.each.as_mut().map(|each| &mut **each as &mut dyn FnMut(&watch::ObservedLaunch<'_>));
        self.vulkan.finish(tally, &mut self.window, each);
        self.window.missed(Gap::RecordsLost, self.vulkan.torn);
    }
}

/// The device of a process's dispatches, by the driver of its command buffer: a render node that another driver of the same
/// process holds is not evidence for it.
fn look_at_driver(pid: u32, buffer: u64, mapped: &[crate::target::processes::Mapping], window: &mut Window) {
    let told = drivers::of_handle(pid, buffer, mapped);
    let mesa = drivers::of_mesa(mapped);
    let processor = match &told {
        Some(file) => drivers::is_processor(file).then(|| file.clone()),
        None if mesa.len() == 1 => mesa.into_iter().find(|file| drivers::is_processor(file)).map(str::to_owned),
        None if mesa.iter().any(|file| drivers::is_processor(file)) => {
            let why = say::say!("uprobe-which-driver");
            return window.devices.unlooked(pid, Maker::Vulkan, why);
        }
        None => None,
    };
    match processor {
        Some(file) => window.devices.computes(pid, &format!("lavapipe ({file})")),
        None => window.devices.launched(pid, Maker::Vulkan, has_stand_in(pid)),
    }
}

impl Called {
    fn new(pid: u32) -> Called {
        Called { counted: Dispatches::new(pid), ..Called::default() }
    }

    /// Returns whether this call shows that everything submitted has ended.
    fn call(&mut self, event: &Event<'_>, of: Vk, doubtful: bool, window: &mut Window) -> bool {
        let (handle, aux, [result, ..]) = (event.key.handle, event.aux, event.key.block);
        let stream = &mut self.counted.stream;
        match (of, event.kind) {
            (Vk::Begin, _) => stream.begin(handle),
            (Vk::Reset, _) => stream.reset(handle),
            (Vk::Free, _) => words(event.bytes).for_each(|buffer| stream.reset(buffer)),
            (Vk::Bind, _) => {
                stream.met(aux);
                stream.bind(handle, aux);
                self.nameless.entry(aux).or_insert(0);
            }
            (Vk::Push | Vk::PushInfo, _) => {
                let [offset, ..] = event.key.grid;
                stream.push(handle, offset, event.bytes);
            }
            (Vk::Dispatch | Vk::DispatchBase | Vk::DispatchIndirect, _) => {
                if doubtful {
                    stream.unknown(handle);
                }
                stream.dispatch(handle, event.key.grid, of == Vk::DispatchIndirect);
            }
            (Vk::Execute, _) => {
                let list: Vec<u64> = words(event.bytes).collect();
                window.missed(Gap::BuffersBefore, u64::from(event.status != 0));
                stream.execute(handle, &list);
            }
            (Vk::Submit | Vk::Submit2, kind::CALL) => {
                let [infos, ..] = event.key.grid;
                let submission = Submission { queue: handle, fence: aux, infos, ..Submission::default() };
                self.under_way.insert(event.tid, submission);
            }
            (Vk::Submit | Vk::Submit2, kind::PART) => {
                if let Some(submission) = self.under_way.get_mut(&event.tid) {
                    submission.parts += 1;
                    submission.cut |= event.status != 0;
                    match of {
                        Vk::Submit => submission.buffers.extend(words(event.bytes)),
                        // VkCommandBufferSubmitInfo: the handle is the third of four words.
                        _ => submission.buffers.extend(words(event.bytes).skip(2).step_by(4)),
                    }
                }
            }
            (Vk::Submit | Vk::Submit2, _) => return self.submitted(event.tid, result, window),
            (Vk::WaitFences, _) => {
                self.devices.insert(handle);
                let fences: Vec<u64> = words(event.bytes).collect();
                return self.ended(done::FENCE, handle, &fences, result);
            }
            (Vk::FenceStatus, _) => {
                self.devices.insert(handle);
                return self.ended(done::FENCE, handle, &[aux], result);
            }
            (Vk::QueueIdle, _) => return self.ended(done::QUEUE, handle, &[handle], result),
            (Vk::MakeModule, _) => self.module(event, event.key.grid[0], event.aux),
            // An inline module, which belongs to the pipeline reported next.
            (Vk::MakePipelines, kind::PART) => self.module(event, result, inline(event.tid)),
            (Vk::MakePipelines, _) => self.pipeline(event),
            (Vk::AskDevice, _) => {}
        }
        false
    }

    fn submitted(&mut self, thread: u32, result: u32, window: &mut Window) -> bool {
        let Some(submission) = self.under_way.remove(&thread) else { return false };
        let whole = submission.infos <= SUBMITS.cast_unsigned() && submission.parts == submission.infos;
        window.missed(Gap::BuffersBefore, u64::from(submission.cut || !whole));
        let Submission { queue, fence, buffers, .. } = submission;
        self.counted.stream.submit(queue, fence, result == 0, &buffers);
        self.ended(done::QUEUE, queue, &[], result)
    }

    /// `alone`: no second device was seen; it is not reported which device a queue belongs to.
    fn ended(&mut self, what: u32, handle: u64, which: &[u64], result: u32) -> bool {
        let (alone, stream) = (self.devices.len() <= 1, &mut self.counted.stream);
        match result {
            LOST => stream.done(done::LOST, handle, alone),
            // Every fence is marked, regardless of the others.
            0 => which.iter().filter(|of| stream.done(what, **of, alone)).count() > 0,
            _ => false,
        }
    }

    fn module(&mut self, event: &Event<'_>, size: u32, handle: u64) {
        let (from, size) = (event.key.shared as usize, size as usize);
        let pieces = self.modules.entry(event.tid).or_default();
        if from == 0 {
            pieces.clear();
        }
        if pieces.len() != from || size > LARGEST {
            return;
        }
        match event.status {
            0 => pieces.extend(event.bytes),
            // The page was not present; a file's content does not change during the run.
            _ => pieces.extend(in_file(
                self.counted.pid,
                event.stream + from as u64,
                (size - from).min(2 * DATA as usize),
            )),
        }
        if pieces.len() == size
            && let Some(words) = self.modules.remove(&event.tid)
        {
            self.counted.stream.module(handle, &words);
        }
    }

    fn pipeline(&mut self, event: &Event<'_>) {
        let (device, module, handle) = (event.key.handle, event.stream, event.aux);
        let [_, count, subgroup] = event.key.grid;
        self.devices.insert(device);
        self.nameless.insert(handle, 0);
        self.counted.stream.unmade(handle);
        if event.status != 0 {
            self.counted.stream.met(handle);
            return;
        }
        let constants = constants(event.bytes, count);
        let module = if module == 0 { inline(event.tid) } else { module };
        self.counted.stream.made(handle, Made { device, module, constants, subgroup });
        self.counted.stream.unmodule(inline(event.tid));
    }

    /// Finds ggml's names of pipelines that have no name yet.
    fn learn_names(&mut self) {
        let wanted: BTreeSet<u64> =
            self.nameless.iter().filter(|(_, tries)| **tries < TRIES).map(|(handle, _)| *handle).collect();
        if wanted.is_empty() || self.fruitless >= FRUITLESS {
            return;
        }
        let mut found = pipeline_names::find(self.counted.pid, &wanted, &mut self.distance);
        self.fruitless = if found.is_empty() { self.fruitless + 1 } else { 0 };
        for handle in wanted {
            match found.remove(&handle) {
                Some(name) => {
                    self.nameless.insert(handle, u32::MAX);
                    self.counted.stream.named(handle, name);
                }
                None => *self.nameless.entry(handle).or_default() += 1,
            }
        }
    }
}

/// The key for a module without a handle until its pipeline arrives.
fn inline(thread: u32) -> u64 {
    1 << 63 | u64::from(thread)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).filter_map(|word| word.first_chunk().map(|word| u64::from_le_bytes(*word)))
}

/// VkSpecializationMapEntry: number, offset, size; then, at a fixed offset, the data.
fn constants(bytes: &[u8], count: u32) -> BTreeMap<u32, u32> {
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let data = usize::try_from(DATA).unwrap_or(0);
    let one = |place: usize| Some((word(16 * place)?, word(data.checked_add(word(16 * place + 4)? as usize)?)?));
    (0..count.min(CONSTANTS.cast_unsigned()) as usize).filter_map(one).collect()
}

/// Bytes of a mapped file that the process cannot write to.
fn in_file(pid: u32, at: u64, len: usize) -> Vec<u8> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let holds = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let (permissions, path) = (fields.next()?, fields.nth(3)?);
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let inside = (hex(start)?..hex(end)?).contains(&at);
        Some(inside && permissions.starts_with("r-") && path.starts_with('/'))
    };
    if !maps.lines().any(|line| holds(line).unwrap_or(false)) {
        return Vec::new();
    }
    Memory::open(pid).map(|memory| memory.bytes(at, len)).unwrap_or_default()
}

/// The requested device function, if it dispatches.
fn asked(bytes: &[u8]) -> Option<&'static str> {
    let name = bytes.split(|byte| *byte == 0).next()?;
    DISPATCHING.into_iter().find(|known| known.as_bytes() == name)
}

/// Whether calls of this entry are counted under [`counted_key`].
pub(crate) fn is_vulkan(key: &Key) -> bool {
    matches!(ENTRIES.get(key.entry as usize).map(|entry| entry.role), Some(Role::Vulkan(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_questions_are_read_as_far_as_they_are_there() {
        let mut bytes = vec![0; 2 * DATA as usize];
        for (at, value) in [(0, 3_u32), (4, 0), (8, 4), (16, 7), (20, 4), (24, 4), (1024, 64), (1028, 12)] {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        assert_eq!(constants(&bytes, 2), BTreeMap::from([(3, 64), (7, 12)]));
        assert_eq!(constants(&bytes, u32::MAX).len(), 3, "zeros are one more");
        assert_eq!(constants(&[], 2), BTreeMap::new());
        assert_eq!(asked(b"vkCmdDispatch\0rest"), Some("vkCmdDispatch"));
        assert_eq!((asked(b"vkCmdDraw\0"), asked(b"")), (None, None));
        assert!(in_file(std::process::id(), bytes.as_ptr() as u64, 8).is_empty(), "the heap is no file");
    }
}
