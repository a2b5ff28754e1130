//! The sentences of the gaps, in English, with names for what changes: the same templates stand in `unseen.ftl`, which a test compares.

use crate::gap::{Around, Gap, Unprobed, Unseen};

/// One gap's sentences. `{name}` stands for an argument.
#[derive(Debug)]
struct Wording {
    key: &'static str,
    what: &'static str,
    why: &'static str,
}

const fn says(key: &'static str, what: &'static str, why: &'static str) -> Wording {
    Wording { key, what, why }
}

impl Unseen {
    /// What a program knows it by, and a message's key behind `unseen-`.
    pub fn key(&self) -> &'static str {
        self.gap.wording().key
    }

    /// What was not seen.
    pub fn what(&self) -> String {
        self.filled(self.gap.wording().what)
    }

    pub fn why(&self) -> String {
        self.filled(self.gap.wording().why)
    }

    /// What stands in the sentences for the names in them.
    pub fn args(&self) -> Vec<(&'static str, String)> {
        let mut args = self.gap.args();
        args.push(("count", self.count.to_string()));
        args
    }

    fn filled(&self, template: &str) -> String {
        let mut out = template.to_owned();
        for (name, value) in self.args() {
            out = out.replace(&format!("{{{name}}}"), &value);
        }
        out
    }
}

impl Gap {
    fn args(&self) -> Vec<(&'static str, String)> {
        let text = |name: &'static str, value: &str| (name, value.to_owned());
        match self {
            Gap::Unprobed { library, why } | Gap::Unread { library, why } => {
                let why = if let Unprobed::Refused(why) = why { why.as_str() } else { "" };
                vec![text("library", library), text("reason", why)]
            }
            Gap::Unrecognised { library, symbol } => vec![text("library", library), text("symbol", symbol)],
            Gap::LateRuntime { library, microseconds } | Gap::LateLibrary { library, microseconds } => {
                vec![text("library", library), ("late", format!("{:.1}", *microseconds as f64 / 1e3))]
            }
            Gap::LatePointer { call, microseconds } => {
                vec![text("call", call), ("late", format!("{:.1}", *microseconds as f64 / 1e3))]
            }
            Gap::Inside { program, symbol } => vec![text("program", program), text("symbol", symbol)],
            Gap::Reaches { process, program, device } => {
                vec![("process", process.to_string()), text("program", program), text("device", device)]
            }
            Gap::DeviceRuntime { kernel } => vec![text("kernel", kernel)],
            Gap::UnknownLaunch { library, symbol }
            | Gap::Unreturned { library, symbol }
            | Gap::UnknownGraph { library, symbol }
            | Gap::Uncounted { library, symbol } => vec![text("library", library), text("symbol", symbol)],
            Gap::NotPlanted { library, process, symbol } => {
                vec![text("library", library), ("process", process.to_string()), text("symbol", symbol)]
            }
            Gap::Unchecked { all } => vec![("all", all.to_string())],
            Gap::Registrations { library } => vec![text("library", library)],
            Gap::NoExtents { call } | Gap::OrderLost { call } => vec![text("call", call)],
            Gap::Canary { told } => vec![text("told", told)],
            Gap::Left { process, call }
            | Gap::Pointer { process, call }
            | Gap::NotFollowedLaunch { process, call }
            | Gap::NotFollowedCall { process, call }
            | Gap::NotFollowedGraph { process, call }
            | Gap::GraphOnDevice { process, call }
            | Gap::ByPassed { process, call } => vec![("process", process.to_string()), text("call", call)],
            Gap::Around { process, who, detail, .. } => {
                vec![("process", process.to_string()), text("who", who), text("detail", detail)]
            }
            Gap::Threw { process } => vec![("process", process.to_string())],
            Gap::LayerBlind { process, what } => vec![("process", process.to_string()), text("what", what)],
            Gap::GraphsUnanswered { process } | Gap::NodesUnplaced { process } | Gap::NothingPassed { process } => {
                vec![("process", process.to_string())]
            }
            Gap::RecordBroken { process, why } => vec![("process", process.to_string()), text("reason", why)],
            Gap::RecordRefused { file, why } => vec![text("file", file), text("reason", why)],
            Gap::OtherUser { process, user } => vec![("process", process.to_string()), ("user", user.to_string())],
            Gap::ToldTwice { ways } => vec![text("ways", ways)],
            Gap::TraceGraphs { replays } => vec![("replays", replays.to_string())],
            Gap::EndDisagrees { counted } => vec![("counted", counted.to_string())],
            Gap::Told { what, why, .. } => vec![text("what", what), text("why", why)],
            _ => Vec::new(),
        }
    }

