//! The live view: the screen, the user's selections, and facts that background threads read.

use super::claims::Judged;
use super::view_facts::{About, comm, detail, read};
use super::{Args, summary};
use crate::context::{Context, Format, dumb};
use evidence::{Canary, DeviceKind};
use live::{
    Act, Claim, Collector, Detail, Fate, Kernel, Now, Paint, Screen, Snapshot, Speed, State, Sure, View, frame,
};
use server::claims::{Claims, Gatherer};
use std::collections::{BTreeMap, HashMap};
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use sys::files::{self, Access};
use watch::claims::Verdict;
use watch::{Ended, ObserverKind, ObserverReport, Source, Tally};

/// How often claims are read from logs, and servers, models and limits from the machine.
const CLAIMS: Duration = Duration::from_secs(5);
const FACTS: Duration = Duration::from_secs(10);

type RowKey = (u32, watch::Name, Option<u64>);

pub struct LiveView<'c> {
    context: &'c Context,
    screen: Screen,
    view: View,
    collector: Collector,
    now: Snapshot,
    roots: Vec<u32>,
    claims: (Option<Instant>, Claims),
    facts: BTreeMap<u32, About>,
    reading: Option<Receiver<BTreeMap<u32, About>>>,
    read: Option<Instant>,
    details: HashMap<RowKey, Detail>,
    detailing: Option<(RowKey, Receiver<Detail>)>,
    next: Instant,
}

/// A program that is started here writes to this terminal and reads its keys, unless both are redirected.
pub fn wanted(args: &Args) -> bool {
    let alone = args.command.is_empty() || !(stderr().is_terminal() || stdin().is_terminal());
    args.format == Format::Text && stdout().is_terminal() && !dumb() && alone
}

