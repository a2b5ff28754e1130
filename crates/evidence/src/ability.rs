//! The field of view of each existing observer, whether or not it ran, and how to run it.

use crate::{FieldOfView, Rung};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

#[derive(Debug, Clone)]
pub struct Ability {
    pub looker: Looker,
    pub rung: Rung,
    pub view: FieldOfView,
}

/// An observer that could be run, written as the command that starts it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String")]
pub enum Looker {
    /// The observer of this name, which an investigation runs automatically.
    Itself(String),
    /// The observer runs as part of this verb. The user must give it a target.
    Verb(String),
}

impl Looker {
    /// The name of the observer or verb.
    pub fn name(&self) -> &str {
        match self {
            Looker::Itself(name) | Looker::Verb(name) => name,
        }
    }
}

impl fmt::Display for Looker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Looker::Itself(observer) => f.write_str(observer),
            Looker::Verb(verb) => write!(f, "whichkernel {verb} --record"),
        }
    }
}

impl Serialize for Looker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
