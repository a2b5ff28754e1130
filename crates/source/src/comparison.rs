//! Two surveys of the same questions, cell by cell: which differ, in path, tile or any template argument of the kernel, and how
//! many could be compared at all.

use crate::rules::{Answer, Launched, Outcome, RulesError};
use crate::survey::{Overrides, Question, Survey, answer};
use crate::tree::Tree;

/// Column counts where two surveys differ in one way, for one device and type.
#[derive(Debug, Clone)]
pub struct Difference {
    pub device: usize,
    pub ty: usize,
    pub from: i64,
    pub to: i64,
    /// Of the counts that were asked about, those in the range.
    pub cells: u64,
    pub left: Side,
    pub right: Side,
}

impl Difference {
    /// The target and the type.
    pub fn names<'q>(&self, question: &'q Question) -> (&'q str, &'q str) {
        let device = question.devices.get(self.device).map_or("", |device| device.target.as_str());
        (device, question.types.get(self.ty).map_or("", String::as_str))
    }

    /// `9`, `9-64`.
    pub fn columns(&self) -> String {
        if self.from == self.to { self.from.to_string() } else { format!("{}-{}", self.from, self.to) }
    }

    /// Path and tile; the whole instance where these are the same on both sides.
    pub fn sides(&self) -> [String; 2] {
        let (a, b) = (self.left.brief(), self.right.brief());
        if a != b {
            return [a, b];
        }
        [&self.left, &self.right].map(|side| side.instance().unwrap_or_else(|| side.brief()))
    }

    /// `gfx942 Q4_K 64-512: MMQ 64 -> BLAS`.
    pub fn told(&self, question: &Question) -> String {
        let ((device, ty), [a, b]) = (self.names(question), self.sides());
        format!("{device} {ty} {}: {a} -> {b}", self.columns())
    }
}

/// What one side comes to at the first count.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub outcome: Outcome,
    pub launch: Option<Launched>,
}

impl Side {
    fn of(answer: &Answer) -> Side {
        Side { outcome: answer.outcome.clone(), launch: answer.launch.clone() }
    }

    /// The kernel with all of its template arguments; None for libraries and where nothing was settled.
    pub fn instance(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Chosen(_) => self.launch.as_ref().map(Launched::full),
            Outcome::Undetermined { .. } => None,
        }
    }

    /// `MMQ 64`, `BLAS`, `UNDETERMINED`.
    pub fn brief(&self) -> String {
        match &self.outcome {
            Outcome::Chosen(choice) if choice.variant > 0 => format!("{} {}", choice.path, choice.variant),
            Outcome::Chosen(choice) => choice.path.to_string(),
            Outcome::Undetermined { .. } => "UNDETERMINED".to_owned(),
        }
    }
}

/// How many cells there were, and how many of them both sides settled.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    pub differences: Vec<Difference>,
    pub asked: u64,
    pub answered: u64,
    /// Neither side settles these; one side settles those.
    pub undetermined: u64,
    pub half: u64,
    /// Cells that differ.
    pub different: u64,
}

/// The same questions to two trees at once.
pub fn surveys<'t>(
    trees: [&'t Tree; 2],
    question: &Question,
    overrides: &Overrides,
) -> Result<[Survey<'t>; 2], RulesError> {
    let [a, b] = trees;
    let ask = |tree| Survey::run(tree, Question { points: true, ..question.clone() }, overrides);
    let (a, b) = rayon::join(|| ask(a), || ask(b));
    Ok([a?, b?])
}

/// Answers by device and type.
type Answers = [Vec<Vec<Answer>>];

/// Everything that two surveys answer differently; neighbouring counts that differ in the same way are one entry.
pub fn compare(left: &Survey<'_>, right: &Survey<'_>) -> Comparison {
    compare_answers(&left.question, &left.answers, &right.answers)
}

/// The same for answers that were kept without their survey.
pub fn compare_answers(question: &Question, left: &Answers, right: &Answers) -> Comparison {
    let mut out = Comparison::default();
    let mut columns = question.columns.clone();
    columns.sort_unstable();
    columns.dedup();
    for device in 0..question.devices.len() {
        for ty in 0..question.types.len() {
            let mut open: Option<Difference> = None;
            for &column in &columns {
                out.asked += 1;
                let Some((a, b)) = answer(left, device, ty, column).zip(answer(right, device, ty, column)) else {
                    out.differences.extend(open.take());
                    continue;
                };
                match (&a.outcome, &b.outcome) {
                    (Outcome::Undetermined { .. }, Outcome::Undetermined { .. }) => out.undetermined += 1,
                    (Outcome::Chosen(_), Outcome::Chosen(_)) => out.answered += 1,
                    _ => out.half += 1,
                }
                if same(a, b) {
                    out.differences.extend(open.take());
                    continue;
                }
                out.different += 1;
                let (left, right) = (Side::of(a), Side::of(b));
                match &mut open {
                    Some(known) if known.left.alike(&left) && known.right.alike(&right) => {
                        known.to = column;
                        known.cells += 1;
                    }
                    _ => {
                        out.differences.extend(open.take());
                        open = Some(Difference { device, ty, from: column, to: column, cells: 1, left, right });
                    }
                }
            }
            out.differences.extend(open);
        }
    }
    out
}

impl Side {
    /// One entry of a table: the same path, tile and instance.
    fn alike(&self, other: &Side) -> bool {
        self.brief() == other.brief() && self.instance() == other.instance()
    }
}

/// The same path, tile, check and kernel instance.
fn same(left: &Answer, right: &Answer) -> bool {
    match (&left.outcome, &right.outcome) {
        (Outcome::Chosen(a), Outcome::Chosen(b)) => {
            let instance = |answer: &Answer| answer.launch.as_ref().map(Launched::full);
            a == b && instance(left) == instance(right)
        }
        (Outcome::Undetermined { .. }, Outcome::Undetermined { .. }) => true,
        _ => false,
    }
}
