//! The rules of ggml's Metal backend in real trees, evaluated, against the same backend compiled and run without a device.

use source::{MetalChoice, MetalLaunch, MetalRules, Shape, Tree};
use std::collections::BTreeMap;

fn tree(name: &str) -> Option<Tree> {
    let path = test_artifacts::need(name)?;
    Some(Tree::open(path.to_str().expect("a plain path")).expect("a tree"))
}

/// A line of an oracle file: the card, the shape of the operation, the type, the columns, and the launches.
struct Line<'t> {
    card: &'t str,
    shape: [i64; 5],
    op: &'t str,
    kind: &'t str,
    columns: i64,
    launches: Vec<&'t str>,
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut parts = line.split('\t');
        let question: Vec<&str> = parts.next().expect("a question").split(' ').collect();
        let [card, op, kind, columns, sizes @ ..] = question.as_slice() else { panic!("{line}") };
        let sizes: Vec<i64> = sizes.iter().map(|size| size.parse().expect("a number")).collect();
        let shape = sizes.try_into().expect("five sizes");
        Line { card, shape, op, kind, columns: columns.parse().expect("a number"), launches: parts.collect() }
    })
}

fn shape(op: &str, [a, b, c, d, e]: [i64; 5]) -> Shape {
    match op {
        "mul_mat" => Shape::MulMat { rows: a, k: b },
        "mul_mat_id" => Shape::MulMatId { rows: a, k: b, experts: c, used: d },
        _ => Shape::FlashAttn { head: a, head_v: a, heads: b, heads_kv: c, kv: d, mask: e != 0 },
    }
}

/// The parts of a launch as the oracle writes them; None for a part with a number that is unknown.
fn parts(launch: &MetalLaunch) -> [Option<String>; 5] {
    let dims = |dims: [Option<i64>; 3]| {
        let [x, y, z] = dims;
        Some(format!("{}x{}x{}", x?, y?, z?))
    };
    let pairs = |pairs: &[(i64, Option<i64>)]| {
        let pairs: Option<Vec<String>> = pairs.iter().map(|(index, of)| Some(format!("{index}={}", (*of)?))).collect();
        Some(pairs?.join(" "))
    };
    [
        Some(launch.kernel.clone()),
        pairs(&launch.constants),
        dims(launch.threadgroups),
        dims(launch.threads_per_threadgroup),
        pairs(&launch.threadgroup_memory),
    ]
}

/// Compares every line. Nothing may differ; returns the numbers of lines, of undetermined ones, and of unknown parts.
fn compare(tree: &Tree, oracle: &str) -> (usize, usize, usize) {
    let mut rules = MetalRules::open(tree).expect("a Metal backend");
    let mut groups: BTreeMap<(&str, &str, [i64; 5]), Vec<Line<'_>>> = BTreeMap::new();
    for line in lines(oracle) {
        groups.entry((line.card, line.op, line.shape)).or_default().push(line);
    }
    let (mut compared, mut open, mut unknown, mut different) = (0, 0, 0, Vec::new());
    for ((card, op, sizes), lines) in groups {
        let card = gpu::apple_gpu(card).expect("a card");
        let asked: Vec<(String, i64)> = lines.iter().map(|line| (line.kind.to_owned(), line.columns)).collect();
        let answers = rules.choices(card, &[], &shape(op, sizes), &asked).expect("answers");
        for (line, own) in lines.iter().zip(&answers) {
            compared += 1;
            let what = format!("{} {op} {sizes:?} {} {}", card.name, line.kind, line.columns);
            if let Some(why) = &own.undetermined {
                open += 1;
                println!("{what}: {why}");
                continue;
            }
            unknown += differing(line, own, &what, &mut different);
        }
    }
    assert!(different.is_empty(), "{} of {compared}: {different:#?}", different.len());
    (compared, open, unknown)
}

/// Adds what differs, and returns the number of parts that are unknown.
fn differing(line: &Line<'_>, own: &MetalChoice, what: &str, different: &mut Vec<String>) -> usize {
    if line.launches.len() != own.launches.len() {
        different.push(format!("{what}: {} launches, not {:?}", own.launches.len(), line.launches));
        return 0;
    }
    let mut unknown = 0;
    for (wanted, launch) in line.launches.iter().zip(&own.launches) {
        for (wanted, own) in wanted.split('|').zip(parts(launch)) {
            match own {
                Some(own) if own == wanted => {}
                Some(own) => different.push(format!("{what}: {own}, not {wanted}")),
                None => unknown += 1,
            }
        }
    }
    unknown
}

#[test]
fn source_and_compiled_backend_agree_in_every_cell() {
    let Some(tree) = tree("llama-cpp-sys-4-0.11.0") else { return };
    let (compared, open, unknown) = compare(&tree, include_str!("data/metal-oracle-0.11.0.tsv"));
    println!("{compared} compared, {open} open, {unknown} unknown parts");
    // On the M5, BF16 depends on a property that is not known.
    assert!(compared > 300 && open <= 12, "{open} of {compared} open");
}

#[test]
fn source_and_compiled_backend_agree_in_an_earlier_tree() {
    let Some(tree) = tree("llama-cpp-sys-2-0.1.130") else { return };
    let (compared, open, unknown) = compare(&tree, include_str!("data/metal-oracle-0.1.130.tsv"));
    println!("{compared} compared, {open} open, {unknown} unknown parts");
    assert!(compared > 100 && open == 0, "{open} of {compared} open");
}

/// Before the split of September 2025 the backend is one file in Objective-C.
#[test]
fn a_tree_before_the_split_is_not_read() {
    let Some(tree) = tree("llama-cpp-sys-2-0.1.100") else { return };
    let error = MetalRules::open(&tree).expect_err("not read").to_string();
    assert!(error.contains("b6501"), "{error}");
}
