//! The second account: an independent count of the same units, and the known blind spots of the observer.

use super::basis::{LeftOut, Why};
use say::Kept;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

say::named! {
    /// Whose account it is: a means of counting that shares nothing with the observer's own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Witness: key and ALL {
        /// The question lists its own units: nothing can be missing from the list.
        Question = "question",
        /// Executables and mapped files of every process of the tree: at start, at exec and at exit.
        ProcessTree = "process-tree",
        /// Every byte of the file belongs to something that was understood.
        ByteMap = "byte-map",
        /// The nodes of the graphs that the program computed.
        GraphNodes = "graph-nodes",
        /// The server's own count of evaluated tokens.
        ServerCount = "server-count",
        /// Sizes in symbol tables and headers.
        SymbolSizes = "symbol-sizes",
        /// The list of sources that the build compiles.
        BuildList = "build-list",
        /// The writer's own count, stored with what it wrote.
        WriterCount = "writer-count",
        /// The display and accelerator cards on the PCI bus, whatever driver they have.
        PciBus = "pci-bus",
    }
}

say::named! {
    /// A kind of thing that an observer cannot see.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Blind: key and ALL {
        /// Calls that do not go through the dynamic linker's lookup.
        DirectCalls = "direct-calls",
        /// Processes into which nothing was loaded.
        Processes = "processes",
        /// Launches made by a kernel on the device.
        DeviceLaunches = "device-launches",
        /// What happened before the observer was there.
        Before = "before",
        /// Bytes that no known format explains.
        UnknownBytes = "unknown-bytes",
        /// Files that the question did not name.
        OtherFiles = "other-files",
        /// Executable memory of a process that belongs to no file.
        UnnamedCode = "unnamed-code",
        /// Kernels that a library registers outside of its constructors.
        LateRegistrations = "late-registrations",
        /// What other clients' requests left in a server's prompt cache.
        ServerCache = "server-cache",
        /// Devices that the kernel, or the container, does not show.
        HiddenDevices = "hidden-devices",
        /// Processes of other users, containers and machines.
        OtherProcesses = "other-processes",
    }
}

/// What an observer cannot see in this target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlindSpot {
    pub kind: Blind,
    /// Proper names: programs, libraries, functions. Empty where the kind says it all.
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
