//! The shape of a launch: grid, block and dynamic shared memory, for every column count of an answer. Each part is
//! either known or has the reason why it is unknown; this does not affect the path.

use crate::outcome::with_place;
use cxx::Program;
use cxx::eval::{Extent, ExtentPart, Setting, Settings};
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a shape, or the reason why it is unknown.
type Part = Result<[Extent; 3], Box<Message>>;

/// The names of the parts, in the order of a launch configuration.
pub const PARTS: [&str; 3] = ["grid", "block", "shared"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchShape {
    parts: [Part; 3],
}

/// The shape at one column count. An unknown part is null and has its reason in `undetermined`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShapeAt {
    /// Blocks (work-groups), by dimension.
    pub grid: Option<[i64; 3]>,
    /// Threads of a block, by dimension.
    pub block: Option<[i64; 3]>,
    /// Warps (waves) of a block on this GPU.
    pub warps: Option<i64>,
    /// Dynamic shared memory of a block in bytes.
    pub shared: Option<i64>,
    /// `grid: mmq.cuh:3912 ...`: why a part is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undetermined: Vec<Kept>,
}

impl LaunchShape {
    pub(crate) fn of(program: &Program, config: &Settings) -> LaunchShape {
        let part = |setting: &Setting| match setting {
            Ok(extents) => Ok(extents.clone()),
            Err(open) => Err(Box::new(with_place(&program.files.place(open.at), &open.why))),
        };
        let [grid, block, shared] = config;
        LaunchShape { parts: [part(grid), part(block), part(shared)] }
    }

    /// The shape of a launch whose configuration was not found.
    pub(crate) fn unknown(why: &Message) -> LaunchShape {
        LaunchShape { parts: [(); 3].map(|()| Err(Box::new(why.clone()))) }
    }

    /// The numbers of a part at a column count.
    pub(crate) fn numbers(&self, part: usize, columns: i64) -> Option<[i64; 3]> {
        let Ok([x, y, z]) = self.parts.get(part)? else { return None };
        Some([x.at(columns)?, y.at(columns)?, z.at(columns)?])
    }

    /// `warp`: the number of threads in a warp of the GPU.
    pub fn at(&self, columns: i64, warp: Option<i64>) -> ShapeAt {
        let block = self.numbers(1, columns);
        let threads = block.map(|block| block.iter().fold(1_i64, |all, one| all.saturating_mul(*one)));
        let warps = threads.zip(warp.filter(|warp| *warp > 0));
        let open = |(name, part): (&&str, &Part)| part.as_ref().err().map(|why| told(name, why));
        ShapeAt {
            grid: self.numbers(0, columns),
            block,
            warps: warps.map(|(threads, warp)| threads.saturating_add(warp - 1) / warp),
            shared: self.numbers(2, columns).map(|[bytes, ..]| bytes),
            undetermined: PARTS.iter().zip(&self.parts).filter_map(open).collect(),
        }
    }

    /// Keeps the common part of two ways to the same launch, up to a column count. A part that differs is unknown.
    pub(crate) fn join(&mut self, other: &LaunchShape, until: i64, why: &Message) {
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            let open = match (&*mine, theirs) {
                (Err(_), _) => continue,
                (Ok(_), Err(open)) => open.clone(),
                (Ok(a), Ok(b)) if a.iter().zip(b).all(|(a, b)| a.same(b, until)) => continue,
                _ => Box::new(why.clone()),
            };
            *mine = Err(open);
        }
    }

    /// The last column count from `from` on with the same numbers in every known part, at most `to`.
    pub(crate) fn constant_until(&self, from: i64, to: i64) -> i64 {
        let turns = self.parts.iter().flatten().flatten().filter_map(|extent| match extent {
            Extent::Fixed(_) => None,
            Extent::Parts(parts) => {
                let at = parts.partition_point(|part| part.from <= from);
                let grows = at.checked_sub(1).and_then(|at| parts.get(at)).is_some_and(|part| part.slope != 0);
                if grows { Some(from) } else { parts.get(at).map(|next| next.from - 1) }
            }
        });
        turns.min().unwrap_or(to).clamp(from, to)
    }

    /// A part over a range of column counts, as an expression of the count: `32xceil(n/112)x1`.
    pub fn over(&self, part: usize, from: i64, to: i64) -> Option<String> {
        let Ok(extents) = self.parts.get(part)? else { return None };
        let all: Option<Vec<String>> = extents.iter().map(|extent| expression(extent, from, to)).collect();
        all.map(|all| if part == 2 { all.into_iter().next().unwrap_or_default() } else { all.join("x") })
    }

    /// Why a part is unknown.
    pub fn why(&self, part: usize) -> Option<&Message> {
        self.parts.get(part)?.as_ref().err().map(|why| &**why)
    }
}

