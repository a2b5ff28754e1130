//! The second account: an independent count of the same units, and the known blind spots of the observer.

use super::basis::{LeftOut, Why};
use say::Kept;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

say::named! {
    /// A second source: a way of counting that is independent of the observer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Witness: key and ALL {
        /// The question itself lists the units, so none can be missing.
        Question = "question",
        /// The executables and mapped files of every process in the process tree: at start, at exec and at exit.
        ProcessTree = "process-tree",
        /// Every byte of the file belongs to a part that was understood.
        ByteMap = "byte-map",
        /// The nodes of the graphs that the program computed.
        GraphNodes = "graph-nodes",
        /// The server's own count of evaluated tokens.
        ServerCount = "server-count",
        /// Sizes in symbol tables and headers.
        SymbolSizes = "symbol-sizes",
        /// The list of source files that the build compiles.
        BuildList = "build-list",
        /// The writer's own count, stored with its data.
        WriterCount = "writer-count",
        /// The display and accelerator cards on the PCI bus, regardless of their drivers.
        PciBus = "pci-bus",
    }
}

say::named! {
    /// A kind of event or data that an observer cannot see.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Blind: key and ALL {
        /// Calls that bypass the dynamic linker's lookup.
        DirectCalls = "direct-calls",
        /// Processes without a preloaded library.
        Processes = "processes",
        /// Launches made by a kernel on the device.
        DeviceLaunches = "device-launches",
        /// Events before the observer started.
        Before = "before",
        /// Bytes that no known format explains.
        UnknownBytes = "unknown-bytes",
        /// Files that were not named in the question.
        OtherFiles = "other-files",
        /// Executable memory of a process that belongs to no file.
        UnnamedCode = "unnamed-code",
        /// Kernels that a library registers outside its constructors.
        LateRegistrations = "late-registrations",
        /// Prompts of other clients in a server's cache.
        ServerCache = "server-cache",
        /// Devices that Linux or the container hides.
        HiddenDevices = "hidden-devices",
        /// Processes of other users, containers and machines.
        OtherProcesses = "other-processes",
    }
}

/// A blind spot of an observer in this target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlindSpot {
    pub kind: Blind,
    /// Names of programs, libraries or functions. Empty if the kind alone is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl Blind {
    pub fn spot(self) -> BlindSpot {
        BlindSpot { kind: self, names: Vec::new() }
    }

    pub fn named<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> BlindSpot {
        BlindSpot { kind: self, names: names.into_iter().map(Into::into).collect() }
    }
}

/// A second account of the units that an observer counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub(super) by: Witness,
    pub(super) outside: Vec<LeftOut>,
}

impl Account {
    /// The witness searched for units that the observer may have missed. [`Account::found`] adds those that it found.
    pub fn searched(by: Witness) -> Self {
        Account { by, outside: Vec::new() }
    }

    /// The witness counted the same units. A number that differs from the observer's is recorded as left out, under the
    /// witness's name.
    pub fn counted(by: Witness, theirs: u64, ours: u64) -> Self {
        let account = Account::searched(by);
        if theirs == ours { account } else { account.found(by.key(), Some(theirs.abs_diff(ours)), Why::Disagrees) }
    }

    /// Adds a unit that is missing from the observer's answers.
    #[must_use]
    pub fn found(mut self, what: impl Into<Kept>, count: Option<u64>, why: Why) -> Self {
        self.outside.push(LeftOut { what: what.into(), count, why, decides: false });
        self
    }

    /// Whether the witness found nothing outside the observer's answers.
    pub fn agrees(&self) -> bool {
        self.outside.is_empty()
    }
}
