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
        const NO_POINTERS: &str = "they lie behind pointers, which perf without BPF does not follow";
        const NOT_OPENED: &str = "its file could not be opened through /proc";
        const OVER: &str = "its process was over before a probe was in place";
        match self {
            Gap::Unprobed { why: Unprobed::Unreachable, .. } => says(
                "unprobed-unreachable",
                "launches through {library}",
                "its file could not be opened through /proc, so it carries no probe",
            ),
            Gap::Unprobed { why: Unprobed::Over, .. } => says("unprobed-over", "launches through {library}", OVER),
            Gap::Unprobed { why: Unprobed::NoneThere, .. } => says(
                "unprobed-none-there",
                "launches through {library}",
                "it exports none of the functions that are watched",
            ),
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
                "neither its name nor its SONAME is a runtime's: what it does not pass on to one that carries probes was not seen",
            ),
            Gap::LateRuntime { .. } => says(
                "late-runtime",
                "the first moments of {library}",
                "it was opened after the watch began, and carried probes {late} ms later: calls in between were not seen",
            ),
            Gap::LateLibrary { .. } => says(
                "late-library",
                "the first calls of {library}",
                "it was opened after the watch began, and carried probes {late} ms later: calls in between were not seen",
            ),
            Gap::UnknownLaunch { .. } => says(
                "unknown-launch",
                "launches through {count} calls of {symbol} ({library})",
                "this version does not know the function; it is in the library's exports, and was called",
            ),
            Gap::UnknownGraph { .. } => says(
                "unknown-graph",
                "launches through graphs that {count} calls of {symbol} ({library}) made or changed",
                "this version does not know the function; it is in the library's exports, and was called",
            ),
            Gap::Unreturned { .. } => says(
                "unreturned",
                "results of {count} calls of {symbol} ({library})",
                "the function leaves through an address that its file does not contain, and a return probe could end a program that throws an exception",
            ),
            Gap::Pointer { .. } => says(
                "pointer",
                "launches through a pointer to {call} in process {process}",
                "the process obtained it from the runtime; it is no exported function, and could not be probed",
            ),
            Gap::LatePointer { .. } => says(
                "late-pointer",
                "the first launches through a pointer to {call}",
                "the process obtained it from the runtime; it is no exported function, and carried a probe {late} ms later",
            ),
            Gap::Inside { .. } => says(
                "inside",
                "launches of {program}",
                "it contains {symbol} itself, and only runtimes in files of their own are probed",
            ),
            Gap::Reaches { .. } => says(
                "reaches",
                "launches of process {process} ({program})",
                "it holds {device}, and none of its libraries carried probes",
            ),
            Gap::DeviceRuntime { .. } => says(
                "device-runtime",
                "launches by the kernel {kernel} on the device ({count} launches of it)",
                "its code calls the CUDA device runtime, and kernels that a kernel launches pass no function of the host",
            ),
            Gap::Uncounted { .. } => says(
                "uncounted",
                "launches through {symbol} ({library})",
                "this version does not know the function, and without BPF it is not known whether it was called",
            ),
            Gap::NotPlanted { .. } => says(
                "not-planted",
                "launches through {library} in process {process}",
                "the memory of process {process} has the file's own instruction at {symbol}",
            ),
            Gap::NothingProbed => says(
                "nothing-probed",
                "launches",
                "no GPU runtime of these processes carried probes while they were watched",
            ),
            Gap::ProcessesLost => says(
                "processes-lost",
                "some processes or libraries",
                "the kernel dropped {count} records of forks and mappings",
            ),
            Gap::Reused => says(
                "reused",
                "processes: a number was given out twice while records were lost",
                "launches that were only counted cannot be told apart",
            ),
            Gap::NewThreads => says(
                "new-threads",
                "threads that were started while the probes went in",
                "each thread is asked for by itself",
            ),
            Gap::CaptureUnderWay => says(
                "capture-under-way",
                "launches through a capture that was under way: {count} count as launched",
                "it began before the probes were in; its replays are counted as unknown",
            ),
            Gap::ChangedNodes => says(
                "changed-nodes",
                "what {count} changed nodes of graphs had launched",
                "their graphs were captured, and which node is which is not told: the sum of launches is right, their kernels may not be",
            ),
            Gap::UnknownNodes => says(
                "unknown-nodes",
                "what {count} nodes that were removed or switched launch",
                "their graphs were captured, and which node is which is not told; replays are counted as unknown",
            ),
            Gap::LooseNodes => says(
                "loose-nodes",
                "launches through {count} nodes of graphs that nobody saw made",
                "the graphs were made before the attach, or by a function that is not watched",
            ),
            Gap::DeviceLaunch => says(
                "device-launch",
                "launches through {count} graphs that kernels may launch",
                "what a kernel launches passes no function of the host",
            ),
            Gap::Untold => says(
                "untold",
                "records of {count} calls about graphs, captures, names and refusals",
                "there was no room for them: what replays launch, and some names, may be wrong",
            ),
            Gap::NotReturned => says(
                "not-returned",
                "results of {count} calls about graphs",
                "the calls did not return: an exception left them, or they were running when the observation ended; the launches of replays may be wrong",
            ),
            Gap::Unchecked { .. } => says(
                "unchecked",
                "acceptance of {count} of {all} launches",
                "their returns were not looked at, for there were too many in too short a time: one that was rejected counts as launched",
            ),
            Gap::NoReturns => says("no-returns", "acceptance", "returns are not looked at without BPF"),
            Gap::NamesBefore => says(
                "names-before",
                "names of functions that were obtained before the attach",
                "the process's memory could not be read, where its libraries keep them",
            ),
            Gap::NamesGuessed => says(
                "names-guessed",
                "certainty of some names",
                "they were read from the driver's own objects, along a path that gave the right name of every known function",
            ),
            Gap::Registrations { .. } => says(
                "registrations",
                "names of some kernels of {library}",
                "{count} of its registration calls could not be read",
            ),
            Gap::NoLateNames => says("no-late-names", "names of functions that are loaded at run time", NO_POINTERS),
            Gap::NoArguments => says("no-arguments", "argument bytes and the column counts in them", NO_POINTERS),
            Gap::TableFull => says(
                "table-full",
                "argument bytes of some kernels",
                "there are more kernels than the kernel-side table holds",
            ),
            Gap::NoColumns => says(
                "no-columns",
                "column counts",
                "some launches were made before their library had been read, and are counted without",
            ),
            Gap::NoExtents { .. } => says(
                "no-extents",
                "extents of some calls of {call}",
                "the matrix layouts were made before the attach, or cannot be read without BPF",
            ),
            Gap::OrderLost { .. } => says(
                "order-lost",
                "order of {count} calls of {call}",
                "the ring was full: they are counted, without their place in the order",
            ),
            Gap::Canary { .. } => says("canary", "the canary", "{told}"),
            Gap::NoCanary => says("no-canary", "whether a launch would have been seen", "no known event was made"),
            Gap::Around { how, .. } => match how {
                Around::Environment => says(
                    "outside-environment",
                    "launches of {who} (process {process})",
                    "it had {detail} mapped and not the preload library: it was started with an environment of its own",
                ),
                Around::Static => says(
                    "outside-static",
                    "launches of {who} (process {process})",
                    "it is linked statically and has launch functions inside, so nothing can be preloaded into it",
                ),
                Around::Loader => says(
                    "outside-loader",
                    "launches of {who} (process {process})",
                    "its loader is {detail} and not glibc's: with the preload library in its environment it does not start",
                ),
                Around::Rights => says(
                    "outside-rights",
                    "launches of {who} (process {process})",
                    "it runs with other rights (set-user-ID or file capabilities), so its loader ignores LD_PRELOAD",
                ),
                Around::Survivor => says(
                    "outside-survivor",
                    "later launches of {who} (process {process})",
                    "it was still running when the program had ended",
                ),
                Around::Unrecorded => says(
                    "outside-unrecorded",
                    "launches of {who} (process {process})",
                    "it has the preload library and a GPU runtime, and there is no record of it",
                ),
                Around::Second => says(
                    "outside-second-runtime",
                    "launches through {who} in process {process}",
                    "another library with the same launch functions is in the process, and only that one is wrapped",
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
                "a call that does not return has no status: whether the runtime accepted the launch is not known",
            ),
            Gap::Left { .. } => says(
                "left",
                "processes",
                "process {process} called {call}: programs that it started from there are not seen",
            ),
            Gap::NotFollowedLaunch { .. } => says(
                "not-followed-launch",
                "launches",
                "process {process} can call {call}, a launch function that is not followed: its launches are not counted",
            ),
            Gap::NotFollowedCall { .. } => says(
                "not-followed-call",
                "BLAS calls",
                "process {process} can call {call}, which is not followed: the kernels that it launches count, the calls do not",
            ),
            Gap::NotFollowedGraph { .. } => {
                says("not-followed-graph", "graphs", "process {process} called {call}, which is not followed")
            }
            Gap::GraphOnDevice { .. } => says(
                "graph-on-device",
                "graphs",
                "process {process} made a graph that the device can launch ({call}): such launches are not seen",
            ),
            Gap::GraphsUnanswered { .. } => says(
                "graphs-unanswered",
                "graphs",
                "{count} graphs of process {process} whose nodes the runtime did not tell: they count as they were captured",
            ),
            Gap::NodesUnplaced { .. } => says(
                "nodes-unplaced",
                "graphs",
                "{count} changed nodes in process {process} of graphs that were updated before: their kernels count as they were",
            ),
            Gap::RecordBroken { .. } => {
                says("record-broken", "records", "the record of process {process} {reason}: it is not read any further")
            }
            Gap::RecordRefused { .. } => says("record-refused", "records", "{file} {reason}: it is not read"),
            Gap::RecordsLost => says(
                "records-lost",
                "records",
                "{count} lost: the directory of the records was full, the reader was too slow, or the process was killed in the middle of one",
            ),
            Gap::OtherUser { .. } => {
                says("other-user", "users", "process {process} ran as user {user}: what it recorded is its word")
            }
            Gap::OtherGrids => says(
                "other-grids",
                "grids",
                "{count} launches with grids beyond those that are kept apart: counted by kernel",
            ),
            Gap::NoLayouts => says(
                "no-layouts",
                "arguments",
                "{count} launches of kernels whose library was not found beforehand: column counts come from names alone",
            ),
            Gap::NobodyCalled => says(
                "nobody-called",
                "processes",
                "no process called a wrapped function: a static runtime, a program that resets its environment, or no GPU program",
            ),
            Gap::NobodyOpenedVulkan => says(
                "nobody-opened-vulkan",
                "processes",
                "no process opened Vulkan with our layer: no Vulkan program, one that is set-user-ID or resets its environment, or a loader of its own",
            ),
            Gap::LayerBlind { .. } => {
                says("layer-blind", "{what} in process {process}", "the layer did not look into it")
            }
            Gap::NamedByModule => says(
                "named-by-module",
                "names",
                "{count} dispatches of pipelines of which no name was seen (to the layer ggml tells them from 0.26 on, with GGML_VK_DEBUG_MARKERS=1): known by the hash of their module",
            ),
            Gap::NamedFromMemory => says(
                "named-from-memory",
                "names",
                "{count} dispatches of pipelines that were made before the attach: their names stand in the program's memory, module and constants are not known",
            ),
            Gap::BuffersBefore => says(
                "buffers-before",
                "command buffers",
                "{count} submissions of command buffers whose beginning was not seen: what was recorded into them before that is not counted",
            ),
            Gap::ByPassed { .. } => says(
                "by-passed",
                "{call} of process {process}",
                "the program asked for the device's own function (vkGetDeviceProcAddr): calls of it do not pass Vulkan's loader and are out of view",
            ),
            Gap::SubmittedElsewhere => says(
                "submitted-elsewhere",
                "submissions",
                "{count} dispatches were recorded into command buffers whose submission was not seen: by a function that does not pass here (vkQueueSubmit2KHR), or never",
            ),
            Gap::NothingPassed { .. } => says(
                "nothing-passed",
                "Vulkan of process {process}",
                "no submission passed Vulkan's loader: the program was idle, or it had asked for its device's own functions before the attach (vkGetDeviceProcAddr) and is out of view",
            ),
            Gap::Indirect => {
                says("indirect", "grids", "{count} dispatches whose groups the device read from its memory")
            }
            Gap::NotSeenToEnd => says(
                "not-seen-to-end",
                "ends",
                "{count} dispatches were submitted and not seen to end: the program waited for none of their fences",
            ),
            Gap::DeviceLost => {
                says("device-lost", "ends", "{count} dispatches were under way when the device was lost")
            }
            Gap::Untimed => says(
                "untimed",
                "times",
                "{count} dispatches have no time of the device: not seen to end, in a secondary command buffer, submitted again before they ended, on a queue without timestamps, or on a stand-in",
            ),
            Gap::NoLogLine => says(
                "no-log-line",
                "logs",
                "no line of any log that is known here: the libraries were built without logging, or another variable switches it on",
            ),
            Gap::NoKernelLine => says(
                "no-kernel-line",
                "kernels",
                "no line of the HIP runtime names a kernel: only what BLAS libraries were asked for and chose is in view",
            ),
            Gap::ToldTwice { .. } => says("told-twice", "calls", "told in several ways ({ways}), counted once"),
            Gap::WriteAhead => says(
                "write-ahead",
                "the newest rows",
                "a write-ahead log lies beside the file, and is not read: sqlite3 FILE 'PRAGMA wal_checkpoint'",
            ),
            Gap::Timeless => {
                says("timeless", "completion", "{count} dispatches without times of the device: not counted")
            }
            Gap::GraphsWhole => says(
                "graphs-whole",
                "graph launches",
                "{count} graph launches were traced as a whole, and their kernels are in no row: profile with --cuda-graph-trace=node",
            ),
            Gap::NoRow => {
                says("no-row", "dispatches", "the profile has no row: it shows nothing, not that nothing ran")
            }
            Gap::TraceGraphs { .. } => says(
                "trace-graphs",
                "graph launches",
                "{count} captured launches and {replays} replays: the trace does not say which graph is which, so they are not counted",
            ),
            Gap::DamagedLines => says(
                "damaged-lines",
                "launches",
                "{count} lines of the trace cannot be read, and what they held is not counted",
            ),
            Gap::CutOff => says(
                "cut-off",
                "the end of the trace",
                "its last line is half a line: whoever wrote it was stopped, and what came after is not there",
            ),
            Gap::NoEnd => says(
                "no-end",
                "how many launches there were, and which of them were refused",
                "the trace has no end that says what was counted: it is of an older whichkernel, or it was cut",
            ),
            Gap::MissingLines => says(
                "missing-lines",
                "{count} lines of the trace",
                "by their numbers and by what its end counts they should be there, and are not",
            ),
            Gap::RepeatedLines => says(
                "repeated-lines",
                "whether {count} lines of the trace are launches of their own",
                "another line has the same number; what is the same to the letter is counted once",
            ),
            Gap::NotInLines => says(
                "not-in-lines",
                "the kernels of {count} launches",
                "whoever wrote the trace counted them, and its lines do not tell them",
            ),
            Gap::EndDisagrees { .. } => says(
                "end-disagrees",
                "whether all {count} launches of the trace were made",
                "its own end counts {counted}: somebody changed the one or the other",
            ),
            Gap::Told { .. } => says("told", "{what}", "as whoever wrote the trace says: {why}"),
            Gap::OnlyWords => says(
                "only-words",
                "launches",
                "a server's log has none: watch it, or give a trace with --read and this with --said",
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
