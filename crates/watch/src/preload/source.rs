//! The live source: a program that we started, and all its descendants.

use crate::ObservedLaunch;
use crate::preload::account::{self, Judged};
use crate::preload::device_launches::device_launches;
use crate::preload::pid_check::is_of_session;
use crate::preload::tree::Tree;
use crate::preload::{Known, Session, Tail, files};
use crate::source::{Followed, Program};
use crate::{
    Around, Gap, Maker, ObserverKind, ObserverReport, SecondAccount, Source, State, Tally, Unseen, WatchError, Word,
};
use evidence::{Canary, Contamination, Witness};
use say::{Message, Say as _, key, say};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

type Everyone<'a> = Box<dyn FnMut(&ObservedLaunch<'_>) + 'a>;

pub struct PreloadSource<'a> {
    session: Session,
    known: Known,
    program: Box<dyn Program + 'a>,
    tails: BTreeMap<PathBuf, Tail>,
    started: Instant,
    news: Vec<Message>,
    done: bool,
    each: Option<Everyone<'a>>,
    /// A canary event that was seen in the target itself.
    canary: Option<Message>,
    /// Files that are not records, and why.
    refused: BTreeMap<PathBuf, Message>,
    /// The kernel's account of the program's descendants, if there is one.
    tree: Option<Tree>,
}

impl std::fmt::Debug for PreloadSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreloadSource").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Drop for PreloadSource<'_> {
    /// The program may continue unobserved after the report; our caller expects us to wait for its end.
    fn drop(&mut self) {
        self.program.wait();
    }
}

impl<'a> PreloadSource<'a> {
    /// `known`: the kernels of the libraries whose layouts the session has.
    pub fn new(session: Session, known: Known, program: Box<dyn Program + 'a>) -> PreloadSource<'a> {
        let (tails, started) = (BTreeMap::new(), Instant::now());
        PreloadSource {
            session,
            known,
            program,
            tails,
            started,
            news: Vec::new(),
            done: false,
            each: None,
            canary: None,
            refused: BTreeMap::new(),
            tree: None,
        }
    }

    /// Adds the kernel's account, which this thread opened before it started the program with this process id.
    #[must_use]
    pub fn with_tree(mut self, tree: Option<Tree>, program: u32) -> PreloadSource<'a> {
        self.tree = tree;
        if let Some(tree) = &mut self.tree {
            tree.begin(program);
        }
        self
    }

