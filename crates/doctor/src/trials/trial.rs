//! The outcome of one trial.

use say::{Message, Say};
use schemars::JsonSchema;
use serde::Serialize;

/// What came of one trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Trial {
    /// It worked; `saw` says what showed it.
    Worked { saw: String },
    /// The system refused: which call, and how.
    Refused {
        call: String,
        #[serde(serialize_with = "say::in_english")]
        #[schemars(with = "String")]
        error: Message,
    },
    /// What the trial needs is not on this host.
    Missing { what: String },
    /// Not made, because the host is a tree of files.
    #[default]
    NotTried,
}

impl Trial {
    pub fn worked(saw: impl Into<String>) -> Trial {
        Trial::Worked { saw: saw.into() }
    }

    pub fn refused(call: impl Into<String>, error: &impl Say) -> Trial {
        Trial::Refused { call: call.into(), error: error.message() }
    }

    pub fn missing(what: impl Into<String>) -> Trial {
        Trial::Missing { what: what.into() }
    }

    pub fn ok(&self) -> bool {
        matches!(self, Trial::Worked { .. })
    }
}
