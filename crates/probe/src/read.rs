//! Reads exchanges in order and turns them into probes.

use crate::answer::{Basis, Failure, Mark, Probe};
use crate::exchange::Exchange;
use crate::launches::Account;
use crate::memory::{self, Memory};
use crate::model::Mix;
use crate::pieces::{Batching, Known};
use crate::zone::{Outputs, Rules};
use say::Say;
use serde_json::Value;
use server::counts::{self, Counts, Only, Unread};
use server::log_facts::{CacheSlot, Lines, Stage};
use server::{CountMeans, Identity, Kind, Purpose, contradiction};
use std::collections::{BTreeMap, BTreeSet};

/// Changing one of these restarts Ollama's runner (server/sched.go, needsReload).
const RUNNER: &[&str] = &["num_ctx", "num_batch", "num_gpu", "main_gpu", "use_mmap", "num_thread"];

/// The state while exchanges are read.
#[derive(Debug)]
pub struct Reader {
    pub identity: Identity,
    pub stage: Stage,
    pub mix: Mix,
    pub rules: Rules,
    /// The modelled cache of each model's runner, and the options that the runner uses, by model.
    runners: BTreeMap<String, (Memory, Option<String>)>,
    /// Cache lines of a log that is not split by request.
    pool: Vec<CacheSlot>,
    used: BTreeSet<String>,
    /// The loaded models at the last query.
    loaded: Option<BTreeSet<String>>,
    /// The report of the observer of launches.
    pub account: Option<Account>,
    /// Whether the server's own counter shows that nothing came from its cache.
    pub cached_nothing: bool,
}

impl Reader {
    pub fn new(identity: Identity, mix: Mix, rules: Rules) -> Reader {
        let (runners, pool, used) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        let (stage, loaded, account) = (Stage::default(), None, None);
        Reader { identity, stage, mix, rules, runners, pool, used, loaded, account, cached_nothing: false }
    }

    /// A log of all exchanges. Files whose name begins with `start` were written before the first exchange: they show
    /// how the server runs, but nothing about requests.
    pub fn log(&mut self, name: &str, text: &str) {
        text.lines().for_each(|line| self.stage.line(line));
        if !name.starts_with("start") {
            self.pool.extend(Lines::read(text).slots);
        }
    }

    /// None for an exchange that evaluates nothing.
    pub fn take(&mut self, exchange: &Exchange) -> Option<Result<Probe, Failure>> {
        exchange.log.lines().for_each(|line| self.stage.line(line));
        if exchange.purpose() == Purpose::Other {
            self.loaded = loaded(exchange).or(self.loaded.take());
            return None;
        }
        let read =
            counts::read(exchange).and_then(|counts| match contradiction::find(exchange, &counts, &self.identity) {
                Some(why) => Err(Unread::Contradictory(why)),
                None => Ok(Counts { cached: counts.cached.or(self.cached_nothing.then_some(0)), ..counts }),
            });
        let counts = match read {
            Ok(counts) => counts,
            Err(why) => {
                self.failed(exchange, &why);
                let nothing = matches!(why, Unread::Nothing { .. });
                let failure = Failure {
                    name: exchange.name.clone(),
                    request: format!("{} {}", exchange.method, exchange.path),
                    status: (exchange.status != 0).then_some(exchange.status),
                    why: why.message(),
                };
                return (!nothing).then_some(Err(failure));
            }
        };
        Some(Ok(self.probe(exchange, &counts)))
    }

