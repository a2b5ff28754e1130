//! One gap of each kind, for tests of the sentences.

use super::{Around, Gap, Open, Unprobed};

impl Gap {
    /// One of each kind, for tests of the sentences.
    #[doc(hidden)]
    pub fn samples() -> Vec<Gap> {
        let library = || "libamdhip64.so.6".to_owned();
        let (symbol, call, why) =
            (|| "hipLaunchNew".to_owned(), || "hipGraphNew".to_owned(), || "is no file".to_owned());
        let unprobed = [Unprobed::Unreachable, Unprobed::Over, Unprobed::NoneThere, Unprobed::Refused(why())];
        let mut all: Vec<Gap> = unprobed.into_iter().map(|why| Gap::Unprobed { library: library(), why }).collect();
        all.extend([Unprobed::Over, Unprobed::Unreachable].map(|why| Gap::Unread { library: library(), why }));
        let around = |how| Gap::Around { process: 7, who: "worker".into(), how, detail: "libamdhip64.so.6".into() };
        all.extend(Around::ALL.map(around));
        all.extend([
            Gap::Threw { process: 7 },
            Gap::Unrecognised { library: library(), symbol: "hipLaunchKernel" },
            Gap::LateRuntime { library: library(), microseconds: 1234 },
            Gap::LateLibrary { library: library(), microseconds: 1234 },
            Gap::UnknownLaunch { library: library(), symbol: symbol() },
            Gap::UnknownGraph { library: library(), symbol: symbol() },
            Gap::Unreturned { library: library(), symbol: symbol() },
            Gap::Pointer { process: 7, call: call() },
            Gap::LatePointer { call: call(), microseconds: 1234 },
            Gap::Inside { program: "/usr/bin/child".into(), symbol: symbol() },
            Gap::Reaches { process: 7, program: "child".into(), device: "/dev/kfd".into() },
            Gap::DeviceRuntime { kernel: "_Z6parentv".into() },
            Gap::Uncounted { library: library(), symbol: symbol() },
            Gap::NotPlanted { library: library(), process: 7, symbol: symbol() },
            Gap::NothingProbed,
            Gap::ProcessesLost,
            Gap::Reused,
            Gap::NewThreads,
            Gap::CaptureUnderWay,
            Gap::ChangedNodes,
            Gap::UnknownNodes,
            Gap::LooseNodes,
            Gap::DeviceLaunch,
            Gap::Untold,
            Gap::NotReturned,
            Gap::Unchecked { all: 9 },
            Gap::NoReturns,
            Gap::NamesBefore,
            Gap::NamesGuessed,
            Gap::Registrations { library: library() },
            Gap::NoLateNames,
            Gap::NoArguments,
            Gap::TableFull,
            Gap::NoColumns,
            Gap::NoExtents { call: call() },
            Gap::OrderLost { call: call() },
            Gap::Canary { told: "3 of 64 calls".into() },
            Gap::NoCanary,
            Gap::Left { process: 7, call: "chroot".into() },
            Gap::NotFollowedLaunch { process: 7, call: call() },
            Gap::NotFollowedCall { process: 7, call: call() },
            Gap::NotFollowedGraph { process: 7, call: call() },
            Gap::GraphOnDevice { process: 7, call: call() },
            Gap::GraphsUnanswered { process: 7 },
            Gap::NodesUnplaced { process: 7 },
            Gap::RecordBroken { process: 7, why: why() },
            Gap::RecordRefused { file: "seen.7.0".into(), why: why() },
            Gap::RecordsLost,
            Gap::OtherUser { process: 7, user: 1000 },
            Gap::OtherGrids,
            Gap::NoLayouts,
            Gap::NobodyCalled,
            Gap::NobodyOpenedVulkan,
            Gap::LayerBlind { process: 7, what: "specialization constants".into() },
            Gap::NamedByModule,
            Gap::NamedFromMemory,
            Gap::BuffersBefore,
            Gap::ByPassed { process: 7, call: "vkCmdDispatch".into() },
            Gap::Indirect,
            Gap::NotSeenToEnd,
            Gap::DeviceLost,
            Gap::SubmittedElsewhere,
            Gap::NothingPassed { process: 7 },
            Gap::Untimed,
            Gap::NoLogLine,
            Gap::NoKernelLine,
            Gap::ToldTwice { ways: "rocblas, hipblaslt".into() },
            Gap::WriteAhead,
            Gap::Timeless,
            Gap::GraphsWhole,
            Gap::NoRow,
            Gap::TraceGraphs { replays: 4 },
            Gap::DamagedLines,
            Gap::CutOff,
            Gap::NoEnd,
            Gap::MissingLines,
            Gap::RepeatedLines,
            Gap::NotInLines,
            Gap::EndDisagrees { counted: 2 },
            Gap::Told { open: Open::Order, what: "order".into(), why: "the ring was full".into() },
            Gap::OnlyWords,
        ]);
        all
    }
}
