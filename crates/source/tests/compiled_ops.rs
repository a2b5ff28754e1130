//! Flash attention, RoPE, row lookup and products with experts: the evaluator against the launches of each tree's own
//! compiled host code, including every number among a kernel's template arguments.
//!
//! `golden/ops` was written by the programs that `cargo xtask deep source-ops` builds. First line: the defines that
//! were not set and that no build file mentions. Then `OP NUMBERS;GPUS;TYPES;FROM:KERNEL FROM:KERNEL ...`. HOST: the
//! host sorts by the experts that the device chose, so the result depends on data. ABORT: the program aborts.

use source::{Device, Outcome, Overrides, Shape, Survey, Tree};
use std::collections::BTreeMap;

fn shape(words: &[&str]) -> Shape {
    let numbers: Vec<i64> = words[1..].iter().map(|word| word.parse().expect("a number")).collect();
    match (words[0], numbers.as_slice()) {
        ("flash-attn", &[head, head_v, heads, heads_kv, kv, mask]) => {
            Shape::FlashAttn { head, head_v, heads, heads_kv, kv, mask: mask == 1 }
        }
        ("rope", &[head, heads, mode]) => Shape::Rope { head, heads, mode },
        ("get-rows", &[rows, k]) => Shape::GetRows { rows, k },
        ("mul-mat-id", &[rows, k, experts, used]) => Shape::MulMatId { rows, k, experts, used },
        other => panic!("{other:?}"),
    }
}

/// GPUs and types with the same answers, and the kernel from each column count on.
struct Line<'g> {
    gpus: Vec<&'g str>,
    types: Vec<&'g str>,
    steps: Vec<(i64, &'g str)>,
}

/// The column counts with which the programs were run.
fn columns(op: &str) -> &'static [i64] {
    match op {
        "flash-attn" => &[1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 256, 512],
        "rope" => &[1, 7, 512],
        "get-rows" => &[1, 2, 512],
        _ => source::DEFAULT_COLUMNS,
    }
}

fn compare(name: &str, golden: &str, answers: usize) {
    let Some(dir) = test_artifacts::need(name) else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let mut lines = golden.lines();
    let without = lines.next().and_then(|line| line.strip_prefix("without")).expect("the first line");
    let undefine: Vec<String> = without.split_whitespace().map(str::to_owned).collect();
    let overrides = Overrides { undefine, ..Overrides::default() };
    let mut questions: BTreeMap<&str, Vec<Line>> = BTreeMap::new();
    for line in lines {
        let parts: Vec<&str> = line.split(';').collect();
        let &[op, gpus, types, steps] = parts.as_slice() else { panic!("{line}") };
        let steps = steps.split(' ').map(|step| step.split_once(':').expect("a step"));
        let steps = steps.map(|(from, kernel)| (from.parse().expect("a number"), kernel)).collect();
        let line = Line { gpus: gpus.split(',').collect(), types: types.split(',').collect(), steps };
        questions.entry(op).or_default().push(line);
    }
    let mut compared = 0;
    for (op, lines) in questions {
        let words: Vec<&str> = op.split(' ').collect();
        let mut gpus: Vec<&str> = lines.iter().flat_map(|line| line.gpus.clone()).collect();
        let mut types: Vec<&str> = lines.iter().flat_map(|line| line.types.clone()).collect();
        let asked = columns(words[0]);
        gpus.sort_unstable();
        gpus.dedup();
        types.sort_unstable();
        types.dedup();
        let devices = gpus.iter().map(|gpu| Device::find(gpu).expect("known")).collect();
        let names = types.iter().map(|ty| (*ty).to_owned()).collect();
        let question = shape(&words).question(devices, names, asked.to_vec());
        let survey = Survey::run(&tree, question, &overrides).expect("evaluates");
        for line in &lines {
            for (gpu, ty) in line.gpus.iter().flat_map(|gpu| line.types.iter().map(move |ty| (*gpu, *ty))) {
                let device = gpus.iter().position(|known| *known == gpu).expect("asked");
                let kind = types.iter().position(|known| *known == ty).expect("asked");
                for &columns in asked {
                    let (_, compiled) =
                        line.steps.iter().rev().find(|(from, _)| *from <= columns).expect("from one on");
                    let answer = survey.answer(device, kind, columns).expect("answered");
                    let ours = match (&answer.outcome, &answer.launch) {
                        (Outcome::Chosen(choice), _) if choice.path.name() == "BLAS" => "BLAS".to_owned(),
                        (Outcome::Chosen(_), Some(launch)) => launch.instance(),
                        (Outcome::Undetermined { why, .. }, _)
                            if ["abort", "no such tensor"].iter().any(|part| why.to_string().contains(part)) =>
                        {
                            "ABORT".to_owned()
                        }
                        (Outcome::Undetermined { .. }, _) if *compiled == "HOST" => "HOST".to_owned(),
                        (outcome, _) => format!("{outcome:?}"),
                    };
                    assert_eq!(ours, *compiled, "{name} {op} {gpu} {ty} at {columns}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, answers);
}

#[test]
fn llama_cpp_of_early_2025() {
    compare("llama-cpp-sys-2-0.1.100", include_str!("golden/ops/llama-cpp-sys-2-0.1.100.txt"), 6460);
}

#[test]
fn llama_cpp_of_2026() {
    compare("llama-cpp-sys-4-0.11.0", include_str!("golden/ops/llama-cpp-sys-4-0.11.0.txt"), 6780);
}
