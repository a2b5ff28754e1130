//! What is compared, and how it came out.

use crate::Ending;
use answer::Message;
use schemars::JsonSchema;
use serde::Serialize;

say::named! {
    /// One thing that is compared.
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
    /// Those that count: what differs in one of them was changed by the observer.
    pub const JUDGED: [Point; 6] =
        [Point::Ending, Point::Devices, Point::Layers, Point::Libraries, Point::Output, Point::LaunchMix];

    pub fn message(self) -> Message {
        Message::new(match self {
            Point::Ending => "watch-certify-point-ending",
            Point::Devices => "watch-certify-point-devices",
            Point::Layers => "watch-certify-point-layers",
            Point::Libraries => "watch-certify-point-libraries",
            Point::Output => "watch-certify-point-output",
            Point::LaunchMix => "watch-certify-point-mix",
            Point::Speed => "watch-certify-point-speed",
            Point::Seconds => "watch-certify-point-seconds",
            Point::Processor => "watch-certify-point-processor",
        })
    }
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict: key {
        Same = "same",
        Differs = "differs",
        /// The two unobserved runs differ from each other: nothing can be concluded.
        Unsteady = "unsteady",
        /// Somebody who counted did not see everything: that it differs shows nothing.
        InPart = "in-part",
        /// Nobody told it in any run, or not in all that are needed.
        Absent = "absent",
        /// Told, not judged.
        Told = "told",
    }
}

impl Verdict {
    /// The same question of three runs: unobserved, observed, unobserved. None if a run does not tell.
    pub fn of<T: PartialEq + ?Sized>([before, observed, after]: [Option<&T>; 3]) -> Verdict {
        match (before, observed, after) {
            (None, None, None) => Verdict::Absent,
            _ if before != after => Verdict::Unsteady,
            _ if before == observed => Verdict::Same,
            _ => Verdict::Differs,
        }
    }

    pub fn message(self) -> Message {
        Message::new(match self {
            Verdict::Same => "watch-certify-same",
            Verdict::Differs => "watch-certify-differs",
            Verdict::Unsteady => "watch-certify-unsteady",
            Verdict::InPart => "watch-certify-in-part",
            Verdict::Absent => "watch-certify-absent",
            Verdict::Told => "watch-certify-told",
        })
    }
}

/// What one run has to say of a point.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Cell {
    #[default]
    Nothing,
    Ending(Ending),
    /// As the program said it.
    Text(String),
    /// How many all runs have, and which only some have.
    Libraries {
        common: usize,
        own: Vec<String>,
    },
    /// None if some kernels have no name; and those that differ from run to run, by name.
    Launches {
        launches: u64,
        kernels: Option<usize>,
        among: Vec<String>,
    },
    Figures(Vec<f64>),
    /// The middle one of many, the least and the most.
    Spread([f64; 3]),
    Seconds(f64),
}

/// A text that is the same in every language, or one that has to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    Plain(String),
    Message(Message),
}

impl Cell {
    pub fn words(&self) -> Words {
        let message = match self {
            Cell::Nothing => return Words::Plain(String::new()),
            Cell::Text(text) => return Words::Plain(text.clone()),
            Cell::Seconds(seconds) => return Words::Plain(format!("{seconds:.2}")),
            Cell::Figures(list) => {
                let list: Vec<String> = list.iter().map(|figure| format!("{figure:.1}")).collect();
                return Words::Plain(list.join(", "));
            }
            Cell::Libraries { common, own } if own.is_empty() => return Words::Plain(common.to_string()),
            Cell::Ending(ending) => ending.message(),
            Cell::Libraries { common, own } => {
                Message::new("watch-certify-libraries").with("common", common).with("own", own.join(", "))
            }
            Cell::Launches { launches, kernels: None, .. } => {
                Message::new("watch-certify-launches").with("launches", launches)
            }
            Cell::Launches { launches, kernels: Some(kernels), among } if among.is_empty() => {
                Message::new("watch-certify-launches-kernels").with("launches", launches).with("kernels", kernels)
            }
            Cell::Launches { launches, kernels: Some(kernels), among } => Message::new("watch-certify-launches-among")
                .with("launches", launches)
                .with("kernels", kernels)
                .with("among", among.join(", ")),
            Cell::Spread([middle, least, most]) => Message::new("watch-certify-spread")
                .with("middle", format!("{middle:.1}"))
                .with("least", format!("{least:.1}"))
                .with("most", format!("{most:.1}")),
        };
        Words::Message(message)
    }
}

/// One thing that was compared, in the order unobserved, observed, unobserved.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    pub what: Point,
    pub cells: [Cell; 3],
    pub verdict: Verdict,
}