fn told(part: &str, why: &Message) -> Kept {
    Kept::from(say!("source-shape-part", part, why))
}

/// A number over a range of column counts: `32`, `n`, `4n+1`, `2ceil(n/64)`; any other number by its values from each
/// count on (`9:1,65:3`). The expression is exact.
fn expression(extent: &Extent, from: i64, to: i64) -> Option<String> {
    let first = extent.at(from)?;
    let Extent::Parts(parts) = extent else { return Some(first.to_string()) };
    let later: Vec<&ExtentPart> = parts.iter().filter(|part| part.from > from && part.from <= to).collect();
    let own = parts.get(parts.partition_point(|part| part.from <= from).checked_sub(1)?)?;
    if later.is_empty() {
        let slope = if from == to { 0 } else { own.slope };
        let rest = first.checked_sub(slope.checked_mul(from)?)?;
        let factor = if slope == 1 { String::new() } else { slope.to_string() };
        return Some(match (slope, rest) {
            (0, _) => first.to_string(),
            (_, 0) => format!("{factor}n"),
            _ => format!("{factor}n{rest:+}"),
        });
    }
    let steps = own.slope == 0 && later.iter().all(|part| part.slope == 0);
    if let Some(told) = later.first().filter(|_| steps).and_then(|next| quotient(extent, (first, next), (from, to))) {
        return Some(told);
    }
    let one = |at: i64, value: i64, slope: i64| {
        if slope == 0 { format!("{at}:{value}") } else { format!("{at}:{value}{slope:+}n") }
    };
    let rest = later.iter().map(|part| one(part.from, part.value, part.slope));
    Some(std::iter::once(one(from, first, own.slope)).chain(rest).collect::<Vec<_>>().join(","))
}

/// `2ceil(n/64)`, if that is the number at every count of the range.
fn quotient(extent: &Extent, (first, next): (i64, &ExtentPart), (from, to): (i64, i64)) -> Option<String> {
    let by = next.value.checked_sub(first).filter(|by| *by > 0 && first > 0 && first % by == 0)?;
    let tiles = first / by;
    let width = ((next.from - 1) % tiles == 0).then(|| (next.from - 1) / tiles).filter(|width| *width > 0)?;
    let at = |count: i64| by.checked_mul(count.checked_add(width - 1)? / width);
    let turns = std::iter::successors(Some(next.from), |turn| turn.checked_add(width)).take_while(|turn| *turn <= to);
    let mut counts = turns.flat_map(|turn| [turn - 1, turn]).chain([from, to]);
    let known = match extent {
        Extent::Parts(parts) => parts.iter().filter(|part| part.from > from && part.from <= to).count() as i64,
        Extent::Fixed(_) => return None,
    };
    let all = (to + width - 1) / width - (from + width - 1) / width;
    let same = known == all && counts.all(|count| extent.at(count) == at(count));
    let factor = if by == 1 { String::new() } else { by.to_string() };
    same.then(|| format!("{factor}ceil(n/{width})"))
}

/// The parts in which two shapes differ, and the parts that one of them leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShapeDiff {
    pub different: [bool; 3],
    pub open: [bool; 3],
}

impl ShapeDiff {
    pub fn of(a: &ShapeAt, b: &ShapeAt) -> ShapeDiff {
        fn one<T: PartialEq>(a: Option<T>, b: Option<T>) -> (bool, bool) {
            match (a, b) {
                (Some(a), Some(b)) => (a != b, false),
                _ => (false, true),
            }
        }
        let parts = [one(a.grid, b.grid), one(a.block, b.block), one(a.shared, b.shared)];
        ShapeDiff { different: parts.map(|(different, _)| different), open: parts.map(|(_, open)| open) }
    }

    pub fn differs(&self) -> bool {
        self.different.contains(&true)
    }
}

