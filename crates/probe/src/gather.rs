//! Computes the answer from a recording or from live exchanges.

use crate::answer::{Answer, Fact, Missing, Offload, Probe, Server, TypeCount};
use crate::change::{Change, Point, Power, changes};
use crate::count_check::{Asked, cached_nothing, counted, counters};
use crate::model::Mix;
use crate::read::Reader;
use crate::release::{self, Tables};
use crate::replay::Recording;
use crate::speed::{loads, speeds};
use crate::zone::Rules;
use say::{Message, say};
use server::claims::{Claim, Claims, Meaning, of_log};
use server::log_facts::Stage;
use server::{Build, Identity, llama_build};
use source::Device;
use std::collections::{BTreeMap, BTreeSet};

/// The user's choices.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A GPU whose rules are used, regardless of the server's report.
    pub device: Option<Device>,
    /// A model file that the user named, or that was found where the server reports it.
    pub model: Option<Mix>,
    pub url: Option<String>,
}

/// Facts from the whole recording, collected before any probe is read.
struct Around {
    identity: Identity,
    claims: Claims,
    stage: Stage,
    backend: Option<String>,
    offload: Option<Offload>,
    mix: Mix,
    device: Option<Device>,
    /// Whether the user named the GPU, regardless of the server's report.
    asked_for: bool,
    build: Option<Build>,
    tables: Option<Tables>,
    quantization: Option<String>,
}

impl Around {
    fn look(recording: &Recording, wanted: &Wanted, mut claims: Claims) -> Around {
        let mut identity = Identity::default();
        recording.exchanges.iter().for_each(|exchange| identity.hear(exchange));
        let mut stage = Stage::default();
        // In a live run, the collector of claims has already read the logs.
        let gathered = !claims.list.is_empty();
        for (name, text) in &recording.logs {
            text.lines().for_each(|line| stage.line(line));
            if !gathered {
                of_log(name, text, &mut claims);
            }
        }
        for exchange in recording.exchanges.iter().filter(|exchange| !exchange.log.is_empty()) {
            exchange.log.lines().for_each(|line| stage.line(line));
            if claims.list.is_empty() {
                of_log(&exchange.name, &exchange.log, &mut claims);
            }
        }
        let build = llama_build::build(&identity, stage.build);
        let tables = build.as_ref().map(|build| release::tables(&identity, build));
        Around {
            backend: backend(&claims, &stage),
            offload: offload(&claims, identity.model.as_deref()),
            mix: mix(recording, wanted, &stage),
            quantization: quantization(recording).or_else(|| stage.file_type.clone()),
            device: wanted.device.clone().or_else(|| device(&claims, &stage)),
            asked_for: wanted.device.is_some(),
            identity,
            claims,
            stage,
            build,
            tables,
        }
    }

    /// The target whose rules apply: the GPU that the user named, or the server's own if its backend follows them.
    fn target(&self) -> Option<String> {
        let goes = self.asked_for || self.backend.as_deref().is_none_or(has_rules);
        self.device.as_ref().filter(|_| goes).map(|device| device.target.clone())
    }

