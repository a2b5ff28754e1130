//! The points that are compared, and the verdict on each.

use crate::Ending;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

say::named! {
    /// One point of the comparison.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    pub enum Point: key {
        #[serde(rename = "ending")]
        Ending = "ending",
        #[serde(rename = "devices")]
        Devices = "devices",
        #[serde(rename = "offloaded layers")]
        Layers = "offloaded layers",
        #[serde(rename = "libraries")]
        Libraries = "libraries",
        #[serde(rename = "output")]
        Output = "output",
        #[serde(rename = "launch mix")]
        LaunchMix = "launch mix",
        #[serde(rename = "tokens per second")]
        Speed = "tokens per second",
        #[serde(rename = "seconds")]
        Seconds = "seconds",
        #[serde(rename = "processor seconds")]
        Processor = "processor seconds",
    }
}

impl Point {
    /// The points that count: a difference in one of them means that the observer changed the program.
    pub const JUDGED: [Point; 6] =
        [Point::Ending, Point::Devices, Point::Layers, Point::Libraries, Point::Output, Point::LaunchMix];

    pub fn message(self) -> Message {
        match self {
            Point::Ending => say!("watch-certify-point-ending"),
            Point::Devices => say!("watch-certify-point-devices"),
            Point::Layers => say!("watch-certify-point-layers"),
            Point::Libraries => say!("watch-certify-point-libraries"),
            Point::Output => say!("watch-certify-point-output"),
            Point::LaunchMix => say!("watch-certify-point-mix"),
            Point::Speed => say!("watch-certify-point-speed"),
            Point::Seconds => say!("watch-certify-point-seconds"),
            Point::Processor => say!("watch-certify-point-processor"),
        }
    }
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict: key {
        Same = "same",
        Differs = "differs",
        /// The two unobserved runs differ from each other, so nothing can be concluded.
        Unsteady = "unsteady",
        /// A counter did not see every launch, so a difference proves nothing.
        InPart = "in-part",
        /// No run gave a value, or not all of the needed runs did.
        Absent = "absent",
        /// Reported, but not judged.
        Told = "told",
    }
}

impl Verdict {
    /// Compares three runs: unobserved, observed, unobserved. None if a run has no value.
    pub fn of<T: PartialEq + ?Sized>([before, observed, after]: [Option<&T>; 3]) -> Verdict {
        match (before, observed, after) {
            (None, None, None) => Verdict::Absent,
            _ if before != after => Verdict::Unsteady,
            _ if before == observed => Verdict::Same,
            _ => Verdict::Differs,
        }
    }

    pub fn message(self) -> Message {
        match self {
            Verdict::Same => say!("watch-certify-same"),
            Verdict::Differs => say!("watch-certify-differs"),
            Verdict::Unsteady => say!("watch-certify-unsteady"),
            Verdict::InPart => say!("watch-certify-in-part"),
            Verdict::Absent => say!("watch-certify-absent"),
            Verdict::Told => say!("watch-certify-told"),
        }
    }
}

/// The value of a point in one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Cell {
    #[default]
    Nothing,
    Ending(Ending),
    /// The text as the program printed it.
    Text(String),
    /// The number of libraries that all runs share, and those that only some have.
    Libraries {
        common: usize,
        own: Vec<String>,
    },
    /// The number of launches, the number of kernels (None if some have no name), and the kernels that differ between
    /// runs.
    Launches {
        launches: u64,
        kernels: Option<usize>,
        among: Vec<String>,
    },
    Figures(Vec<f64>),
    /// Median, minimum and maximum.
    Spread([f64; 3]),
    Seconds(f64),
}

impl Cell {
    pub fn message(&self) -> Message {
        match self {
            Cell::Nothing => Message::verbatim(""),
            Cell::Text(text) => Message::verbatim(text),
            Cell::Seconds(seconds) => Message::verbatim(format!("{seconds:.2}")),
            Cell::Figures(list) => {
                let list: Vec<String> = list.iter().map(|figure| format!("{figure:.1}")).collect();
                Message::verbatim(list.join(", "))
            }
            Cell::Libraries { common, own } if own.is_empty() => Message::verbatim(common),
            Cell::Ending(ending) => ending.message(),
            Cell::Libraries { common, own } => {
                say!("watch-certify-libraries", common, own)
            }
            Cell::Launches { launches, kernels: None, .. } => {
                say!("watch-certify-launches", launches)
            }
            Cell::Launches { launches, kernels: Some(kernels), among } if among.is_empty() => {
                say!("watch-certify-launches-kernels", launches, kernels)
            }
            Cell::Launches { launches, kernels: Some(kernels), among } => {
                say!("watch-certify-launches-among", launches, kernels, among)
            }
            Cell::Spread([middle, least, most]) => say!(
                "watch-certify-spread",
                middle = format!("{middle:.1}"),
                least = format!("{least:.1}"),
                most = format!("{most:.1}")
            ),
        }
    }
}

/// One compared point, in the order unobserved, observed, unobserved.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    pub what: Point,
    pub cells: [Cell; 3],
    pub verdict: Verdict,
}
