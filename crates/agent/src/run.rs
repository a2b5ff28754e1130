//! The loop of the agent.

use crate::endpoint::Page;
use crate::identity::{Identity, Origin};
use crate::metrics::{Id, Metrics};
use crate::otlp::{self, Receiver};
use crate::sampler::{Sampler, Turn};
use crate::session::Session;
use say::{Message, say};
use serve::Server;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sys::{host, interrupt};
use watch::WatchError;

/// The settings of an agent.
#[derive(Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub otlp: Option<Receiver>,
    /// How often counts are read and pushed.
    pub interval: Duration,
    /// The share of one core that the agent may use.
    pub budget: f64,
    /// Where the machine's identity is kept.
    pub state: PathBuf,
    /// Where tables of kernels are kept.
    pub cache: PathBuf,
    /// End after this time.
    pub most: Option<Duration>,
}

/// Why the agent could not start.
#[derive(Debug)]
pub enum AgentError {
    Taken,
    Listen { address: String, source: io::Error },
    Refused(WatchError),
}

say::worded! { AgentError {
    Taken => "agent-taken",
    Listen { address, source } => "agent-listen",
    Refused(why) => "agent-refused" (why),
}}

/// Where the agent's messages go.
pub trait News {
    fn tell(&mut self, line: Message);
}

/// How often the ring is read while every launch is looked at, and how often processes are looked for otherwise.
const LOOKING: Duration = Duration::from_millis(100);
const PAUSING: Duration = Duration::from_millis(500);
/// How long a failed session rests.
const REST: Duration = Duration::from_secs(10);
/// How often the status is told.
const STATUS: Duration = Duration::from_secs(600);

/// Runs until INT or TERM, or for the given time.
pub fn run(settings: &Settings, news: &mut dyn News) -> Result<(), AgentError> {
    // Without this, two agents would place every probe twice.
    let _alone = match host::hold_name("whichkernel-agent") {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(AgentError::Taken),
        held => held.ok(),
    };
    let server = Server::open(settings.listen)
        .map_err(|source| AgentError::Listen { address: settings.listen.to_string(), source })?;
    let session = Session::start(settings.cache.clone()).map_err(AgentError::Refused)?;
    let (page, over) = (Page::default(), AtomicBool::new(false));
    news.tell(say!("agent-listening", url = server.url()));
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(&page, &|| over.load(Ordering::Relaxed)));
        if let Some(receiver) = &settings.otlp {
            scope.spawn(|| receiver.run());
        }
        Agent::new(settings, &page, news).run(session);
        over.store(true, Ordering::Relaxed);
        if let Some(receiver) = &settings.otlp {
            receiver.end();
        }
    });
    Ok(())
}

struct Agent<'a> {
    settings: &'a Settings,
    page: &'a Page,
    news: &'a mut dyn News,
    metrics: Metrics,
    identity: Identity,
    sampler: Sampler,
    started: Instant,
    /// The start of the counters: nanoseconds since 1970. Later times are counted from it, so that a step of the clock
    /// does not make time run backwards.
    began: u64,
    counted: Instant,
    told: Instant,
    /// CPU time and counts of pushes that are in the metrics already.
    used: Duration,
    pushes: [u64; 3],
}

impl<'a> Agent<'a> {
    fn new(settings: &'a Settings, page: &'a Page, news: &'a mut dyn News) -> Agent<'a> {
        let identity = Identity::read(Path::new("/"));
        let mut metrics = Metrics::default();
        let unknown = || "unknown".to_owned();
        let (machine, boot) =
            (identity.machine.clone().unwrap_or_else(unknown), identity.boot.clone().unwrap_or_else(unknown));
        metrics.set(Id::Machine, &[&machine, &boot], 1.0);
        metrics.set(Id::Agent, &[env!("CARGO_PKG_VERSION")], 1.0);
        match identity.origin(&settings.state) {
            Ok(Origin::Cloned) => {
                metrics.set(Id::Cloned, &[], 1.0);
                news.tell(say!("agent-cloned", state = settings.state.display().to_string()));
            }
            Ok(Origin::Unknown) => news.tell(say!("agent-identity-unknown")),
            Ok(Origin::Own) => {}
            Err(error) => news.tell(say!("agent-state", state = settings.state.display().to_string(), error)),
        }
        let now = Instant::now();
        Agent {
            settings,
            page,
            news,
            metrics,
            identity,
            sampler: Sampler::new(settings.budget),
            started: now,
            began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64),
            counted: now,
            told: now,
            used: Duration::ZERO,
            pushes: [0; 3],
        }
    }