    /// Why there are no applicable rules.
    fn why(&self) -> &'static str {
        match (&self.device, &self.build, self.backend.as_deref()) {
            (None, _, Some("cpu")) => "cpu",
            // The rules are those of ggml's CUDA backend, which HIP shares; other backends have their own.
            (_, _, Some(other)) if !self.asked_for && !has_rules(other) => "other-backend",
            (None, ..) => "no-gpu",
            (_, None, _) => "no-version",
            _ => "no-table",
        }
    }

    fn server(&self, url: Option<String>) -> Server {
        let mut types = BTreeMap::new();
        for ((kind, _), count) in &self.mix.counts {
            *types.entry(kind.clone()).or_insert(0) += count;
        }
        let fact = |claim: &Claim| Fact {
            field: claim.meaning.key(),
            said: claim.said.clone(),
            place: claim.origin.to_string(),
        };
        let tables = self.tables.iter().flat_map(|tables| &tables.list);
        Server {
            kind: self.identity.kind.name(),
            version: self.identity.version.clone(),
            model: self.identity.model.clone(),
            url,
            build: self.build.as_ref().map(|build| build.number),
            build_from: self.build.as_ref().map(|build| build.from.clone().into()),
            rules: tables.map(|table| format!("{} {}", table.source, table.version)).collect(),
            rules_exact: self.tables.as_ref().is_some_and(|tables| tables.exact),
            rules_older: self.tables.as_ref().is_some_and(|tables| tables.beyond),
            target: self.target(),
            card: self.device.as_ref().and_then(|device| device.card.clone()),
            backend: self.backend.clone(),
            offload: self.offload.clone(),
            context: self.identity.context.or(self.stage.context),
            slots: self.identity.slots.or(self.stage.slots),
            facts: self.claims.list.iter().map(fact).collect(),
            types_from: (!types.is_empty()).then_some(self.mix.from),
            quantization: self.quantization.clone(),
            types: types.into_iter().map(|(ty, tensors)| TypeCount { ty, tensors }).collect(),
        }
    }
}

/// Computes everything from the requests and responses.
pub fn answer(recording: &Recording, wanted: &Wanted, more: Claims) -> Answer {
    gathered(recording, wanted, more).0
}

/// Like [`answer`], but also returns every run of every length; the answer lists one run per length.
pub fn gathered(recording: &Recording, wanted: &Wanted, more: Claims) -> (Answer, Vec<Probe>) {
    let around = Around::look(recording, wanted, more);
    let rules = Rules::new(around.target(), around.tables.clone(), around.why());
    let mut reader = Reader::new(around.identity.clone(), around.mix.clone(), rules);
    reader.account = recording.account.clone();
    reader.cached_nothing = cached_nothing(recording);
    recording.logs.iter().for_each(|(name, text)| reader.log(name, text));
    let (mut probes, mut failed) = (Vec::new(), Vec::new());
    for exchange in &recording.exchanges {
        match reader.take(exchange) {
            Some(Ok(probe)) => probes.push(probe),
            // A calibration step on the way to a length, which was then reached another way.
            Some(Err(failure)) if is_step(&failure.name) => {}
            Some(Err(failure)) => failed.push(failure),
            None => {}
        }
    }
    let load = loads(&probes);
    let every: Vec<Probe> = probes.iter().filter(|probe| is_rung(probe)).cloned().collect();
    let speed = speeds(&every.iter().collect::<Vec<_>>());
    let (changes, power) = if is_sweep(&every) { course(&every, &around) } else { (Vec::new(), None) };
    let server = around.server(wanted.url.clone());
    probes.retain(|probe| !is_step(&probe.name));
    let asked = Asked { planned: recording.planned, counters: counters(recording) };
    let counted = counted(&server, &probes, &failed, recording.ended.as_ref(), asked);
    probes.retain(is_shown);
    by_length(&mut probes);
    let missing = |what: &String| Missing { what: what.clone(), why: say!("probe-missing-unread") };
    let left_out = recording.missing.iter().map(missing).collect();
    (Answer { server, probes, counted, failed, speed, load, changes, power, watch: None, left_out, ended: None }, every)
}

/// The name under which information from outside the logs is kept, as if it were a log.
pub const GATHERED: &str = "gathered.log";

/// Prefixes of request names that are not probes.
const STEP: &str = "calibrate-";

/// The minimum number of consecutive lengths for a sweep; fewer show no trend.
pub const SWEEP: usize = 30;

