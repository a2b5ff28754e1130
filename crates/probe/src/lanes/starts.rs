//! How often the servers are started: enough to find a difference of 10 %, by the noise between the first starts.

use super::compared::What;
use super::difference::Noise;
use schemars::JsonSchema;
use serde::Serialize;

/// One start of a lane's server, with all times measured in it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Start {
    pub round: u64,
    pub times: Vec<Times>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Times {
    pub asked: u64,
    pub what: What,
    pub ms: Vec<f64>,
}

/// The number of starts of each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starts {
    pub least: u64,
    pub most: u64,
}

impl Starts {
    /// Eight starts of each lane estimate the noise well enough; more than 24 take longer than most users wait.
    pub const AUTOMATIC: Starts = Starts { least: 8, most: 24 };

    /// The number of starts: as many as were requested, or as the noise requires.
    pub fn wanted(repeat: Option<u64>) -> Starts {
        repeat.map_or(Starts::AUTOMATIC, |count| Starts { least: count, most: count })
    }

    /// The number of starts that the noisiest length needs to show a difference of 10 %, and the number of starts that
    /// are made. Decided once, after the first starts, because deciding again after every start would report more
    /// differences by chance.
    pub fn planned<'n>(self, noises: impl Iterator<Item = &'n Noise>) -> (Option<u64>, u64) {
        let needed = noises.filter_map(|noise| noise.starts_for_tenth).max();
        (needed, needed.unwrap_or(self.least).clamp(self.least, self.most.max(self.least)))
    }
}
