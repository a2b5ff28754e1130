//! The outcome of one trial.

use say::{Message, Say};
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of one trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Trial {
    /// The trial worked; `saw` is the evidence.
    Worked { saw: String },
    /// The system refused a call: which one, and with which error.
    Refused {
        call: String,
        #[serde(serialize_with = "say::in_english")]
        #[schemars(with = "String")]
        error: Message,
    },
    /// This host lacks a prerequisite of the trial.
    Missing { what: String },
    /// The trial was not made, because the host is a file tree.
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