    fn run(&mut self, session: Session) {
        let mut session = Some(session);
        host::notify("READY=1");
        self.publish();
        while !self.is_over() {
            let failed = match &mut session {
                Some(running) => self.turn(running).err(),
                None => None,
            };
            if let Some(error) = failed {
                self.news.tell(say!("agent-failed", error));
                session = None;
            }
            if session.as_ref().is_none_or(Session::is_full) {
                session = self.again(session);
            }
            std::thread::sleep(if self.sampler.is_looking() { LOOKING } else { PAUSING });
        }
        if let Some(mut session) = session {
            let _ = session.step();
            self.count(&mut session);
        }
        self.tell_status();
        host::notify("STOPPING=1");
    }

    fn is_over(&self) -> bool {
        interrupt::asked() || self.settings.most.is_some_and(|most| self.started.elapsed() >= most)
    }

    fn turn(&mut self, session: &mut Session) -> Result<(), WatchError> {
        for line in session.step()? {
            self.news.tell(line);
        }
        match self.sampler.turn(self.started.elapsed(), host::cpu_time(), session.is_ready()) {
            Turn::Keep => {}
            Turn::Look => session.look(true)?,
            Turn::Close { again } => {
                if !again {
                    session.look(false)?;
                }
                session.close(&mut self.metrics);
            }
        }
        if self.counted.elapsed() >= self.settings.interval {
            self.count(session);
        }
        if self.told.elapsed() >= STATUS {
            self.tell_status();
        }
        Ok(())
    }

    /// Places the probes again, after a failure or because the tables are full.
    fn again(&mut self, before: Option<Session>) -> Option<Session> {
        match before {
            Some(mut full) => self.count(&mut full),
            None => {
                self.metrics.set(Id::Up, &[], 0.0);
                self.publish();
                let until = Instant::now() + REST;
                while Instant::now() < until && !self.is_over() {
                    std::thread::sleep(PAUSING);
                }
            }
        }
        self.metrics.add(Id::Restarts, &[], 1.0);
        self.sampler = Sampler::new(self.settings.budget);
        self.counted = Instant::now();
        let session = Session::start(self.settings.cache.clone());
        session.map_err(|error| self.news.tell(say!("agent-failed", error))).ok()
    }

    fn count(&mut self, session: &mut Session) {
        let passed = self.counted.elapsed();
        self.counted = Instant::now();
        session.count(&mut self.metrics);
        self.metrics.set(Id::Up, &[], 1.0);
        self.metrics.add(Id::ObservedSeconds, &[], passed.as_secs_f64());
        self.metrics.add(Id::SampledSeconds, &[], self.sampler.take_looked().as_secs_f64());
        self.metrics.set(Id::Share, &[], self.sampler.share());
        self.publish();
    }

    fn publish(&mut self) {
        let used = host::cpu_time();
        self.metrics.add(Id::Cpu, &[], used.saturating_sub(self.used).as_secs_f64());
        self.used = used;
        self.metrics.set(Id::Memory, &[], resident() as f64);
        if let Some(receiver) = &self.settings.otlp {
            let now = [&receiver.sent, &receiver.failed, &receiver.dropped].map(|count| count.load(Ordering::Relaxed));
            for ((name, now), before) in ["sent", "failed", "dropped"].iter().zip(now).zip(self.pushes) {
                self.metrics.add(Id::Otlp, &[name], (now - before) as f64);
            }
            self.pushes = now;
            let machine = self.identity.machine.as_deref().unwrap_or("unknown");
            let resource =
                [("service.name", "whichkernel"), ("service.version", env!("CARGO_PKG_VERSION")), ("host.id", machine)];
            let now = self.began.saturating_add(self.started.elapsed().as_nanos() as u64);
            receiver.offer(otlp::encode(&self.metrics, &resource, (self.began, now)));
        }
        self.page.publish(&self.metrics);
    }

    fn tell_status(&mut self) {
        self.told = Instant::now();
        let (launches, lost) = (self.metrics.sum(Id::Launches), self.metrics.sum(Id::Lost));
        let (processes, gaps) = (self.metrics.sum(Id::Processes), self.metrics.sum(Id::Gaps));
        let line = say!(
            "agent-status",
            launches = launches as u64,
            processes = processes as u64,
            lost = lost as u64,
            gaps = gaps as u64,
            share = format!("{:.0}", 100.0 * self.sampler.share()),
            cpu = format!("{:.2}", 100.0 * self.used.as_secs_f64() / self.started.elapsed().as_secs_f64().max(1e-3)),
            memory = format!("{:.0}", resident() as f64 / 1e6)
        );
        host::notify(&format!("STATUS={line}"));
        self.news.tell(line);
    }
}

/// Resident memory in bytes; 0 if the system does not tell.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