    fn wording(&self) -> Wording {
        const NO_POINTERS: &str = "perf without BPF does not follow the pointers to them";
        const NOT_OPENED: &str = "its file could not be opened through /proc";
        const OVER: &str = "its process ended before the probes were in place";
        match self {
            Gap::Unprobed { why: Unprobed::Unreachable, .. } => says(
                "unprobed-unreachable",
                "launches through {library}",
                "no probe: its file could not be opened through /proc",
            ),
            Gap::Unprobed { why: Unprobed::Over, .. } => says("unprobed-over", "launches through {library}", OVER),
            Gap::Unprobed { why: Unprobed::NoneThere, .. } => {
                says("unprobed-none-there", "launches through {library}", "it exports none of the watched functions")
            }
            Gap::Unprobed { why: Unprobed::Refused(_), .. } => {
                says("unprobed-refused", "launches through {library}", "{reason}")
            }
            Gap::Unread { why: Unprobed::Over, .. } => {
                says("unread-over", "launches through {library}, if it is a runtime", OVER)
            }
            Gap::Unread { .. } => says("unread", "launches through {library}, if it is a runtime", NOT_OPENED),
            Gap::Unrecognised { .. } => says(
                "unrecognised",
                "launches through {symbol} of {library}",
                "neither its file name nor its SONAME is that of a known runtime; launches that it does not pass on to a probed runtime were not seen",
            ),
            Gap::LateRuntime { .. } => says(
                "late-runtime",
                "the first moments of {library}",
                "the process opened it after the watch began, and the probes were in place {late} ms later; calls in between were not seen",
            ),
            Gap::LateLibrary { .. } => says(
                "late-library",
                "the first calls of {library}",
                "the process opened it after the watch began, and the probes were in place {late} ms later; calls in between were not seen",
            ),
            Gap::UnknownLaunch { .. } => says(
                "unknown-launch",
                "launches through {count} calls of {symbol} ({library})",
                "this version of whichkernel does not know the function; the library exports it, and it was called",
            ),
            Gap::UnknownGraph { .. } => says(
                "unknown-graph",
                "launches through graphs that {count} calls of {symbol} ({library}) created or changed",
                "this version of whichkernel does not know the function; the library exports it, and it was called",
            ),
            Gap::Unreturned { .. } => says(
                "unreturned",
                "results of {count} calls of {symbol} ({library})",
                "the function ends with a jump to an address that is not in its file, and a return probe could crash a program that throws an exception",
            ),
            Gap::Pointer { .. } => says(
                "pointer",
                "launches through a pointer to {call} in process {process}",
                "the process got the address from the runtime; it is not an exported function, and no probe could be placed",
            ),
            Gap::LatePointer { .. } => says(
                "late-pointer",
                "the first launches through a pointer to {call}",
                "the process got the address from the runtime; it is not an exported function, and the probe was in place {late} ms later",
            ),
            Gap::Inside { .. } => says(
                "inside",
                "launches of {program}",
                "the program contains {symbol} itself; only runtimes in separate files are probed",
            ),
            Gap::Reaches { .. } => says(
                "reaches",
                "launches of process {process} ({program})",
                "it has {device} open, but none of its libraries had probes",
            ),
            Gap::DeviceRuntime { .. } => says(
                "device-runtime",
                "launches that the kernel {kernel} makes on the device (the kernel was launched {count} times)",
                "its code calls the CUDA device runtime; launches made by a kernel do not pass through a host function",
            ),
            Gap::Uncounted { .. } => says(
                "uncounted",
                "launches through {symbol} ({library})",
                "this version of whichkernel does not know the function, and without BPF it cannot tell whether it was called",
            ),
            Gap::NotPlanted { .. } => says(
                "not-planted",
                "launches through {library} in process {process}",
                "the probe is missing: the memory of process {process} still has the file's original instruction at {symbol}",
            ),
            Gap::NothingProbed => {
                says("nothing-probed", "launches", "no GPU runtime of these processes had probes during the watch")
            }
            Gap::ProcessesLost => says(
                "processes-lost",
                "some processes or libraries",
                "the Linux kernel dropped {count} fork and mapping records",
            ),
            Gap::Reused => says(
                "reused",
                "processes: a process ID was reused while records were lost",
                "launches that were only counted cannot be assigned to one of the two processes",
            ),
            Gap::NewThreads => says(
                "new-threads",
                "threads that started while the probes were being placed",
                "probes are placed on each thread separately",
            ),
            Gap::CaptureUnderWay => says(
                "capture-under-way",
                "launches through a graph capture that was in progress: {count} are counted as launched",
                "the capture began before the probes were in place; replays of its graph are counted as unknown",
            ),
            Gap::ChangedNodes => says(
                "changed-nodes",
                "earlier launches of {count} graph nodes that were changed",
                "their graphs were captured, and the runtime does not identify the nodes: the total of launches is correct, but kernels may be confused",
            ),
            Gap::UnknownNodes => says(
                "unknown-nodes",
                "launches of {count} graph nodes that were removed, or switched on or off",
                "their graphs were captured, and the runtime does not identify the nodes; replays are counted as unknown",
            ),
            Gap::LooseNodes => says(
                "loose-nodes",
                "launches through {count} graph nodes whose graph was not seen being created",
                "the graphs were created before the attach, or by a function that is not watched",
            ),
            Gap::DeviceLaunch => says(
                "device-launch",
                "launches through {count} graphs that kernels can launch",
                "launches made by a kernel do not pass through a host function",
            ),
            Gap::Untold => says(
                "untold",
                "records of {count} calls about graphs, captures, names and refusals",
                "they did not fit into the buffer, so the contents of replays and some names may be wrong",
            ),
            Gap::NotReturned => says(
                "not-returned",
                "results of {count} calls about graphs",
                "the calls did not return: they ended with an exception, or were still running when the observation ended; the launches of replays may be wrong",
            ),
            Gap::Unchecked { .. } => says(
                "unchecked",
                "whether {count} of {all} launches were accepted",
                "too many launches in too short a time to check their return values; rejected ones are counted as launched",
            ),
            Gap::NoReturns => {
                says("no-returns", "whether launches were accepted", "return values are not checked without BPF")
            }
            Gap::NamesBefore => says(
                "names-before",
                "names of functions that the program obtained before the attach",
                "the process memory that holds them could not be read",
            ),
            Gap::NamesGuessed => says(
                "names-guessed",
                "certainty of some names",
                "they were read from the driver's internal objects, by a method that gave the right name for every known function",
            ),
            Gap::Registrations { .. } => says(
                "registrations",
                "names of some kernels of {library}",
                "{count} of its registration calls could not be read",
            ),
            Gap::NoLateNames => says("no-late-names", "names of functions that are loaded at run time", NO_POINTERS),
            Gap::NoArguments => says("no-arguments", "argument bytes and the column counts they contain", NO_POINTERS),
            Gap::TableFull => says(
                "table-full",
                "argument bytes of some kernels",
                "there are more kernels than the BPF table can hold",
            ),
            Gap::NoColumns => says(
                "no-columns",
                "column counts",
                "some launches happened before whichkernel had read their library; they are counted without column counts",
            ),
            Gap::NoExtents { .. } => says(
                "no-extents",
                "matrix sizes in some calls of {call}",
                "the matrix layouts were created before the attach, or cannot be read without BPF",
            ),
            Gap::OrderLost { .. } => says(
                "order-lost",
                "order of {count} calls of {call}",
                "the ring buffer was full: the calls are counted, but their order is unknown",
            ),
            Gap::Canary { .. } => says("canary", "the canary", "{told}"),
            Gap::NoCanary => says("no-canary", "whether a launch would have been seen", "no known event was generated"),
            Gap::Around { how, .. } => match how {
                Around::Environment => says(
                    "outside-environment",
                    "launches of {who} (process {process})",
                    "it had {detail} mapped but not the preload library, because it was started with its own environment variables",
                ),
                Around::Static => says(
                    "outside-static",
                    "launches of {who} (process {process})",
                    "it is statically linked and contains launch functions, so nothing can be preloaded into it",
                ),
                Around::Loader => says(
                    "outside-loader",
                    "launches of {who} (process {process})",
                    "its loader is {detail}, not glibc's; it does not start with the preload library in its environment",
                ),
                Around::Rights => says(
                    "outside-rights",
                    "launches of {who} (process {process})",
                    "it runs with other privileges (set-user-ID or file capabilities), so its loader ignores LD_PRELOAD",
                ),
                Around::Survivor => says(
                    "outside-survivor",
                    "later launches of {who} (process {process})",
                    "it was still running when the program ended",
                ),
                Around::Unrecorded => says(
                    "outside-unrecorded",
                    "launches of {who} (process {process})",
                    "it loaded the preload library and a GPU runtime, but left no record",
                ),
                Around::Second => says(
                    "outside-second-runtime",
                    "launches through {who} in process {process}",
                    "another library in the process has the same launch functions, and only that library is wrapped",
                ),
                Around::Apart => says(
                    "outside-opened-apart",
                    "launches by {who} in process {process}",
                    "it was opened with {detail}, so its calls do not reach the preload library",
                ),
                Around::Address => says(
                    "outside-address",
                    "launches by {who} in process {process}",
                    "it holds the address of the runtime's own {detail} and can call it directly",
                ),
            },
            Gap::Threw { .. } => says(
                "threw",
                "{count} calls of process {process} that ended in an exception",
                "a call that does not return has no status, so it is unknown whether the runtime accepted the launch",
            ),
            Gap::Left { .. } => says(
                "left",
                "processes",
                "process {process} called {call}; programs that it started from there are not seen",
            ),
            Gap::NotFollowedLaunch { .. } => says(
                "not-followed-launch",
                "launches",
                "process {process} can call {call}, a launch function that is not watched; its launches are not counted",
            ),
            Gap::NotFollowedCall { .. } => says(
                "not-followed-call",
                "BLAS calls",
                "process {process} can call {call}, which is not watched; the kernels that it launches are counted, the calls are not",
            ),
            Gap::NotFollowedGraph { .. } => {
                says("not-followed-graph", "graphs", "process {process} called {call}, which is not watched")
            }
            Gap::GraphOnDevice { .. } => says(
                "graph-on-device",
                "graphs",
                "process {process} created a graph that the device can launch ({call}); these launches are not seen",
            ),
            Gap::GraphsUnanswered { .. } => says(
                "graphs-unanswered",
                "graphs",
                "the runtime did not report the nodes of {count} graphs of process {process}; they are counted as captured",
            ),
            Gap::NodesUnplaced { .. } => says(
                "nodes-unplaced",
                "graphs",
                "{count} nodes in process {process} were changed in graphs that had been updated before; their kernels are counted as before the change",
            ),
            Gap::RecordBroken { .. } => {
                says("record-broken", "records", "the record of process {process} {reason}; the rest of it is not read")
            }
            Gap::RecordRefused { .. } => says("record-refused", "records", "{file} {reason}; it is not read"),
            Gap::RecordsLost => says(
                "records-lost",
                "records",
                "{count} records were lost: the record directory was full, the reader was too slow, or the process was killed while writing",
            ),
            Gap::OtherUser { .. } => {
                says("other-user", "users", "process {process} ran as user {user}; its record cannot be verified")
            }
            Gap::OtherGrids => {
                says("other-grids", "grids", "{count} launches with further grid sizes are counted per kernel only")
            }
            Gap::NoLayouts => says(
                "no-layouts",
                "arguments",
                "the libraries of the kernels in {count} launches were not found beforehand, so column counts come from kernel names only",
            ),
            Gap::NobodyCalled => says(
                "nobody-called",
                "processes",
                "no process called a wrapped function: the runtime is static, the program resets its environment, or it does not use a GPU",
            ),
            Gap::NobodyOpenedVulkan => says(
                "nobody-opened-vulkan",
                "processes",
                "no process opened Vulkan with the whichkernel layer: the program does not use Vulkan, is set-user-ID, resets its environment, or has its own loader",
            ),
            Gap::LayerBlind { .. } => {
                says("layer-blind", "{what} in process {process}", "the layer does not inspect it")
            }
            Gap::NamedByModule => says(
                "named-by-module",
                "names",
                "{count} dispatches use pipelines without a known name; they are identified by the hash of their module. ggml 0.26 and later names pipelines with GGML_VK_DEBUG_MARKERS=1",
            ),
            Gap::NamedFromMemory => says(
                "named-from-memory",
                "names",
                "{count} dispatches use pipelines created before the attach; their names were read from the program's memory, and their modules and constants are unknown",
            ),
            Gap::BuffersBefore => says(
                "buffers-before",
                "command buffers",
                "{count} submissions used command buffers that were not seen from their beginning; dispatches recorded before that are not counted",
            ),
            Gap::ByPassed { .. } => says(
                "by-passed",
                "{call} of process {process}",
                "the program got the function from the device (vkGetDeviceProcAddr); its calls bypass Vulkan's loader and are not seen",
            ),
            Gap::SubmittedElsewhere => says(
                "submitted-elsewhere",
                "submissions",
                "{count} dispatches were recorded into command buffers whose submission was not seen: either through a function that is not watched (vkQueueSubmit2KHR) or never submitted",
            ),
            Gap::NothingPassed { .. } => says(
                "nothing-passed",
                "Vulkan of process {process}",
                "no submission passed Vulkan's loader: the program was idle, or it got the functions from the device before the attach (vkGetDeviceProcAddr) and cannot be seen",
            ),
            Gap::Indirect => says(
                "indirect",
                "grids",
                "{count} indirect dispatches: the device read their group counts from its own memory",
            ),
            Gap::NotSeenToEnd => says(
                "not-seen-to-end",
                "completion",
                "{count} dispatches were submitted, but the program never waited for their fences, so their completion was not seen",
            ),
            Gap::DeviceLost => {
                says("device-lost", "completion", "{count} dispatches were running when the device was lost")
            }
            Gap::Untimed => says(
                "untimed",
                "timestamps",
                "{count} dispatches have no device timestamps: their completion was not seen, they were in a secondary command buffer, resubmitted before they ended, on a queue without timestamps, or on a stand-in GPU",
            ),
            Gap::NoLogLine => says(
                "no-log-line",
                "logs",
                "no line of a known log format: the libraries were built without logging, or another variable enables it",
            ),
            Gap::NoKernelLine => says(
                "no-kernel-line",
                "kernels",
                "no line of the HIP runtime names a kernel; only the requests to BLAS libraries and their choices are visible",
            ),
            Gap::ToldTwice { .. } => says("told-twice", "calls", "logged in several ways ({ways}), counted once"),
            Gap::WriteAhead => says(
                "write-ahead",
                "the newest rows",
                "the write-ahead log beside the file is not read; merge it with: sqlite3 FILE 'PRAGMA wal_checkpoint'",
            ),
            Gap::Timeless => {
                says("timeless", "completion", "{count} dispatches without device timestamps are not counted")
            }
            Gap::GraphsWhole => says(
                "graphs-whole",
                "graph launches",
                "{count} graph launches were traced as a whole, without their kernels; profile with --cuda-graph-trace=node",
            ),
            Gap::NoRow => says("no-row", "dispatches", "the profile has no rows; this does not show that nothing ran"),
            Gap::TraceGraphs { .. } => says(
                "trace-graphs",
                "graph launches",
                "{count} captured launches and {replays} replays are not counted, because the trace does not identify the graphs",
            ),
            Gap::DamagedLines => {
                says("damaged-lines", "launches", "{count} lines of the trace cannot be read and are not counted")
            }
            Gap::CutOff => says(
                "cut-off",
                "the end of the trace",
                "the last line is incomplete: the writer was interrupted, and everything after it is missing",
            ),
            Gap::NoEnd => says(
                "no-end",
                "the number of launches, and which of them were refused",
                "the trace has no end record with totals: an older whichkernel wrote it, or it is truncated",
            ),
            Gap::MissingLines => says(
                "missing-lines",
                "{count} lines of the trace",
                "the line numbers and the totals in the end record show that these lines are missing",
            ),
            Gap::RepeatedLines => says(
                "repeated-lines",
                "whether {count} lines of the trace are separate launches",
                "another line has the same number; identical lines are counted once",
            ),
            Gap::NotInLines => says(
                "not-in-lines",
                "the kernels of {count} launches",
                "the writer of the trace counted them but recorded no lines for them",
            ),
            Gap::EndDisagrees { .. } => says(
                "end-disagrees",
                "whether all {count} launches of the trace happened",
                "the end record counts {counted}: the lines or the end record were changed",
            ),
            Gap::Told { .. } => says("told", "{what}", "reported by the writer of the trace: {why}"),
            Gap::OnlyWords => says(
                "only-words",
                "launches",
                "a server log has no launches; watch the server, or pass a trace with --read and this log with --said",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_a_key_of_its_own_and_sentences_without_holes() {
        let samples = Gap::samples();
        let keys: BTreeSet<&str> = samples.iter().map(|gap| gap.wording().key).collect();
        assert_eq!(keys.len(), samples.len());
        for gap in samples {
            let unseen = gap.times(3);
            let text = format!("{}: {}", unseen.what(), unseen.why());
            assert!(!text.contains(['{', '}']), "{text}");
        }
    }

    #[test]
    fn a_gap_says_what_how_often_and_why() {
        let library = || "libamdhip64.so.9".to_owned();
        let gap = Gap::UnknownLaunch { library: library(), symbol: "hipLaunchNew".into() }.times(3);
        assert_eq!(gap.what(), "launches through 3 calls of hipLaunchNew (libamdhip64.so.9)");
        let gap = Unseen::from(Gap::LateRuntime { library: library(), microseconds: 1234 });
        assert_eq!(gap.what(), "the first moments of libamdhip64.so.9");
        assert!(gap.why().contains("1.2 ms"));
    }
}
