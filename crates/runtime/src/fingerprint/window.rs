//! From the kernels of a file to the builds that could have produced it.

use super::{
    shape::Shape,
    table::{FingerprintTable, Span},
};
use say::{Message, say};
use std::collections::BTreeSet;

/// The builds that declare every kernel of the file that the table knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    /// First and last build; `to` None: open, because the table ends earlier.
    pub spans: Vec<Span>,
    /// The kernels that determine the first and the last build.
    pub lower: Option<(u32, String)>,
    pub upper: Option<(u32, String)>,
    /// How many shapes of the file the table knows.
    pub known: usize,
    /// Shapes that no build of the table declares: newer source, a fork, or patches.
    pub unknown: Vec<String>,
    /// No kernel of the file was removed before the end of the table, and some are not in the table: a later build, or
    /// patches.
    pub newer: bool,
    /// Known shapes that exclude each other: no build had all of them.
    pub conflict: bool,
}

pub fn window(shapes: &BTreeSet<Shape>, table: &FingerprintTable) -> Window {
    let mut out = Window::default();
    // There are a few thousand builds, so a bit for each is the simplest way to intersect.
    let size = table.end.saturating_add(2) as usize;
    let mut alive = vec![true; size];
    for slot in alive.iter_mut().take(table.start as usize) {
        *slot = false;
    }
    let open = size - 1;
    for shape in shapes {
        let spans = table.spans_of(shape);
        if spans.is_empty() {
            out.unknown.push(shape.to_string());
            continue;
        }
        out.known += 1;
        for (build, slot) in alive.iter_mut().enumerate() {
            // The last slot is for every build after the table's end.
            let holds = |span: &Span| if build == open { span.to.is_none() } else { span.holds(build as u32) };
            *slot &= spans.iter().any(holds);
        }
        let from = spans.iter().map(|span| span.from).min().unwrap_or(0);
        if out.lower.as_ref().is_none_or(|(known, _)| from > *known) {
            out.lower = Some((from, shape.to_string()));
        }
        if let Some(to) = spans.iter().map(|span| span.to).max_by_key(|to| to.unwrap_or(u32::MAX)).flatten()
            && out.upper.as_ref().is_none_or(|(known, _)| to < *known)
        {
            out.upper = Some((to, shape.to_string()));
        }
    }
    out.newer = !out.unknown.is_empty() && out.known > 0 && alive.get(open) == Some(&true);
    out.conflict = out.known > 0 && !alive.contains(&true);
    out.spans = if out.known > 0 { runs(&alive, open) } else { Vec::new() };
    out
}

fn runs(alive: &[bool], open: usize) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for (build, _) in alive.iter().enumerate().filter(|(_, alive)| **alive) {
        let build = build as u32;
        let to = if build as usize == open { None } else { Some(build) };
        match out.last_mut() {
            Some(last) if last.to.is_some_and(|end| end.saturating_add(1) == build) => last.to = to,
            _ => out.push(Span { from: build, to }),
        }
    }
    out
}

/// Whether this source could have built the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Against {
    /// The source declares every kernel of the file that can be checked.
    Possible { judged: usize },
    /// The source does not declare these kernels of the file.
    Impossible { missing: Vec<String> },
    /// The table does not cover this build, or contains none of the kernels.
    Unknown { why: Message },
}

pub fn against_table(shapes: &BTreeSet<Shape>, table: &FingerprintTable, build: u32) -> Against {
    let last = if table.sampled_from > 0 { table.sampled_from } else { table.end };
    if build < table.start || build > last {
        let why = say!("inspect-against-range", start = table.start, last);
        return Against::Unknown { why };
    }
    let judged: Vec<(&Shape, Vec<Span>)> = shapes.iter().map(|shape| (shape, table.spans_of(shape))).collect();
    let missing = judged.iter().filter(|(_, spans)| !spans.iter().any(|span| span.holds(build)));
    decide(missing.map(|(shape, _)| shape.to_string()).collect(), judged.len())
}

pub fn against_tree(shapes: &BTreeSet<Shape>, source: &BTreeSet<Shape>) -> Against {
    if source.is_empty() {
        return Against::Unknown { why: say!("inspect-against-no-kernel") };
    }
    let missing = shapes.iter().filter(|shape| !source.iter().any(|declared| shape.fits(declared)));
    decide(missing.map(ToString::to_string).collect(), shapes.len())
}

fn decide(missing: Vec<String>, judged: usize) -> Against {
    match () {
        () if judged == 0 => Against::Unknown { why: say!("inspect-against-no-ggml") },
        () if missing.is_empty() => Against::Possible { judged },
        () => Against::Impossible { missing },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> FingerprintTable {
        FingerprintTable::parse(
            "#start 100\n#end 200\nold\t2\t3\t100-149\nnew\t3\t3\t150-\nboth\t1\t1\t100-119,140-\npack\t*\t2\t160-\n",
        )
    }

    fn shapes(list: &[(&str, u8, u8)]) -> BTreeSet<Shape> {
        let shape = |(name, arguments, parameters): &(&str, u8, u8)| Shape {
            name: (*name).to_owned(),
            arguments: Some(*arguments),
            parameters: *parameters,
        };
        list.iter().map(shape).collect()
    }

    #[test]
    fn spans_are_intersected() {
        let table = table();
        let at = |list: &[(&str, u8, u8)]| window(&shapes(list), &table).spans;
        assert_eq!(
            at(&[("old", 2, 3), ("both", 1, 1)]),
            [Span { from: 100, to: Some(119) }, Span { from: 140, to: Some(149) }]
        );
        assert_eq!(at(&[("new", 3, 3)]), [Span { from: 150, to: None }]);
        assert_eq!(at(&[("pack", 7, 2)]), [Span { from: 160, to: None }]);
        assert!(window(&shapes(&[("old", 2, 3), ("new", 3, 3)]), &table).conflict);
        let newer = window(&shapes(&[("new", 3, 3), ("unseen", 1, 1)]), &table);
        assert_eq!((newer.spans, newer.newer), (vec![Span { from: 150, to: None }], true));
        // An unknown shape together with a removed one: a fork, and the known part still limits the window.
        let fork = window(&shapes(&[("old", 2, 3), ("unseen", 1, 1)]), &table);
        assert_eq!((fork.spans, fork.unknown.len()), (vec![Span { from: 100, to: Some(149) }], 1));
    }

    #[test]
    fn a_source_is_ruled_out_by_one_kernel() {
        let table = table();
        let file = shapes(&[("new", 3, 3)]);
        assert_eq!(against_table(&file, &table, 160), Against::Possible { judged: 1 });
        assert_eq!(against_table(&file, &table, 149), Against::Impossible { missing: vec!["new<3>(3)".into()] });
        assert!(matches!(against_table(&file, &table, 300), Against::Unknown { .. }));
        assert_eq!(against_tree(&file, &shapes(&[("new", 3, 3)])), Against::Possible { judged: 1 });
    }
}
