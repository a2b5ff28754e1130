//! Everything that a frame shows, as of one moment.

use launch::Phase;
use launch::grammar::Path;
use std::time::Duration;
use watch::Row;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub card: Option<String>,
    /// Bytes of the card's memory: in use and in total.
    pub vram: Option<(u64, u64)>,
    pub elapsed: Duration,
    pub state: State,
    pub seen: u64,
    /// Launches that are known to be lost, and whether there may be more.
    pub lost: u64,
    pub lost_more: bool,
    pub unnamed: u64,
    /// The gaps in words; None if they are known only at the end.
    pub gaps: Option<Vec<String>>,
    /// The canary in one word, and whether a canary was seen.
    pub canary: (String, bool),
    pub sure: Sure,
    pub processes: Vec<Process>,
    pub fallbacks: Vec<Fallback>,
    pub claims: Vec<Claim>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum State {
    #[default]
    Live,
    /// How the target ended, in words.
    Ended(String),
    /// Why launches cannot be seen, and the remedy.
    NoLaunches(Vec<String>),
}

/// How sure the counts are: the word at the right end of line 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sure {
    Completed,
    Launched,
    /// The kernels were selected, but not on a real device.
    Selected,
    /// Launches were lost, or may have been missed.
    Partly,
    /// No launch was seen yet.
    Nothing,
    #[default]
    NotChecked,
}

impl Sure {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Sure::Completed => "live-sure-completed",
            Sure::Launched => "live-sure-launched",
            Sure::Selected => "live-sure-selected",
            Sure::Partly => "live-sure-partly",
            Sure::Nothing => "live-sure-nothing",
            Sure::NotChecked => "live-sure-not-checked",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Speed {
    #[default]
    Idle,
    Of(f64),
    Ended,
    /// Launches cannot be seen, or no two moments can be compared yet.
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    pub model: Option<String>,
    pub decode: Speed,
    /// Tokens per second that the hardware allows at most, and its inputs in words.
    pub limit: Option<f64>,
    pub inputs: Option<String>,
    pub context: Option<u64>,
    pub waiting: Option<u64>,
    /// Decoded tokens in each of the last seconds, oldest first.
    pub history: Vec<f64>,
    /// Launches per decoded token.
    pub per_token: Option<f64>,
    pub paths: Vec<PathShare>,
    pub kernels: Vec<Kernel>,
}

/// The share of a path in the matrix products of a phase, by launches.
#[derive(Debug, Clone, PartialEq)]
pub struct PathShare {
    pub phase: Phase,
    pub path: Path,
    pub share: f64,
    pub types: Vec<String>,
    /// Why it is a fallback, in words.
    pub fallback: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    pub row: Row,
    /// None until two moments can be compared.
    pub per_second: Option<f64>,
    pub per_token: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fallback {
    pub phase: Phase,
    pub kernel: String,
    pub launches: u64,
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Matches,
    Differs,
    Undecided,
}

/// A server's statement, next to the matching observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub what: String,
    pub said: String,
    pub seen: String,
    pub fate: Fate,
}

/// The code and the rule of one kernel: labels and values in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail {
    pub lines: Vec<(String, String)>,
}
