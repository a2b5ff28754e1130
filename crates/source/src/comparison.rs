//! Compares two surveys of the same question cell by cell: which cells differ in path, tile, any template argument of the
//! kernel or the shape of its launch, and how many could be compared at all.

use crate::launch_shape::{PARTS, ShapeAt, ShapeDiff};
use crate::outcome::{Answer, Launched, Outcome};
use crate::question::{Overrides, Question};
use crate::rules::RulesError;
use crate::survey::{Survey, answer};
use crate::tree::Tree;
use std::collections::BTreeSet;

/// A range of column counts, for one device and type, in which two surveys differ in the same way or one of them gives
/// no answer.
#[derive(Debug, Clone)]
pub struct Difference {
    pub device: usize,
    pub ty: usize,
    pub from: i64,
    pub to: i64,
    /// How many of the requested counts are in the range.
    pub cells: u64,
    pub left: Side,
    pub right: Side,
    pub differs: Differs,
}

/// The parts in which two settled answers differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Differs {
    pub path: bool,
    /// Another kernel, tile or template argument on the same path.
    pub instance: bool,
    /// Parts of the launch shape; not compared if the path differs.
    pub shape: [bool; 3],
}

impl Differs {
    /// `path`, `instance`, `grid`, `block`, `shared`.
    pub fn names(self) -> Vec<&'static str> {
        let first = [("path", self.path), ("instance", self.instance)];
        let all = first.into_iter().chain(PARTS.into_iter().zip(self.shape));
        all.filter_map(|(name, differs)| differs.then_some(name)).collect()
    }

    fn any(self) -> bool {
        self != Differs::default()
    }
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

    /// Path and tile; the whole instance if these are the same on both sides. Parts of the launch shape that differ
    /// follow.
    pub fn sides(&self) -> [String; 2] {
        let (a, b) = (self.left.brief(), self.right.brief());
        let shape = self.differs.shape;
        [&self.left, &self.right].map(|side| {
            let mut all: Vec<String> = Vec::new();
            if a != b || !self.differs.instance {
                all.push(side.brief());
            } else {
                all.push(side.instance().unwrap_or_else(|| side.brief()));
            }
            if let Some(told) = side.shape.as_ref().filter(|_| shape.contains(&true)) {
                all.push(told.told(shape));
            }
            all.join(", ")
        })
    }

    /// Describes the difference in one line: `gfx942 Q4_K 64-512: MMQ 64 -> BLAS`.
    pub fn told(&self, question: &Question) -> String {
        let ((device, ty), [a, b]) = (self.names(question), self.sides());
        format!("{device} {ty} {}: {a} -> {b}", self.columns())
    }
}

/// The result of one side at the first count.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub outcome: Outcome,
    pub launch: Option<Launched>,
    /// The shape of the launch; None if there is no launch, or if shapes were not requested.
    pub shape: Option<ShapeAt>,
}

impl Side {
    fn of(answer: &Answer, shape: Option<ShapeAt>) -> Side {
        let shape = shape.filter(|_| matches!(answer.outcome, Outcome::Chosen(_)));
        Side { outcome: answer.outcome.clone(), launch: answer.launch.clone(), shape }
    }

    /// The kernel with all of its template arguments; None for libraries and for undetermined results.
    pub fn instance(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Chosen(_) => self.launch.as_ref().map(Launched::full),
            Outcome::Undetermined { .. } => None,
        }
    }

    /// `MMQ 64`, `BLAS`, `UNDETERMINED`.
    pub fn brief(&self) -> String {
        let (path, tile) = self.path_and_tile();
        brief(path, tile)
    }

    /// The path's name and its tile, 0 if it has none.
    pub fn path_and_tile(&self) -> (&'static str, i64) {
        match &self.outcome {
            Outcome::Chosen(choice) => (choice.path.name(), choice.variant.max(0)),
            Outcome::Undetermined { .. } => ("UNDETERMINED", 0),
        }
    }
}

/// Path and tile as one word, for display.
pub(crate) fn brief(path: &str, tile: i64) -> String {
    if tile > 0 { format!("{path} {tile}") } else { path.to_owned() }
}

/// The number of cells, and how many of them both sides determine.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    pub differences: Vec<Difference>,
    pub asked: u64,
    pub answered: u64,
    /// Cells that neither side determines, then cells that only one side determines.
    pub undetermined: u64,
    pub half: u64,
    /// Cells that agree in everything known, except template arguments that one side leaves unknown; then these
    /// arguments, by kernel.
    pub in_part: u64,
    pub unknown: BTreeSet<String>,
    /// Cells that agree in everything known, except parts of the launch shape that one side leaves unknown; then these
    /// parts, with a reason.
    pub shape_in_part: u64,
    pub unknown_shapes: BTreeSet<String>,
    /// Cells that both sides settle differently.
    pub different: u64,
}

