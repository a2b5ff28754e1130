//! Single operations: the prediction from a real tree's rules against the launches of the real program.
//!
//! `golden/nodes.txt` was recorded by `data/record-nodes.py` from dry runs of `data/nodes.c` with Debian's ggml 0.27 on
//! stand-in GPUs. The tree is ggml 0.26, which selects the same except for one graph.

mod registers;

use registers::code;
use source::graph::{Code, Given, Graph, GraphEvaluation, GraphStep, RecordedLaunch, SeenRun, ask_written};
use source::{Device, Overrides, Tree};

const GOLDEN: &str = include_str!("golden/nodes.txt");
const TREE: &str = "llama-cpp-sys-2-0.1.160";

/// Where 0.27 differs from 0.26: it also tiles F16 convolutions on AMD GPUs without matrix instructions (conv2d.cu,
/// `use_simt`). The tree of 0.28 has that rule.
const NEWER: (&str, &str) = ("conv-2d-direct-f16", "gfx1030");
const NEWER_TREE: &str = "llama-cpp-sys-4-0.11.0";

/// A graph with its recorded launches per GPU.
#[derive(Default)]
struct Recorded {
    name: &'static str,
    graph: String,
    of_gpus: Vec<(Vec<&'static str>, Vec<RecordedLaunch>)>,
}

fn recorded() -> Vec<Recorded> {
    let mut out: Vec<Recorded> = Vec::new();
    for line in GOLDEN.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            out.push(Recorded { name, ..Recorded::default() });
            continue;
        }
        let last = out.last_mut().expect("a head comes first");
        if let Some(gpus) = line.strip_prefix("@ ") {
            last.of_gpus.push((gpus.split(',').collect(), Vec::new()));
        } else if let Some(launch) = line.strip_prefix("> ") {
            let words: Vec<&str> = launch.split(' ').collect();
            let &[kernel, grid, block] = words.as_slice() else { panic!("{line}") };
            let numbers = |text: &str| -> Option<[i64; 3]> {
                let numbers: Vec<i64> = text.split('x').map(|number| number.parse().ok()).collect::<Option<_>>()?;
                numbers.try_into().ok()
            };
            let seen = RecordedLaunch {
                kernel: kernel.to_owned(),
                grid: numbers(grid),
                block: numbers(block),
                refused: false,
            };
            last.of_gpus.last_mut().expect("a GPU comes first").1.push(seen);
        } else {
            last.graph.push_str(line);
            last.graph.push('\n');
        }
    }
    out
}

/// Evaluates everything on one GPU, with the launches seen there.
fn evaluate<'r>(
    tree: &Tree,
    gpu: &str,
    all: &'r [Recorded],
    code: Option<&Code>,
) -> Vec<(&'r str, GraphEvaluation, &'r [RecordedLaunch])> {
    let seen = |case: &'r Recorded| {
        let found = case.of_gpus.iter().find(|(gpus, _)| gpus.contains(&gpu));
        found.map(|(_, launches)| (case, launches.as_slice()))
    };
    let cases: Vec<(&Recorded, &[RecordedLaunch])> = all.iter().filter_map(seen).collect();
    let graphs = cases.iter().map(|(case, _)| Graph::parse(&case.graph).expect(case.name).into()).collect();
    let device = Device::find(gpu).expect("known");
    let answer = ask_written(tree, &device, &Overrides::default(), "nodes.txt", graphs, &Given { code, routing: None })
        .expect("evaluates");
    let evaluations = answer.evaluations.into_iter().zip(cases);
    evaluations.map(|(evaluation, (case, seen))| (case.name, evaluation, seen)).collect()
}

fn run_of(launches: &[RecordedLaunch]) -> SeenRun {
    SeenRun { evaluation: 0, launches: launches.to_vec(), whole: true }
}

/// The numbers of observed and predicted launches: `GPU: seen = exact + kernel alone + open`, and the incomplete
/// graphs. No prediction may be contradicted.
fn told(tree: &Tree, gpu: &str, code: Option<&Code>) -> (String, Vec<&'static str>) {
    let all = recorded();
    let (mut seen, mut exact, mut without, mut open) = (0, 0, 0, 0);
    let mut not_whole = Vec::new();
    for (name, mut evaluation, launches) in evaluate(tree, gpu, &all, code) {
        assert!(evaluation.against(&[run_of(launches)]), "{name}");
        let compared = evaluation.compared.clone().expect("compared");
        if (name, gpu) == NEWER {
            assert!(!compared.different.is_empty(), "{name} on {gpu}");
            continue;
        }
        assert_eq!(compared.different, [], "{name} on {gpu}");
        seen += compared.seen;
        // The record has no functions and no types, so these are not compared.
        let same = compared.exact + compared.without_arguments;
        exact += same;
        without += compared.without_grid;
        open += compared.not_predicted.len();
        if same != compared.seen {
            let of = all.iter().find(|case| case.name == name).expect("one of them");
            not_whole.push(of.name);
        }
    }
    (format!("{gpu}: {seen} = {exact} + {without} + {open}"), not_whole)
}