/// Whether the probe is one of our runs, named `LENGTH#ROUND`.
pub fn is_rung(probe: &Probe) -> bool {
    probe.asked.is_some()
        && probe.name.split_once('#').is_some_and(|(_, round)| round.parse::<u64>().is_ok())
        && !probe.name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The first of repeated runs is listed; calibration steps are not probes.
fn is_shown(probe: &Probe) -> bool {
    let first = || probe.name.split_once('#').is_none_or(|(_, round)| round == "0");
    !is_step(&probe.name) && (!is_rung(probe) || first())
}

/// Whether there are enough lengths and most of them are evenly spaced: scattered lengths show no trend.
fn is_sweep(every: &[Probe]) -> bool {
    let lengths: BTreeSet<u64> =
        every.iter().filter(|probe| probe.is_exact()).filter_map(|probe| probe.asked).collect();
    let list: Vec<u64> = lengths.into_iter().collect();
    let (Some(first), Some(last)) = (list.first(), list.last()) else { return false };
    let step = list.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(1);
    list.len() >= SWEEP && (last - first) / step < 2 * list.len() as u64
}

/// Lengths are measured in any order, and listed in ascending order.
fn by_length(probes: &mut [Probe]) {
    let places: Vec<usize> = (0..probes.len()).filter(|place| is_rung(&probes[*place])).collect();
    let mut rungs: Vec<Probe> = places.iter().map(|place| probes[*place].clone()).collect();
    rungs.sort_by_key(|probe| (probe.name.contains('+'), probe.asked));
    places.into_iter().zip(rungs).for_each(|(place, rung)| probes[place] = rung);
}

fn is_step(name: &str) -> bool {
    name.starts_with(STEP) || name == "warm-up"
}

/// The times of every length, from the runs that evaluated exactly that many tokens, round by round.
pub fn points<'a>(probes: impl Iterator<Item = (u64, f64)> + 'a) -> Vec<Point> {
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    probes.filter(|(_, time)| *time > 0.0).for_each(|(length, time)| times.entry(length).or_default().push(time));
    times.into_iter().map(|(length, times)| Point { length, times }).collect()
}

/// Steps in the time over length, and the declarations of the rules and batches at these lengths.
fn course(every: &[Probe], around: &Around) -> (Vec<Change>, Option<Power>) {
    let exact = every.iter().filter(|probe| probe.is_exact() && probe.eval_count == Some(1));
    let points = points(exact.filter_map(|probe| Some((probe.asked?, probe.prompt_ms?))));
    let limits = limits(around);
    let micro = every.iter().find_map(|probe| probe.batching).map(|batching| batching.micro_batch);
    let (mut found, power) = changes(&points);
    for change in &mut found {
        let before = points.iter().rev().map(|point| point.length).find(|length| *length < change.at);
        // One or two lengths next to a step count as the same position: noise makes neighbours indistinguishable.
        let (from, to) = (before.unwrap_or(change.at).saturating_sub(2), change.at + 1);
        let near = |last: u64| (from..=to).contains(&last);
        change.declared = limits.iter().filter(|(last, _)| near(*last)).map(|(_, what)| what.clone().into()).collect();
        if let Some(micro) = micro
            && (from..=to).any(|length| length > 0 && length % micro == 0)
        {
            change.declared.push(say!("probe-declared-batch", tokens = micro).into());
        }
    }
    (found, power)
}

/// The lengths at which the rules change the path of a type of the model: the last length before each change, and the
/// types.
fn limits(around: &Around) -> Vec<(u64, Message)> {
    let Some(target) = around.target() else { return Vec::new() };
    let mut list: Vec<(u64, Message)> = Vec::new();
    for table in around.tables.iter().flat_map(|tables| &tables.list) {
        for (ty, _) in around.mix.counts.keys() {
            let plan = table.targets.get(&target).and_then(|target| table.plans.get(*target.types.get(ty)?));
            for pair in plan.map(Vec::as_slice).unwrap_or_default().windows(2) {
                if let [one, next] = pair
                    && let Some(last) = one.to.and_then(|to| u64::try_from(to).ok())
                {
                    let (path, then, version) = (&one.path, &next.path, &table.version);
                    let change = (last, say!("probe-declared-path", ty, path, then, last, version));
                    if !list.contains(&change) {
                        list.push(change);
                    }
                }
            }
        }
    }
    list
}