impl ShapeAt {
    /// `block 32x8x1, warps 8`: the parts that are requested.
    pub fn told(&self, parts: [bool; 3]) -> String {
        let dims = |dims: Option<[i64; 3]>| dims.map_or("?".to_owned(), shown);
        let number = |number: Option<i64>| number.map_or("?".to_owned(), |number| number.to_string());
        let [grid, block, shared] = parts;
        let mut all = Vec::new();
        if grid {
            all.push(format!("grid {}", dims(self.grid)));
        }
        if block {
            all.push(format!("block {}", dims(self.block)));
            if let Some(warps) = self.warps {
                all.push(format!("warps {warps}"));
            }
        }
        if shared {
            all.push(format!("shared {}", number(self.shared)));
        }
        all.join(", ")
    }
}

/// Formats three dimensions: `64x4x1`.
pub fn shown(dims: [i64; 3]) -> String {
    dims.map(|dim| dim.to_string()).join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(list: &[(i64, i64, i64)]) -> Extent {
        Extent::Parts(list.iter().map(|&(from, value, slope)| ExtentPart { from, value, slope }).collect())
    }

    fn open() -> Message {
        say!("cxx-open-value", value = "x")
    }

    fn shape(y: Extent) -> LaunchShape {
        let one = || Extent::Fixed(1);
        let fixed = |x| Ok([Extent::Fixed(x), one(), one()]);
        LaunchShape { parts: [Ok([Extent::Fixed(32), y, one()]), fixed(256), fixed(0)] }
    }

    #[test]
    fn a_part_is_known_at_every_count_of_its_range() {
        let tiles = shape(steps(&[(9, 1, 0), (65, 2, 0), (129, 3, 0)]));
        assert_eq!(tiles.at(64, Some(32)).grid, Some([32, 1, 1]));
        assert_eq!(tiles.at(65, Some(32)).grid, Some([32, 2, 1]));
        assert_eq!((tiles.at(9, Some(64)).warps, tiles.at(9, None).warps), (Some(4), None));
        assert_eq!(tiles.over(0, 9, 192).as_deref(), Some("32xceil(n/64)x1"));
        assert_eq!(tiles.over(0, 9, 200).as_deref(), Some("32x9:1,65:2,129:3x1"), "4 would follow at 193");
        assert_eq!((tiles.over(0, 9, 64), tiles.over(1, 9, 200)), (Some("32x1x1".into()), Some("256x1x1".into())));
        assert_eq!((tiles.constant_until(9, 200), tiles.constant_until(130, 200)), (64, 200));
        let grows = shape(steps(&[(1, 1, 1)]));
        assert_eq!((grows.at(7, None).grid, grows.constant_until(3, 9)), (Some([32, 7, 1]), 3));
        assert_eq!(grows.over(0, 2, 9).as_deref(), Some("32xnx1"));
        assert_eq!(shape(steps(&[(1, 6, 4)])).over(0, 1, 9).as_deref(), Some("32x4n+2x1"));
        assert_eq!(shape(steps(&[(1, 2, 0), (65, 4, 0)])).over(0, 1, 128).as_deref(), Some("32x2ceil(n/64)x1"));
    }

    #[test]
    fn what_two_ways_do_not_share_is_open_with_its_reason_and_nothing_else_is() {
        let mut one = shape(Extent::Fixed(1));
        one.join(&shape(steps(&[(1, 1, 0), (9, 2, 0)])), 8, &open());
        assert!(one.at(1, None).undetermined.is_empty(), "they differ only after the range");
        one.join(&shape(Extent::Fixed(2)), 8, &open());
        let at = one.at(1, Some(32));
        assert_eq!((at.grid, at.block, at.warps), (None, Some([256, 1, 1]), Some(8)));
        assert_eq!(at.undetermined.iter().map(Kept::as_str).collect::<Vec<_>>(), ["grid: `x` is unknown"]);
    }

    #[test]
    fn shapes_differ_in_what_both_know() {
        let (one, two) = (shape(Extent::Fixed(1)).at(1, Some(32)), shape(Extent::Fixed(2)).at(1, Some(32)));
        let found = ShapeDiff::of(&one, &two);
        assert_eq!((found.different, found.open), ([true, false, false], [false; 3]));
        let open = LaunchShape::unknown(&open()).at(1, Some(32));
        let found = ShapeDiff::of(&one, &open);
        assert_eq!((found.differs(), found.open), (false, [true; 3]));
        assert_eq!(one.told([true, true, false]), "grid 32x1x1, block 256x1x1, warps 8");
    }
}
