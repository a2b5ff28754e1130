//! A reading: a claim, its grade, and everything that a person needs to check the grade. It is plain data, for any
//! report.

use crate::subject::Part;
use crate::{Fact, Grade, Looker, Observation, ObservationId, ObserverId, Recorded, Rung};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// One step of the argument. `observation` is its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// The observation saw what is claimed.
    Holds {
        observation: ObservationId,
        saw: say::Kept,
    },
    /// The observation saw something else.
    Contradicts {
        observation: ObservationId,
        saw: say::Kept,
    },
    /// The observation examined everything and did not find it.
    NotThere {
        observation: ObservationId,
    },
    /// The coverage of the observation was partial.
    Partial {
        observation: ObservationId,
        missing: Vec<say::Kept>,
    },
    /// The part of a claimed range that was not examined.
    RangeGap {
        parameter: String,
        gap: String,
    },
    /// The observer's canary was seen only in a test process.
    WeakCanary {
        observation: ObservationId,
        canary: say::Kept,
    },
    /// A live process was watched, and it was not compared with an unobserved run.
    Uncertified {
        observation: ObservationId,
    },
    /// No second source confirms that the observer saw everything.
    OneAccount {
        observation: ObservationId,
    },
    /// Two observations that disagree.
    Conflict {
        one: ObservationId,
        other: ObservationId,
    },
    Contaminated {
        observation: ObservationId,
        differences: Vec<String>,
    },
    /// The observation cannot show an absence: the blind spot.
    BlindSpot {
        observation: ObservationId,
        spot: Spot,
    },
    /// The observation is a lower bound, which does not decide the claim.
    Silent {
        observation: ObservationId,
        saw: say::Kept,
    },
    Blocked {
        observation: ObservationId,
        why: String,
        fix: String,
        /// `why` as a message.
        #[serde(skip_serializing_if = "Option::is_none")]
        said: Option<say::Message>,
    },
    /// An observation of another subject, transferred by a rule.
    Transferred {
        observation: ObservationId,
        rule: &'static str,
        differs: Vec<Part>,
        assumptions: Vec<&'static str>,
    },
    /// Follows from a lower rung by a rule.
    Follows {
        observation: ObservationId,
        rule: &'static str,
        from: Rung,
        assumptions: Vec<&'static str>,
    },
    /// Seen on another subject; no rule transfers it.
    Elsewhere {
        observation: ObservationId,
        differs: Vec<Part>,
        saw: say::Kept,
    },
    /// The runtime, file or source of the claim was not found on this machine. The claim is about another machine, of
    /// which this ledger has no observation.
    OtherMachine {
        host: String,
    },
    NotHere {
        what: String,
    },
    NoDevice {
        what: String,
    },
    /// No observer can check the claim.
    NotInView {
        rung: Rung,
        topic: String,
    },
    /// These observers could check the claim, but were not run.
    NeverTried {
        observers: Vec<Looker>,
    },
}

/// Why not seeing something is not evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "spot", rename_all = "kebab-case")]
pub enum Spot {
    /// The claim is outside the observer's field of view.
    View,
    /// The subject was not watched for the whole window.
    Window { seen: String },
    /// Something was lost or not examined.
    Coverage { missing: Vec<say::Kept> },
    /// No canary was seen, so the observer may not have worked.
    NoCanary,
    /// Only this file or tree was examined, but the claim covers more.
    OnlyThis { what: String },
}

impl Reason {
    pub fn observation(&self) -> Option<&ObservationId> {
        match self {
            Reason::Holds { observation, .. }
            | Reason::Contradicts { observation, .. }
            | Reason::NotThere { observation }
            | Reason::Partial { observation, .. }
            | Reason::WeakCanary { observation, .. }
            | Reason::Uncertified { observation }
            | Reason::OneAccount { observation }
            | Reason::Contaminated { observation, .. }
            | Reason::BlindSpot { observation, .. }
            | Reason::Silent { observation, .. }
            | Reason::Blocked { observation, .. }
            | Reason::Transferred { observation, .. }
            | Reason::Follows { observation, .. }
            | Reason::Elsewhere { observation, .. } => Some(observation),
            Reason::Conflict { one, .. } => Some(one),
            _ => None,
        }
    }
}

/// An observation that a reading cites.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Citation {
    pub observation: ObservationId,
    pub observer: ObserverId,
    pub rung: Rung,
    pub subject: String,
    pub saw: say::Kept,
    pub time: String,
    pub evidence: Vec<String>,
    /// A short name of the subject for users: `ollama 4fda6980`, `debian-sid`.
    #[serde(skip)]
    pub of: String,
    /// The target that the subject is compiled for or was asked about. The same file or rule gives other results for
    /// another target.
    #[serde(skip)]
    pub target: Option<String>,
    #[serde(skip)]
    pub fact: Option<Fact>,
    /// Independent accounts that agree with the observer's count.
    #[serde(skip)]
    pub accounts: BTreeSet<crate::Witness>,
    /// The origin of an imported observation: `LEDGER#ROW@HASH`, with the ledgers that passed it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
}

impl Citation {
    pub fn of(recorded: &Recorded) -> Self {
        Citation {
            observation: recorded.id().clone(),
            observer: recorded.observer().clone(),
            rung: recorded.rung(),
            subject: recorded.subject().to_string(),
            saw: saw(recorded),
            time: recorded.time().to_owned(),
            evidence: recorded.raw_evidence().iter().map(|evidence| evidence.sha256.clone()).collect(),
            of: recorded.subject().short(),
            target: recorded.subject().target.clone(),
            fact: recorded.fact().cloned(),
            accounts: recorded.coverage().accounts.clone(),
            imported_from: recorded.origin().map(str::to_owned),
        }
    }
}

/// The finding, in one line.
pub fn saw(observation: &Observation) -> say::Kept {
    use crate::{Bound, Finding};
    match observation.finding() {
        Finding::Saw(fact) => {
            let bound = if fact.bound == Bound::AtLeast { ">= " } else { "" };
            let about = if fact.about.0.is_empty() { String::new() } else { format!(" [{}]", fact.about) };
            format!("{}{about}: {bound}{}", fact.topic, fact.value).into()
        }
        Finding::Swept => {
            let topics: Vec<&str> = observation.field_of_view().views.iter().map(|view| view.topic.as_str()).collect();
            say::say!("evidence-saw-swept", topics = topics.join(", ")).into()
        }
        Finding::Blocked { why, said, .. } => {
            let reason = said.clone().unwrap_or_else(|| say::Message::verbatim(why));
            say::say!("evidence-saw-blocked", why = reason).into()
        }
    }
}

/// The observations of one rung about the claim, for its own and other subjects. This is context and does not affect
/// the grade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Step")]
pub struct RungTally {
    pub rung: Rung,
    pub holds: usize,
    pub contradicts: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reading {
    pub claim: String,
    pub rung: Rung,
    #[serde(flatten)]
    pub grade: Grade,
    /// The argument, in an order that does not depend on the order of recording.
    pub reasons: Vec<Reason>,
    /// The observations that the reasons cite.
    pub cites: Vec<Citation>,
    pub ladder: Vec<RungTally>,
}