    fn probe(&mut self, exchange: &Exchange, counts: &Counts) -> Probe {
        let lines = Lines::read(&exchange.log);
        let mut marks = BTreeSet::new();
        let (evaluated, basis) = self.evaluated(exchange, counts, &lines);
        let cut = lines.truncations.iter().find(|cut| Some(cut.new) == counts.reported);
        if cut.is_some() || counts.truncated {
            marks.insert(Mark::Truncated);
        }
        let context = exchange.request.option("num_ctx").and_then(Value::as_u64).or(self.stage.context);
        if self.identity.kind.caches_silently() && counts.reported.is_some() && counts.reported == context {
            marks.insert(Mark::FillsContext);
        }
        let asked = exchange.asked.or(exchange.prompt_ids()).or(cut.map(|cut| cut.prompt)).or(counts.reported);
        if evaluated.zip(counts.reported).is_some_and(|(evaluated, reported)| evaluated < reported) {
            marks.insert(Mark::Cached);
        }
        let batching = self.batching(exchange, counts);
        let shared = exchange.beside > 0 || lines.working.len() > 1;
        let mut ne11 = evaluated.zip(batching).map(|(tokens, batching)| batching.cut(tokens)).unwrap_or_default();
        match batching {
            None => drop(marks.insert(Mark::NoBatch)),
            Some(batching) if batching.known == Known::Default => drop(marks.insert(Mark::AssumedBatch)),
            Some(_) => {}
        }
        if shared || lines.checkpoints {
            marks.insert(if shared { Mark::Shared } else { Mark::Checkpoint });
            ne11.clear();
        }
        let outputs = if exchange.purpose() == Purpose::Embed { Outputs::All } else { Outputs::One };
        let decoded = counts.eval_count.is_some_and(|count| count > 1) && !shared;
        let mut zones = self.rules.zones(&self.mix, &ne11, decoded, outputs);
        let slots = self.stage.slots.or(self.identity.slots);
        if exchange.beside > 0
            && let Some(slots) = slots.filter(|slots| *slots > 1)
        {
            zones = self.rules.side_by_side(&self.mix, slots.min(exchange.beside + 1));
        }
        if let (Some(launches), Some(account)) = (&exchange.launches, &self.account) {
            let target = self.rules.target().map(str::to_owned);
            zones.iter_mut().for_each(|zone| zone.hold(launches, account, target.as_deref()));
        }
        Probe {
            name: exchange.name.clone(),
            asked,
            reported: counts.reported,
            evaluated,
            agreed: agreed(exchange, counts, evaluated, basis),
            basis,
            ne11,
            batching,
            prompt_ms: counts.prompt_ms,
            eval_count: counts.eval_count,
            eval_ms: counts.eval_ms,
            load_ms: counts.load_ms,
            zones,
            launches: exchange.launches.clone(),
            marks: marks.into_iter().collect(),
        }
    }

    /// The true count, from the best available source.
    fn evaluated(&mut self, exchange: &Exchange, counts: &Counts, lines: &Lines) -> (Option<u64>, Basis) {
        let embedding = exchange.purpose() == Purpose::Embed;
        // The cache model is always updated, so that later requests can be derived from it.
        let guessed = self.remember(exchange, counts);
        let reported = counts.reported;
        if let Some(processed) = counts.processed {
            // Builds of 2024 count first, and then remove one token from the cached part so that there is something to
            // evaluate.
            return (Some(processed.max(1)), Basis::Processed);
        }
        if let (Some(cached), Some(reported)) = (counts.cached, reported) {
            // Anthropic's count excludes the cached part.
            let evaluated = if exchange.route() == "/v1/messages" { reported } else { reported.saturating_sub(cached) };
            return (Some(evaluated.max(1)), Basis::CachedCount);
        }
        if self.identity.count_means() == CountMeans::Evaluated && !embedding {
            // The server omits the field if it would be 0.
            return (Some(reported.unwrap_or(0).max(1)), Basis::CountIsEvaluated);
        }
        if let Some(slot) = self.slot(reported, lines) {
            return (Some(slot.remaining), Basis::Log);
        }
        if self.identity.kind.caches_silently() {
            if embedding && reported.is_some() {
                return (reported, Basis::Embedding);
            }
            if let Some(reused) = guessed
                && let Some(reported) = reported
            {
                return (reported.checked_sub(reused), Basis::OwnPrompts);
            }
        }
        (None, Basis::Unknown)
    }

    /// The debug line of this request, from its own lines or from the whole log in order; it must count the same number
    /// of tokens.
    fn slot(&mut self, reported: Option<u64>, lines: &Lines) -> Option<CacheSlot> {
        let mine = |slot: &&CacheSlot| Some(slot.prompt) == reported && !self.used.contains(&slot.line);
        let found = lines.slots.iter().find(mine).or_else(|| {
            let nothing = lines.slots.is_empty();
            self.pool.iter().filter(|_| nothing).find(mine)
        });
        let found = found.cloned()?;
        self.used.insert(found.line.clone());
        Some(found)
    }

