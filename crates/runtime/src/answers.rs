//! The answers of `runtime find` and `runtime list`, as data for programs.

use crate::find::{Found, Kind};
use crate::{Cache, Index, index};
use answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;

/// The GPU stacks found on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Findings {
    pub found: Vec<Installation>,
}

impl Answer for Findings {
    const SCHEMA: &'static str = "whichkernel.runtime-find/1";
}

/// One installation: a directory, the evidence for its kind, and its relevant libraries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installation {
    pub kind: Kind,
    pub path: String,
    pub version: Option<String>,
    /// How the runtime was found: `PATH`, a well-known directory, a running process.
    pub by: String,
    pub libraries: Vec<Library>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Library {
    pub path: String,
    /// Bytes.
    pub size: u64,
}

impl From<Vec<Found>> for Findings {
    fn from(found: Vec<Found>) -> Findings {
        let installation = |one: Found| Installation {
            kind: one.kind,
            path: one.path.to_string_lossy().into_owned(),
            version: one.version,
            by: one.by,
            libraries: one
                .libraries
                .iter()
                .map(|library| Library { path: library.path.to_string_lossy().into_owned(), size: library.size })
                .collect(),
        };
        Findings { found: found.into_iter().map(installation).collect() }
    }
}

/// The runtimes in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Holdings {
    /// The cache's directory.
    pub cache: String,
    pub runtimes: Vec<Holding>,
}

impl Answer for Holdings {
    const SCHEMA: &'static str = "whichkernel.runtime-list/1";
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Holding {
    pub name: String,
    pub path: String,
    #[serde(flatten)]
    pub state: State,
}

/// The content of the runtime's index, or why the index cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Index(Box<Index>),
    Error(String),
}

impl Holdings {
    pub fn of(cache: &Cache) -> Holdings {
        let holding = |(name, index): (String, crate::Result<Index>)| Holding {
            path: cache.runtime(&name).to_string_lossy().into_owned(),
            name,
            state: index.map_or_else(|error| State::Error(error.to_string()), |index| State::Index(Box::new(index))),
        };
        let runtimes = index::list(cache).into_iter().map(holding).collect();
        Holdings { cache: cache.dir().to_string_lossy().into_owned(), runtimes }
    }
}
