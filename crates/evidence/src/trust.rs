//! Whether to trust an observer: whether it changed what it observed, and whether it was working.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An observer that changes what it observes has observed something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Contamination {
    /// It read files, or settings that reading does not change.
    Untouched,
    /// Compared with an unobserved run (A/B/A): nothing that counts differed. Names the certificate's evidence.
    Certified { certificate: String },
    /// It entered or watched a live process, and nobody compared.
    Unchecked,
    /// The comparison differed, in these points.
    Contaminated { differences: Vec<String> },
}

/// A known event that a working observer must see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "seen", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Canary {
    /// In the target itself: a one-token request gave a launch, every kernel ended in `s_endpgm`, the host entry was
    /// found in every bundle.
    InTarget { what: String },
    /// In another process of ours that uses the same file.
    InChild { what: String },
    /// There was none, or it was not seen.
    None,
}

impl Canary {
    pub fn in_target(what: impl Into<String>) -> Self {
        Canary::InTarget { what: what.into() }
    }

    pub fn in_child(what: impl Into<String>) -> Self {
        Canary::InChild { what: what.into() }
    }
}
