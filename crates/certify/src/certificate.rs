//! The result of the comparison: one conclusion, from which all output and records are derived.

use crate::{Compared, Ending, Point, Verdict};
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit, Word};
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The certified observer.
    pub observer: String,
    /// The rung of the compared launches.
    pub rung: Rung,
    pub points: Vec<Compared>,
    /// The libraries that the observed run had mapped, by name and the start of the build id.
    pub libraries: Vec<String>,
    /// How the unobserved program ended, if it failed. Nothing is certified in that case.
    pub failed: Option<Ending>,
    /// Notes for the reader about how the comparison was made.
    pub notes: Vec<Message>,
    /// Whether a launch counter reported that it did not see all launches.
    pub in_part: bool,
    /// Launches seen in the observed run during the measured time.
    pub launches: u64,
    /// Added nanoseconds per launch; None if it is below the spread of the unobserved runs.
    pub added_ns: Option<f64>,
    /// The smallest overhead that these runs could have detected, given the spread of the unobserved ones.
    pub least_ns: Option<f64>,
}

say::named! {
    /// The outcome of a certificate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Outcome: key {
        /// The launches were compared and are the same, and so is everything else that could be compared.
        DispatchSafe = "dispatch-safe",
        /// At least one point that counts differs.
        Differs = "differs",
        /// The launches could not be compared. Equality of the other points does not show that the launches are equal.
        NotKnown = "not-known",
        /// The program failed without an observer.
        Failed = "failed",
    }
}

impl Certificate {
    pub fn point(&self, what: Point) -> Option<&Compared> {
        self.points.iter().find(|point| point.what == what)
    }

    fn verdict(&self, what: Point) -> Verdict {
        self.point(what).map_or(Verdict::Absent, |point| point.verdict)
    }

    /// Whether each point that counts is equal to the unobserved runs. Points that are missing, unsteady or not judged
    /// are named as left out. Without a comparison of the launches, there is no result. `word` returns the name of a
    /// point.
    pub fn conclusion<K: Into<Kept>>(&self, word: impl Fn(Point) -> K) -> Conclusion {
        let verdicts = Point::JUDGED.map(|point| (point, self.verdict(point)));
        let count = |wanted: Verdict| verdicts.iter().filter(|(_, found)| *found == wanted).count() as u64;
        let differing = count(Verdict::Differs);
        let answered = differing + count(Verdict::Same);
        let mut basis = Basis::listed(
            self.observer.clone(),
            self.libraries.iter().cloned(),
            self.rung,
            Unit::Points,
            answered,
            answered,
        );
        if self.failed.is_some() {
            basis = basis.lacking(word(Point::Ending), LeftOutWhy::Failed);
        }
        // Put the decisive points first, because the sentence names only a few.
        let mut order = verdicts;
        order.sort_by_key(|(point, _)| *point != Point::LaunchMix);
        for (point, verdict) in order {
            if point == Point::LaunchMix && verdict == Verdict::Same && self.in_part {
                basis = basis.without(word(point), None, LeftOutWhy::InPart);
            }
            let why = match verdict {
                Verdict::Same | Verdict::Differs => continue,
                Verdict::Unsteady => LeftOutWhy::Unsteady,
                Verdict::InPart => LeftOutWhy::InPart,
                Verdict::Absent | Verdict::Told => LeftOutWhy::Untold,
            };
            basis = match point {
                Point::LaunchMix => basis.lacking(word(point), why),
                _ => basis.without(word(point), None, why),
            };
        }
        basis.of_all(differing)
    }

    pub fn outcome(&self) -> Outcome {
        if self.failed.is_some() {
            return Outcome::Failed;
        }
        match self.conclusion(Point::key).word() {
            Word::No => Outcome::Differs,
            Word::Yes | Word::Partly => Outcome::DispatchSafe,
            Word::NotKnown => Outcome::NotKnown,
        }
    }

    /// The points that count and differ.
    pub fn differences(&self) -> Vec<&Compared> {
        self.points.iter().filter(|point| point.verdict == Verdict::Differs).collect()
    }
}

/// One compared point, in the order unobserved, observed, unobserved.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PointCompared {
    pub what: Point,
    pub values: [String; 3],
    pub verdict: Verdict,
}

/// A comparison of the same program unobserved, observed and unobserved again, with the result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Certified {
    /// The data of the certificate, for text output.
    #[serde(skip)]
    pub certificate: Certificate,
    /// The observer that was tested.
    pub observer: String,
    pub points: Vec<PointCompared>,
    /// The libraries mapped in the observed run, by name and the start of the build id.
    pub libraries: Vec<String>,
    /// How the unobserved program ended, if it failed. Nothing is certified in that case.
    pub failed: Option<String>,
    /// Notes about how the comparison was made.
    pub notes: Vec<String>,
    /// Launches in the observed run during the measured time.
    pub launches: u64,
    /// Added nanoseconds per launch; null if below the spread of the unobserved runs.
    pub added_ns: Option<f64>,
    /// The smallest overhead that these runs could have detected, given the spread of the unobserved runs.
    pub least_ns: Option<f64>,
    pub outcome: Outcome,
    /// Whether the outcome is dispatch-safe.
    pub safe: bool,
    /// Whether each point that counts is the same as without an observer.
    pub conclusion: Conclusion,
    /// `devices: A became B`, for each point that counts and differs.
    pub differences: Vec<String>,
}

impl answer::Answer for Certified {
    const SCHEMA: &'static str = "whichkernel.certificate/1";
}

impl Certified {
    pub fn new(certificate: Certificate) -> Certified {
        let point = |point: &Compared| PointCompared {
            what: point.what,
            values: [0, 1, 2].map(|run| point.cells[run].message().to_string()),
            verdict: point.verdict,
        };
        let outcome = certificate.outcome();
        Certified {
            observer: certificate.observer.clone(),
            points: certificate.points.iter().map(point).collect(),
            libraries: certificate.libraries.clone(),
            failed: certificate.failed.as_ref().map(|ending| ending.message().to_string()),
            notes: certificate.notes.iter().map(Message::to_string).collect(),
            launches: certificate.launches,
            added_ns: certificate.added_ns,
            least_ns: certificate.least_ns,
            outcome,
            safe: outcome == Outcome::DispatchSafe,
            conclusion: certificate.conclusion(Point::message),
            differences: certificate.differences().iter().map(|point| difference(point).to_string()).collect(),
            certificate,
        }
    }
}

/// Formats a difference: `devices: A became B`.
pub fn difference(point: &Compared) -> Message {
    let [before, observed, _] = &point.cells;
    say!(
        "watch-certify-difference",
        point = point.what.message(),
        before = before.message(),
        observed = observed.message()
    )
}
