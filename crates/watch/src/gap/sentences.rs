//! Which sentences of `unseen.ftl` a gap is told with.

use crate::gap::{Around, Gap, Unprobed, Unseen};
use say::{Arg, Message};

/// The message keys of a gap and of its reason, and the arguments of both.
struct Sentences {
    what: &'static str,
    why: &'static str,
    args: Vec<(&'static str, Arg)>,
}

/// Compiles where both messages are there and use nothing else than these names and the count.
macro_rules! sentences {
    ($key:literal $(, $name:ident $(= $value:expr)?)*) => {{
        const WHAT: &str = concat!("unseen-", $key);
        const WHY: &str = concat!("unseen-", $key, "-why");
        const _: () = say::table::check_covers(WHAT, &["count", $(stringify!($name)),*]);
        const _: () = say::table::check_covers(WHY, &["count", $(stringify!($name)),*]);
        #[allow(unused_imports, reason = "some have no names")]
        use say::ToArg as _;
        Sentences { what: WHAT, why: WHY, args: vec![$((stringify!($name), sentences!(@ $name $(= $value)?))),*] }
    }};
    (@ $name:ident) => { $name.to_arg() };
    (@ $name:ident = $value:expr) => { ($value).to_arg() };
}

impl Unseen {
    /// What a program knows it by.
    pub fn key(&self) -> &'static str {
        self.gap.sentences().what.trim_start_matches("unseen-")
    }

