//! The result of `--fix N --measure`: the plan, the comparison, and the current state of the server.

use crate::cause::{Phase, maybe};
use crate::speed::Now;
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FixRun {
    pub n: usize,
    pub outcome: Outcome,
    pub state: State,
    pub command: String,
    pub undo: String,
    /// The speeds without the fix and with it.
    pub compared: Vec<Compared>,
    /// The error, if the fix or its measurement failed.
    #[serde(serialize_with = "maybe")]
    #[schemars(with = "Option<String>")]
    pub failed: Option<Message>,
    /// The current process of the server; null if none runs.
    pub pid: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Only the plan was shown; nothing was run.
    Planned,
    Faster,
    Slower,
    Unclear,
    Failed,
    /// `--undo`: the setting before the fix is back.
    Undone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Unchanged,
    Kept,
    Restored,
    NotRestored,
}

/// One phase in tokens per second.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    pub phase: Phase,
    /// The speed without the fix, over the starts of the server.
    pub without: Now,
    pub with: Now,
    /// Every start, by the median of its requests.
    pub without_each: Vec<f64>,
    pub with_each: Vec<f64>,
    /// The speedup with the fix, and its interval.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    pub confidence: f64,
    /// The smallest difference that four of five such measurements find, as a share.
    pub smallest: Option<f64>,
    /// Starts that a difference of 10 % needs.
    pub starts_for_tenth: Option<u64>,
    pub says: Outcome,
}

impl FixRun {
    /// The fix is kept only if one phase is faster and none is slower.
    pub fn judged(compared: &[Compared]) -> Outcome {
        let any = |wanted: Outcome| compared.iter().any(|one| one.says == wanted);
        match () {
            () if compared.is_empty() => Outcome::Failed,
            () if any(Outcome::Slower) => Outcome::Slower,
            () if any(Outcome::Faster) => Outcome::Faster,
            () => Outcome::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_stays_only_where_nothing_is_slower() {
        let now = Now { median: 1.0, least: 1.0, most: 1.0, runs: 1 };
        let one = |says| Compared {
            phase: Phase::Decode,
            without: now,
            with: now,
            without_each: vec![1.0],
            with_each: vec![1.0],
            ratio: 1.0,
            low: 1.0,
            high: 1.0,
            confidence: 0.95,
            smallest: None,
            starts_for_tenth: None,
            says,
        };
        let judged = |list: &[Outcome]| FixRun::judged(&list.iter().copied().map(one).collect::<Vec<_>>());
        assert_eq!(judged(&[Outcome::Faster, Outcome::Unclear]), Outcome::Faster);
        assert_eq!(judged(&[Outcome::Faster, Outcome::Slower]), Outcome::Slower);
        assert_eq!(judged(&[Outcome::Unclear]), Outcome::Unclear);
        assert_eq!(judged(&[]), Outcome::Failed);
    }
}
