//! The rules of ggml's Vulkan backend in a real tree, evaluated.

use source::{Shape, Tree, VulkanChoice, VulkanProfile, VulkanRules};
use std::collections::BTreeMap;

fn tree() -> Option<Tree> {
    let path = test_artifacts::need("llama-cpp-sys-4-0.11.0")?;
    Some(Tree::open(path.to_str().expect("a plain path")).expect("a tree"))
}

/// The lines of a table, by card and environment variable: type, columns, the expected text.
type Lines<'a> = BTreeMap<(&'a str, &'a str), Vec<(String, i64, &'a str)>>;

/// All cells of a card, evaluated in one process per environment variable.
fn cells(rules: &mut VulkanRules<'_>, shape: &Shape, key: (&str, &str), asked: &[(String, i64)]) -> Vec<VulkanChoice> {
    let (card, variable) = key;
    let mut card = VulkanProfile::find(card).expect("kept");
    if !variable.is_empty() {
        assert!(rules.reads(variable), "{variable}");
        card.under(variable, "1");
    }
    rules.choices(&card, shape, asked).expect("choices")
}

/// Compares every line with the answer of the tree. No answer may differ; returns the numbers of lines and of open ones.
fn compare(rules: &mut VulkanRules<'_>, shape: &Shape, lines: Lines<'_>) -> (usize, usize) {
    let (mut compared, mut open, mut different) = (0, 0, Vec::new());
    for (key, lines) in lines {
        let asked: Vec<(String, i64)> = lines.iter().map(|(kind, columns, _)| (kind.clone(), *columns)).collect();
        for ((kind, columns, wanted), own) in lines.iter().zip(cells(rules, shape, key, &asked)) {
            compared += 1;
            match own.kernel.as_deref() {
                Some(kernel) if kernel == *wanted => {}
                Some(kernel) => different.push(format!("{key:?} {kind} {columns}: {kernel}, not {wanted}")),
                None => {
                    open += 1;
                    println!("{key:?} {kind} {columns}: {:?}", own.undetermined.map(|why| why.to_string()));
                }
            }
        }
    }
    assert!(different.is_empty(), "{} of {compared}: {different:#?}", different.len());
    (compared, open)
}

/// Dry runs of Debian's ggml 0.27 on RADV 26.2.6 with the stand-in, with a model of llama-3.2-1b's shape.
const SELECTED: &str = include_str!("data/vulkan-dryrun.tsv");

/// Every card that the stand-in simulates, and on one of them all tiles of five types.
#[test]
fn source_and_dry_run_agree_in_every_cell() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let mut lines = Lines::new();
    for line in SELECTED.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [card, kind, columns, kernel] = fields.as_slice() else { panic!("{line}") };
        let of_card = lines.entry((card, "")).or_default();
        of_card.push(((*kind).to_owned(), columns.parse().expect("a number"), kernel));
    }
    let (compared, open) = compare(&mut rules, &Shape::MulMat { rows: 8192, k: 2048 }, lines);
    assert!(compared > 80 && open == 0, "{open} of {compared} open");
}

/// The same dry runs under one environment variable each: path and pipeline of every cell.
const UNDER: &str = include_str!("data/vulkan-dryrun-environment.tsv");

#[test]
fn source_and_dry_run_agree_under_every_variable() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let mut lines = Lines::new();
    for line in UNDER.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [variable, card, kind, columns, kernel] = fields.as_slice() else { panic!("{line}") };
        let of_card = lines.entry((card, variable)).or_default();
        of_card.push(((*kind).to_owned(), columns.parse().expect("a number"), kernel));
    }
    let (compared, open) = compare(&mut rules, &Shape::MulMat { rows: 8192, k: 2048 }, lines);
    assert!(compared > 300 && open == 0, "{open} of {compared} open");
}

/// Dry runs of a model of qwen3-30b-a3b's shape: the pipelines of all expert products per length. Those of the last
/// block, with one column, occur at every length.
const EXPERTS: &str = include_str!("data/vulkan-dryrun-experts.tsv");

#[test]
fn experts_take_the_pipelines_that_dry_runs_showed() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let mut by_card: BTreeMap<&str, Vec<(&str, i64, &str)>> = BTreeMap::new();
    for line in EXPERTS.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [card, kind, columns, kernels] = fields.as_slice() else { panic!("{line}") };
        by_card.entry(card).or_default().push((kind, columns.parse().expect("a number"), kernels));
    }
    let (mut compared, mut different) = (0, Vec::new());
    for (card, lines) in by_card {
        let asked: Vec<(String, i64)> = lines
            .iter()
            .flat_map(|(kind, columns, _)| [1, *columns].map(|count| ((*kind).to_owned(), count)))
            .collect();
        let of_shape = [(768, 2048), (2048, 768)].map(|(rows, k)| {
            cells(&mut rules, &Shape::MulMatId { rows, k, experts: 128, used: 8 }, (card, ""), &asked)
        });
        for (index, (kind, columns, kernels)) in lines.iter().enumerate() {
            let of_line = of_shape.iter().flat_map(|cells| &cells[2 * index..2 * index + 2]);
            let own: std::collections::BTreeSet<String> =
                of_line.map(|cell| cell.kernel.clone().unwrap_or_else(|| format!("{cell:?}"))).collect();
            compared += 1;
            if own.iter().cloned().collect::<Vec<_>>().join(" ") != *kernels {
                different.push(format!("{card} {kind} {columns} {kernels}: {own:?}"));
            }
        }
    }
    assert!(compared > 80 && different.is_empty(), "{} of {compared}: {different:#?}", different.len());
}
