//! One observation: observer, finding, subject, rung, coverage, and how far it can be trusted.

use crate::{Canary, Contamination, Coverage, DeviceKind, Fact, FieldOfView, Rung, RungKind, Subject};
use say::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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

/// Raw evidence, stored in the ledger under its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub sha256: String,
    pub size: u64,
    /// The kind, as a media type or a plain word: `text/csv`, `launch trace`.
    pub kind: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The fact that was seen.
    Saw(Fact),
    /// The whole field of view was watched for the whole window. Everything found has its own `Saw` of the same run, so
    /// absence of the rest is evidence.
    Swept,
    /// The observer could not look: the reason, and the command or setting that would allow it.
    Blocked {
        why: String,
        fix: String,
        /// `why` as a message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Message>,
    },
}

/// One observation. It has passed [`Observation::check`], also after reading it from a file, because the fields are
/// private.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Observation {
    plain: Plain,
}

/// Observations of one run share their common parts, because a ledger has many observations of few runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plain {
    pub observer: Arc<ObserverId>,
    pub rung: Rung,
    pub subject: Arc<Subject>,
    pub finding: Finding,
    #[serde(default)]
    pub view: Arc<FieldOfView>,
    pub coverage: Arc<Coverage>,
    pub contamination: Arc<Contamination>,
    pub canary: Arc<Canary>,
    /// RFC 3339, UTC.
    pub time: Arc<str>,
    #[serde(default)]
    pub evidence: Arc<Vec<Evidence>>,
}

/// Why an observation cannot be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    NoRealDevice { observer: String, rung: Rung, device: &'static str },
    NoTopic { observer: String },
    NotFinite { observer: String, topic: String },
    NoObserver,
}

say::worded! { Refused {
    NoRealDevice { observer, rung, device } => "evidence-no-real-device" (observer, rung = rung.to_string(), device),
    NoTopic { observer } => "evidence-no-topic",
    NotFinite { observer, topic } => "evidence-not-finite",
    NoObserver => "evidence-no-observer",
}}

impl Observation {
    /// A finding of `observer` on the rung `R`. By default it is complete, did not change its target and has no canary.
    pub fn on<R: RungKind>(
        observer: ObserverId,
        subject: Subject,
        finding: Finding,
        coverage: Coverage,
        time: impl Into<String>,
    ) -> Result<Self, Refused> {
        Plain {
            observer: observer.into(),
            rung: R::RUNG,
            subject: subject.into(),
            finding,
            view: Arc::default(),
            coverage: coverage.into(),
            contamination: Contamination::Untouched.into(),
            canary: Canary::None.into(),
            time: time.into().into(),
            evidence: Arc::default(),
        }
        .try_into()
    }

    pub fn view(mut self, view: FieldOfView) -> Self {
        self.plain.view = view.into();
        self
    }

    pub fn contamination(mut self, contamination: Contamination) -> Self {
        self.plain.contamination = contamination.into();
        self
    }

    pub fn canary(mut self, canary: Canary) -> Self {
        self.plain.canary = canary.into();
        self
    }

    pub fn evidence(mut self, evidence: Evidence) -> Self {
        Arc::make_mut(&mut self.plain.evidence).push(evidence);
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
        match &*self.plain.contamination {
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
        // Serialisation fails only for maps with non-text keys and for failing writers; neither occurs here.
        serde_json::to_vec(&self.plain).unwrap_or_default()
    }

    pub fn from_canonical(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        read(bytes)
    }

    /// The id of the content without the time and the raw evidence: two runs on an unchanged machine give the same id.
    pub fn content(&self) -> ObservationId {
        let plain = Plain { time: "".into(), evidence: Arc::default(), ..self.plain.clone() };
        ObservationId::of(&serde_json::to_vec(&plain).unwrap_or_default())
    }

    pub fn id(&self) -> ObservationId {
        ObservationId::of(&self.canonical())
    }
}

impl TryFrom<Plain> for Observation {
    type Error = Refused;

    fn try_from(plain: Plain) -> Result<Self, Refused> {
        let observer = || plain.observer.name.clone();
        if plain.observer.name.is_empty() {
            return Err(Refused::NoObserver);
        }
        let device = plain.subject.device;
        if plain.rung.needs_real_device()
            && device != DeviceKind::Real
            && !matches!(plain.finding, Finding::Blocked { .. })
        {
            return Err(Refused::NoRealDevice { observer: observer(), rung: plain.rung, device: device.name() });
        }
        if let Finding::Saw(fact) = &plain.finding {
            if fact.topic.is_empty() {
                return Err(Refused::NoTopic { observer: observer() });
            }
            if !fact.value.is_finite() {
                return Err(Refused::NotFinite { observer: observer(), topic: fact.topic.clone() });
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

/// The hash of an observation's canonical bytes, used as its name everywhere. Stored as the 64 digits that are shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservationId([u8; 64]);

impl ObservationId {
    pub fn of(canonical: &[u8]) -> Self {
        let mut digits = [b'0'; 64];
        // 32 bytes always give 64 digits, so this cannot fail.
        let _ = hex::encode_to_slice(Sha256::digest(canonical), &mut digits);
        ObservationId(digits)
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The leading digits as a number with the same ordering as the whole id. Comparisons rarely need the rest.
    pub(crate) fn first(&self) -> u128 {
        self.0.first_chunk().map_or(0, |digits| u128::from_be_bytes(*digits))
    }

    /// A prefix of the id that is long enough to find the observation again.
    pub fn short(&self) -> &str {
        self.as_str().get(..12).unwrap_or_default()
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ObservationId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
schemars::by_hand! {
    impl JsonSchema for ObservationId {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "ObservationId".into()
        }

        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({ "type": "string", "description": "SHA-256 of the observation's canonical bytes, 64 digits." })
        }
    }
}

/// An observation together with its id, as the ledger returns it. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded(Arc<Entry>);

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    id: ObservationId,
    observation: Observation,
    origin: Option<Box<str>>,
}

/// Parses JSON from bytes. It always goes through `str`: each other kind of source would instantiate a copy of every
/// deserialiser.
pub(crate) fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(error) => Err(serde::de::Error::custom(error)),
    }
}

impl Recorded {
    pub fn new(observation: Observation) -> Self {
        Recorded(Arc::new(Entry { id: observation.id(), observation, origin: None }))
    }

    /// Parses the bytes that the ledger keeps. Their hash is the id, so nothing needs to be serialised again.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Recorded::named(bytes, Observation::from_canonical(bytes)?))
    }

    /// Adds the id, which is the hash of the bytes. `observation` must be the value parsed from these bytes.
    pub(crate) fn named(bytes: &[u8], observation: Observation) -> Self {
        Recorded(Arc::new(Entry { id: ObservationId::of(bytes), observation, origin: None }))
    }

    /// Marks it as imported from another ledger; `origin` says from where and by whom.
    pub fn imported(mut self, origin: Option<String>) -> Self {
        if origin.as_deref() != self.origin() {
            Arc::make_mut(&mut self.0).origin = origin.map(Into::into);
        }
        self
    }

    /// The origin of an imported observation. None for observations by this ledger's own observers.
    pub fn origin(&self) -> Option<&str> {
        self.0.origin.as_deref()
    }

    pub fn id(&self) -> &ObservationId {
        &self.0.id
    }
}

impl std::ops::Deref for Recorded {
    type Target = Observation;

    fn deref(&self) -> &Observation {
        &self.0.observation
    }
}