    /// Waits briefly for processes that end with the program, then compares the two accounts.
    fn judge(&mut self, tally: &mut Tally) -> Judged {
        const GRACE: Duration = Duration::from_secs(1);
        const STEP: Duration = Duration::from_millis(5);
        let over = self.program.ended().is_ok_and(|status| status.is_some());
        let until = Instant::now() + GRACE;
        while let Some(tree) = &mut self.tree {
            tree.poll();
            if !over || tree.survivors().is_empty() || Instant::now() >= until {
                break;
            }
            std::thread::sleep(STEP);
            self.drain(tally, false);
        }
        if !self.done {
            self.tails.values().for_each(Tail::close);
            self.drain(tally, true);
            self.done = true;
        }
        let Some(tree) = &self.tree else {
            let program = self.tails.values().next().map_or("", |tail| &tail.program);
            return Judged::alone(program.rsplit('/').next().unwrap_or(program));
        };
        let record = |tail: &'_ Tail| account::Record {
            pid: tail.pid,
            program: tail.program.clone(),
            runtimes: tail.runtimes.iter().map(|runtime| runtime.path.clone()).collect(),
            said: tail.unfollowed.clone(),
        };
        let mut records: Vec<account::Record> = self.tails.values().map(record).collect();
        records.extend(account::idle(self.session.path()));
        account::judge(tree, &records, over).and(device_launches(tree, tally))
    }

    /// Sets a callback for every single launch.
    pub fn on_each(&mut self, each: impl FnMut(&ObservedLaunch<'_>) + 'a) {
        self.each = Some(Box::new(each));
    }

    /// The observations per process.
    pub fn tails(&self) -> impl Iterator<Item = &Tail> {
        self.tails.values()
    }

    /// Calls each runtime that was seen from a child process, through the same shim.
    fn call_runtimes(&self, gaps: &mut Vec<Unseen>) -> Canary {
        let mut met: Vec<&launch::trace::Runtime> = Vec::new();
        for runtime in self.tails.values().flat_map(|tail| &tail.runtimes) {
            if !met.iter().any(|known| known.build_id == runtime.build_id) {
                met.push(runtime);
            }
        }
        let mut heard = Vec::new();
        for runtime in &met {
            match crate::preload::canary::call(runtime) {
                Ok(what) => heard.push(what),
                Err(told) => gaps.push(Gap::Canary { told }.into()),
            }
        }
        let all = heard.len() == met.len();
        say::listed(heard).filter(|_| all).map_or(Canary::None, Canary::in_child)
    }

    /// The gaps that are known before the end.
    fn gaps(&self, tally: &Tally) -> Vec<Unseen> {
        let mut gaps = Vec::new();
        if tally.lost > 0 {
            gaps.push(Gap::RecordsLost.times(tally.lost));
        }
        for tail in self.tails.values() {
            self.gaps_of(tail, &mut gaps);
        }
        for (path, why) in &self.refused {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            gaps.push(Gap::RecordRefused { file: name, reason: why.clone() }.into());
        }
        if tally.other_grids() > 0 {
            gaps.push(Gap::OtherGrids.times(tally.other_grids()));
        }
        if tally.unread > 0 {
            gaps.push(Gap::NoLayouts.times(tally.unread));
        }
        gaps
    }

    /// Adds the gaps of one process.
    fn gaps_of(&self, tail: &Tail, gaps: &mut Vec<Unseen>) {
        let pid = tail.pid;
        if tail.threw > 0 {
            gaps.push(Gap::Threw { process: pid }.times(tail.threw));
        }
        gaps.extend(held(tail).map(Unseen::from));
        let mut names: Vec<String> = tail.unfollowed.iter().filter(|name| !is_about_ways(name)).cloned().collect();
        names.sort();
        names.dedup();
        let became_another = self.tails.values().filter(|other| other.pid == pid).count() > 1;
        gaps.extend(names.into_iter().filter_map(|name| unfollowed(pid, name, became_another)).map(Unseen::from));
        let stand_in = |runtime: &launch::trace::Runtime| {
            embedded_shims::is_nullgpu(&hex::decode(&runtime.build_id).unwrap_or_default())
        };
        if tail.graphs.unanswered > 0 && !tail.runtimes.iter().all(stand_in) {
            gaps.push(Gap::GraphsUnanswered { process: pid }.times(tail.graphs.unanswered));
        }
        if tail.graphs.unplaced > 0 {
            gaps.push(Gap::NodesUnplaced { process: pid }.times(tail.graphs.unplaced));
        }
        if let Some(why) = &tail.broken {
            gaps.push(Gap::RecordBroken { process: pid, reason: why.clone() }.into());
        }
        let own = sys::host::user();
        if tail.user != own {
            gaps.push(Gap::OtherUser { process: pid, user: tail.user }.into());
        }
    }
}

/// Whether this is a shim's report of a way around it; the account of the process tree judges those.
fn is_about_ways(said: &str) -> bool {
    said == account::SEARCHED
        || ["held:", "holder:", "RTLD_DEEPBIND ", "dlmopen "].iter().any(|start| said.starts_with(start))
}

/// Launch functions whose addresses other files hold: the function, then the file, which is empty for the program
/// itself.
fn held(tail: &Tail) -> impl Iterator<Item = Gap> {
    let pairs = tail.unfollowed.iter().zip(tail.unfollowed.iter().skip(1));
    let pairs = pairs.filter_map(|(call, holder)| Some((call.strip_prefix("held:")?, holder.strip_prefix("holder:")?)));
    let mut list: Vec<Gap> = pairs
        .map(|(call, holder)| {
            let file = if holder.is_empty() { &tail.program } else { holder };
            let who = file.rsplit('/').next().unwrap_or(file).to_owned();
            Gap::Around { process: tail.pid, who, how: Around::Address, detail: call.to_owned() }
        })
        .collect();
    list.sort();
    list.dedup();
    list.into_iter()
}

/// The gap that results if a process called, or can call, a function that is not followed.
fn unfollowed(process: u32, call: String, became_another: bool) -> Option<Gap> {
    match call.as_str() {
        // The process has since executed another program, which is observed, so the directory was reachable.
        "chroot" | "unshare" | "setns" if became_another => None,
        "chroot" | "unshare" | "setns" => Some(Gap::Left { process, call }),
        name if name.ends_with("DeviceLaunch") => Some(Gap::GraphOnDevice { process, call }),
        name if ["rocblas_", "cublas", "hipblas"].iter().any(|start| name.starts_with(start)) => {
            Some(Gap::NotFollowedCall { process, call })
        }
        name if name.contains("Launch") => Some(Gap::NotFollowedLaunch { process, call }),
        _ => Some(Gap::NotFollowedGraph { process, call }),
    }
}

