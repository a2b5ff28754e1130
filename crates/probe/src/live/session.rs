//! One session with a server, from its identification to the final answer.

use super::client::{Client, Ended, Question};
use super::ladder::NOTES;
use super::prompts::{self, Prompts};
use crate::answer::{Answer, Missing, Probe};
use crate::change::Point;
use crate::exchange::Exchange;
use crate::gather::{GATHERED, Wanted, gathered, points};
use crate::launches::{Account, Onlooker, watched};
use crate::model::Mix;
use crate::replay::Recording;
use say::{Message, Say, say};
use server::claims::{Claims, Gatherer, Meaning, model_header, of_log};
use server::identify::choose;
use server::{Ask, Endpoint, Identity, Kind, counts, identify};
use std::path::{Path, PathBuf};
use std::time::Duration;
use watch::{ObserverReport, Tally};

/// The name of a log, and how to read it.
pub type Journal = (&'static str, fn() -> Option<String>);

/// The inputs of a run.
#[derive(Debug, Clone)]
pub struct Live {
    pub at: Endpoint,
    pub model: Option<String>,
    pub patience: Duration,
    pub logs: Vec<PathBuf>,
    /// A log that is not a file, read after the run.
    pub journal: Option<Journal>,
    /// The server's processes, if known; their command lines are read for claims.
    pub pids: Vec<u32>,
    /// The server's command line, for the sizes of its batches.
    pub command: Vec<String>,
    pub wanted: Wanted,
}

/// A finished run: the answer from all requests until then, the raw exchanges, and why it ended early.
#[derive(Debug)]
pub struct Run {
    pub answer: Answer,
    pub recording: Recording,
    pub ended: Option<Ended>,
    /// Every run of every length; the answer lists one run per length.
    pub every: Vec<Probe>,
    /// The observer's results, for the ledger.
    pub seen: Option<ObservedLaunches>,
}

/// All launches, and how well they were seen.
#[derive(Debug)]
pub struct ObservedLaunches {
    pub tally: Tally,
    pub report: ObserverReport,
}

#[derive(Debug)]
pub struct Session {
    live: Live,
    pub client: Client,
    pub identity: Identity,
    wanted: Wanted,
    mix: Option<Mix>,
    prompts: Option<Prompts>,
    gatherer: Gatherer,
    before: Before,
    left_out: Vec<Missing>,
    /// Requests of the plan.
    pub planned: u64,
}

/// The number of attempts to hit a length; each count corrects the next attempt.
const ATTEMPTS: u32 = 3;
/// The maximum number of bytes read of a log.
const MOST_LOG: u64 = 64 << 20;

impl Session {
    /// Identifies the server. Nothing is loaded or evaluated yet.
    pub fn open(live: Live, onlooker: Option<Onlooker>) -> Result<Session, Ended> {
        let mut client = Client::new(live.at.clone(), live.patience);
        let identity = who(&mut client, &live)?;
        let (gatherer, before) = (gatherer(&live)?, Before::look(&live));
        let mut wanted = live.wanted.clone();
        wanted.url = Some(live.at.to.url());
        if wanted.model.is_none() {
            wanted.model = local_model(&live.at, &identity);
        }
        let shown = client.exchanges.iter().find(|exchange| exchange.route() == "/api/show");
        let mix = wanted.model.clone().or_else(|| Mix::from_show(&shown?.json()?));
        client.onlooker = onlooker;
        Ok(Session {
            live,
            client,
            identity,
            wanted,
            mix,
            prompts: None,
            gatherer,
            before,
            left_out: Vec::new(),
            planned: 0,
        })
    }

    /// Warms up the server, and finds out how to make prompts of exact lengths for it.
    pub fn prepare(&mut self) -> Result<(), Ended> {
        let first = self.client.exchanges.len();
        self.prompts = Some(prompts::prepare(&mut self.client, &self.identity)?);
        let seen: u64 = self.client.exchanges[first..].iter().filter_map(launched).sum();
        if let Some(onlooker) = self.client.onlooker.as_mut().filter(|_| seen > 0) {
            let server = self.identity.kind.name();
            onlooker.canary(say!("canary-first-requests", server, count = seen));
        }
        Ok(())
    }

    /// Both sides of every change of path that the rules declare for the server's GPU and the model's types.
    pub fn thresholds(&self) -> Vec<u64> {
        let recording = self.recorded(Vec::new());
        let wanted = Wanted { model: self.mix.clone(), ..self.wanted.clone() };
        // The claims so far, from a separate look; the run's own gathering continues to its end.
        let claims = gatherer(&self.live).map(Gatherer::finish).unwrap_or_default();
        let last = crate::gather::thresholds(&recording, &wanted, claims);
        last.into_iter().flat_map(|last| [last, last + 1]).filter(|tokens| *tokens <= 1024).collect()
    }

    /// The field notes identify prompts by the server's reported count. If the server counts a token that it does not
    /// evaluate, those prompts differ from the ladder's.
    pub fn counted_as_in_the_notes(&self) -> Vec<u64> {
        NOTES.iter().filter_map(|tokens| tokens.checked_sub(self.uncounted())).filter(|tokens| *tokens > 0).collect()
    }

    /// The number of tokens that are counted but not evaluated: a begin-of-text token is cached after the first
    /// request.
    pub fn uncounted(&self) -> u64 {
        let extra = self.prompts.as_ref().map_or(0, Prompts::extra);
        let begins = self.mix.as_ref().and_then(|mix| mix.begins).unwrap_or(extra == 1);
        u64::from(self.identity.kind.caches_silently() && begins)
    }

    /// A request of about `tokens` tokens that is not a probe of a length.
    pub fn question(&mut self, name: &str, tokens: u64, predict: u64) -> Result<Question, Ended> {
        let prompts = self.prompts.as_mut().ok_or_else(|| Ended::Server(say!("probe-unprepared")))?;
        Ok(Question { asked: None, ..prompts.question(&self.identity, name, tokens, predict) })
    }

    /// One prompt of which exactly `tokens` are evaluated.
    pub fn exact(&mut self, tokens: u64, predict: u64, round: u64) -> Result<Exchange, Ended> {
        let wanted = tokens + self.uncounted();
        let name = if predict > 1 { format!("{tokens}+{predict}#{round}") } else { format!("{tokens}#{round}") };
        for attempt in 1.. {
            let question = Question { asked: Some(tokens), ..self.question(&name, wanted, predict)? };
            let exchange = self.client.ask(&question)?;
            let reported = counts::read(&exchange).ok().and_then(|counts| counts.reported);
            match reported {
                Some(reported) if reported != wanted && attempt < ATTEMPTS && reported > 1 => {
                    if let Some(prompts) = &mut self.prompts {
                        prompts.correct(wanted, reported);
                    }
                    // The prompt was a calibration step, not a probe of this length.
                    if let Some(last) = self.client.exchanges.last_mut() {
                        last.name = format!("calibrate-{}", last.name);
                        last.asked = None;
                    }
                }
                _ => return Ok(exchange),
            }
        }
        Err(Ended::TooMany)
    }

    /// The times of the lengths measured so far.
    pub fn points(&self) -> Vec<Point> {
        points(self.client.exchanges.iter().filter_map(|one| Some((one.asked?, counts::read(one).ok()?.prompt_ms?))))
    }

    /// Records a request that is not possible here.
    pub fn leave_out(&mut self, what: &str, why: Message) {
        self.left_out.push(Missing { what: what.to_owned(), why });
    }

    fn recorded(&self, logs: Vec<(String, String)>) -> Recording {
        Recording {
            exchanges: self.client.exchanges.clone(),
            logs,
            planned: Some(self.planned),
            ..Recording::default()
        }
    }

    /// Computes the answer from all exchanges; `ended` contains the reason why the run ended early.
    pub fn finish(mut self, ended: Option<Ended>) -> Run {
        let onlooker = self.client.onlooker.take().map(Onlooker::finish);
        // Reads the server's own counters once more, if it has any.
        if ended.is_none() && self.client.exchanges.iter().any(|one| one.route() == "/metrics" && one.status == 200) {
            let _ = self.client.get("/metrics");
        }
        if let Some(why) = self.client.blinded.take() {
            self.leave_out("--watch", why);
        }
        let mut logs = self.read_logs();
        let mut claims = std::mem::take(&mut self.gatherer).finish();
        // If a server has no counters of its evaluations, that is not a gap here.
        let unread = std::mem::take(&mut claims.unread).into_iter().filter(|(what, _)| what != "GET /metrics");
        for (what, why) in unread {
            self.leave_out(&what, why);
        }
        if let Some((name, _)) = self.live.journal {
            let theirs = logs.iter().filter(|(log, _)| log.ends_with(name));
            theirs.for_each(|(_, text)| of_log(name, text, &mut claims));
        }
        let said = batches(&self.live.command, &claims);
        if !said.is_empty() {
            // The gathered sizes come first, so that the log's own lines about the load replace them.
            logs.insert(0, (GATHERED.to_owned(), said));
        }
        let mut recording = self.recorded(logs);
        let (mut seen, mut account) = (None, None);
        match onlooker {
            Some(Ok((tally, report, unattributed))) => {
                for launch in recording.exchanges.iter_mut().filter_map(|one| one.launches.as_mut()).flatten() {
                    launch.rung = report.rung(launch.device.unwrap_or(report.device));
                }
                let (canary, contamination) = (report.canary.clone(), report.contamination.clone());
                recording.account = Some(Account { observer: report.observer.name(), canary, contamination });
                account = Some(watched(&tally, &report, unattributed));
                seen = Some(ObservedLaunches { tally, report });
            }
            Some(Err(error)) => self.leave_out("--watch", error.message()),
            None => {}
        }
        recording.ended = ended.as_ref().map(Say::message);
        let (mut answer, every) = gathered(&recording, &self.wanted, claims);
        answer.ended = recording.ended.clone();
        answer.watch = account;
        answer.left_out.extend(self.left_out);
        Run { answer, recording, ended, every, seen }
    }

    /// Reads the logs, cut at the start of the run: earlier lines show how the server runs, but nothing about our
    /// requests.
    fn read_logs(&mut self) -> Vec<(String, String)> {
        let mut logs = Vec::new();
        for (at, path) in self.live.logs.clone().into_iter().enumerate() {
            match sys::regular_file::whole(&path, MOST_LOG) {
                Ok(bytes) => {
                    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                    let cut = self.before.lengths.get(at).copied().unwrap_or(0).min(bytes.len());
                    let (old, new) = bytes.split_at(cut);
                    logs.push((format!("start-{name}"), String::from_utf8_lossy(old).into_owned()));
                    logs.push((name, String::from_utf8_lossy(new).into_owned()));
                }
                Err(error) => self.leave_out(&path.display().to_string(), error.message()),
            }
        }
        if let Some((name, text)) = self.live.journal.and_then(|(name, read)| Some((name, read()?))) {
            // If only the end of a longer log is available and the last earlier line is gone, old and new lines cannot
            // be distinguished.
            let cut = match &self.before.journal {
                None => 0,
                Some(last) => text.rfind(last.as_str()).map_or(text.len(), |at| at + last.len()),
            };
            let (old, new) = text.split_at(cut);
            logs.push((format!("start-{name}"), old.to_owned()));
            logs.push((name.to_owned(), new.to_owned()));
        }
        logs
    }
}

/// The state of the logs before the first request.
#[derive(Debug, Default)]
struct Before {
    /// The length of each named log.
    lengths: Vec<usize>,
    /// The journal's last line.
    journal: Option<String>,
}

impl Before {
    fn look(live: &Live) -> Before {
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |meta| meta.len());
        let lengths = live.logs.iter().map(|path| usize::try_from(length(path)).unwrap_or(usize::MAX)).collect();
        let journal = live.journal.and_then(|(_, read)| read()?.lines().next_back().map(str::to_owned));
        Before { lengths, journal }
    }
}

