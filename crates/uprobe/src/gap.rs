//! What was not seen, as kinds of things: each with the number of times where that is known.

use crate::probes::entries::Suspect;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gap {
    /// A library that was mapped and carries no probe.
    Unprobed { library: String, why: Unprobed },
    /// A file that was mapped as code and could not be opened: what it is, nobody knows.
    Unread { library: String, why: Unprobed },
    /// A library that exports a launch function, and is no runtime by its name and SONAME.
    Unrecognised { library: String, symbol: &'static str },
    /// A library was opened while the watch went on, and whatever it was called for before its probes were in was not seen.
    Late { library: String, launches: bool, microseconds: u64 },
    /// A function that by its name launches, or changes what a graph launches, and that the list does not have: called so often.
    Unknown { library: String, symbol: String, what: Suspect },
    /// The same, where calls are not even counted.
    Uncounted { library: String, symbol: String },
    /// A capture had begun when the probes went in: so many launches on its stream count as launched, some or all of which were captured.
    CaptureUnderWay,
    /// Nodes that were given another kernel, without it being known which they had.
    ChangedNodes,
    /// Nodes that were removed or switched off or on, without it being known what they are.
    UnknownNodes,
    /// Nodes that were added to graphs which nobody saw made.
    LooseNodes,
    /// Graphs that kernels may launch.
    DeviceLaunch,
    /// Records that found no room.
    Untold,
    /// Launches whose return was not looked at, of all that were made.
    Unchecked { all: u64 },
    /// Processes that ended and whose number another was given, while records were lost.
    Reused,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unprobed {
    /// Its file could not be opened.
    Unreachable,
    /// Its process was over first.
    Over,
    /// It has none of the functions that are watched.
    NoneThere,
    /// The kernel or the file refused.
    Refused(String),
}

impl fmt::Display for Unprobed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unprobed::Unreachable => "its file could not be opened through /proc, so it carries no probe",
            Unprobed::Over => "its process was over before a probe was in place",
            Unprobed::NoneThere => "it exports none of the functions that are watched",
            Unprobed::Refused(why) => why,
        })
    }
}

impl Gap {
    /// What was not seen, of `count` of them.
    pub fn what(&self, count: u64) -> String {
        match self {
            Gap::Unprobed { library, .. } => format!("launches through {library}"),
            Gap::Unread { library, .. } => format!("launches through {library}, if it is a runtime"),
            Gap::Unrecognised { library, symbol } => format!("launches through {symbol} of {library}"),
            Gap::Late { library, launches: true, .. } => format!("the first moments of {library}"),
            Gap::Late { library, launches: false, .. } => format!("the first calls of {library}"),
            Gap::Unknown { library, symbol, what: Suspect::Launch } => {
                format!("launches through {count} calls of {symbol} ({library})")
            }
            Gap::Unknown { library, symbol, what: Suspect::Graph } => {
                format!("launches through graphs that {count} calls of {symbol} ({library}) made or changed")
            }
            Gap::Uncounted { library, symbol } => format!("launches through {symbol} ({library})"),
            Gap::CaptureUnderWay => format!("launches through a capture that was under way: {count} count as launched"),
            Gap::ChangedNodes => format!("what {count} changed nodes of graphs had launched"),
            Gap::UnknownNodes => format!("what {count} nodes that were removed or switched launch"),
            Gap::LooseNodes => format!("launches through {count} nodes of graphs that nobody saw made"),
            Gap::DeviceLaunch => format!("launches through {count} graphs that kernels may launch"),
            Gap::Untold => format!("records of {count} calls about graphs, captures, names and refusals"),
            Gap::Unchecked { all } => format!("acceptance of {count} of {all} launches"),
            Gap::Reused => "processes: a number was given out twice while records were lost".to_owned(),
        }
    }

    pub fn why(&self) -> String {
        match self {
            Gap::Unprobed { why, .. } | Gap::Unread { why, .. } => why.to_string(),
            Gap::Unrecognised { .. } => {
                "neither its name nor its SONAME is a runtime's: what it does not pass on to one that carries probes was not seen".to_owned()
            }
            Gap::Late { microseconds, .. } => {
                let late = *microseconds as f64 / 1e3;
                format!("it was opened after the watch began, and carried probes {late:.1} ms later: calls in between were not seen")
            }
            Gap::Unknown { .. } => "this version does not know the function; it is in the library's exports, and was called".to_owned(),
            Gap::Uncounted { .. } => {
                "this version does not know the function, and without BPF it is not known whether it was called".to_owned()
            }
            Gap::CaptureUnderWay => "it began before the probes were in; its replays are counted as unknown".to_owned(),
            Gap::ChangedNodes => {
                "their graphs were captured, and which node is which is not told: the sum of launches is right, their kernels may not be"
                    .to_owned()
            }
            Gap::UnknownNodes => "their graphs were captured, and which node is which is not told; replays are counted as unknown".to_owned(),
            Gap::LooseNodes => "the graphs were made before the attach, or by a function that is not watched".to_owned(),
            Gap::DeviceLaunch => "what a kernel launches passes no function of the host".to_owned(),
            Gap::Untold => "there was no room for them: what replays launch, and some names, may be wrong".to_owned(),
            Gap::Unchecked { .. } => {
                "their returns were not looked at, for there were too many in too short a time: one that was rejected counts as launched"
                    .to_owned()
            }
            Gap::Reused => "launches that were only counted cannot be told apart".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_says_what_how_often_and_why() {
        let library = "libamdhip64.so.9".to_owned();
        let gap = Gap::Unknown { library: library.clone(), symbol: "hipLaunchNew".into(), what: Suspect::Launch };
        assert_eq!(gap.what(3), "launches through 3 calls of hipLaunchNew (libamdhip64.so.9)");
        let gap = Gap::Late { library, launches: true, microseconds: 1234 };
        assert_eq!(gap.what(1), "the first moments of libamdhip64.so.9");
        assert!(gap.why().contains("1.2 ms"));
    }
}
