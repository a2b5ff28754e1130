//! The cause of a difference between two answers: the decision with a different outcome, or, on the same path, the
//! launch of another instance.

use crate::comparison::{Difference, Side};
use crate::decision_diff::decision_diff;
use crate::outcome::{Outcome, Reason};
use crate::survey::Survey;
use rayon::prelude::*;

/// The point at which the two sides diverge, for one side. Empty if that side has no condition at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    pub file: String,
    pub line: usize,
    /// The condition with its outcome: `mmq.cu:312: ne11 <= 64 -> true  [ne11 = 9]`.
    pub text: String,
    /// None if the cause is a launch.
    pub reason: Option<Reason>,
}

impl Cause {
    fn same_place(&self, other: &Cause) -> bool {
        self.file == other.file && self.line == other.line
    }

    /// The text without its position.
    pub fn words(&self) -> &str {
        self.text.split_once(": ").map_or("", |(_, rest)| rest)
    }
}

impl Reason {
    /// Whether the condition held; None if its value is not a truth value.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self.outcome.as_str() {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        }
    }

    /// `true`, `false`, or the value of the condition.
    pub(crate) fn outcome_word(&self) -> &str {
        match self.truth() {
            Some(true) => "true",
            Some(false) => "false",
            None => &self.outcome,
        }
    }

    /// One line: position, condition, outcome, and the values behind it.
    pub fn told(&self) -> String {
        // A plain flag needs no separate value.
        if let [(name, value)] = self.values.as_slice()
            && *name == self.condition
            && !matches!(value.as_str(), "0" | "1")
        {
            return format!("{}:{}: {name} -> {value}", self.file, self.line);
        }
        let values: Vec<String> = self.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let values = if values.is_empty() { String::new() } else { format!("  [{}]", values.join(", ")) };
        let outcome = self.outcome_word();
        format!("{}:{}: {} -> {outcome}{values}", self.file, self.line, self.condition)
    }
}

/// The deciding condition of every difference on either side, in order. Each device is evaluated once for all of its
/// differences.
pub fn causes(found: &[Difference], left: &Survey<'_>, right: &Survey<'_>) -> Vec<[Cause; 2]> {
    let devices = left.question.devices.len();
    let of_device = |device: usize| {
        let mine: Vec<usize> =
            (0..found.len()).filter(|&at| found.get(at).is_some_and(|it| it.device == device)).collect();
        let differences: Vec<&Difference> = mine.iter().filter_map(|&at| found.get(at)).collect();
        let (a, b) = (reasons(&differences, device, left), reasons(&differences, device, right));
        let both = a.iter().zip(&b).zip(differences).map(|((a, b), difference)| of(difference, a, b));
        mine.into_iter().zip(both).collect::<Vec<_>>()
    };
    let mut out = vec![<[Cause; 2]>::default(); found.len()];
    for (at, cause) in (0..devices).into_par_iter().flat_map_iter(of_device).collect::<Vec<_>>() {
        if let Some(slot) = out.get_mut(at) {
            *slot = cause;
        }
    }
    out
}

fn reasons(differences: &[&Difference], device: usize, survey: &Survey<'_>) -> Vec<Vec<Reason>> {
    let none = || vec![Vec::new(); differences.len()];
    let Some(known) = survey.question.devices.get(device).filter(|_| !differences.is_empty()) else { return none() };
    let Some(backend) = survey.backends.iter().find(|backend| backend.preset.vendor == known.vendor) else {
        return none();
    };
    let asked = differences.iter().map(|found| {
        let ty = survey.question.types.get(found.ty).map_or("", String::as_str);
        let launch = survey.answer(device, found.ty, found.from).and_then(|answer| answer.launch.as_ref());
        (ty, found.from, launch)
    });
    backend.rules.reasons_of(known, &survey.question.shape, asked)
}

fn of(found: &Difference, a: &[Reason], b: &[Reason]) -> [Cause; 2] {
    let path = |side: &Side| match &side.outcome {
        Outcome::Chosen(choice) => choice.path.name(),
        Outcome::Undetermined { .. } => "UNDETERMINED",
    };
    let paths = [path(&found.left), path(&found.right)];
    let diff = decision_diff(a, b, paths);
    // Both sides took the same decisions to the same path, so the difference is the instance chosen before the launch.
    let only_shape = !found.differs.instance && found.differs.shape.contains(&true);
    if (!diff.turned || only_shape) && paths[0] == paths[1] {
        return [&found.left, &found.right].map(|side| launched(side, found.differs.shape));
    }
    [decided(diff.a), decided(diff.b)]
}

fn decided(reason: Option<&Reason>) -> Cause {
    reason.map_or_else(Cause::default, |reason| Cause {
        file: reason.file.clone(),
        line: reason.line,
        text: reason.told(),
        reason: Some(reason.clone()),
    })
}

fn launched(side: &Side, parts: [bool; 3]) -> Cause {
    let shape = side.shape.as_ref().filter(|_| parts.contains(&true));
    let shape = shape.map_or(String::new(), |shape| format!(" {}", shape.told(parts)));
    side.launch.as_ref().map_or_else(Cause::default, |launch| Cause {
        file: launch.file.clone(),
        line: launch.line,
        text: format!("{}:{}: {}{shape} ({})", launch.file, launch.line, launch.full(), launch.stack.join(" > ")),
        reason: None,
    })
}

/// Differences grouped by cause.
pub type Grouped<'d> = Vec<([Cause; 2], Vec<&'d Difference>)>;

pub fn by_cause<'d>(found: &'d [Difference], left: &Survey<'_>, right: &Survey<'_>) -> Grouped<'d> {
    let mut all: Grouped<'d> = Vec::new();
    for (difference, cause) in found.iter().zip(causes(found, left, right)) {
        let [a, b] = &cause;
        match all.iter_mut().find(|([x, y], _)| x.same_place(a) && y.same_place(b)) {
            Some((_, list)) => list.push(difference),
            None => all.push((cause, vec![difference])),
        }
    }
    all
}
