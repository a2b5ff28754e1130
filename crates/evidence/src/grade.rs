//! Grades: computed by [`judge`](crate::judge), never typed in.

use schemars::JsonSchema;
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt;

/// Why a claim is unresolved: the first reason that applies, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Observers of the same rung and subject disagree.
    Conflict,
    /// There are only contaminated observations.
    Contaminated,
    /// An observer looked, but has blind spots, which are listed.
    Blind,
    /// The claim is about another machine.
    OtherMachine,
    /// The runtime, file or source that the claim is about is not on this machine.
    NotHere,
    /// The device that the claim is about is not on this machine.
    NoDevice,
    /// An observer that could see it was blocked by the system.
    Blocked,
    /// No observer can check the claim.
    NotInView,
    /// An observer exists, but was never run on this subject.
    NeverTried,
}

impl Why {
    pub fn name(self) -> &'static str {
        match self {
            Why::Conflict => "conflict",
            Why::Contaminated => "contaminated",
            Why::Blind => "blind",
            Why::Blocked => "blocked",
            Why::OtherMachine => "other-machine",
            Why::NotHere => "not-here",
            Why::NoDevice => "no-device",
            Why::NotInView => "not-in-view",
            Why::NeverTried => "never-tried",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradeKind {
    Confirmed,
    Inferred,
    Limited,
    Unresolved(Why),
    Refuted,
}

/// A grade that was computed. Other code can read and serialise it, but can neither construct nor deserialise it.
///
/// ```compile_fail,E0423
/// let sure = evidence::Grade(evidence::GradeKind::Confirmed);
/// ```
///
/// ```compile_fail,E0277
/// let sure: evidence::Grade = serde_json::from_str(r#"{"grade":"confirmed"}"#).unwrap();
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Grade(GradeKind);

impl Grade {
    /// Only `judge` calls this. Each call is next to the observations that justify it.
    pub(crate) fn computed(kind: GradeKind) -> Self {
        Grade(kind)
    }

    pub fn kind(self) -> GradeKind {
        self.0
    }

    pub fn name(self) -> &'static str {
        match self.0 {
            GradeKind::Confirmed => "confirmed",
            GradeKind::Inferred => "inferred",
            GradeKind::Limited => "limited",
            GradeKind::Unresolved(_) => "unresolved",
            GradeKind::Refuted => "refuted",
        }
    }

    pub fn why(self) -> Option<Why> {
        match self.0 {
            GradeKind::Unresolved(why) => Some(why),
            _ => None,
        }
    }

    /// How strongly the claim is supported: 3 Confirmed, 2 Limited, 1 Inferred, 0 for all others.
    pub fn strength(self) -> u8 {
        match self.0 {
            GradeKind::Confirmed => 3,
            GradeKind::Limited => 2,
            GradeKind::Inferred => 1,
            GradeKind::Unresolved(_) | GradeKind::Refuted => 0,
        }
    }

    pub fn is_refuted(self) -> bool {
        self.0 == GradeKind::Refuted
    }

    pub fn is_unresolved(self) -> bool {
        self.why().is_some()
    }
}

impl fmt::Debug for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why() {
            Some(why) => write!(f, "unresolved ({})", why.name()),
            None => f.write_str(self.name()),
        }
    }
}

impl Serialize for Grade {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("grade", self.name())?;
        if let Some(why) = self.why() {
            map.serialize_entry("why", why.name())?;
        }
        map.end()
    }
}
schemars::by_hand! {
    /// Matches the form that [`Serialize`] above writes.
    impl JsonSchema for Grade {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Grade".into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            let kinds = [GradeKind::Confirmed, GradeKind::Inferred, GradeKind::Limited, GradeKind::Refuted]
                .map(|kind| Grade(kind).name());
            let why = generator.subschema_for::<Why>();
            schemars::json_schema!({
                "oneOf": [
                    { "type": "object", "properties": { "grade": { "enum": kinds } }, "required": ["grade"] },
                    {
                        "type": "object",
                        "properties": { "grade": { "const": "unresolved" }, "why": why },
                        "required": ["grade", "why"],
                    },
                ],
            })
        }
    }
}