impl Comparison {
    /// The comparison if a side could not be evaluated: nothing could be compared.
    pub fn nothing(question: &Question) -> Comparison {
        let mut columns = question.columns.clone();
        columns.sort_unstable();
        columns.dedup();
        let cells = question.devices.len() * question.types.len() * columns.len();
        Comparison { asked: cells as u64, undetermined: cells as u64, ..Comparison::default() }
    }
}

/// Asks two trees the same question in parallel.
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

/// Finds all cells that two surveys answer differently. Neighbouring counts that differ in the same way form one entry.
pub fn compare(left: &Survey<'_>, right: &Survey<'_>) -> Comparison {
    compare_answers(&left.question, &left.answers, &right.answers, same_sources(left, right))
}

/// Whether both surveys were read from the same text, so that the same things are unknown.
fn same_sources(left: &Survey<'_>, right: &Survey<'_>) -> bool {
    let (Some(a), Some(b)) = (left.backends.first(), right.backends.first()) else { return false };
    let (a, b) = (a.rules.tree, b.rules.tree);
    let reads: BTreeSet<String> = a.reads().into_iter().collect();
    let same = |path: &String| matches!((a.text(path), b.text(path)), (Ok(a), Ok(b)) if a == b);
    reads == b.reads().into_iter().collect() && reads.iter().all(same)
}

/// Compares answers that are stored without their survey. `same_sources`: both were read from the same text.
pub fn compare_answers(question: &Question, left: &Answers, right: &Answers, same_sources: bool) -> Comparison {
    let mut out = Comparison::default();
    let mut columns = question.columns.clone();
    columns.sort_unstable();
    columns.dedup();
    for device in 0..question.devices.len() {
        let warp = question.devices.get(device).and_then(crate::device::Device::warp);
        for ty in 0..question.types.len() {
            let mut open: Option<Difference> = None;
            for &column in &columns {
                out.asked += 1;
                let Some((a, b)) = answer(left, device, ty, column).zip(answer(right, device, ty, column)) else {
                    out.differences.extend(open.take());
                    continue;
                };
                let shapes = [a, b].map(|answer| answer.shape_at(column, warp));
                let alike = match same(a, b, &shapes) {
                    Alike::InPart | Alike::ShapeInPart if same_sources => Alike::Same,
                    alike => alike,
                };
                match alike {
                    Alike::Same => out.answered += 1,
                    Alike::Different(_) => {
                        out.answered += 1;
                        out.different += 1;
                    }
                    Alike::InPart => {
                        out.in_part += 1;
                        let launches = [a, b].into_iter().filter_map(|answer| answer.launch.as_ref());
                        out.unknown.extend(launches.flat_map(Launched::unknown));
                    }
                    Alike::ShapeInPart => {
                        out.shape_in_part += 1;
                        let whys = shapes.into_iter().flatten().flat_map(|shape| shape.undetermined);
                        out.unknown_shapes.extend(whys.map(|why| why.english));
                        out.differences.extend(open.take());
                        continue;
                    }
                    Alike::Neither => out.undetermined += 1,
                    Alike::One => out.half += 1,
                }
                // Cells that only one side settles are listed too.
                let differs = match alike {
                    Alike::Different(differs) => differs,
                    Alike::One => Differs::default(),
                    _ => {
                        out.differences.extend(open.take());
                        continue;
                    }
                };
                let [left, right] = shapes;
                let (left, right) = (Side::of(a, left), Side::of(b, right));
                match &mut open {
                    Some(known)
                        if known.differs == differs
                            && known.left.alike(&left, differs)
                            && known.right.alike(&right, differs) =>
                    {
                        known.to = column;
                        known.cells += 1;
                    }
                    _ => {
                        out.differences.extend(open.take());
                        open =
                            Some(Difference { device, ty, from: column, to: column, cells: 1, left, right, differs });
                    }
                }
            }
            out.differences.extend(open);
        }
    }
    out
}

impl Side {
    /// Whether two sides belong in one entry: they have the same path, tile and instance, and equal values in the parts
    /// of the shape that `differs` names.
    fn alike(&self, other: &Side, differs: Differs) -> bool {
        let told = |side: &Side| side.shape.as_ref().map(|shape| shape.told(differs.shape));
        self.brief() == other.brief() && self.instance() == other.instance() && told(self) == told(other)
    }
}