/// Launches during an answer; None if they were not observed.
fn launched(exchange: &Exchange) -> Option<u64> {
    Some(exchange.launches.as_ref()?.iter().map(|launch| launch.launches).sum())
}

/// Identifies the server, the model to use, and its settings.
fn who(client: &mut Client, live: &Live) -> Result<Identity, Ended> {
    let mut who = identify(client)?;
    if who.identity.kind == Kind::Unknown {
        return Err(Ended::Server(who.stranger(&live.at)));
    }
    for path in who.identity.kind.facts() {
        client.get(path)?;
    }
    if who.is_loading() {
        return Err(Ended::Server(say!("probe-still-loading")));
    }
    if who.wants_key() {
        return Err(Ended::Server(who.locked(&live.at)));
    }
    choose(client, &mut who.identity, live.model.as_deref())?;
    Ok(who.identity)
}

fn gatherer(live: &Live) -> Result<Gatherer, Ended> {
    Gatherer::new(live.pids.clone(), Some(live.at.clone()), &live.logs)
        .map_err(|(what, why)| Ended::Server(say!("about-why", what, why)))
}

/// Batch sizes from sources other than a named log, in the form of log lines, so that a recording can keep them.
fn batches(command: &[String], claims: &Claims) -> String {
    let mut lines = String::new();
    for claim in &claims.list {
        if let Meaning::MicroBatch(most) = claim.meaning {
            lines.push_str(&format!("n_ubatch = {most} ({}: {})\n", claim.origin, claim.said));
        }
    }
    let after = |name: &str| command.iter().skip_while(|word| *word != name).nth(1)?.parse::<u64>().ok();
    if let Some(batch) = after("-b").or_else(|| after("--batch-size")) {
        lines.push_str(&format!("n_batch = {batch} (command line)\n"));
    }
    lines
}

/// llama-server reports the path of its model: if it is on this machine, its header can be read.
fn local_model(at: &Endpoint, identity: &Identity) -> Option<Mix> {
    model_file(Path::new(identity.model_path.as_deref().filter(|_| at.to.is_here())?))
}

/// A model's matrices by type, from the beginning of its file.
pub fn model_file(path: &Path) -> Option<Mix> {
    Some(Mix::from_gguf(&model_header(sys::regular_file::open(path).ok()?)?))
}