    /// How much of this prompt is reused, according to the earlier prompts.
    fn remember(&mut self, exchange: &Exchange, counts: &Counts) -> Option<u64> {
        if !self.identity.kind.caches_silently() {
            return None;
        }
        let begins = self.mix.begins;
        let slots = self.stage.slots.or(self.identity.slots);
        let options = options(exchange);
        let (memory, runner) = self.runner(exchange);
        let known_options = exchange.request.json().is_some();
        if known_options && *runner != Some(options.clone()) {
            memory.clear();
            *runner = Some(options);
        }
        let raw = exchange.request.get("raw").and_then(Value::as_bool) == Some(true)
            || exchange.route() != "/api/chat" && exchange.route() != "/v1/chat/completions";
        let tokens = match (exchange.prompt().filter(|_| raw), counts.reported) {
            (Some(prompt), Some(counted)) => memory::tokens(prompt, counted, begins),
            _ => None,
        };
        let reused = match &tokens {
            Some(tokens) if known_options => memory.reused(tokens, slots),
            _ => None,
        };
        match tokens {
            Some(tokens) => memory.keep(tokens, &counts.text, counts.eval_count.unwrap_or(0)),
            None => memory.lose(exchange.prompt().filter(|_| raw)),
        }
        if exchange.request.get("keep_alive").is_some_and(|time| time.as_f64() == Some(0.0)) {
            memory.clear();
            *runner = None;
        }
        reused
    }

    /// The modelled cache of the model's runner. If it was loaded before the first request, its content is unknown.
    fn runner(&mut self, exchange: &Exchange) -> &mut (Memory, Option<String>) {
        let name = model(exchange);
        let empty = self.loaded.as_ref().is_some_and(|loaded| !loaded.contains(&name));
        let fresh = || (if empty { Memory::default() } else { Memory::strange() }, Some(options(exchange)));
        self.runners.entry(name).or_insert_with(fresh)
    }

    /// An answer without counts may still have changed the cache.
    fn failed(&mut self, exchange: &Exchange, why: &Unread) {
        let (memory, runner) = self.runner(exchange);
        match why {
            Unread::Nothing { what: Only::Unloaded } => {
                memory.clear();
                *runner = None;
            }
            Unread::Nothing { .. } => {
                let options = options(exchange);
                if *runner != Some(options.clone()) {
                    memory.clear();
                    *runner = Some(options);
                }
            }
            Unread::Status { status, .. } if (400..500).contains(status) => {}
            _ => memory.shake(exchange.prompt()),
        }
    }

    fn batching(&self, exchange: &Exchange, counts: &Counts) -> Option<Batching> {
        let (batch, micro) = (self.stage.batch, self.stage.micro_batch);
        if batch.is_some() || micro.is_some() {
            // Ollama uses the same size for both; llama-server uses its default for a size that is not set.
            let (usual_batch, usual_micro) =
                if self.identity.kind == Kind::Ollama { (micro, batch) } else { (None, None) };
            let batch = batch.or(usual_batch).unwrap_or(2048);
            let micro = micro.or(usual_micro).unwrap_or(512);
            return Some(Batching::new(batch, micro, Known::Log));
        }
        let asked = exchange.request.option("num_batch").and_then(Value::as_u64);
        if let (Kind::Ollama, Some(asked)) = (self.identity.kind, asked) {
            return Some(Batching::new(asked, asked, Known::Request));
        }
        // A llama.cpp server under another name.
        let inside = (self.identity.kind == Kind::Openai && counts.processed.is_some()).then_some(Kind::LlamaServer);
        let (batch, micro) = inside.unwrap_or(self.identity.kind).usual_batches()?;
        Some(Batching::new(batch, micro, Known::Default))
    }
}

/// Whether a second account agrees: the number of tokens sent with the server's count of evaluated tokens, or its log
/// with its answer.
fn agreed(exchange: &Exchange, counts: &Counts, evaluated: Option<u64>, basis: Basis) -> bool {
    let Some(evaluated) = evaluated else { return false };
    let sent = exchange.asked.or_else(|| Some(exchange.prompt_ids()?.saturating_sub(counts.cached.unwrap_or(0))));
    match basis {
        Basis::Log => true,
        Basis::Processed | Basis::CachedCount | Basis::CountIsEvaluated => sent == Some(evaluated),
        Basis::Embedding | Basis::OwnPrompts | Basis::Unknown => false,
    }
}

/// Names in `/api/ps`.
fn loaded(exchange: &Exchange) -> Option<BTreeSet<String>> {
    if exchange.route() != "/api/ps" || exchange.status != 200 {
        return None;
    }
    let value = exchange.json()?;
    let names = value.get("models")?.as_array()?.iter().filter_map(|model| model.get("name")?.as_str());
    Some(names.map(|name| name.trim_end_matches(":latest").to_owned()).collect())
}

fn model(exchange: &Exchange) -> String {
    exchange.request.get("model").and_then(Value::as_str).unwrap_or_default().trim_end_matches(":latest").to_owned()
}

fn options(exchange: &Exchange) -> String {
    let chosen = RUNNER.iter().filter_map(|name| Some(format!("{name}={}", exchange.request.option(name)?)));
    chosen.collect::<Vec<_>>().join(" ")
}