/// The relation of two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alike {
    /// The same path, tile, check, kernel instance and launch shape.
    Same,
    Different(Differs),
    /// No difference in the template arguments that are known.
    InPart,
    /// No difference in the parts of the launch shape that are known.
    ShapeInPart,
    /// Neither side determines the cell.
    Neither,
    One,
}

fn same(left: &Answer, right: &Answer, shapes: &[Option<ShapeAt>; 2]) -> Alike {
    match (&left.outcome, &right.outcome) {
        (Outcome::Chosen(a), Outcome::Chosen(b)) => {
            if a.path != b.path {
                return Alike::Different(Differs { path: true, ..Differs::default() });
            }
            let instance = match (&left.launch, &right.launch) {
                _ if a != b => Some(false),
                (Some(a), Some(b)) => a.same(b),
                (a, b) => Some(a.is_none() && b.is_none()),
            };
            let shape = match shapes {
                [Some(a), Some(b)] => ShapeDiff::of(a, b),
                _ => ShapeDiff::default(),
            };
            let differs = Differs { path: false, instance: instance == Some(false), shape: shape.different };
            match instance {
                _ if differs.any() => Alike::Different(differs),
                None => Alike::InPart,
                Some(_) if shape.open.contains(&true) => Alike::ShapeInPart,
                Some(_) => Alike::Same,
            }
        }
        (Outcome::Undetermined { .. }, Outcome::Undetermined { .. }) => Alike::Neither,
        _ => Alike::One,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::Argument;
    use crate::path::{Choice, Path};
    use std::slice::from_ref;

    fn answer(args: &[Argument]) -> Answer {
        let choice = Choice { path: Path::GetRows, kernel: "k_get_rows".to_owned(), variant: 0, need_check: false };
        let launch = Launched {
            kernel: "k_get_rows".to_owned(),
            args: args.iter().map(|arg| ("dst_t".to_owned(), arg.clone())).collect(),
            shape: None,
            given: Vec::new(),
            file: String::new(),
            line: 0,
            stack: Vec::new(),
        };
        Answer { from: 1, to: 1, outcome: Outcome::Chosen(choice), launch: Some(launch) }
    }

    const INSTANCE: Alike = Alike::Different(Differs { path: false, instance: true, shape: [false; 3] });

    fn alike(a: &Answer, b: &Answer) -> Alike {
        same(a, b, &[None, None])
    }

    #[test]
    fn a_shape_that_differs_is_a_difference_and_one_that_is_not_known_is_not_the_same() {
        let one = answer(&[]);
        let shape = |warps: i64| {
            let block = Some([32, warps, 1]);
            Some(ShapeAt { grid: Some([1; 3]), block, warps: Some(warps), shared: Some(0), undetermined: Vec::new() })
        };
        let open = || Some(ShapeAt { block: None, warps: None, ..shape(1).expect("one") });
        assert_eq!(same(&one, &one, &[shape(1), shape(1)]), Alike::Same);
        let block = Differs { path: false, instance: false, shape: [false, true, false] };
        assert_eq!(same(&one, &one, &[shape(1), shape(8)]), Alike::Different(block));
        assert_eq!(block.names(), ["block"]);
        assert_eq!(same(&one, &one, &[shape(1), open()]), Alike::ShapeInPart);
        let other = Some(ShapeAt { shared: Some(4), ..open().expect("one") });
        let shared = Differs { shape: [false, false, true], ..Differs::default() };
        assert_eq!(same(&one, &one, &[shape(1), other]), Alike::Different(shared));
    }

    #[test]
    fn arguments_that_are_not_known_are_not_the_same() {
        let (float, half) = (Argument::Type("float".to_owned()), Argument::Type("half".to_owned()));
        assert_eq!(alike(&answer(from_ref(&float)), &answer(from_ref(&float))), Alike::Same);
        assert_eq!(alike(&answer(from_ref(&float)), &answer(from_ref(&half))), INSTANCE);
        assert_eq!(alike(&answer(&[Argument::Unknown]), &answer(&[Argument::Unknown])), Alike::InPart);
        assert_eq!(alike(&answer(&[Argument::Unknown]), &answer(from_ref(&half))), Alike::InPart);
        let known = [Argument::Unknown, float];
        assert_eq!(alike(&answer(&known), &answer(&[Argument::Unknown, half])), INSTANCE);
        let open = answer(&[Argument::Unknown]).launch.expect("one");
        assert_eq!(open.unknown().collect::<Vec<_>>(), ["k_get_rows: dst_t"]);
    }
}
