//! What was not seen, as kinds of things: what each leaves open decides, its sentence only tells.
//!
//! Every observer of launches reports its gaps with these. The sentences ([`Unseen::what`], [`Unseen::why`]) are in `unseen.ftl`; the ledger and
//! JSON keep their English.

mod sentences;

use say::Message;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// What a gap leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Open {
    /// How many launches there were.
    Launches,
    /// How many launches graphs made.
    Graphs,
    /// How many calls of BLAS libraries there were.
    Calls,
    /// Which kernel it was.
    Names,
    /// Grids, arguments, column counts, extents.
    Arguments,
    /// In which order.
    Order,
    /// Whether the runtime accepted it.
    Acceptance,
    /// Whether it ran to its end.
    Ends,
    /// How long the device worked on it.
    Times,
    /// Whether a known event would have been seen.
    Canary,
    /// Nothing but whose word it is.
    Trust,
}

impl Open {
    pub const ALL: [Open; 11] = [
        Open::Launches,
        Open::Graphs,
        Open::Calls,
        Open::Names,
        Open::Arguments,
        Open::Order,
        Open::Acceptance,
        Open::Ends,
        Open::Times,
        Open::Canary,
        Open::Trust,
    ];

    /// The name in data.
    pub fn key(self) -> &'static str {
        match self {
            Open::Launches => "launches",
            Open::Graphs => "graphs",
            Open::Calls => "calls",
            Open::Names => "names",
            Open::Arguments => "arguments",
            Open::Order => "order",
            Open::Acceptance => "acceptance",
            Open::Ends => "ends",
            Open::Times => "times",
            Open::Canary => "canary",
            Open::Trust => "trust",
        }
    }

    /// Whether "lost 0" cannot be said beside it.
    pub fn is_of_launches(self) -> bool {
        matches!(self, Open::Launches | Open::Graphs)
    }
}

/// Why a library carries no probe.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unprobed {
    /// Its file could not be opened.
    Unreachable,
    /// Its process was over first.
    Over,
    /// It has none of the functions that are watched.
    NoneThere,
    /// The kernel or the file refused.
    Refused(Message),
}

