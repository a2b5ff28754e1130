//! The conclusion: its statement, the reach of the statement, and the first word of an answer.

use super::account::{BlindSpot, Witness};
use super::basis::{Basis, LeftOut, Unit};
use crate::rung::Rung;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The statement of a conclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "says", rename_all = "kebab-case")]
pub enum Says {
    Found { count: u64 },
    Nothing,
    Same,
    Different { count: u64 },
    All,
    NotAll { failing: u64 },
    Complete,
    Incomplete,
    Chosen { choices: BTreeSet<String> },
}

impl Says {
    /// Whether a single case makes the statement true, regardless of how much was examined.
    fn stands_on_a_case(&self) -> bool {
        matches!(self, Says::Found { .. } | Says::Different { .. } | Says::NotAll { .. })
    }
}

say::named! {
    /// The scope of a conclusion.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Reach: name {
        /// There was no answer, or none for the deciding part: neither the conclusion nor its opposite is known.
        Unknown = "unknown",
        /// The statement holds for the answered part. Nothing is stated about lost or omitted parts.
        Answered = "answered",
        /// The statement holds for everything that the observer saw. The observer counts this as everything, but no
        /// second source confirms it.
        Alone = "alone",
        /// The statement holds for everything, confirmed by a second source.
        Whole = "whole",
    }
}

say::named! {
    /// The first word of an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Word: key {
        Yes = "yes",
        No = "no",
        Partly = "partly",
        NotKnown = "not-known",
    }
}

/// A conclusion with its basis. Only [`Basis`] can create one.
///
/// ```compile_fail
/// let same = evidence::Conclusion { says: evidence::Says::Same, reach: evidence::Reach::Whole, basis: todo!() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conclusion {
    #[serde(flatten)]
    says: Says,
    reach: Reach,
    #[serde(flatten)]
    basis: Basis,
}

impl Conclusion {
    pub(super) fn new(says: Says, basis: Basis) -> Self {
        let empty = matches!(&says, Says::Chosen { choices } if choices.is_empty());
        let on_a_case = says.stands_on_a_case() && basis.is_high_enough();
        let reach = match says {
            // The missing units are certainly missing. The list itself covers only what was examined, which is not
            // everything.
            Says::Incomplete => Reach::Answered,
            _ if on_a_case => Reach::Whole,
            _ if basis.is_whole_alone() && !nothing_asked(&basis) && !empty => {
                if basis.has_second_account() {
                    Reach::Whole
                } else {
                    Reach::Alone
                }
            }
            _ if (basis.answered == 0 || basis.is_lacking()) && !says.stands_on_a_case() => Reach::Unknown,
            _ if empty => Reach::Unknown,
            _ => Reach::Answered,
        };
        Conclusion { says, reach, basis }
    }

    pub fn says(&self) -> &Says {
        &self.says
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    pub fn rung(&self) -> Rung {
        self.basis.rung
    }

    /// The requested rung, if the answers are on a lower one.
    pub fn not_observed(&self) -> Option<Rung> {
        self.basis.asked_of.filter(|_| !self.basis.is_high_enough())
    }

    pub fn unit(&self) -> Unit {
        self.basis.unit
    }

    /// The number of units that were requested. None if the number is unknown.
    pub fn asked(&self) -> Option<u64> {
        self.basis.asked
    }

    pub fn answered(&self) -> u64 {
        self.basis.answered
    }

    /// Units that were requested but neither answered nor named as lost or left out.
    pub fn unanswered(&self) -> u64 {
        self.basis.asked.map_or(0, |asked| asked.saturating_sub(self.basis.answered))
    }

    pub fn lost(&self) -> u64 {
        self.basis.lost
    }

    pub fn left_out(&self) -> &[LeftOut] {
        &self.basis.left_out
    }

    /// The subjects that were examined.
    pub fn of(&self) -> impl Iterator<Item = &str> {
        self.basis.of.iter().map(String::as_str)
    }

    pub fn by(&self) -> impl Iterator<Item = &str> {
        self.basis.by.iter().map(String::as_str)
    }

    /// The accounts that agree with the observer's own.
    pub fn accounts(&self) -> impl Iterator<Item = Witness> {
        self.basis.accounts.iter().copied()
    }

    pub fn cannot_see(&self) -> &[BlindSpot] {
        &self.basis.cannot_see
    }

    /// Whether the statement is valid for everything that exists: either everything was examined, or a single case is
    /// enough.
    pub fn is_certain(&self) -> bool {
        self.reach == Reach::Whole
    }

    /// Whether everything was examined and a second account confirms it: nothing was lost, left out or unanswered. A
    /// positive finding is certain without this.
    pub fn is_whole(&self) -> bool {
        self.reach == Reach::Whole && self.basis.is_whole()
    }

    /// The answer to "is it there", "is it the same", "is it all" or "is it complete". A choice is Yes if there is
    /// exactly one.
    pub fn word(&self) -> Word {
        if self.reach == Reach::Unknown {
            return Word::NotKnown;
        }
        match &self.says {
            _ if self.not_observed().is_some() => Word::Partly,
            Says::Found { .. } => Word::Yes,
            Says::Different { .. } | Says::NotAll { .. } | Says::Incomplete => Word::No,
            Says::Nothing if self.is_whole() => Word::No,
            Says::Nothing => Word::NotKnown,
            Says::Chosen { choices } if choices.len() > 1 => Word::Partly,
            _ if self.is_whole() => Word::Yes,
            _ => Word::Partly,
        }
    }
}

/// Whether no unit was requested. Such a question has no answer: zero of zero cells are not "the same".
fn nothing_asked(basis: &Basis) -> bool {
    basis.answered == 0 && basis.asked == Some(0)
}
