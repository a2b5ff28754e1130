//! How certain a statement is: a word for readers, and the rung and grade that `evidence` computes for it.

use evidence::{
    About, Claim, Coverage, Declared, Expected, Fact, Finding, Grade, Loaded, Observation, ObserverId, Recorded,
    Refused, Rung, Scope, Subject, judge,
};
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sure {
    /// Measured by this run.
    Measured,
    /// Observed in this process or on this machine.
    Seen,
    /// Observed with gaps.
    PartlySeen,
    /// The server reports it; nothing else confirms it.
    Reported,
    /// Follows from the rules of this build and card, or from the model's size; not observed.
    Expected,
    NotKnown,
}

impl Sure {
    pub fn word(self) -> Message {
        match self {
            Sure::Measured => say!("why-sure-measured"),
            Sure::Seen => say!("why-sure-seen"),
            Sure::PartlySeen => say!("why-sure-partly-seen"),
            Sure::Reported => say!("why-sure-reported"),
            Sure::Expected => say!("why-sure-expected"),
            Sure::NotKnown => say!("why-sure-not-known"),
        }
    }

    /// The rung and the grade of a claim that rests on one observation of this kind.
    pub fn graded(self, topic: &str) -> (Rung, Grade) {
        let rung = if self == Sure::Expected { Rung::Selected } else { Rung::Loaded };
        let claim = Claim {
            id: topic.to_owned(),
            rung,
            topic: topic.to_owned(),
            about: About::default(),
            expected: Expected::Present(true),
            scope: Scope::default(),
            transfer: Vec::new(),
        };
        let seen: Vec<Recorded> = self.observation(topic).ok().into_iter().flatten().map(Recorded::new).collect();
        (rung, judge(&claim, &seen, &[]).grade)
    }

    fn observation(self, topic: &str) -> Result<Option<Observation>, Refused> {
        // The word itself states the gap: partly seen, or only reported by the server.
        let gap = || Coverage::partial("facts", 1, None, Vec::new()).missing(topic.to_owned(), self.word());
        let coverage = match self {
            Sure::Measured | Sure::Seen | Sure::Expected => Coverage::listed("facts", 1),
            Sure::PartlySeen | Sure::Reported => gap(),
            Sure::NotKnown => return Ok(None),
        };
        let (observer, subject) = (ObserverId::new("why", env!("CARGO_PKG_VERSION")), Subject::this_host());
        let finding = Finding::Saw(Fact::new(topic, About::default(), "yes"));
        // Grades do not depend on the time, and this observation is not recorded.
        let time = "1970-01-01T00:00:00Z";
        Ok(Some(match self {
            Sure::Expected => Observation::on::<Declared>(observer, subject, finding, coverage, time)?,
            _ => Observation::on::<Loaded>(observer, subject, finding, coverage, time)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each `Sure` maps to one grade: `Seen` to confirmed, `Reported` to limited, `Expected` to inferred.
    #[test]
    fn words_and_grades_agree() {
        for (sure, rung, grade) in [
            (Sure::Measured, Rung::Loaded, "confirmed"),
            (Sure::Seen, Rung::Loaded, "confirmed"),
            (Sure::PartlySeen, Rung::Loaded, "limited"),
            (Sure::Reported, Rung::Loaded, "limited"),
            (Sure::Expected, Rung::Selected, "inferred"),
            (Sure::NotKnown, Rung::Loaded, "unresolved"),
        ] {
            let (found, computed) = sure.graded("why.flash-attention");
            assert_eq!((found, computed.name()), (rung, grade), "{sure:?}");
        }
    }
}