impl<'c> LiveView<'c> {
    /// None if the terminal cannot be used in this way.
    pub fn open(roots: Vec<u32>, context: &'c Context) -> Option<LiveView<'c>> {
        Some(LiveView {
            context,
            screen: Screen::open().ok()?,
            view: View::default(),
            collector: Collector::default(),
            now: Snapshot::default(),
            roots,
            claims: (None, Claims::default()),
            facts: BTreeMap::new(),
            reading: None,
            read: None,
            details: HashMap::new(),
            detailing: None,
            next: Instant::now(),
        })
    }

    /// Once a second, takes over the counts and the facts that the threads have read. Returns whether it did.
    pub fn update(
        &mut self,
        source: &dyn Source,
        tally: &Tally,
        gatherer: &Gatherer,
        elapsed: Duration,
    ) -> say::Result<bool> {
        if Instant::now() < self.next {
            return Ok(false);
        }
        self.next = Instant::now() + Duration::from_secs(1);
        if self.claims.0.is_none_or(|at| at.elapsed() >= CLAIMS) {
            self.claims = (Some(Instant::now()), gatherer.so_far());
        }
        let so_far = source.so_far(tally);
        self.take(tally, so_far.as_ref(), elapsed);
        self.draw()?;
        Ok(true)
    }

    /// Shows why launches cannot be seen, and the facts that do not depend on launches, until a key is pressed or a
    /// signal arrives.
    pub fn blind(mut self, why: &say::Error, gatherer: &mut Gatherer) -> say::Result<()> {
        let lang = &self.context.lang;
        let text = lang.text_with("live-no-rights", &[("why", crate::context::said(why, lang).into())]);
        let (tally, started) = (Tally::default(), Instant::now());
        let nothing = ObserverReport::so_far(ObserverKind::Uprobe, DeviceKind::None, Canary::None, Vec::new());
        while !sys::interrupt::asked() && !self.keys()? {
            if Instant::now() >= self.next {
                self.next = Instant::now() + Duration::from_secs(1);
                gatherer.look();
                self.claims = (None, gatherer.so_far());
                self.take(&tally, Some(&(0, nothing.clone())), started.elapsed());
                self.now.state = State::NoLaunches(vec![text.clone()]);
                self.now.sure = Sure::NotChecked;
                self.now.processes.iter_mut().for_each(|process| process.decode = Speed::Unknown);
                self.draw()?;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn take(&mut self, tally: &Tally, so_far: Option<&(u64, ObserverReport)>, elapsed: Duration) {
        // A server's runners are its children, and come and go.
        let roots = if self.roots.is_empty() { tally.processes().into_iter().collect() } else { self.roots.clone() };
        let alive = |pid: u32| pid == 0 || std::path::Path::new(&format!("/proc/{pid}")).exists();
        let mut pids = roots.clone();
        pids.extend(tally.processes().into_iter().filter(|pid| !roots.contains(pid)));
        self.read_facts(&pids);
        let name = |pid: u32| self.facts.get(&pid).map_or_else(|| comm(pid), |about| about.name.clone());
        let processes: Vec<(u32, String, bool)> = pids.iter().map(|pid| (*pid, name(*pid), !alive(*pid))).collect();
        let lang = &self.context.lang;
        let ended = std::mem::take(&mut self.now.state);
        self.now = self.collector.take(&Now { elapsed, tally, so_far, processes: &processes, lang });
        self.now.state = ended;
        if let Some((_, report)) = so_far {
            let judged = Judged::new(self.claims.1.clone(), tally, report);
            self.now.claims = judged.held.iter().map(|held| claim(held, lang)).collect();
        }
        // A stand-in has no speed limit.
        let real = self.now.sure != Sure::Selected;
        for process in &mut self.now.processes {
            let Some(about) = self.facts.get(&process.pid) else { continue };
            process.model = about.model.clone();
            process.context = about.context;
            if real {
                (process.limit, process.inputs) = (about.limit, Some(about.inputs.clone()));
                self.now.card = self.now.card.take().or_else(|| about.card.clone());
                self.now.vram = self.now.vram.or(about.vram);
            }
        }
        self.view.refresh(&self.now);
    }

    fn read_facts(&mut self, pids: &[u32]) {
        if let Some(facts) = self.reading.as_ref().and_then(|reading| reading.try_recv().ok()) {
            // The known facts about a process are kept after it has ended.
            self.facts.extend(facts.into_iter().filter(|(_, about)| !about.name.is_empty()));
            self.reading = None;
            self.details.clear();
        }
        if self.reading.is_none() && self.read.is_none_or(|read| read.elapsed() >= FACTS) {
            self.read = Some(Instant::now());
            let (tell, told) = channel();
            let (pids, claims, lang) = (pids.to_vec(), self.claims.1.clone(), self.context.lang);
            std::thread::spawn(move || tell.send(read(&pids, &claims, &lang)));
            self.reading = Some(told);
        }
    }

    /// The code and the rule of the chosen kernel; a thread reads them.
    fn detail(&mut self) -> Option<Detail> {
        if let Some((key, told)) = self.detailing.take() {
            match told.try_recv() {
                Ok(detail) => drop(self.details.insert(key, detail)),
                Err(std::sync::mpsc::TryRecvError::Empty) => self.detailing = Some((key, told)),
                Err(std::sync::mpsc::TryRecvError::Disconnected) => {}
            }
        }
        let Kernel { row, .. } = self.view.chosen(&self.now)?;
        let pid = self.view.pid(&self.now)?;
        let key = (pid, row.name.clone(), row.ne11);
        if let Some(detail) = self.details.get(&key) {
            return Some(detail.clone());
        }
        // The first reading of the machine is under way.
        if self.detailing.is_none() && !(self.facts.is_empty() && self.reading.is_some()) {
            let (tell, told) = channel();
            let (row, about, lang) = (row.clone(), self.facts.get(&pid).cloned(), self.context.lang);
            std::thread::spawn(move || tell.send(detail(&row, pid, about.as_ref(), &lang)));
            self.detailing = Some((key, told));
        }
        None
    }

    fn draw(&mut self) -> say::Result<()> {
        let wide = self.screen.size().is_ok_and(|(columns, _)| columns >= 200);
        let detail = if self.view.is_open() || wide { self.detail() } else { None };
        let (lang, paint) = (self.context.lang, Paint { colour: self.context.color });
        let (now, view) = (&self.now, &self.view);
        self.screen.draw(|columns, rows| frame(now, view, detail.as_ref(), (&lang, paint), (columns, rows)))?;
        Ok(())
    }

    /// Handles the keys that were typed; returns whether to end.
    pub fn keys(&mut self) -> say::Result<bool> {
        let mut any = false;
        while let Some(key) = self.screen.key()? {
            any = true;
            let Some(key) = key else { continue };
            match self.view.key(key, &self.now) {
                Act::Draw => {}
                Act::Quit => return Ok(true),
                Act::Suspend => sys::terminal::suspend(),
                Act::Save => self.save()?,
            }
        }
        // Redraws as soon as the code of the opened kernel has been read.
        if any || (self.view.is_open() && self.detailing.is_some()) {
            self.draw()?;
        }
        Ok(false)
    }

    /// `watch-TIME.txt` in the current directory. An existing file is not overwritten.
    fn save(&mut self) -> say::Result<()> {
        let time: String = sys::clock::now_to_the_second().chars().filter(char::is_ascii_alphanumeric).collect();
        let file = format!("watch-{time}.txt");
        let (lang, paint) = (self.context.lang, Paint { colour: false });
        let detail = self.detail();
        let size = self.screen.size()?;
        let lines = frame(&self.now, &self.view, detail.as_ref(), (&lang, paint), size);
        let text: String = lines.iter().map(|line| format!("{}\n", line.to_string().trim_end())).collect();
        let written = files::create_new(std::path::Path::new(&file), Access::Public)
            .and_then(|mut to| std::io::Write::write_all(&mut to, text.as_bytes()));
        self.view.remark = Some(match written {
            Ok(()) => lang.text_with("live-saved", &[("file", file.into())]),
            Err(why) => lang.text_with("live-not-saved", &[("why", why.to_string().into())]),
        });
        Ok(())
    }

    /// The target has ended: the last figures stay until a key or a signal.
    pub fn ended(&mut self, how: Ended, tally: &Tally, source: &dyn Source, elapsed: Duration) -> say::Result<()> {
        self.take(tally, source.so_far(tally).as_ref(), elapsed);
        let text = summary::ended(how, self.context);
        let seconds = elapsed.as_secs();
        let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let words = [("how", text.into()), ("time", time.into())];
        self.now.state = State::Ended(self.context.lang.text_with("live-ended-at", &words));
        self.view.refresh(&self.now);
        self.draw()?;
        while !sys::interrupt::asked() && !self.keys()? {
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

fn claim(held: &watch::claims::Held, lang: &report::Lang) -> Claim {
    Claim {
        what: lang.text(&format!("watch-claim-field-{}", held.claim.meaning.key())),
        said: held.claim.said.clone(),
        seen: super::claims::why(held, lang),
        fate: match held.verdict {
            Verdict::Supported => Fate::Matches,
            Verdict::Contradicted => Fate::Differs,
            Verdict::Undecidable => Fate::Undecided,
        },
    }
}