/// This is checked while the process launches, because its open files are unknown afterwards.
fn look_at_device(tail: &Tail, session: &std::path::Path, tally: &mut Tally) {
    for runtime in &tail.runtimes {
        let maker = Maker::of_library(&runtime.path);
        let stand_in = embedded_shims::is_nullgpu(&hex::decode(&runtime.build_id).unwrap_or_default());
        if !stand_in {
            tally.devices.held_by(tail.pid, maker, &tail.devices);
        }
        if !stand_in && !tally.devices.wants_look(tail.pid, maker) {
            continue;
        }
        let gone = !std::path::Path::new(&format!("/proc/{}", tail.pid)).exists();
        if stand_in || gone || is_of_session(tail.pid, session) {
            tally.devices.launched(tail.pid, maker, stand_in);
        } else {
            let why = say::say!("watch-device-other-namespace");
            tally.devices.unlooked(tail.pid, maker, why);
        }
    }
}

impl Followed for PreloadSource<'_> {
    const NAME: &'static str = "preload";

    fn program(&mut self) -> &mut dyn Program {
        self.program.as_mut()
    }

    fn drain(&mut self, tally: &mut Tally, last: bool) -> bool {
        if let Some(tree) = &mut self.tree {
            tree.poll();
        }
        for path in files(self.session.path()) {
            if self.tails.contains_key(&path) || self.refused.contains_key(&path) {
                continue;
            }
            match Tail::open(&path) {
                Ok(Some(tail)) => drop(self.tails.insert(path, tail)),
                Ok(None) => {}
                Err(error) => drop(self.refused.insert(path, error.message())),
            }
        }
        let mut any = false;
        for tail in self.tails.values_mut().filter(|tail| tail.broken.is_none()) {
            let quiet = tail.program.is_empty();
            let mut each = self.each.as_mut().map(|each| &mut **each as &mut dyn FnMut(&ObservedLaunch<'_>));
            match tail.drain(tally, &self.known, last, &mut each) {
                Ok(taken) => {
                    any |= taken;
                    if taken && tail.records > 0 {
                        look_at_device(tail, self.session.path(), tally);
                    }
                }
                Err(error) => tail.broken = Some(error.message()),
            }
            if quiet && !tail.program.is_empty() {
                self.news.push(say!("watch-news-process", pid = tail.pid, program = tail.program));
            }
        }
        any
    }
}

impl Source for PreloadSource<'_> {
    fn poll(&mut self, tally: &mut Tally, timeout: Duration) -> Result<State, WatchError> {
        self.follow(tally, timeout)
    }

    fn finish(&mut self, tally: &mut Tally) -> Result<ObserverReport, WatchError> {
        let judged = self.judge(tally);
        let cannot_see = judged.cannot_see();
        let witness = (self.tree.is_some() && cannot_see.is_empty()).then_some(Witness::ProcessTree);
        let mut gaps: Vec<Unseen> = judged.gaps;
        gaps.extend(self.gaps(tally));
        if self.tails.is_empty() {
            gaps.push(Gap::NobodyCalled.into());
        }
        if tally.devices.iter().next().is_none() {
            self.tails.values().for_each(|tail| look_at_device(tail, self.session.path(), tally));
        }
        let device = tally.devices.kind();
        let canary = match &self.canary {
            Some(what) => Canary::in_target(what.clone()),
            None => self.call_runtimes(&mut gaps),
        };
        // Measured after the program has ended, so that it is not disturbed.
        let cost_ns = if tally.launches() > 0 { crate::preload::canary::cost() } else { None };
        let pids: Vec<String> = self.tails.values().map(|tail| tail.pid.to_string()).collect();
        Ok(ObserverReport {
            observer: ObserverKind::Preload,
            device,
            word: Word::Ours,
            library: None,
            // A process that changed its root sees other files under these names.
            library_path: (!gaps.iter().any(|unseen| matches!(unseen.gap, Gap::Left { .. })))
                .then(|| tally.most_launched_file())
                .flatten(),
            canary,
            contamination: Contamination::Unchecked,
            reach: crate::of_processes(key!("view-preload-calls"), &pids),
            blind: crate::preload::BLIND,
            gaps,
            second: SecondAccount { witness, cannot_see },
            seconds: self.started.elapsed().as_secs_f64(),
            cost_ns,
            ended: false,
        })
    }

    /// The runtimes are called from a child process only at the end.
    fn so_far(&self, tally: &Tally) -> Option<(u64, ObserverReport)> {
        let canary = self.canary.clone().map_or(Canary::None, Canary::in_target);
        let (kind, device) = (ObserverKind::Preload, tally.devices.kind());
        Some((tally.lost, ObserverReport::so_far(kind, device, canary, self.gaps(tally))))
    }

    fn canary_in_target(&mut self, what: Message) {
        self.canary = Some(what);
    }

    fn news(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.news)
    }
}