#[test]
fn operations_one_by_one_are_predicted() {
    let Some(dir) = test_artifacts::need(TREE) else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let gpus = ["gfx1030", "gfx1100", "gfx1201", "gfx90a"];
    let all = gpus.map(|gpu| told(&tree, gpu, None));
    assert_eq!(all.each_ref().map(|(told, _)| told.as_str()), EXPECTED, "{all:#?}");
    // The open graphs depend on registers and on the experts that a router chooses.
    let hangs = |name: &&str| name.starts_with("flash-attn-") || *name == "mul-mat-id-sorted";
    assert!(all.iter().flat_map(|(_, not_whole)| not_whole).all(hangs), "{all:?}");
}

#[test]
fn grids_that_hang_on_registers_are_predicted_with_the_compiled_code() {
    let Some(dir) = test_artifacts::need(TREE) else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let all = ["gfx1030", "gfx1100", "gfx90a"].map(|gpu| told(&tree, gpu, Some(&code(gpu))));
    assert_eq!(all.each_ref().map(|(told, _)| told.as_str()), WITH_CODE, "{all:#?}");
    assert!(all.iter().flat_map(|(_, not_whole)| not_whole).all(|name| *name == "mul-mat-id-sorted"), "{all:?}");
    // A kernel that is missing in the code stays open, and the answer says so.
    let without = Code::new("other.so", []);
    let all: Vec<Recorded> = recorded().into_iter().filter(|case| case.name == "flash-attn-128-4").collect();
    let (_, evaluation, _) = evaluate(&tree, "gfx1100", &all, Some(&without)).into_iter().next().expect("one");
    let why = evaluation.steps.iter().find_map(|step| step.grid_undetermined.clone()).unwrap_or_default().english;
    assert!(why.ends_with("registers, but the given code does not contain the kernel"), "{why}");
}

#[test]
fn copies_that_the_driver_makes_are_the_answer() {
    let Some(dir) = test_artifacts::need(TREE) else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let all: Vec<Recorded> = recorded();
    let mut found = Vec::new();
    for (name, evaluation, launches) in evaluate(&tree, "gfx1100", &all, None) {
        let only_moves = |step: &GraphStep| step.launches.is_empty() && step.is_settled();
        assert_eq!(launches.is_empty(), evaluation.steps.iter().all(only_moves), "{name}");
        if launches.is_empty() {
            let calls = evaluation.steps.iter().flat_map(|step| &step.moves).map(|call| call.function.as_str());
            found.push(format!("{name}: {}", calls.collect::<Vec<_>>().join(" ")));
        }
    }
    let copy = |name: &str, count: usize| format!("{name}: {}", vec!["hipMemcpyAsync"; count].join(" "));
    assert_eq!(found, [copy("cpy-f32", 1), copy("cpy-same", 1), copy("dup", 1), copy("concat-3", 2)]);
}

#[test]
fn what_a_newer_version_selects_is_predicted_from_its_tree() {
    let Some(dir) = test_artifacts::need(NEWER_TREE) else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let all: Vec<Recorded> = recorded().into_iter().filter(|case| case.name == NEWER.0).collect();
    for (name, mut evaluation, launches) in evaluate(&tree, NEWER.1, &all, None) {
        assert!(evaluation.against(&[run_of(launches)]), "{name}");
        let compared = evaluation.compared.expect("compared");
        assert_eq!((compared.different, compared.seen), (Vec::new(), 3), "{name}");
        assert_eq!(compared.exact + compared.without_arguments, 3, "{name}");
    }
}

const WITH_CODE: [&str; 3] = ["gfx1030: 185 = 181 + 0 + 4", "gfx1100: 188 = 184 + 0 + 4", "gfx90a: 184 = 184 + 0 + 0"];

const EXPECTED: [&str; 4] = [
    "gfx1030: 185 = 166 + 14 + 5",
    "gfx1100: 188 = 166 + 14 + 8",
    "gfx1201: 177 = 154 + 13 + 10",
    "gfx90a: 184 = 169 + 9 + 6",
];

/// Since 0.28 a norm with weights checks whether they are as long as a row, using the third number that
/// `init_fastdiv_values` packs (norm.cu, `rms_norm_f32_dispatch`). A row of 1152 is 288 times four, which takes 512
/// threads; 1150 is not a multiple of four.
#[test]
fn a_fused_norm_follows_what_divisions_are_packed_with() {
    let Some(dir) = test_artifacts::need(NEWER_TREE) else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let kernels = |width: i64| {
        let text = format!(
            "x = F32 {width},4\nw = F32 {width} weights\nn = RMS_NORM F32 {width},4 from x with 1e-6f\ny = MUL F32 {width},4 from n,w\n"
        );
        let graphs = vec![Graph::parse(&text).expect("a graph").into()];
        let device = Device::find("gfx1100").expect("known");
        let answer = ask_written(&tree, &device, &Overrides::default(), "norm.txt", graphs, &Given::default());
        let steps = answer.expect("evaluates").evaluations.remove(0).steps;
        let [step] = steps.as_slice() else { panic!("{steps:?}") };
        assert_eq!((&step.undetermined, step.operations.len()), (&None, 2));
        step.launches.iter().map(|launch| format!("{} {:?}", launch.instance(), launch.block)).collect::<Vec<_>>()
    };
    assert_eq!(kernels(1152), ["rms_norm_f32<512,1,1,1,0,0> Some([512, 1, 1])"]);
    assert!(kernels(1150)[0].starts_with("rms_norm_f32<1024,"), "{:?}", kernels(1150));
}