    /// What was not seen.
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

fn milliseconds(microseconds: u64) -> String {
    format!("{:.1}", microseconds as f64 / 1e3)
}

impl Gap {
    fn sentences(&self) -> Sentences {
        match self {
            Gap::Unprobed { library, why: Unprobed::Unreachable } => sentences!("unprobed-unreachable", library),
            Gap::Unprobed { library, why: Unprobed::Over } => sentences!("unprobed-over", library),
            Gap::Unprobed { library, why: Unprobed::NoneThere } => sentences!("unprobed-none-there", library),
            Gap::Unprobed { library, why: Unprobed::Refused(reason) } => {
                sentences!("unprobed-refused", library, reason)
            }
            Gap::Unread { library, why: Unprobed::Over } => sentences!("unread-over", library),
            Gap::Unread { library, .. } => sentences!("unread", library),
            Gap::Unrecognised { library, symbol } => sentences!("unrecognised", library, symbol),
            Gap::LateRuntime { library, microseconds } => {
                sentences!("late-runtime", library, late = milliseconds(*microseconds))
            }
            Gap::LateLibrary { library, microseconds } => {
                sentences!("late-library", library, late = milliseconds(*microseconds))
            }
            Gap::UnknownLaunch { library, symbol } => sentences!("unknown-launch", library, symbol),
            Gap::UnknownGraph { library, symbol } => sentences!("unknown-graph", library, symbol),
            Gap::NotReturned => sentences!("not-returned"),
            Gap::Unreturned { library, symbol } => sentences!("unreturned", library, symbol),
            Gap::Pointer { process, call } => sentences!("pointer", process, call),
            Gap::LatePointer { call, microseconds } => {
                sentences!("late-pointer", call, late = milliseconds(*microseconds))
            }
            Gap::Inside { program, symbol } => sentences!("inside", program, symbol),
            Gap::Reaches { process, program, device } => sentences!("reaches", process, program, device),
            Gap::DeviceRuntime { kernel } => sentences!("device-runtime", kernel),
            Gap::Uncounted { library, symbol } => sentences!("uncounted", library, symbol),
            Gap::NotPlanted { library, process, symbol } => sentences!("not-planted", library, process, symbol),
            Gap::NothingProbed => sentences!("nothing-probed"),
            Gap::ProcessesLost => sentences!("processes-lost"),
            Gap::Reused => sentences!("reused"),
            Gap::NewThreads => sentences!("new-threads"),
            Gap::CaptureUnderWay => sentences!("capture-under-way"),
            Gap::ChangedNodes => sentences!("changed-nodes"),
            Gap::UnknownNodes => sentences!("unknown-nodes"),
            Gap::LooseNodes => sentences!("loose-nodes"),
            Gap::DeviceLaunch => sentences!("device-launch"),
            Gap::Untold => sentences!("untold"),
            Gap::Unchecked { all } => sentences!("unchecked", all),
            Gap::NoReturns => sentences!("no-returns"),
            Gap::NamesBefore => sentences!("names-before"),
            Gap::NamesGuessed => sentences!("names-guessed"),
            Gap::Registrations { library } => sentences!("registrations", library),
            Gap::NoLateNames => sentences!("no-late-names"),
            Gap::NoArguments => sentences!("no-arguments"),
            Gap::TableFull => sentences!("table-full"),
            Gap::NoColumns => sentences!("no-columns"),
            Gap::NoExtents { call } => sentences!("no-extents", call),
            Gap::OrderLost { call } => sentences!("order-lost", call),
            Gap::Canary { told } => sentences!("canary", told),
            Gap::NoCanary => sentences!("no-canary"),
            Gap::Around { process, who, how, detail } => match how {
                Around::Environment => sentences!("outside-environment", process, who, detail),
                Around::Static => sentences!("outside-static", process, who, detail),
                Around::Loader => sentences!("outside-loader", process, who, detail),
                Around::Rights => sentences!("outside-rights", process, who, detail),
                Around::Survivor => sentences!("outside-survivor", process, who, detail),
                Around::Unrecorded => sentences!("outside-unrecorded", process, who, detail),
                Around::Second => sentences!("outside-second-runtime", process, who, detail),
                Around::Apart => sentences!("outside-opened-apart", process, who, detail),
                Around::Address => sentences!("outside-address", process, who, detail),
            },
            Gap::Threw { process } => sentences!("threw", process),
            Gap::Left { process, call } => sentences!("left", process, call),
            Gap::NotFollowedLaunch { process, call } => sentences!("not-followed-launch", process, call),
            Gap::NotFollowedCall { process, call } => sentences!("not-followed-call", process, call),
            Gap::NotFollowedGraph { process, call } => sentences!("not-followed-graph", process, call),
            Gap::GraphOnDevice { process, call } => sentences!("graph-on-device", process, call),
            Gap::GraphsUnanswered { process } => sentences!("graphs-unanswered", process),
            Gap::NodesUnplaced { process } => sentences!("nodes-unplaced", process),
            Gap::RecordBroken { process, why } => sentences!("record-broken", process, reason = why),
            Gap::RecordRefused { file, why } => sentences!("record-refused", file, reason = why),
            Gap::RecordsLost => sentences!("records-lost"),
            Gap::OtherUser { process, user } => sentences!("other-user", process, user),
            Gap::OtherGrids => sentences!("other-grids"),
            Gap::NoLayouts => sentences!("no-layouts"),
            Gap::NobodyCalled => sentences!("nobody-called"),
            Gap::NobodyOpenedVulkan => sentences!("nobody-opened-vulkan"),
            Gap::LayerBlind { process, what } => sentences!("layer-blind", process, what),
            Gap::NamedByModule => sentences!("named-by-module"),
            Gap::NamedFromMemory => sentences!("named-from-memory"),
            Gap::BuffersBefore => sentences!("buffers-before"),
            Gap::ByPassed { process, call } => sentences!("by-passed", process, call),
            Gap::SubmittedElsewhere => sentences!("submitted-elsewhere"),
            Gap::NothingPassed { process } => sentences!("nothing-passed", process),
            Gap::Indirect => sentences!("indirect"),
            Gap::NotSeenToEnd => sentences!("not-seen-to-end"),
            Gap::DeviceLost => sentences!("device-lost"),
            Gap::Untimed => sentences!("untimed"),
            Gap::NoLogLine => sentences!("no-log-line"),
            Gap::NoKernelLine => sentences!("no-kernel-line"),
            Gap::ToldTwice { ways } => sentences!("told-twice", ways),
            Gap::WriteAhead => sentences!("write-ahead"),
            Gap::Timeless => sentences!("timeless"),
            Gap::GraphsWhole => sentences!("graphs-whole"),
            Gap::NoRow => sentences!("no-row"),
            Gap::TraceGraphs { replays } => sentences!("trace-graphs", replays),
            Gap::DamagedLines => sentences!("damaged-lines"),
            Gap::CutOff => sentences!("cut-off"),
            Gap::NoEnd => sentences!("no-end"),
            Gap::MissingLines => sentences!("missing-lines"),
            Gap::RepeatedLines => sentences!("repeated-lines"),
            Gap::NotInLines => sentences!("not-in-lines"),
            Gap::EndDisagrees { counted } => sentences!("end-disagrees", counted),
            Gap::Told { what, why, .. } => sentences!("told", what, why),
            Gap::OnlyWords => sentences!("only-words"),
        }
    }
}
