//! How much of what was looked at was really seen.

use crate::conclusion::Witness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Something that was not seen, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// `bytes 0x4000..0x5000`, `grids from occupancy`, `kernels launched before the attach`.
    pub what: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// What is counted: `bytes`, `events`, `kernels`, `rows`, `settings`.
    pub unit: String,
    pub seen: u64,
    /// None where nobody can know how many there were (events of a live process).
    #[serde(default)]
    pub total: Option<u64>,
    /// Known to have happened and not recorded (a full ring).
    #[serde(default)]
    pub lost: u64,
    #[serde(default)]
    pub missing: Vec<Gap>,
    /// Accounts besides the observer's own that agree with it. Without one, "not seen" is the observer's word alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accounts: BTreeSet<Witness>,
}

impl Coverage {
    /// All of it was seen, by the observer's own account.
    pub fn complete(unit: impl Into<String>, seen: u64) -> Self {
        Coverage { unit: unit.into(), seen, total: Some(seen), lost: 0, missing: Vec::new(), accounts: BTreeSet::new() }
    }

    /// All that the question lists was seen: column counts of a range, entries of a table.
    pub fn listed(unit: impl Into<String>, seen: u64) -> Self {
        Coverage::complete(unit, seen).account(Witness::Question)
    }

    pub fn partial(unit: impl Into<String>, seen: u64, total: Option<u64>, missing: Vec<Gap>) -> Self {
        Coverage { unit: unit.into(), seen, total, lost: 0, missing, accounts: BTreeSet::new() }
    }

    pub fn lost(self, lost: u64) -> Self {
        Coverage { lost, ..self }
    }

    pub fn missing(mut self, what: impl Into<String>, why: impl Into<String>) -> Self {
        self.missing.push(Gap { what: what.into(), why: why.into() });
        self
    }

    /// A second account that agrees.
    #[must_use]
    pub fn account(mut self, by: Witness) -> Self {
        self.accounts.insert(by);
        self
    }

    pub fn is_complete(&self) -> bool {
        self.lost == 0 && self.missing.is_empty() && self.total.is_none_or(|total| total <= self.seen)
    }
}
