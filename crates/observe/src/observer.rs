//! The one interface of everything that can see something.

use evidence::{FieldOfView, Observation, ObserverId, Rung, Scope, View};
use runtime::{Cache, installed::Installed};
use say::{Message, say};
use std::path::{Path, PathBuf};

/// What an observer may look at, and what it may do to get there.
#[derive(Debug, Clone, Default)]
pub struct ObserveContext {
    /// The investigation's subject: look at this first, where it is here.
    pub scope: Scope,
    /// What the investigation asks: topics with their parameters. Of what comes by the thousand, record this much.
    pub asked: Vec<View>,
    /// Runtimes, libraries and source trees that the user named.
    pub paths: Vec<PathBuf>,
    /// The run's time, for every observation of it: it ties a sweep to its sightings.
    pub time: String,
    /// Long work is wanted too.
    pub deep: bool,
}

impl ObserveContext {
    /// What there is to look at: what was named, the cache, and what is installed on this machine.
    pub fn runtimes(&self) -> Vec<Installed> {
        runtime::installed::list(&self.paths, &Cache::from_env(), Path::new("/"))
    }

    /// Those whose every byte is worth reading: a ROCm tree of the system only where long work is wanted.
    pub fn runtimes_to_read(&self) -> Vec<Installed> {
        self.runtimes().into_iter().filter(|one| self.deep || !one.is_rocm_tree).collect()
    }
}

/// Raw evidence that goes with an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// A media type or a plain word: `text/plain`, `launch trace`.
    pub kind: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Bytes(Vec<u8>),
    /// Read in pieces when it is recorded.
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

/// It could not look at all. Recorded as such, so that a claim can say why it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    pub why: Message,
    /// The command or setting that would let it look.
    pub fix: String,
}

/// An observer states its field of view before it runs, and never fails silently: what it could not see is a
/// [`Blocked`], or a gap in the coverage of what it did.
pub trait Observer {
    /// A plain noun, the same in the ledger, in `doctor` and in the documentation.
    fn name(&self) -> &'static str;

    /// Changes whenever the same input could give another observation.
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// What it would see, by rung, if it were there.
    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)>;

    /// The verb of the observer, if an investigation cannot run it automatically: it needs a named process, program or file.
    fn verb(&self) -> Option<&'static str> {
        None
    }

    /// Looks. `progress` takes a line for a person when the work takes over a second. One that is asked through its verb has nothing to look
    /// at here.
    fn observe(&self, _around: &ObserveContext, _progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let why = say!("observe-given-nothing");
        Err(Blocked { why, fix: format!("whichkernel {} --record", self.verb().unwrap_or_else(|| self.name())) })
    }

    /// Who signs its observations.
    fn id(&self) -> ObserverId {
        ObserverId::new(self.name(), self.version())
    }
}
