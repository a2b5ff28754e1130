//! The interface of all observers.

use evidence::{FieldOfView, Observation, ObserverId, Rung, Scope, View};
use runtime::{Cache, installed::Installed};
use say::{Message, say};
use std::path::{Path, PathBuf};

/// The inputs of an observer, and the work that it may do.
#[derive(Debug, Clone, Default)]
pub struct ObserveContext {
    /// The investigation's subject. Examine this first if it is here.
    pub scope: Scope,
    /// The investigation's requests: topics with their parameters. Observers that could record thousands of facts
    /// record only these.
    pub asked: Vec<View>,
    /// Runtimes, libraries and source trees that the user named.
    pub paths: Vec<PathBuf>,
    /// The time of the run, used for all its observations: it connects a sweep with its sightings.
    pub time: String,
    /// Whether long-running work is wanted too.
    pub deep: bool,
}

impl ObserveContext {
    /// The runtimes to examine: those named by the user, in the cache, and installed on this machine.
    pub fn runtimes(&self) -> Vec<Installed> {
        runtime::installed::list(&self.paths, &Cache::from_env(), Path::new("/"))
    }

    /// The runtimes to read in full. A ROCm tree of the system is included only if long-running work is wanted.
    pub fn runtimes_to_read(&self) -> Vec<Installed> {
        self.runtimes().into_iter().filter(|one| self.deep || !one.is_rocm_tree).collect()
    }
}

/// Raw evidence for an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// A media type or a plain word: `text/plain`, `launch trace`.
    pub kind: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Bytes(Vec<u8>),
    /// A file, which is read in pieces when it is recorded.
    File(PathBuf),
}

impl Raw {
    pub fn text(text: impl Into<String>) -> Self {
        Raw { kind: "text/plain".to_owned(), content: Content::Bytes(text.into().into_bytes()) }
    }
}

#[derive(Debug, Clone)]
pub struct Sighting {
    pub observation: Observation,
    pub raw: Vec<Raw>,
}

impl From<Observation> for Sighting {
    fn from(observation: Observation) -> Self {
        Sighting { observation, raw: Vec::new() }
    }
}

impl Sighting {
    pub fn with(mut self, raw: Raw) -> Self {
        self.raw.push(raw);
        self
    }
}

/// The observer could not observe anything. This is recorded, so that a claim can say why it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    pub why: Message,
    /// The command or setting that would enable the observer.
    pub fix: String,
}

/// An observer states its field of view before it runs, and never fails silently: anything it could not see becomes a
/// [`Blocked`] or a gap in the coverage.
pub trait Observer {
    /// A plain noun, the same in the ledger, in `doctor` and in the documentation.
    fn name(&self) -> &'static str;

    /// Must change whenever the same input could give a different observation.
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// The observer's field of view by rung, if it could run.
    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)>;

    /// The verb of the observer, if an investigation cannot run it automatically: it needs a named process, program or file.
    fn verb(&self) -> Option<&'static str> {
        None
    }

    /// Runs the observer. `progress` receives a line for the user if the work takes more than a second. An observer
    /// with a verb has nothing to do here.
    fn observe(&self, _around: &ObserveContext, _progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let why = say!("observe-given-nothing");
        Err(Blocked { why, fix: format!("whichkernel {} --record", self.verb().unwrap_or_else(|| self.name())) })
    }

    /// The id that the observer has in its observations.
    fn id(&self) -> ObserverId {
        ObserverId::new(self.name(), self.version())
    }
}
