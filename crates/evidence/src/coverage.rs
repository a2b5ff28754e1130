//! How much of the examined object was actually seen.

use crate::conclusion::Witness;
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A gap: the part that was not seen, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// `bytes 0x4000..0x5000`, `grids from occupancy`, `kernels launched before the attach`.
    pub what: String,
    pub why: String,
    /// `what` as a message, if it is a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_said: Option<Message>,
    /// `why` as a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_said: Option<Message>,
}

impl Gap {
    /// The text `what (why)`.
    pub fn whole(&self) -> Kept {
        let said =
            |said: &Option<Message>, english: &String| said.clone().unwrap_or_else(|| Message::verbatim(english));
        let (what, why) = (said(&self.what_said, &self.what), said(&self.why_said, &self.why));
        Kept { english: format!("{} ({})", self.what, self.why), said: Some(say!("about-reason", what, why)) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// The unit of the counts: `bytes`, `events`, `kernels`, `rows`, `settings`.
    pub unit: String,
    pub seen: u64,
    /// Null if the total cannot be known (events of a live process).
    #[serde(default)]
    pub total: Option<u64>,
    /// Events that are known to have happened but were not recorded (a full ring buffer).
    #[serde(default)]
    pub lost: u64,
    #[serde(default)]
    pub missing: Vec<Gap>,
    /// Second sources that agree with the observer. Without one, "not seen" depends on the observer alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accounts: BTreeSet<Witness>,
}

impl Coverage {
    /// The observer saw everything, by its own account.
    pub fn complete(unit: impl Into<String>, seen: u64) -> Self {
        Coverage { unit: unit.into(), seen, total: Some(seen), lost: 0, missing: Vec::new(), accounts: BTreeSet::new() }
    }

    /// Everything that the question lists was seen, for example column counts of a range or entries of a table.
    pub fn listed(unit: impl Into<String>, seen: u64) -> Self {
        Coverage::complete(unit, seen).account(Witness::Question)
    }

    pub fn partial(unit: impl Into<String>, seen: u64, total: Option<u64>, missing: Vec<Gap>) -> Self {
        Coverage { unit: unit.into(), seen, total, lost: 0, missing, accounts: BTreeSet::new() }
    }

    pub fn lost(self, lost: u64) -> Self {
        Coverage { lost, ..self }
    }

    /// Adds a part that was not seen. `what` is a name or a message.
    pub fn missing(mut self, what: impl Into<Kept>, why: Message) -> Self {
        let (what, why) = (what.into(), Kept::from(why));
        let (what_said, why_said) = (what.said, why.said);
        self.missing.push(Gap { what: what.english, why: why.english, what_said, why_said });
        self
    }

    /// Adds a second account that agrees.
    #[must_use]
    pub fn account(mut self, by: Witness) -> Self {
        self.accounts.insert(by);
        self
    }

    /// The counted unit for human readers. Unit names written by other versions stay unchanged.
    pub fn counted(&self) -> Message {
        match self.unit.as_str() {
            "answers" => say!("evidence-unit-answers"),
            "bytes" => say!("evidence-unit-bytes"),
            "bytes of device code" => say!("evidence-unit-code"),
            "claims" => say!("evidence-unit-claims"),
            "column counts" => say!("evidence-unit-columns"),
            "directories" => say!("evidence-unit-directories"),
            "dispatches" => say!("evidence-unit-dispatches"),
            "events" => say!("evidence-unit-events"),
            "facts" => say!("evidence-unit-facts"),
            "files" => say!("evidence-unit-files"),
            "kernels" => say!("evidence-unit-kernels"),
            "launches" => say!("evidence-unit-launches"),
            "libraries" => say!("evidence-unit-libraries"),
            "library directories" => say!("evidence-unit-library-directories"),
            "NEEDED entries" => say!("evidence-unit-needed"),
            "points" => say!("evidence-unit-points"),
            "topology nodes" => say!("evidence-unit-nodes"),
            other => Message::verbatim(other),
        }
    }

    pub fn is_complete(&self) -> bool {
        self.lost == 0 && self.missing.is_empty() && self.total.is_none_or(|total| total <= self.seen)
    }
}
