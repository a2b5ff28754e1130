//! The live source: a program started with the layer, and all its descendants.

use crate::dispatches::Each;
use crate::growing_trace::files;
use crate::layer::Session;
use crate::layer::process::Process;
use crate::source::{Followed, Program};
use crate::{
    Gap, ObservedLaunch, ObserverKind, ObserverReport, SecondAccount, Source, State, Tally, Unseen, WatchError, Word,
};
use evidence::{Canary, Contamination};
use say::{Message, Say as _, key, say};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

type Everyone<'a> = Box<dyn FnMut(&ObservedLaunch<'_>) + 'a>;

pub struct LayerSource<'a> {
    session: Session,
    program: Box<dyn Program + 'a>,
    processes: BTreeMap<PathBuf, Process>,
    /// Files that are not records, and why.
    refused: BTreeMap<PathBuf, Message>,
    started: Instant,
    news: Vec<Message>,
    done: bool,
    each: Option<Everyone<'a>>,
    /// A canary event that was seen in the target itself.
    canary: Option<Message>,
}

impl std::fmt::Debug for LayerSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LayerSource").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Drop for LayerSource<'_> {
    /// The program may continue unobserved after the report; our caller expects us to wait for its end.
    fn drop(&mut self) {
        self.program.wait();
    }
}

impl<'a> LayerSource<'a> {
    pub fn new(session: Session, program: Box<dyn Program + 'a>) -> LayerSource<'a> {
        LayerSource {
            session,
            program,
            processes: BTreeMap::new(),
            refused: BTreeMap::new(),
            started: Instant::now(),
            news: Vec::new(),
            done: false,
            each: None,
            canary: None,
        }
    }

    /// Sets a callback for every single dispatch, in the order of submission.
    pub fn on_each(&mut self, each: impl FnMut(&ObservedLaunch<'_>) + 'a) {
        self.each = Some(Box::new(each));
    }

    fn gaps(&self, tally: &Tally) -> Vec<Unseen> {
        let mut gaps: Vec<Unseen> = Vec::new();
        if tally.lost > 0 {
            gaps.push(Gap::RecordsLost.times(tally.lost));
        }
        let sum = |of: fn(&Process) -> u64| self.processes.values().map(of).sum::<u64>();
        let counted = [
            (Gap::NamedByModule, sum(|process| process.counted.by_module)),
            (Gap::Indirect, sum(|process| process.counted.indirect)),
            (Gap::DeviceLost, sum(|process| process.counted.lost_with_device)),
            (Gap::NotSeenToEnd, sum(|of| of.counted.dispatches - of.counted.completed - of.counted.lost_with_device)),
            (Gap::SubmittedElsewhere, sum(|process| process.counted.stream.unsubmitted())),
            (Gap::OtherGrids, tally.other_grids()),
            (Gap::Untimed, self.untimed(tally)),
        ];
        gaps.extend(counted.into_iter().filter(|(_, count)| *count > 0).map(|(gap, count)| gap.times(count)));
        let own = sys::host::user();
        for process in self.processes.values() {
            let (pid, user) = (process.trace.pid, process.trace.user);
            let blind = process.counted.stream.run().blind.iter().cloned();
            gaps.extend(blind.map(|what| Gap::LayerBlind { process: pid, what }.into()));
            gaps.extend(process.broken.clone().map(|reason| Gap::RecordBroken { process: pid, reason }.into()));
            gaps.extend((user != own).then(|| Gap::OtherUser { process: pid, user }.into()));
        }
        for (path, why) in &self.refused {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            gaps.push(Gap::RecordRefused { file, reason: why.clone() }.into());
        }
        if self.processes.is_empty() {
            gaps.push(Gap::NobodyOpenedVulkan.into());
        }
        gaps
    }

    /// Dispatches without a time although times were requested.
    fn untimed(&self, tally: &Tally) -> u64 {
        let dispatches: u64 = self.processes.values().map(|process| process.counted.dispatches).sum();
        if self.session.times() { dispatches.saturating_sub(tally.timed()) } else { 0 }
    }

    /// A process that opened a device through the layer would also have dispatched through it.
    fn canary(&self) -> Canary {
        if let Some(what) = &self.canary {
            return Canary::in_target(what.clone());
        }
        let opened = self
            .processes
            .values()
            .filter(|process| !process.counted.stream.run().devices.is_empty())
            .map(|process| say!("canary-device", pid = process.trace.pid));
        say::listed(opened.collect()).map_or(Canary::None, Canary::in_target)
    }
}

impl Followed for LayerSource<'_> {
    const NAME: &'static str = "layer";

    fn program(&mut self) -> &mut dyn Program {
        self.program.as_mut()
    }

    fn drain(&mut self, tally: &mut Tally, last: bool) -> bool {
        for path in files(self.session.path()) {
            if self.processes.contains_key(&path) || self.refused.contains_key(&path) {
                continue;
            }
            match Process::open(&path) {
                Ok(Some(process)) => drop(self.processes.insert(path, process)),
                Ok(None) => {}
                Err(error) => drop(self.refused.insert(path, error.message())),
            }
        }
        let mut any = false;
        for process in self.processes.values_mut().filter(|process| process.broken.is_none()) {
            let quiet = process.counted.stream.run().program.is_empty();
            let mut each: Each<'_> = self.each.as_mut().map(|each| &mut **each as &mut dyn FnMut(&ObservedLaunch<'_>));
            match process.drain(tally, last, &mut each) {
                Ok(taken) => any |= taken,
                Err(error) => process.broken = Some(error.message()),
            }
            process.look_at_device(self.session.path(), tally);
            let program = &process.counted.stream.run().program;
            if quiet && !program.is_empty() {
                self.news.push(say!("watch-news-process", pid = process.trace.pid, program));
            }
        }
        any
    }
}

impl Source for LayerSource<'_> {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        self.follow(tally, timeout)
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError> {
        if !self.done {
            self.processes.values().for_each(|process| process.trace.close());
            self.drain(tally, true);
            self.done = true;
        }
        let gaps = self.gaps(tally);
        let (mut dispatches, mut completed) = (0, 0);
        for process in self.processes.values() {
            (dispatches, completed) = (dispatches + process.counted.dispatches, completed + process.counted.completed);
        }
        let pids: Vec<String> = self.processes.values().map(|process| process.trace.pid.to_string()).collect();
        Ok(ObserverReport {
            observer: ObserverKind::Layer,
            device: tally.devices.kind(),
            word: Word::Ours,
            library: None,
            library_path: None,
            canary: self.canary(),
            contamination: Contamination::Unchecked,
            reach: crate::of_processes(key!("view-layer-calls"), &pids),
            blind: crate::layer::BLIND,
            gaps,
            second: SecondAccount::default(),
            seconds: self.started.elapsed().as_secs_f64(),
            cost_ns: None,
            ended: dispatches > 0 && dispatches == completed && tally.lost == 0,
        })
    }

    fn canary_in_target(&mut self, what: Message) {
        self.canary = Some(what);
    }

    fn news(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.news)
    }
}
