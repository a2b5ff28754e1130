//! A reading: a claim, its grade, and everything that a person needs to check the grade. It is plain data, for any
//! report.

use crate::subject::Part;
use crate::{Fact, Grade, Looker, Observation, ObservationId, ObserverId, Recorded, Rung};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// One step of the argument. `observation` names the evidence it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// It saw what is claimed.
    Holds {
        observation: ObservationId,
        saw: String,
    },
    /// It saw something else.
    Contradicts {
        observation: ObservationId,
        saw: String,
    },
    /// It looked at all of it and it was not there.
    NotThere {
        observation: ObservationId,
    },
    /// Its coverage was partial.
    Partial {
        observation: ObservationId,
        missing: Vec<say::Kept>,
    },
    /// The claim is about a range, and this of it nobody looked at.
    RangeGap {
        parameter: String,
        gap: String,
    },
    /// Its canary was only seen in a process of ours.
    WeakCanary {
        observation: ObservationId,
        canary: String,
    },
    /// A live process was watched and nobody compared with an unobserved run.
    Uncertified {
        observation: ObservationId,
    },
    /// No second account says that the observer saw all there was.
    OneAccount {
        observation: ObservationId,
    },
    /// Two that disagree.
    Conflict {
        one: ObservationId,
        other: ObservationId,
    },
    Contaminated {
        observation: ObservationId,
        differences: Vec<String>,
    },
    /// It cannot carry a statement of absence: the blind spot.
    BlindSpot {
        observation: ObservationId,
        spot: Spot,
    },
    /// It saw a lower bound that does not decide.
    Silent {
        observation: ObservationId,
        saw: String,
    },
    Blocked {
        observation: ObservationId,
        why: String,
        fix: String,
        /// `why` as a message.
        #[serde(skip_serializing_if = "Option::is_none")]
        said: Option<say::Message>,
    },
    /// An observation of another subject, which a rule lets speak.
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
    /// Seen of another subject; no rule carries it over.
    Elsewhere {
        observation: ObservationId,
        differs: Vec<Part>,
        saw: String,
    },
    /// Runtime, file or source named by the claim and not found here.
    /// The claim is about that machine, and nothing of it is in this ledger.
    OtherMachine {
        host: String,
    },
    NotHere {
        what: String,
    },
    NoDevice {
        what: String,
    },
    /// Nothing that could see it exists.
    NotInView {
        rung: Rung,
        topic: String,
    },
    /// These observers could have seen it.
    NeverTried {
        observers: Vec<Looker>,
    },
}

/// Why silence is no evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "spot", rename_all = "kebab-case")]
pub enum Spot {
    /// Not in its field of view.
    View,
    /// Not watched for the whole window.
    Window { seen: String },
    /// Something was lost or not looked at.
    Coverage { missing: Vec<say::Kept> },
    /// No canary was seen: it may have been asleep.
    NoCanary,
    /// Only this file or tree was looked at, and the claim is about more.
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

/// An observation as a reading cites it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Citation {
    pub observation: ObservationId,
    pub observer: ObserverId,
    pub rung: Rung,
    pub subject: String,
    pub saw: String,
    pub time: String,
    pub evidence: Vec<String>,
    /// The subject in a word or two, for people: `ollama 4fda6980`, `debian-sid`.
    #[serde(skip)]
    pub of: String,
    /// What the subject is compiled for, or asked about: the same file or rule says something else of another.
    #[serde(skip)]
    pub target: Option<String>,
    #[serde(skip)]
    pub fact: Option<Fact>,
    /// Accounts besides the observer's own that agree with it on how much there was.
    #[serde(skip)]
    pub accounts: BTreeSet<crate::Witness>,
    /// Another ledger's word, where it was imported: `LEDGER#ROW@HASH`, with the hands through which it came.
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

/// What was seen, on one line.
pub fn saw(observation: &Observation) -> String {
    use crate::{Bound, Finding};
    match observation.finding() {
        Finding::Saw(fact) => {
            let bound = if fact.bound == Bound::AtLeast { ">= " } else { "" };
            let about = if fact.about.0.is_empty() { String::new() } else { format!(" [{}]", fact.about) };
            format!("{}{about}: {bound}{}", fact.topic, fact.value)
        }
        Finding::Swept => {
            let topics: Vec<&str> = observation.field_of_view().views.iter().map(|view| view.topic.as_str()).collect();
            format!("swept: {}", topics.join(", "))
        }
        Finding::Blocked { why, .. } => format!("blocked: {why}"),
    }
}

/// What one rung has to say on the claim, own subject and others alike; context, no grade.
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
    /// The argument, in an order that does not depend on the order of arrival.
    pub reasons: Vec<Reason>,
    /// The observations that the reasons name.
    pub cites: Vec<Citation>,
    pub ladder: Vec<RungTally>,
}
