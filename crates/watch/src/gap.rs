//! The kinds of gaps in an observation. Code uses only the open question of a gap (`Open`); its sentence is only for
//! the reader.
//!
//! Every observer of launches reports its gaps with these kinds. The sentences ([`Unseen::what`], [`Unseen::why`]) are
//! in `unseen.ftl`; the ledger and JSON contain the English ones.

use say::{Arg, Message, ToArg};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

say::named! {
    /// The question that a gap leaves open.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Open: key and ALL {
        /// The number of launches.
        Launches = "launches",
        /// The number of launches by graphs.
        Graphs = "graphs",
        /// The number of calls of BLAS libraries.
        Calls = "calls",
        /// The names of kernels.
        Names = "names",
        /// Grids, arguments, column counts, extents.
        Arguments = "arguments",
        /// The order of launches.
        Order = "order",
        /// Whether launches were accepted by the runtime.
        Acceptance = "acceptance",
        /// Whether launches ran to their end.
        Ends = "ends",
        /// The device times of launches.
        Times = "times",
        /// Whether a known event would have been seen.
        Canary = "canary",
        /// Only the trust in the source of the data.
        Trust = "trust",
    }
}

impl Open {
    /// Whether this gap forbids the statement "lost 0".
    pub fn is_of_launches(self) -> bool {
        matches!(self, Open::Launches | Open::Graphs)
    }
}

/// Why a library has no probes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unprobed {
    /// The library's file could not be opened.
    Unreachable,
    /// The process ended before its library was probed.
    Over,
    /// The library has none of the watched functions.
    NoneThere,
    /// The kernel or the file refused.
    Refused(Message),
}

/// How launches of a process can bypass the preloaded library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Around {
    /// The process has a GPU runtime and was started without the library.
    Environment,
    /// Linked statically, with launch functions inside.
    Static,
    /// The program's loader is not glibc's, so it did not start.
    Loader,
    /// The program has set-user-ID or file capabilities.
    Rights,
    /// The process continued to run after the program ended.
    Survivor,
    /// The library is loaded, but there is no record.
    Unrecorded,
    /// A second library with the same launch functions.
    Second,
    /// Opened with RTLD_DEEPBIND or dlmopen.
    Apart,
    /// Another file contains the address of a launch function.
    Address,
}

/// The time until a probe was in place, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Late(pub u64);

impl ToArg for Late {
    fn to_arg(&self) -> Arg {
        Arg::Text(format!("{:.1}", self.0 as f64 / 1e3))
    }
}

