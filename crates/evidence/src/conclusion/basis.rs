//! The basis of a conclusion: how many units were requested, how many were answered, lost and left out.

use super::account::{Account, BlindSpot, Witness};
use super::statement::{Conclusion, Says};
use crate::rung::Rung;
use say::{Kept, Message, Say, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

say::named! {
    /// The unit of the counts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Unit: key and ALL {
        Bytes = "bytes",
        Calls = "calls",
        Cells = "cells",
        Claims = "claims",
        Commits = "commits",
        Files = "files",
        Instructions = "instructions",
        Kernels = "kernels",
        Launches = "launches",
        Libraries = "libraries",
        Machines = "machines",
        Observers = "observers",
        Points = "points",
        Probes = "probes",
        Rows = "rows",
        Settings = "settings",
    }
}

say::named! {
    /// Why a part of the question has no answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Why: key and ALL {
        /// The part was not requested: another card, another type, another library.
        NotAsked = "not-asked",
        /// The part exists, but could not be read.
        Unreadable = "unreadable",
        /// The rules do not determine the part with the given inputs.
        Undetermined = "undetermined",
        /// The run for this part failed.
        Failed = "failed",
        /// The system refused access.
        Refused = "refused",
        /// The event happened, but its record was lost.
        Lost = "lost",
        /// The event took a path that is not observed.
        OutOfView = "out-of-view",
        /// Data of another target was used instead.
        OtherTarget = "other-target",
        /// The observer saw only part of it.
        InPart = "in-part",
        /// The part was inferred by a rule and not observed.
        Inferred = "inferred",
        /// Only a file states it, and the file cannot be verified.
        OnlyTold = "only-told",
        /// The value varies even between unobserved runs.
        Unsteady = "unsteady",
        /// The observer did not report it.
        Untold = "untold",
        /// A second source has a different number.
        Disagrees = "disagrees",
        /// The run was stopped before it had finished.
        Stopped = "stopped",
        /// The machine's clock went back, so its dates have no order.
        Clock = "clock",
    }
}

impl Say for Why {
    fn message(&self) -> Message {
        match self {
            Why::NotAsked => say!("left-out-not-asked"),
            Why::Unreadable => say!("left-out-unreadable"),
            Why::Undetermined => say!("left-out-undetermined"),
            Why::Failed => say!("left-out-failed"),
            Why::Refused => say!("left-out-refused"),
            Why::Lost => say!("left-out-lost"),
            Why::OutOfView => say!("left-out-out-of-view"),
            Why::OtherTarget => say!("left-out-other-target"),
            Why::InPart => say!("left-out-in-part"),
            Why::Inferred => say!("left-out-inferred"),
            Why::OnlyTold => say!("left-out-only-told"),
            Why::Unsteady => say!("left-out-unsteady"),
            Why::Untold => say!("left-out-untold"),
            Why::Disagrees => say!("left-out-disagrees"),
            Why::Stopped => say!("left-out-stopped"),
            Why::Clock => say!("left-out-clock"),
        }
    }
}

/// A part of the question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// A name (a file, a target, a function), or a message.
    pub what: Kept,
    /// The number of units; null if it is unknown.
    pub count: Option<u64>,
    pub why: Why,
    /// Whether the question depends on this unit, so that the answer is unknown without it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decides: bool,
}

/// The basis of a conclusion. An observer collects it, and its last call turns it into a [`Conclusion`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Basis {
    pub(super) unit: Unit,
    /// Null if the total cannot be known (launches of a live process).
    pub(super) asked: Option<u64>,
    pub(super) answered: u64,
    pub(super) lost: u64,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) rung: Rung,
    /// The rung that was requested, if it differs. Example: a rule in the source does not answer what runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked_of: Option<Rung>,
    /// The names of the observers; there is at least one.
    pub(super) by: BTreeSet<String>,
    /// The names of the examined objects: a file, a tree, a card, a process.
    pub(super) of: BTreeSet<String>,
    /// Sources that are independent of the observer.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) accounts: BTreeSet<Witness>,
    /// Blind spots of the observer in this target, independent of its counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cannot_see: Vec<BlindSpot>,
}

impl Basis {
    /// The basis of a question for `asked` units, of which `answered` have an answer. `by` is the observer. `of` names
    /// what it examined (a file, a tree, a card, a process); it is empty if nothing was examined. Both are required:
    /// there is no answer without an observer and an object.
    ///
    /// ```compile_fail
    /// evidence::Basis::new(evidence::Rung::Declared, evidence::Unit::Cells, 1, 1);
    /// ```
    ///
    /// ```compile_fail
    /// evidence::Basis::new("source", evidence::Rung::Declared, evidence::Unit::Cells, 1, 1);
    /// ```
    pub fn new<S: Into<String>>(
        by: impl Into<String>,
        of: impl IntoIterator<Item = S>,
        rung: Rung,
        unit: Unit,
        asked: u64,
        answered: u64,
    ) -> Self {
        Basis {
            unit,
            asked: Some(asked),
            answered,
            lost: 0,
            left_out: Vec::new(),
            rung,
            asked_of: None,
            by: BTreeSet::from([by.into()]),
            of: of.into_iter().map(Into::into).collect(),
            accounts: BTreeSet::new(),
            cannot_see: Vec::new(),
        }
    }