/// How launches of a process can go around the library that was preloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Around {
    /// It has a GPU runtime and was started without the library.
    Environment,
    /// Linked statically, with launch functions inside.
    Static,
    /// Its loader is not glibc's: it did not start.
    Loader,
    /// Set-user-ID or file capabilities.
    Rights,
    /// It ran on when the program had ended.
    Survivor,
    /// The library is loaded, and there is no record.
    Unrecorded,
    /// A second library with the same launch functions.
    Second,
    /// Opened with RTLD_DEEPBIND or dlmopen.
    Apart,
    /// Another file holds the address of a launch function.
    Address,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gap {
    // Probes
    /// A library that was mapped and carries no probe.
    Unprobed { library: String, why: Unprobed },
    /// A file that was mapped as code and could not be opened: its content is unknown.
    Unread { library: String, why: Unprobed },
    /// A library that exports a launch function, but is not a runtime by its name and SONAME.
    Unrecognised { library: String, symbol: &'static str },
    /// A program that contains a launch function itself: a runtime that is linked into it.
    Inside { program: String, symbol: String },
    /// A process that holds a GPU's device file, and has no library mapped that carries probes.
    Reaches { process: u32, program: String, device: String },
    /// A kernel whose code launches others on the device: launched so often.
    DeviceRuntime { kernel: String },
    /// A runtime was opened while the watch went on: what was called before its probes were in was not seen.
    LateRuntime { library: String, microseconds: u64 },
    /// The same of a library above the runtime.
    LateLibrary { library: String, microseconds: u64 },
    /// A function that by its name launches, and that the list does not have: called so often.
    UnknownLaunch { library: String, symbol: String },
    /// The same of one that changes what a graph launches.
    UnknownGraph { library: String, symbol: String },
    /// A function that makes or changes graphs, called so often: its result is not seen, because it leaves by a jump that its file does not tell.
    Unreturned { library: String, symbol: String },
    /// A launch function that a process got from the runtime as a pointer, and that carries no probe.
    Pointer { process: u32, call: String },
    /// The same, with a probe a while later.
    LatePointer { call: String, microseconds: u64 },
    /// A function that by its name launches, where calls are not even counted.
    Uncounted { library: String, symbol: String },
    /// The target's memory has the file's own instruction where the probe should be.
    NotPlanted { library: String, process: u32, symbol: String },
    /// No runtime carried probes.
    NothingProbed,
    /// Forks and mappings that the kernel could not tell of.
    ProcessesLost,
    /// A process ended and its number was given to another, while records were lost.
    Reused,
    /// Threads that were started while the probes went in.
    NewThreads,
    // Graphs
    /// A capture had begun when the probes went in: so many launches on its stream count as launched, some or all of which were captured.
    CaptureUnderWay,
    /// Nodes that were given another kernel, without it being known which they had.
    ChangedNodes,
    /// Nodes that were removed or switched off or on, without it being known what they are.
    UnknownNodes,
    /// Nodes that were added to graphs whose creation was not observed.
    LooseNodes,
    /// Graphs that kernels may launch.
    DeviceLaunch,
    /// Calls about graphs, captures, names and refusals that found no room.
    Untold,
    /// Calls about graphs that did not return.
    NotReturned,
    // What is known of a launch
    /// Launches whose return was not looked at, of all that were made.
    Unchecked { all: u64 },
    /// Returns are not looked at without BPF.
    NoReturns,
    /// Functions that were obtained before the attach, and the process's memory could not be read.
    NamesBefore,
    /// Names that were read out of the driver's own objects.
    NamesGuessed,
    /// Registration calls of a library that could not be read.
    Registrations { library: String },
    /// Names of functions that are loaded at run time, without BPF.
    NoLateNames,
    /// Argument bytes, without BPF.
    NoArguments,
    /// More kernels than the kernel-side table of arguments holds.
    TableFull,
    /// Launches that were made before their library had been read.
    NoColumns,
    /// Calls whose matrix layouts are not known.
    NoExtents { call: String },
    /// Calls that were counted without their place in the order.
    OrderLost { call: String },
    /// What was seen of the canary's calls.
    Canary { told: String },
    /// No known event was made.
    NoCanary,
    // The library inside the process
    /// A process went where the record's directory is not.
    Left { process: u32, call: String },
    /// Launches that go around the library: of a program, or through a library.
    Around { process: u32, who: String, how: Around, detail: String },
    /// Calls that ended in an exception.
    Threw { process: u32 },
    /// A launch function that a process can call and that is not observed.
    NotFollowedLaunch { process: u32, call: String },
    /// A BLAS function that a process can call and that is not observed.
    NotFollowedCall { process: u32, call: String },
    /// A graph function that is not observed.
    NotFollowedGraph { process: u32, call: String },
    /// A graph that the device can launch.
    GraphOnDevice { process: u32, call: String },
    /// Graphs whose nodes the runtime did not tell.
    GraphsUnanswered { process: u32 },
    /// Changed nodes of graphs that had been updated before.
    NodesUnplaced { process: u32 },
    /// A record that cannot be read further.
    RecordBroken { process: u32, why: String },
    /// A file among the records that is none.
    RecordRefused { file: String, why: String },
    /// Records that found no room or no reader.
    RecordsLost,
    /// A process of another user wrote its record.
    OtherUser { process: u32, user: u32 },
    /// Launches with grids beyond those that are kept apart.
    OtherGrids,
    /// Launches of kernels whose library was not found beforehand.
    NoLayouts,
    /// No process called a wrapped function.
    NobodyCalled,
    // The Vulkan layer
    /// No process opened Vulkan with the layer.
    NobodyOpenedVulkan,
    /// Something that the layer did not look into.
    LayerBlind { process: u32, what: String },
    /// Dispatches of pipelines that the program gave no name.
    NamedByModule,
    /// Dispatches of pipelines that were made before the attach, whose names were found in the program's memory.
    NamedFromMemory,
    /// Submissions of command buffers whose beginning was not seen.
    BuffersBefore,
    /// A device's own function that a process asked for: calls of it do not pass the loader.
    ByPassed { process: u32, call: String },
    /// Dispatches that were recorded and not seen to be submitted, where something was submitted out of view.
    SubmittedElsewhere,
    /// A process that had Vulkan's loader before the attach, and of which no submission passed it.
    NothingPassed { process: u32 },
    /// Dispatches whose groups the device read from memory.
    Indirect,
    /// Dispatches that were submitted and not seen to end.
    NotSeenToEnd,
    /// Dispatches that were under way when the device was lost.
    DeviceLost,
    /// Dispatches that have no time, where times were asked for.
    Untimed,
    // Logs, profiles, traces
    /// No line of any known log.
    NoLogLine,
    /// No line of the runtime names a kernel.
    NoKernelLine,
    /// Calls that several logs told of.
    ToldTwice { ways: String },
    /// A write-ahead log exists beside a database.
    WriteAhead,
    /// Dispatches without times of the device.
    Timeless,
    /// Graphs that were traced as a whole.
    GraphsWhole,
    /// A profile without a row.
    NoRow,
    /// Captured launches and replays of a trace that does not tell which graph is which.
    TraceGraphs { replays: u64 },
    /// Lines of a trace that cannot be read.
    DamagedLines,
    /// A trace whose last line is half a line.
    CutOff,
    /// A trace without the line that says what was counted.
    NoEnd,
    /// Lines of a trace that are not there, by their numbers or by its end.
    MissingLines,
    /// Lines of a trace whose number another one has.
    RepeatedLines,
    /// Launches that the end of a trace counts, and that its lines do not tell.
    NotInLines,
    /// Lines that tell more launches than the end of their trace counts: so many does it count.
    EndDisagrees { counted: u64 },
    /// What the writer of the trace did not see, in its own words.
    Told { open: Open, what: String, why: String },
    /// A server's log, which contains no launches.
    OnlyWords,
}

/// A gap, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unseen {
    pub gap: Gap,
    pub count: u64,
}