/// The message keys of a gap and of its reason, and the arguments of both.
struct Sentences {
    what: &'static str,
    why: &'static str,
    args: Vec<(&'static str, Arg)>,
}

/// Compiles only if both messages exist in `unseen.ftl` and use no other names than these and the count.
macro_rules! sentences {
    ($key:literal $(, $name:ident)*) => {{
        const WHAT: &str = concat!("unseen-", $key);
        const WHY: &str = concat!("unseen-", $key, "-why");
        const _: () = say::table::check_covers(WHAT, &["count", $(stringify!($name)),*]);
        const _: () = say::table::check_covers(WHY, &["count", $(stringify!($name)),*]);
        Sentences { what: WHAT, why: WHY, args: vec![$((stringify!($name), $name.to_arg())),*] }
    }};
}

/// Each gap with its open question and the key of its sentences. Gaps with a `match` choose between several sentences.
macro_rules! gaps {
    (
        by hand { $($(#[$note:meta])* $other:ident { $($part:ident: $kind:ty),* } = $leaves:expr, $sentences:expr;)* }
        by key { $($(#[$about:meta])* $gap:ident $({ $($field:ident: $type:ty),* })? = $key:literal, $open:ident;)* }
    ) => {
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Gap {
            $($(#[$note])* $other { $($part: $kind),* },)*
            $($(#[$about])* $gap $({ $($field: $type),* })?,)*
        }

        #[allow(unused_variables, reason = "most gaps need none of their fields for one of the two")]
        impl Gap {
            pub fn open(&self) -> Open {
                match self {
                    $(Gap::$gap { .. } => Open::$open,)*
                    $(Gap::$other { $($part),* } => $leaves,)*
                }
            }

            fn sentences(&self) -> Sentences {
                match self {
                    $(Gap::$gap $({ $($field),* })? => sentences!($key $($(, $field)*)?),)*
                    $(Gap::$other { $($part),* } => $sentences,)*
                }
            }
        }
    };
}

gaps! {
    by hand {
        /// A mapped library without probes.
        Unprobed { library: String, why: Unprobed } = Open::Launches, match why {
                Unprobed::Unreachable => sentences!("unprobed-unreachable", library),
                Unprobed::Over => sentences!("unprobed-over", library),
                Unprobed::NoneThere => sentences!("unprobed-none-there", library),
                Unprobed::Refused(reason) => sentences!("unprobed-refused", library, reason),
            };
        /// A file that was mapped as code and could not be opened: its content is unknown.
        Unread { library: String, why: Unprobed } = Open::Launches, match why {
                Unprobed::Over => sentences!("unread-over", library),
                _ => sentences!("unread", library),
            };
        /// Launches that bypass the preloaded library: by a program, or through a library.
        Around { process: u32, who: String, how: Around, detail: String } = Open::Launches, match how {
                Around::Environment => sentences!("outside-environment", process, who, detail),
                Around::Static => sentences!("outside-static", process, who, detail),
                Around::Loader => sentences!("outside-loader", process, who, detail),
                Around::Rights => sentences!("outside-rights", process, who, detail),
                Around::Survivor => sentences!("outside-survivor", process, who, detail),
                Around::Unrecorded => sentences!("outside-unrecorded", process, who, detail),
                Around::Second => sentences!("outside-second-runtime", process, who, detail),
                Around::Apart => sentences!("outside-opened-apart", process, who, detail),
                Around::Address => sentences!("outside-address", process, who, detail),
            };
        /// A gap that the writer of the trace reported, in its words.
        Told { open: Open, what: String, why: String } = *open, sentences!("told", what, why);
    }
    by key {
        /// A library that exports a launch function, but is not a runtime by its name and SONAME.
        Unrecognised { library: String, symbol: &'static str } = "unrecognised", Launches;
        /// A program that contains a launch function itself: a runtime that is linked into it.
        Inside { program: String, symbol: String } = "inside", Launches;
        /// A process that has a GPU's device file open, but no mapped library with probes.
        Reaches { process: u32, program: String, device: String } = "reaches", Launches;
        /// A kernel whose code launches other kernels on the device; the count is the number of its launches.
        DeviceRuntime { kernel: String } = "device-runtime", Launches;
        /// A runtime was opened during the watch. Calls before its probes were in place were not seen.
        LateRuntime { library: String, late: Late } = "late-runtime", Launches;
        /// A library above the runtime was opened during the watch. Calls before its probes were in place were not
        /// seen.
        LateLibrary { library: String, late: Late } = "late-library", Calls;
        /// A function whose name suggests that it launches, but that is not in our list; with the number of calls.
        UnknownLaunch { library: String, symbol: String } = "unknown-launch", Launches;
        /// A function whose name suggests that it changes the launches of a graph, but that is not in our list.
        UnknownGraph { library: String, symbol: String } = "unknown-graph", Graphs;
        /// A function that creates or changes graphs; with the number of calls. It ends in a jump that cannot be found
        /// in its file, so its result is not seen.
        Unreturned { library: String, symbol: String } = "unreturned", Graphs;
        /// A launch function that a process obtained as a pointer from the runtime, and that has no probe.
        Pointer { process: u32, call: String } = "pointer", Launches;
        /// A launch function that a process obtained as a pointer from the runtime, and whose probe was placed later.
        LatePointer { call: String, late: Late } = "late-pointer", Launches;
        /// A function whose name suggests that it launches, and whose calls are not even counted.
        Uncounted { library: String, symbol: String } = "uncounted", Launches;
        /// The target's memory still has the file's own instruction where the probe should be.
        NotPlanted { library: String, process: u32, symbol: String } = "not-planted", Launches;
        /// No runtime had probes.
        NothingProbed = "nothing-probed", Launches;
        /// Forks and mappings that the kernel could not report.
        ProcessesLost = "processes-lost", Launches;
        /// A process ended and its id was reused while records were lost.
        Reused = "reused", Launches;
        /// Threads that were started while the probes were being placed.
        NewThreads = "new-threads", Launches;
        // Graphs
        /// A capture was in progress when the probes were placed. The launches on its stream count as launched,
        /// although some or all of them were captured.
        CaptureUnderWay = "capture-under-way", Graphs;
        /// Nodes that were given another kernel while their previous kernel was unknown.
        ChangedNodes = "changed-nodes", Graphs;
        /// Unknown nodes that were removed, disabled or enabled.
        UnknownNodes = "unknown-nodes", Graphs;
        /// Nodes that were added to graphs whose creation was not observed.
        LooseNodes = "loose-nodes", Graphs;
        /// Graphs that kernels may launch.
        DeviceLaunch = "device-launch", Graphs;
        /// Calls about graphs, captures, names and refusals for which there was no buffer space.
        Untold = "untold", Graphs;
        /// Calls about graphs that did not return.
        NotReturned = "not-returned", Graphs;
        // Known facts about a launch
        /// Launches whose return was not checked, out of `all`.
        Unchecked { all: u64 } = "unchecked", Acceptance;
        /// Without BPF, returns are not checked.
        NoReturns = "no-returns", Acceptance;
        /// Functions that were obtained before the attach, in a process whose memory could not be read.
        NamesBefore = "names-before", Names;
        /// Names that were read from the driver's internal objects.
        NamesGuessed = "names-guessed", Names;
        /// Registration calls of a library that could not be read.
        Registrations { library: String } = "registrations", Names;
        /// Names of functions that are loaded at run time, without BPF.
        NoLateNames = "no-late-names", Names;
        /// Argument bytes, without BPF.
        NoArguments = "no-arguments", Arguments;
        /// More kernels than the kernel-side table of arguments holds.
        TableFull = "table-full", Arguments;
        /// Launches made before their library had been read.
        NoColumns = "no-columns", Arguments;
        /// Calls whose matrix layouts are unknown.
        NoExtents { call: String } = "no-extents", Arguments;
        /// Calls that were counted without their position in the order.
        OrderLost { call: String } = "order-lost", Order;
        /// Details of the canary's calls that were seen.
        Canary { told: Message } = "canary", Canary;
        /// No canary event was triggered.
        NoCanary = "no-canary", Canary;
        // The library inside the process
        /// A process moved to a place where the directory of the record is not visible.
        Left { process: u32, call: String } = "left", Launches;
        /// Calls that ended in an exception.
        Threw { process: u32 } = "threw", Launches;
        /// A launch function that a process can call and that is not observed.
        NotFollowedLaunch { process: u32, call: String } = "not-followed-launch", Launches;
        /// A BLAS function that a process can call and that is not observed.
        NotFollowedCall { process: u32, call: String } = "not-followed-call", Calls;
        /// A graph function that is not observed.
        NotFollowedGraph { process: u32, call: String } = "not-followed-graph", Graphs;
        /// A graph that the device can launch.
        GraphOnDevice { process: u32, call: String } = "graph-on-device", Graphs;
        /// Graphs whose nodes the runtime did not report.
        GraphsUnanswered { process: u32 } = "graphs-unanswered", Graphs;
        /// Changed nodes of graphs that were updated before.
        NodesUnplaced { process: u32 } = "nodes-unplaced", Graphs;
        /// A record whose rest cannot be read.
        RecordBroken { process: u32, reason: Message } = "record-broken", Launches;
        /// A file among the records that is not a record.
        RecordRefused { file: String, reason: Message } = "record-refused", Launches;
        /// Records that were lost for lack of space or of a reader.
        RecordsLost = "records-lost", Launches;
        /// A process of another user wrote its record.
        OtherUser { process: u32, user: u32 } = "other-user", Trust;
        /// Launches with grids beyond the number that is kept separately.
        OtherGrids = "other-grids", Arguments;
        /// Launches of kernels whose library was not found in advance.
        NoLayouts = "no-layouts", Arguments;
        /// No process called a wrapped function.
        NobodyCalled = "nobody-called", Launches;
        // The Vulkan layer
        /// No process opened Vulkan with the layer.
        NobodyOpenedVulkan = "nobody-opened-vulkan", Launches;
        /// An object or call that the layer does not examine.
        LayerBlind { process: u32, what: String } = "layer-blind", Arguments;
        /// Dispatches of pipelines that the program did not name.
        NamedByModule = "named-by-module", Names;
        /// Dispatches of pipelines that were made before the attach, whose names were found in the program's memory.
        NamedFromMemory = "named-from-memory", Names;
        /// Submissions of command buffers whose beginning was not seen.
        BuffersBefore = "buffers-before", Launches;
        /// A device-level function that a process obtained: its calls bypass the loader.
        ByPassed { process: u32, call: String } = "by-passed", Launches;
        /// Dispatches that were recorded but not seen to be submitted, while a submission was made outside the
        /// observation.
        SubmittedElsewhere = "submitted-elsewhere", Launches;
        /// A process that had the Vulkan loader before the attach, and whose submissions never passed through it.
        NothingPassed { process: u32 } = "nothing-passed", Launches;
        /// Dispatches whose group counts the device read from memory.
        Indirect = "indirect", Arguments;
        /// Dispatches that were submitted and not seen to end.
        NotSeenToEnd = "not-seen-to-end", Ends;
        /// Dispatches that were under way when the device was lost.
        DeviceLost = "device-lost", Ends;
        /// Dispatches without a time although times were requested.
        Untimed = "untimed", Times;
        // Logs, profiles, traces
        /// No line belongs to a known log.
        NoLogLine = "no-log-line", Launches;
        /// No line of the runtime names a kernel.
        NoKernelLine = "no-kernel-line", Launches;
        /// Calls that several logs reported.
        ToldTwice { ways: String } = "told-twice", Calls;
        /// A write-ahead log exists next to a database.
        WriteAhead = "write-ahead", Launches;
        /// Dispatches without device times.
        Timeless = "timeless", Launches;
        /// Graphs that were traced as a whole.
        GraphsWhole = "graphs-whole", Graphs;
        /// A profile without a row.
        NoRow = "no-row", Launches;
        /// Captured launches and replays of a trace that does not identify the graphs.
        TraceGraphs { replays: u64 } = "trace-graphs", Graphs;
        /// Lines of a trace that cannot be read.
        DamagedLines = "damaged-lines", Launches;
        /// A trace whose last line is incomplete.
        CutOff = "cut-off", Launches;
        /// A trace without the final line that contains the counts.
        NoEnd = "no-end", Launches;
        /// Missing lines of a trace, found by their numbers or by the final line.
        MissingLines = "missing-lines", Launches;
        /// Lines of a trace with a duplicate number.
        RepeatedLines = "repeated-lines", Launches;
        /// Launches that the final line of a trace counts, but that are in no line.
        NotInLines = "not-in-lines", Launches;
        /// The lines contain more launches than the final line counts.
        EndDisagrees { counted: u64 } = "end-disagrees", Launches;
        /// A server's log, which contains no launches.
        OnlyWords = "only-words", Launches;
    }
}

/// A gap, and the number of occurrences.
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
}

impl Unseen {
    /// The key in JSON.
    pub fn key(&self) -> &'static str {
        self.gap.sentences().what.trim_start_matches("unseen-")
    }

    /// A description of the gap.
    pub fn what(&self) -> Message {
        self.filled(|sentences| sentences.what)
    }

    pub fn why(&self) -> Message {
        self.filled(|sentences| sentences.why)
    }

    fn filled(&self, which: impl Fn(&Sentences) -> &'static str) -> Message {
        let mut sentences = self.gap.sentences();
        let key = which(&sentences);
        sentences.args.push(("count", Arg::Number(self.count)));
        Message::new(key, sentences.args)
    }
}

/// The form of a gap in JSON: the keys for programs, and the English sentence.
#[derive(Serialize, JsonSchema)]
struct Plain {
    key: &'static str,
    /// The open question.
    open: Open,
    count: u64,
    what: String,
    why: String,
}

schemars::by_hand! {
    /// The form in JSON.
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