    /// The basis of a question that lists its own units: the cells of a requested table, the claims of a file, the
    /// settings of a list. The list is the second account. Do not use this for units that the observer found by looking
    /// (launches, bytes, files, kernels).
    pub fn listed<S: Into<String>>(
        by: impl Into<String>,
        of: impl IntoIterator<Item = S>,
        rung: Rung,
        unit: Unit,
        asked: u64,
        answered: u64,
    ) -> Self {
        Basis::new(by, of, rung, unit, asked, answered).account(Account::searched(Witness::Question))
    }

    /// The basis if the number of units cannot be known. The units that were seen count as all of them, unless
    /// something was lost or left out.
    pub fn live<S: Into<String>>(
        by: impl Into<String>,
        of: impl IntoIterator<Item = S>,
        rung: Rung,
        unit: Unit,
        seen: u64,
    ) -> Self {
        Basis { asked: None, ..Basis::new(by, of, rung, unit, 0, seen) }
    }

    /// Adds a second account of the same units. Units that only this account has are recorded as left out.
    #[must_use]
    pub fn account(mut self, account: Account) -> Self {
        self.accounts.insert(account.by);
        self.left_out.extend(account.outside);
        self
    }

    /// Adds a blind spot of the observer for this target.
    #[must_use]
    pub fn cannot_see(mut self, spot: BlindSpot) -> Self {
        if !self.cannot_see.contains(&spot) {
            self.cannot_see.push(spot);
        }
        self
    }

    /// Adds another object that was examined.
    #[must_use]
    pub fn of(mut self, subject: impl Into<String>) -> Self {
        self.of.insert(subject.into());
        self
    }

    /// Adds another observer that took part.
    #[must_use]
    pub fn by(mut self, observer: impl Into<String>) -> Self {
        self.by.insert(observer.into());
        self
    }

    #[must_use]
    pub fn lost(mut self, lost: u64) -> Self {
        self.lost += lost;
        self
    }

    #[must_use]
    pub fn without(mut self, what: impl Into<Kept>, count: Option<u64>, why: Why) -> Self {
        self.left_out.push(LeftOut { what: what.into(), count, why, decides: false });
        self
    }

    /// Records that something the question depends on was left out: without it the answer is unknown, however much else
    /// was answered.
    #[must_use]
    pub fn lacking(mut self, what: impl Into<Kept>, why: Why) -> Self {
        self.left_out.push(LeftOut { what: what.into(), count: None, why, decides: true });
        self
    }

    /// Whether something that the question depends on was left out.
    pub(super) fn is_lacking(&self) -> bool {
        self.left_out.iter().any(|left| left.decides)
    }

    /// Sets the rung that the question is about. An answer from a lower rung is only partial.
    #[must_use]
    pub fn asked_of(mut self, rung: Rung) -> Self {
        self.asked_of = Some(rung);
        self
    }

    /// Whether the answers are on the requested rung or above it.
    pub(super) fn is_high_enough(&self) -> bool {
        self.asked_of.is_none_or(|asked| self.rung >= asked)
    }

    /// Whether a source other than the observer says how much there is.
    pub(super) fn has_second_account(&self) -> bool {
        !self.accounts.is_empty()
    }

    /// Whether, by the observer's own account, everything that exists was requested and answered.
    pub(super) fn is_whole_alone(&self) -> bool {
        let answered = self.asked.is_none_or(|asked| asked <= self.answered);
        self.lost == 0 && self.left_out.is_empty() && answered && self.is_high_enough()
    }

    /// Whether every requested unit was answered, and a second account confirms it.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole_alone() && self.has_second_account()
    }

    /// Concludes whether the thing exists. It was found `found` times.
    pub fn presence(self, found: u64) -> Conclusion {
        Conclusion::new(if found > 0 { Says::Found { count: found } } else { Says::Nothing }, self)
    }

    /// Concludes whether the two sides agree. `different` is the number of answers that differ.
    pub fn equality(self, different: u64) -> Conclusion {
        Conclusion::new(if different > 0 { Says::Different { count: different } } else { Says::Same }, self)
    }

    /// Concludes whether the statement holds for each unit. `failing` is the number of answers for which it does not.
    pub fn of_all(self, failing: u64) -> Conclusion {
        Conclusion::new(if failing > 0 { Says::NotAll { failing } } else { Says::All }, self)
    }

    /// Concludes whether the list contains everything that exists.
    pub fn completeness(self) -> Conclusion {
        let whole = self.is_whole_alone();
        Conclusion::new(if whole { Says::Complete } else { Says::Incomplete }, self)
    }

    /// Concludes which one was chosen. `choices` are the answers, each once.
    pub fn choice<T: Into<String>>(self, choices: impl IntoIterator<Item = T>) -> Conclusion {
        let choices: BTreeSet<String> = choices.into_iter().map(Into::into).collect();
        Conclusion::new(Says::Chosen { choices }, self)
    }
}
