//! Turns the counts of a watch into a snapshot: rates over the last seconds, shares, and how certain they are.

use crate::keys::{RowId, id};
use crate::snapshot::{Fallback, Kernel, PathShare, Process, Snapshot, Speed, State, Sure};
use evidence::{Canary, Rung};
use launch::Phase;
use launch::grammar::{Family, Path};
use say::Lang;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;
use watch::{ObserverReport, Row, Sign, Tally, Why};

/// Rates are averages over this time, and a process without an evaluation for this long is idle.
const WINDOW: Duration = Duration::from_secs(2);
/// The seconds of the chart.
const HISTORY: usize = 36;

/// The state of a watch at one moment.
#[derive(Debug)]
pub struct Now<'a> {
    pub elapsed: Duration,
    pub tally: &'a Tally,
    /// Lost launches, and the report as of now.
    pub so_far: Option<&'a (u64, ObserverReport)>,
    /// The watched processes, also those without a launch: id, name, and whether it has ended.
    pub processes: &'a [(u32, String, bool)],
    pub lang: &'a Lang,
}

/// The counts at an earlier moment.
#[derive(Debug, Default)]
struct Mark {
    at: Duration,
    /// The time of the last event that was counted.
    event: Option<u64>,
    launches: HashMap<(u32, RowId), u64>,
    tokens: HashMap<u32, u64>,
}

/// Keeps the counts of the last seconds.
#[derive(Debug, Default)]
pub struct Collector {
    marks: VecDeque<Mark>,
    history: BTreeMap<u32, VecDeque<f64>>,
}

impl Collector {
    /// Called once a second.
    pub fn take(&mut self, now: &Now<'_>) -> Snapshot {
        let mut mark = Mark { at: now.elapsed, event: now.tally.counted_to, ..Mark::default() };
        let watched = now.processes.iter().map(|(pid, ..)| *pid);
        let pids: BTreeSet<u32> = watched.chain(now.tally.processes()).collect();
        let mut processes: Vec<Process> = pids.iter().map(|pid| self.process(*pid, now, &mut mark)).collect();
        processes.sort_by_key(|process| std::cmp::Reverse(process.kernels.iter().map(|k| k.row.launches).sum::<u64>()));
        self.marks.push_back(mark);
        // The oldest mark that is kept is the last one that is at least a window old.
        while self.marks.get(1).is_some_and(|mark| mark.at + WINDOW <= now.elapsed) {
            self.marks.pop_front();
        }
        let report = now.so_far.map(|(_, report)| report);
        let lost = now.so_far.map_or(now.tally.lost, |(lost, _)| *lost);
        let unseen = lost > 0 || now.tally.unknown_replays > 0 || report.is_none_or(|report| !report.whole());
        Snapshot {
            card: None,
            vram: None,
            elapsed: now.elapsed,
            state: State::Live,
            seen: now.tally.launches(),
            lost,
            lost_more: unseen,
            unnamed: now.tally.unnamed(),
            gaps: report.map(|report| gaps(report, now)),
            canary: canary(report, now.lang),
            sure: match report {
                _ if now.tally.launches() + now.tally.calls() == 0 => Sure::Nothing,
                Some(report) if !unseen => match report.rung(report.device) {
                    Rung::Completed => Sure::Completed,
                    Rung::Launched => Sure::Launched,
                    _ => Sure::Selected,
                },
                _ => Sure::Partly,
            },
            processes,
            fallbacks: now.tally.fallback.signs().map(|(sign, heard)| fallback(sign, heard.count, now.lang)).collect(),
            claims: Vec::new(),
        }
    }

    fn process(&mut self, pid: u32, now: &Now<'_>, mark: &mut Mark) -> Process {
        let tally = now.tally;
        let known = now.processes.iter().find(|(known, ..)| *known == pid);
        let tokens = tally.tokens_of(pid);
        mark.tokens.insert(pid, tokens);
        let before = self.marks.front();
        // The time between counted events. If the observer is behind, wall time would show the observer's speed
        // instead.
        let seconds = before.map_or(0.0, |before| match before.event.zip(now.tally.counted_to) {
            Some((from, to)) => to.saturating_sub(from) as f64 / 1e9,
            None => now.elapsed.saturating_sub(before.at).as_secs_f64(),
        });
        let rate = |count: u64, before: u64| (seconds > 0.0).then(|| count.saturating_sub(before) as f64 / seconds);
        let decoded = rate(tokens, before.and_then(|mark| mark.tokens.get(&pid)).copied().unwrap_or(0));
        let history = self.history.entry(pid).or_default();
        history.push_back(decoded.unwrap_or(0.0));
        if history.len() > HISTORY {
            history.pop_front();
        }
        let rows = tally.rows_of(Some(pid));
        let paths = paths(&rows, tally, now.lang);
        let in_tokens =
            |row: &Row| (row.phase == Phase::Decode && tokens > 0).then(|| row.launches as f64 / tokens as f64);
        let is_launch = |row: &&Row| !matches!(row.name, watch::Name::Call(_));
        let all: f64 = rows.iter().filter(is_launch).filter_map(in_tokens).sum();
        let kernels = rows.into_iter().map(|row| {
            let mut kernel = Kernel { per_second: None, per_token: in_tokens(&row), row };
            let key = (pid, id(&kernel));
            let earlier = before.and_then(|mark| mark.launches.get(&key)).copied().unwrap_or(0);
            kernel.per_second = rate(kernel.row.launches, earlier);
            mark.launches.insert(key, kernel.row.launches);
            kernel
        });
        Process {
            pid,
            name: known.map_or_else(String::new, |(_, name, _)| name.clone()),
            decode: match known {
                Some((.., true)) => Speed::Ended,
                _ => match decoded {
                    Some(decoded) if decoded > 0.0 => Speed::Of(decoded),
                    Some(_) => Speed::Idle,
                    None => Speed::Unknown,
                },
            },
            kernels: kernels.collect(),
            history: history.iter().copied().collect(),
            per_token: (tokens > 0).then_some(all),
            paths,
            ..Process::default()
        }
    }
}