impl From<Gap> for Unseen {
    fn from(gap: Gap) -> Unseen {
        Unseen { gap, count: 1 }
    }
}

impl Gap {
    pub fn times(self, count: u64) -> Unseen {
        Unseen { gap: self, count }
    }

    pub fn open(&self) -> Open {
        match self {
            Gap::Unprobed { .. }
            | Gap::Unread { .. }
            | Gap::Unrecognised { .. }
            | Gap::LateRuntime { .. }
            | Gap::UnknownLaunch { .. }
            | Gap::Uncounted { .. }
            | Gap::Pointer { .. }
            | Gap::Inside { .. }
            | Gap::Reaches { .. }
            | Gap::DeviceRuntime { .. }
            | Gap::LatePointer { .. }
            | Gap::NotPlanted { .. }
            | Gap::NothingProbed
            | Gap::ProcessesLost
            | Gap::Reused
            | Gap::NewThreads
            | Gap::Left { .. }
            | Gap::Around { .. }
            | Gap::Threw { .. }
            | Gap::NotFollowedLaunch { .. }
            | Gap::RecordBroken { .. }
            | Gap::RecordRefused { .. }
            | Gap::RecordsLost
            | Gap::NobodyCalled
            | Gap::NobodyOpenedVulkan
            | Gap::BuffersBefore
            | Gap::ByPassed { .. }
            | Gap::SubmittedElsewhere
            | Gap::NothingPassed { .. }
            | Gap::NoLogLine
            | Gap::NoKernelLine
            | Gap::WriteAhead
            | Gap::Timeless
            | Gap::NoRow
            | Gap::DamagedLines
            | Gap::CutOff
            | Gap::NoEnd
            | Gap::MissingLines
            | Gap::RepeatedLines
            | Gap::NotInLines
            | Gap::EndDisagrees { .. }
            | Gap::OnlyWords => Open::Launches,
            Gap::Told { open, .. } => *open,
            Gap::UnknownGraph { .. }
            | Gap::Unreturned { .. }
            | Gap::CaptureUnderWay
            | Gap::ChangedNodes
            | Gap::UnknownNodes
            | Gap::LooseNodes
            | Gap::DeviceLaunch
            | Gap::Untold
            | Gap::NotReturned
            | Gap::NotFollowedGraph { .. }
            | Gap::GraphOnDevice { .. }
            | Gap::GraphsUnanswered { .. }
            | Gap::NodesUnplaced { .. }
            | Gap::GraphsWhole
            | Gap::TraceGraphs { .. } => Open::Graphs,
            Gap::LateLibrary { .. } | Gap::NotFollowedCall { .. } | Gap::ToldTwice { .. } => Open::Calls,
            Gap::NamesBefore
            | Gap::NamesGuessed
            | Gap::Registrations { .. }
            | Gap::NoLateNames
            | Gap::NamedByModule
            | Gap::NamedFromMemory => Open::Names,
            Gap::NoArguments
            | Gap::TableFull
            | Gap::NoColumns
            | Gap::NoExtents { .. }
            | Gap::OtherGrids
            | Gap::NoLayouts
            | Gap::LayerBlind { .. }
            | Gap::Indirect => Open::Arguments,
            Gap::OrderLost { .. } => Open::Order,
            Gap::Unchecked { .. } | Gap::NoReturns => Open::Acceptance,
            Gap::NotSeenToEnd | Gap::DeviceLost => Open::Ends,
            Gap::Untimed => Open::Times,
            Gap::Canary { .. } | Gap::NoCanary => Open::Canary,
            Gap::OtherUser { .. } => Open::Trust,
        }
    }
}

/// What was not seen: what a program decides by, and the English sentence.
#[derive(Serialize, JsonSchema)]
struct Plain {
    key: &'static str,
    /// What it leaves open.
    open: Open,
    count: u64,
    what: String,
    why: String,
}

schemars::by_hand! {
    /// As JSON has it.
    impl JsonSchema for Unseen {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Gap".into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            Plain::json_schema(generator)
        }
    }
}

impl Serialize for Unseen {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (key, open, count) = (self.key(), self.gap.open(), self.count);
        Plain { key, open, count, what: self.what().to_string(), why: self.why().to_string() }.serialize(to)
    }
}