/// The lengths on both sides of each change, for probing.
pub fn thresholds(recording: &Recording, wanted: &Wanted, claims: Claims) -> Vec<u64> {
    let around = Around::look(recording, wanted, claims);
    limits(&around).into_iter().map(|(last, _)| last).collect()
}

/// How much of the model is on the GPU: from the log of the load, from Ollama's own list, or from the command line,
/// which is only a request.
fn offload(claims: &Claims, model: Option<&str>) -> Option<Offload> {
    let whole = claims.blocks.map(|blocks| blocks + 1);
    let mut asked = None;
    for claim in claims.list.iter().rev() {
        let place = claim.origin.to_string();
        match claim.meaning {
            Meaning::Layers { gpu, of: Some(of) } => {
                return Some(Offload { gpu: gpu.min(of), of, unit: "layers", place });
            }
            Meaning::Layers { gpu, of: None } => {
                asked = asked.or(whole.map(|of| Offload { gpu: gpu.min(of), of, unit: "layers", place }));
            }
            _ => {}
        }
    }
    let mine = |said: &str| model.is_none_or(|model| said.starts_with(model.trim_end_matches(":latest")));
    let share = claims.list.iter().rev().find_map(|claim| match claim.meaning {
        Meaning::Share { vram, size } if mine(&claim.said) => {
            Some(Offload { gpu: vram.min(size), of: size, unit: "bytes", place: claim.origin.to_string() })
        }
        _ => None,
    });
    share.or(asked)
}

/// The backend according to the server. If it does not say, that does not mean the CPU.
fn backend(claims: &Claims, stage: &Stage) -> Option<String> {
    let mut said = None;
    for claim in &claims.list {
        match &claim.meaning {
            Meaning::Backend { library, .. } => said = Some(library.to_ascii_lowercase()),
            Meaning::Layers { gpu: 0, .. } | Meaning::Share { vram: 0, .. } => said = said.or(Some("cpu".to_owned())),
            _ => {}
        }
    }
    said.or_else(|| stage.no_gpu.then(|| "cpu".to_owned()))
}

/// Whether a backend follows the rules that are known here.
fn has_rules(backend: &str) -> bool {
    ["rocm", "hip", "cuda"].contains(&backend)
}

/// The quantization in Ollama's notation.
fn quantization(recording: &Recording) -> Option<String> {
    let shows = recording.exchanges.iter().filter(|exchange| exchange.route() == "/api/show" && exchange.status == 200);
    let mut levels = shows.filter_map(|exchange| {
        let value = exchange.json()?;
        value.get("details")?.get("quantization_level")?.as_str().map(str::to_owned)
    });
    levels.find(|level| !level.is_empty())
}

/// A GPU that the server names, by target or by its driver's title.
fn device(claims: &Claims, stage: &Stage) -> Option<Device> {
    let named = claims.list.iter().filter_map(|claim| match &claim.meaning {
        Meaning::Backend { device, library } if !library.eq_ignore_ascii_case("cpu") && !device.is_empty() => {
            Some(device.as_str())
        }
        _ => None,
    });
    let mut names = stage.device.as_deref().into_iter().chain(named);
    names.find_map(|name| {
        let card = gpu::all().iter().find(|card| card.title.eq_ignore_ascii_case(name));
        let capability = name.split_once('.').map(|(major, minor)| format!("sm_{major}{minor}"));
        Device::find(name).ok().or_else(|| Device::find(&card?.name).ok()).or_else(|| Device::find(&capability?).ok())
    })
}

fn mix(recording: &Recording, wanted: &Wanted, stage: &Stage) -> Mix {
    let shown = || {
        let shows =
            recording.exchanges.iter().filter(|exchange| exchange.route() == "/api/show" && exchange.status == 200);
        shows.filter_map(|exchange| Mix::from_show(&exchange.json()?)).next()
    };
    wanted.model.clone().or_else(shown).or_else(|| Mix::from_log(&stage.types)).unwrap_or_default()
}