fn gaps(report: &ObserverReport, now: &Now<'_>) -> Vec<String> {
    let lang = now.lang;
    let line = |unseen: &watch::Unseen| format!("{}: {}", lang.say(&unseen.what()), lang.say(&unseen.why()));
    let mut list: Vec<String> = report.gaps.iter().map(line).collect();
    if now.tally.unknown_replays > 0 {
        let count = now.tally.unknown_replays;
        list.push(lang.text_with("watch-unknown-replays", &[("count", count.into())]));
    }
    list
}

/// The canary in one word; a source that calls it only at the end has none yet.
fn canary(report: Option<&ObserverReport>, lang: &Lang) -> (String, bool) {
    let (key, seen) = match report.map(|report| &report.canary) {
        Some(Canary::InTarget(_)) => ("live-canary-target", true),
        Some(Canary::InChild(_)) => ("live-canary-child", true),
        Some(Canary::None) | None => ("live-canary-none", false),
    };
    (lang.text(key), seen)
}

/// Whether a row is a matrix product with weights.
fn product(row: &Row) -> Option<Path> {
    let helper = matches!(
        row.family,
        Family::Repack | Family::MmqFixup | Family::GemmHelper | Family::BlasPointers | Family::Gemm | Family::Gemv
    );
    // Without flash attention, attention multiplies in batches, which involve no weights.
    let weights = row.call.is_none_or(|call| launch::blas::is_weight_product(call.batch));
    row.path.filter(|path| *path != Path::FlashAttention && !helper && weights)
}

/// The paths of each phase. A BLAS call counts, but the kernels that it launches do not, so that no product is counted
/// twice.
fn paths(rows: &[Row], tally: &Tally, lang: &Lang) -> Vec<PathShare> {
    let calls = rows.iter().any(|row| matches!(row.name, watch::Name::Call(_)));
    let dense = |row: &Row| match row.family {
        Family::Gemm | Family::Gemv if !calls => Some(Path::Blas),
        _ => product(row),
    };
    let mut found: BTreeMap<(Phase, Path), (u64, BTreeSet<String>)> = BTreeMap::new();
    for row in rows {
        let Some(path) = dense(row) else { continue };
        let entry = found.entry((row.phase, path)).or_default();
        entry.0 += row.launches;
        entry.1.extend(row.weights.clone());
    }
    let mut totals: BTreeMap<Phase, u64> = BTreeMap::new();
    for ((phase, _), (count, _)) in &found {
        *totals.entry(*phase).or_default() += count;
    }
    let mut list: Vec<PathShare> = found
        .into_iter()
        .map(|((phase, path), (count, types))| PathShare {
            phase,
            path,
            share: count as f64 / totals.get(&phase).copied().unwrap_or(1).max(1) as f64,
            types: types.into_iter().collect(),
            fallback: tally
                .fallback
                .signs()
                .find(|(sign, _)| concerns(sign, phase, path))
                .map(|(sign, _)| why(sign, lang)),
        })
        .collect();
    let order = |phase: Phase| [Phase::Decode, Phase::Prefill, Phase::Batch].iter().position(|known| *known == phase);
    list.sort_by(|a, b| {
        let by_phase = order(a.phase).unwrap_or(9).cmp(&order(b.phase).unwrap_or(9));
        by_phase.then(b.share.total_cmp(&a.share))
    });
    list
}

fn concerns(sign: &Sign, phase: Phase, path: Path) -> bool {
    let of = match sign.why {
        Why::Unpacked { .. } | Why::BlasForOne => Path::Blas,
        Why::Cut { .. } => return sign.phase == phase && sign.family.path() == Some(path),
    };
    sign.phase == phase && path == of
}

fn why(sign: &Sign, lang: &Lang) -> String {
    match &sign.why {
        Why::Unpacked { .. } => lang.text_with("live-why-unpacked", &[("kernel", sign.kernel.clone().into())]),
        Why::BlasForOne => lang.text("live-why-blas-for-one"),
        Why::Cut { products } => lang.text_with("live-why-cut", &[("products", (*products).into())]),
    }
}

fn fallback(sign: &Sign, launches: u64, lang: &Lang) -> Fallback {
    let kernel = match &sign.why {
        Why::Unpacked { by } => by.clone(),
        Why::BlasForOne | Why::Cut { .. } => sign.kernel.clone(),
    };
    Fallback { phase: sign.phase, kernel, launches, why: why(sign, lang) }
}
