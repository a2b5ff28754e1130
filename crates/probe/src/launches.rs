//! The launches that a server made while it answered a request: the rows of a watch, separated by request.

use evidence::{Canary, Conclusion, Contamination, DeviceKind, Rung};
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use watch::{ObserverReport, Row, Source, State, Tally, WatchError};

/// One kernel in one phase, while a request was answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Launch {
    pub kernel: String,
    /// `prefill`, `batch`, `decode`, `other`.
    pub phase: &'static str,
    pub family: &'static str,
    /// The type of the weights, if the kernel's name contains it.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    pub columns: Option<u64>,
    pub path: Option<String>,
    pub launches: u64,
    /// `launched` if a real device was seen, otherwise `selected`.
    pub rung: Rung,
    #[serde(skip)]
    pub(crate) device: Option<DeviceKind>,
}

/// How complete the observation of launches was.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Watched {
    pub observer: &'static str,
    pub rung: Rung,
    pub launches: u64,
    /// Launches outside of any request.
    pub unattributed: u64,
    pub lost: u64,
    /// Whether the observed launches are complete.
    pub seen: Conclusion,
}

/// The parts of a watch's report that are stored with its observations.
#[derive(Debug, Clone)]
pub struct Account {
    pub observer: &'static str,
    pub canary: Canary,
    pub contamination: Contamination,
}

/// An observer that watches while requests are sent.
pub struct Onlooker {
    source: Box<dyn Source>,
    tally: Tally,
    before: BTreeMap<Key, u64>,
    attributed: u64,
    over: bool,
}

type Key = (&'static str, String, Option<u64>, [u32; 3], String);

/// How long launches may still arrive after an answer, and how long it must be quiet before they count as complete.
const MOST: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);
const QUIET: u32 = 3;

impl std::fmt::Debug for Onlooker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Onlooker").field("attributed", &self.attributed).finish_non_exhaustive()
    }
}

impl Onlooker {
    pub fn new(source: Box<dyn Source>) -> Onlooker {
        Onlooker { source, tally: Tally::default(), before: BTreeMap::new(), attributed: 0, over: false }
    }

    /// Polls for a moment; true while something arrives.
    pub fn look(&mut self, time: Duration) -> Result<bool, WatchError> {
        if self.over {
            std::thread::sleep(time);
            return Ok(false);
        }
        match self.source.poll(&mut self.tally, time)? {
            State::Busy => Ok(true),
            State::Quiet => Ok(false),
            State::Ended(_) => {
                self.over = true;
                Ok(false)
            }
        }
    }

    /// Launches until now belong to no request.
    pub fn begin(&mut self) -> Result<(), WatchError> {
        self.settle()?;
        self.before = counts(&self.tally.rows());
        Ok(())
    }

    /// The launches since [`Onlooker::begin`], once the last of them has arrived.
    pub fn since(&mut self) -> Result<Vec<Launch>, WatchError> {
        self.settle()?;
        let rows = self.tally.rows();
        let mut list: BTreeMap<Key, Launch> = BTreeMap::new();
        for row in &rows {
            list.entry(key(row)).or_insert_with(|| launch(row)).launches += row.launches;
        }
        for (key, launch) in &mut list {
            launch.launches = launch.launches.saturating_sub(self.before.get(key).copied().unwrap_or(0));
        }
        let list: Vec<Launch> = list.into_values().filter(|launch| launch.launches > 0).collect();
        self.attributed += list.iter().map(|launch| launch.launches).sum::<u64>();
        Ok(list)
    }

    fn settle(&mut self) -> Result<(), WatchError> {
        let (until, mut quiet) = (Instant::now() + MOST, 0);
        while quiet < QUIET && Instant::now() < until && !self.over {
            quiet = if self.look(STEP)? { 0 } else { quiet + 1 };
        }
        Ok(())
    }

    /// One of our requests caused a launch in the target itself.
    pub fn canary(&mut self, what: Message) {
        self.source.canary_in_target(what);
    }

    pub fn finish(mut self) -> Result<(Tally, ObserverReport, u64), WatchError> {
        let report = self.source.finish(&mut self.tally)?;
        let unattributed = (self.tally.launches() + self.tally.calls()).saturating_sub(self.attributed);
        Ok((self.tally, report, unattributed))
    }
}

pub fn watched(tally: &Tally, report: &ObserverReport, unattributed: u64) -> Watched {
    Watched {
        observer: report.observer.name(),
        rung: report.rung(report.device),
        launches: tally.launches(),
        unattributed,
        lost: tally.lost,
        seen: report.conclusion(tally),
    }
}

fn key(row: &Row) -> Key {
    (row.phase.key(), row.name.text(), row.ne11, row.block, row.file.clone())
}

fn counts(rows: &[Row]) -> BTreeMap<Key, u64> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(key(row)).or_default() += row.launches;
    }
    counts
}

fn launch(row: &Row) -> Launch {
    Launch {
        kernel: row.kernel.clone(),
        phase: row.phase.key(),
        family: row.family.key(),
        ty: row.weights.clone(),
        columns: row.ne11,
        path: row.path.map(|path| path.to_string()),
        launches: 0,
        rung: Rung::Selected,
        device: row.device,
    }
}
