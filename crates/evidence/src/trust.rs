//! Whether to trust an observer: whether it changed what it observed, and whether it was working.

use say::{Kept, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the observer changed its target. If it did, it observed something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Contamination {
    /// The observer only read files or settings.
    Untouched,
    /// Compared with an unobserved run (A/B/A) without a relevant difference. `certificate` is the evidence.
    Certified { certificate: String },
    /// It entered or watched a live process, without a comparison with an unobserved run.
    Unchecked,
    /// The comparison differed in these points.
    Contaminated { differences: Vec<String> },
}

/// A known event that a working observer must see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "seen", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Canary {
    /// The event was seen in the target itself: a one-token request caused a launch, every kernel ended in `s_endpgm`,
    /// the host entry was found in every bundle.
    InTarget(CanarySeen),
    /// The canary was seen in a test process that uses the same file.
    InChild(CanarySeen),
    /// There was no canary, or the observer did not see it.
    None,
}

impl Canary {
    pub fn in_target(what: impl Into<Kept>) -> Self {
        Canary::InTarget(what.into().into())
    }

    pub fn in_child(what: impl Into<Kept>) -> Self {
        Canary::InChild(what.into().into())
    }

    /// The event that was seen.
    pub fn what(&self) -> Option<Kept> {
        match self {
            Canary::InTarget(seen) | Canary::InChild(seen) => {
                Some(Kept { english: seen.what.clone(), said: seen.said.clone() })
            }
            Canary::None => None,
        }
    }
}

/// The event, in English and as a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CanarySeen {
    pub what: String,
    /// `what` as a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Message>,
}

impl From<Kept> for CanarySeen {
    fn from(kept: Kept) -> CanarySeen {
        CanarySeen { what: kept.english, said: kept.said }
    }
}
