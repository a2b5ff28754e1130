//! One observation: who saw what, of whom, on which rung, how much of it, and how far it may be believed.

use crate::{Canary, Contamination, Coverage, DeviceKind, Fact, FieldOfView, Rung, RungKind, Subject};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserverId {
    /// `inspect`, `isa`, `source`, `dryrun`, `uprobe`, `host`, ...
    pub name: String,
    pub version: String,
}

impl ObserverId {
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        ObserverId { name: name.into(), version: version.into() }
    }
}

/// Raw evidence, kept in the ledger under its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub sha256: String,
    pub size: u64,
    /// What it is, as a media type or a plain word: `text/csv`, `launch trace`.
    pub kind: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// This was seen.
    Saw(Fact),
    /// The whole field of view was watched for the whole window; what was there has its own `Saw` of the same run, so
    /// that silence on the rest is evidence.
    Swept,
    /// It could not look: why, and the command or setting that would let it.
    Blocked { why: String, fix: String },
}

/// Fields are private: what stands here has passed [`Observation::check`], also after a trip through a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Observation {
    plain: Plain,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    observer: ObserverId,
    rung: Rung,
    subject: Subject,
    finding: Finding,
    #[serde(default)]
    view: FieldOfView,
    coverage: Coverage,
    contamination: Contamination,
    canary: Canary,
    /// RFC 3339, UTC.
    time: String,
    #[serde(default)]
    evidence: Vec<Evidence>,
}

/// Why something may not be recorded as an observation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error(
        "{observer}: the rung '{rung}' needs a real device, and the subject's device is '{device}'; \
         what a stand-in is asked to launch is recorded as 'selected'"
    )]
    NoRealDevice { observer: String, rung: Rung, device: &'static str },
    #[error("{observer}: the fact has no topic")]
    NoTopic { observer: String },
    #[error("{observer}: a number of the fact '{topic}' is not finite")]
    NotFinite { observer: String, topic: String },
    #[error("the observer has no name")]
    NoObserver,
}

impl Observation {
    /// What `observer` found on the rung `R`. Complete, untouched and without a canary until said otherwise.
    pub fn on<R: RungKind>(
        observer: ObserverId,
        subject: Subject,
        finding: Finding,
        coverage: Coverage,
        time: impl Into<String>,
    ) -> Result<Self, Refused> {
        Plain {
            observer,
            rung: R::RUNG,
            subject,
            finding,
            view: FieldOfView::default(),
            coverage,
            contamination: Contamination::Untouched,
            canary: Canary::None,
            time: time.into(),
            evidence: Vec::new(),
        }
        .try_into()
    }

    pub fn view(mut self, view: FieldOfView) -> Self {
        self.plain.view = view;
        self
    }

    pub fn contamination(mut self, contamination: Contamination) -> Self {
        self.plain.contamination = contamination;
        self
    }

    pub fn canary(mut self, canary: Canary) -> Self {
        self.plain.canary = canary;
        self
    }

    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.plain.evidence.push(evidence);
        self
    }

    pub fn observer(&self) -> &ObserverId {
        &self.plain.observer
    }

    pub fn rung(&self) -> Rung {
        self.plain.rung
    }

    pub fn subject(&self) -> &Subject {
        &self.plain.subject
    }

    pub fn finding(&self) -> &Finding {
        &self.plain.finding
    }

    pub fn fact(&self) -> Option<&Fact> {
        match &self.plain.finding {
            Finding::Saw(fact) => Some(fact),
            _ => None,
        }
    }

    pub fn field_of_view(&self) -> &FieldOfView {
        &self.plain.view
    }

    pub fn coverage(&self) -> &Coverage {
        &self.plain.coverage
    }

    pub fn contaminated(&self) -> Option<&[String]> {
        match &self.plain.contamination {
            Contamination::Contaminated { differences } => Some(differences),
            _ => None,
        }
    }

    pub fn contamination_state(&self) -> &Contamination {
        &self.plain.contamination
    }

    pub fn canary_seen(&self) -> &Canary {
        &self.plain.canary
    }

    pub fn time(&self) -> &str {
        &self.plain.time
    }

    pub fn raw_evidence(&self) -> &[Evidence] {
        &self.plain.evidence
    }

    /// The bytes that the ledger stores and hashes: field order is fixed and maps are sorted.
    pub fn canonical(&self) -> Vec<u8> {
        // Only maps with other than text keys and failing writers make this an error: there are none here.
        serde_json::to_vec(&self.plain).unwrap_or_default()
    }

    /// What was observed, leaving out when, and the raw evidence of it: two runs on an unchanged machine say the same.
    pub fn content(&self) -> ObservationId {
        let plain = Plain { time: String::new(), evidence: Vec::new(), ..self.plain.clone() };
        ObservationId::of(&serde_json::to_vec(&plain).unwrap_or_default())
    }

    pub fn id(&self) -> ObservationId {
        ObservationId::of(&self.canonical())
    }
}

impl TryFrom<Plain> for Observation {
    type Error = Refused;

    fn try_from(plain: Plain) -> Result<Self, Refused> {
        let observer = plain.observer.name.clone();
        if observer.is_empty() {
            return Err(Refused::NoObserver);
        }
        let device = plain.subject.device;
        if plain.rung.needs_real_device()
            && device != DeviceKind::Real
            && !matches!(plain.finding, Finding::Blocked { .. })
        {
            return Err(Refused::NoRealDevice { observer, rung: plain.rung, device: device.name() });
        }
        if let Finding::Saw(fact) = &plain.finding {
            if fact.topic.is_empty() {
                return Err(Refused::NoTopic { observer });
            }
            if !fact.value.is_finite() {
                return Err(Refused::NotFinite { observer, topic: fact.topic.clone() });
            }
        }
        Ok(Observation { plain })
    }
}

impl From<Observation> for Plain {
    fn from(observation: Observation) -> Plain {
        observation.plain
    }
}

/// The hash of an observation's canonical bytes: its name, everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ObservationId(String);

impl ObservationId {
    pub fn of(canonical: &[u8]) -> Self {
        ObservationId(hex::encode(Sha256::digest(canonical)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough for a person to find it again.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An observation under its name, as the ledger hands it out.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    id: ObservationId,
    observation: Observation,
    origin: Option<String>,
}

impl Recorded {
    pub fn new(observation: Observation) -> Self {
        Recorded { id: observation.id(), observation, origin: None }
    }

    /// From the bytes that the ledger keeps: their hash is the name, so nothing need be written out again.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Recorded { id: ObservationId::of(bytes), observation: serde_json::from_slice(bytes)?, origin: None })
    }

    /// It came from another ledger: where from, and through whose hands.
    pub fn imported(self, origin: Option<String>) -> Self {
        Recorded { origin, ..self }
    }

    /// None for what this ledger's own observers saw.
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    pub fn id(&self) -> &ObservationId {
        &self.id
    }
}

impl std::ops::Deref for Recorded {
    type Target = Observation;

    fn deref(&self) -> &Observation {
        &self.observation
    }
}
