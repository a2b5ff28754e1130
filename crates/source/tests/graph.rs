//! Whole evaluations of models: the prediction from a real tree's rules against the launches of the real program.
//!
//! `golden/graph.txt` was recorded by dry runs of Debian's llama.cpp (ggml 0.27) on stand-in GPUs: `= SHAPE TYPE GPU
//! COLUMNS`, then every launch in order as kernel with the numbers among its template arguments, grid and block; `-`
//! for a call into a library. The tree is ggml 0.26, which selects the same.

mod registers;

use registers::code;
use source::graph::{Code, Given, GraphAnswer, GraphStep, RecordedLaunch, SeenRun, ask, dims};
use source::{Argument, Device, Overrides, Tree};
use std::collections::BTreeMap;

const GOLDEN: &str = include_str!("golden/graph.txt");
const TREE: &str = "llama-cpp-sys-2-0.1.160";

fn evaluate(tree: &Tree, shape: &str, ty: &str, gpu: &str, columns: &[i64], overrides: &Overrides) -> GraphAnswer {
    with_code(tree, (shape, ty, gpu), columns, overrides, None)
}

fn with_code(
    tree: &Tree,
    (shape, ty, gpu): (&str, &str, &str),
    columns: &[i64],
    overrides: &Overrides,
    code: Option<&Code>,
) -> GraphAnswer {
    let shape = gguf::known(shape).expect("a shape");
    let kind = gguf::TensorType::parse(ty).expect("a type");
    let made = gguf::skeleton(&shape, kind, 2, false).expect("a model");
    let model = gguf::Gguf::parse(&made.header).expect("a header");
    let device = Device::find(gpu).expect("known");
    ask(tree, &device, overrides, ("model.gguf", &model), columns, None, &Given { code, routing: None })
        .expect("evaluates")
}

fn tree() -> Option<Tree> {
    let dir = test_artifacts::need(TREE)?;
    Some(Tree::open(&dir.display().to_string()).expect("opens"))
}

/// The recorded launches, by head line.
fn recorded() -> BTreeMap<&'static str, Vec<RecordedLaunch>> {
    let mut out: BTreeMap<&str, Vec<RecordedLaunch>> = BTreeMap::new();
    let mut head = "";
    for line in GOLDEN.lines() {
        if let Some(next) = line.strip_prefix("= ") {
            head = next;
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let &[kernel, grid, block] = words.as_slice() else { panic!("{line}") };
        let numbers = |text: &str| -> Option<[i64; 3]> {
            let numbers: Vec<i64> = text.split('x').map(|number| number.parse().ok()).collect::<Option<_>>()?;
            numbers.try_into().ok()
        };
        let seen =
            RecordedLaunch { kernel: kernel.to_owned(), grid: numbers(grid), block: numbers(block), refused: false };
        out.entry(head).or_default().push(seen);
    }
    out
}

/// Every recorded evaluation: `HEAD: seen = predicted with grid and block + with the kernel alone + left open by the
/// source`. No prediction may be contradicted.
fn told(tree: &Tree, code: impl Fn(&str) -> Option<Code>) -> Vec<String> {
    let mut told = Vec::new();
    for (head, seen) in recorded() {
        let words: Vec<&str> = head.split(' ').collect();
        let &[shape, ty, gpu, columns] = words.as_slice() else { panic!("{head}") };
        let columns = columns.parse().expect("a number");
        let mut answer = with_code(tree, (shape, ty, gpu), &[columns], &Overrides::default(), code(gpu).as_ref());
        let evaluation = answer.evaluations.first_mut().expect("one");
        let run = SeenRun { evaluation: 0, launches: seen, whole: true };
        assert!(evaluation.against(&[run]), "{head}");
        let compared = evaluation.compared.clone().expect("compared");
        assert_eq!(compared.different, [], "{head}");
        assert_eq!(evaluation.agrees.as_ref().expect("concluded").says(), &evidence::Says::Same);
        let open = compared.not_predicted.len();
        // The record has no functions and no types, so these are not compared.
        let exact = compared.exact + compared.without_arguments;
        told.push(format!("{head}: {} = {exact} + {} + {open}", compared.seen, compared.without_grid));
    }
    told
}

#[test]
fn launches_of_the_real_program_are_predicted() {
    let Some(tree) = tree() else { return };
    assert_eq!(told(&tree, |_| None), EXPECTED);
}

#[test]
fn every_launch_is_predicted_with_the_compiled_code() {
    let Some(tree) = tree() else { return };
    for line in told(&tree, |gpu| Some(code(gpu))) {
        let whole = line.split_once(": ").and_then(|(_, counts)| counts.split_once(" = ")).expect("a line");
        assert_eq!(whole.1, format!("{} + 0 + 0", whole.0), "{line}");
    }
}

const EXPECTED: [&str; 16] = [
    "llama-3-8b F16 gfx1100 1: 31 = 31 + 0 + 0",
    "llama-3-8b F16 gfx1100 512: 55 = 55 + 0 + 0",
    "llama-3-8b Q4_K gfx1100 1: 44 = 44 + 0 + 0",
    "llama-3-8b Q4_K gfx1100 512: 47 = 47 + 0 + 0",
    "llama-3-8b Q8_0 gfx90a 1: 44 = 44 + 0 + 0",
    "llama-3-8b Q8_0 gfx90a 512: 60 = 56 + 2 + 2",
    "mixtral-8x7b Q4_K gfx1100 1: 52 = 52 + 0 + 0",
    "mixtral-8x7b Q4_K gfx1100 512: 57 = 57 + 0 + 0",
    "qwen2-7b Q4_K gfx1100 1: 44 = 42 + 2 + 0",
    "qwen2-7b Q4_K gfx1100 512: 53 = 53 + 0 + 0",
    "qwen3-30b-a3b Q4_K gfx1100 1: 52 = 52 + 0 + 0",
    "qwen3-30b-a3b Q4_K gfx1100 512: 57 = 57 + 0 + 0",
    "qwen3-30b-a3b Q6_K gfx1030 1: 52 = 52 + 0 + 0",
    "qwen3-30b-a3b Q6_K gfx1030 512: 59 = 57 + 2 + 0",
    "qwen3-8b Q4_K gfx1100 1: 44 = 44 + 0 + 0",
    "qwen3-8b Q4_K gfx1100 512: 47 = 47 + 0 + 0",
];

/// `name operations kernel grid block`, one line for each launch of a step.
fn lines(step: &GraphStep) -> Vec<String> {
    let line = |launch: &source::graph::GraphLaunch| {
        let (grid, block) = (dims(launch.grid), dims(launch.block));
        format!("{} {} {} {grid} {block}", step.name, step.operations.join("+"), launch.full())
    };
    step.launches.iter().map(line).collect()
}

#[test]
fn fused_products_are_named_as_they_are_launched() {
    let Some(tree) = tree() else { return };
    let answer = evaluate(&tree, "qwen2-7b", "Q4_K", "gfx1201", &[1], &Overrides::default());
    let steps = &answer.evaluations[0].steps;
    let of = |name: &str| steps.iter().find(|step| step.name == name).map(lines).expect("there");
    // A bias, a residual, gate and up with their activation: each is one launch of the fused instance.
    let q = "Qcur-0 MUL_MAT+ADD";
    let fused = "mul_mat_vec_q<12,1,1,0,0>";
    assert_eq!(of("Qcur-0"), [format!("{q} quantize_q8_1 14x1x1 256x1x1"), format!("{q} {fused} 3584x1x1 32x8x1")]);
    let ffn = "ffn_gate-0 MUL_MAT+MUL_MAT+GLU";
    assert_eq!(
        of("ffn_gate-0"),
        [format!("{ffn} quantize_q8_1 14x1x1 256x1x1"), format!("{ffn} {fused} 18944x1x1 32x8x1")]
    );
    // There is nothing to fuse with the output head.
    assert!(of("result_output")[1].contains("mul_mat_vec_q<12,1,0,0,0>"), "{:?}", of("result_output"));
}

#[test]
fn fusion_that_is_turned_off_is_not_predicted() {
    let Some(tree) = tree() else { return };
    let off = Overrides { env: vec![("GGML_CUDA_DISABLE_FUSION".to_owned(), "1".to_owned())], ..Overrides::default() };
    let answer = evaluate(&tree, "llama-3-8b", "Q4_K", "gfx1100", &[1], &off);
    assert!(answer.evaluations[0].steps.iter().all(|step| step.operations.len() == 1));
    let products = answer.evaluations[0].steps.iter().flat_map(|step| &step.launches);
    let fused = products
        .filter(|launch| launch.kernel == "mul_mat_vec_q" && launch.arguments[2].1 == source::Argument::Number(1));
    assert_eq!(fused.count(), 0);
}

#[test]
fn a_tree_that_fuses_in_its_loop_leaves_every_node_open() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-2-0.1.130") else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let answer = evaluate(&tree, "llama-3-8b", "Q4_K", "gfx1100", &[1], &Overrides::default());
    let evaluation = &answer.evaluations[0];
    assert!(!evaluation.steps.is_empty() && evaluation.steps.iter().all(|step| step.undetermined.is_some()));
    assert_eq!(evaluation.whole.answered(), 0);
}

/// Architectures that only the tree's own program knows: nodes, launches and steps that are left open, at one token.
#[test]
fn the_trees_own_program_builds_other_architectures() {
    let Some(tree) = tree() else { return };
    for (shape, nodes) in [("gemma-3-1b", 88), ("phi-3-mini", 65)] {
        let answer = evaluate(&tree, shape, "F16", "gfx1100", &[1], &Overrides::default());
        assert!(answer.is_of_tree(), "{shape}: {}", answer.nodes_from);
        let [evaluation] = answer.evaluations.as_slice() else { panic!("{shape}") };
        assert_eq!(evaluation.nodes, nodes, "{shape}");
        assert!(evaluation.launches > 30, "{shape}: {}", evaluation.launches);
    }
}

#[test]
fn a_model_whose_tensors_the_program_does_not_use_is_refused() {
    let Some(tree) = tree() else { return };
    let shape = gguf::known("gemma-3-1b").expect("a shape");
    let made = gguf::skeleton(&shape, gguf::TensorType::F16, 2, false).expect("a model");
    let mut model = gguf::Gguf::parse(&made.header).expect("a header");
    let mut more = model.tensors[0].clone();
    more.name = "another.weight".to_owned();
    model.tensors.push(more);
    let device = Device::find("gfx1100").expect("known");
    let error =
        ask(&tree, &device, &Overrides::default(), ("m", &model), &[1], None, &Given::default()).expect_err("refused");
    assert!(error.to_string().contains("another.weight"), "{error}");
}

/// The symbol of `add` in the trace of a program.
const ADD: &str = "_ZL11k_bin_bcastIXadL_ZL6op_addffEEfffJPKfEEvPKT0_PKT1_PT2_jjj15HIP_vector_typeIjLj3EESB_DpT3_";

#[test]
fn functions_and_types_are_part_of_which_kernel_it_is() {
    let Some(tree) = tree() else { return };
    let mut answer = evaluate(&tree, "qwen2-7b", "Q4_K", "gfx1100", &[12], &Overrides::default());
    let evaluation = answer.evaluations.first_mut().expect("one");
    // Symbols as a compiler writes them, with only the template arguments.
    let symbol = |launch: &source::graph::GraphLaunch| {
        let mut out = format!("_ZL{}{}", launch.kernel.len(), launch.kernel);
        let arguments: Vec<String> = launch.arguments.iter().map(|(_, value)| mangled(value)).collect();
        if !arguments.is_empty() {
            out += &format!("I{}E", arguments.concat());
        }
        out + "vv"
    };
    let launches = evaluation.steps.iter().flat_map(|step| &step.launches);
    let seen: Vec<RecordedLaunch> = launches
        .map(|launch| RecordedLaunch { kernel: symbol(launch), grid: launch.grid, block: launch.block, refused: false })
        .collect();
    let add = seen.iter().position(|seen| seen.kernel.contains("op_add")).expect("one that adds");
    assert!(seen[add].kernel.starts_with("_ZL11k_bin_bcastIXadL_ZL6op_addvEEfffJ"), "{}", seen[add].kernel);
    let run =
        |evaluation: u64, launches: &[RecordedLaunch]| SeenRun { evaluation, launches: launches.to_vec(), whole: true };
    let says = |answer: &source::graph::GraphEvaluation| answer.agrees.clone().expect("concluded");
    assert!(evaluation.against(&[run(0, &seen)]));
    assert_eq!((says(evaluation).says(), says(evaluation).is_whole()), (&evidence::Says::Same, true));
    // The real symbol.
    let mut real = seen.clone();
    real[add].kernel = ADD.to_owned();
    assert!(evaluation.against(&[run(0, &real)]));
    assert!(says(evaluation).is_whole(), "{:?}", evaluation.compared);
    // Another function or another type in the second of two evaluations is reported as different.
    for (from, to) in [("6op_add", "6op_mul"), ("EEfff", "EEff6__half")] {
        let mut other = seen.clone();
        other[add].kernel = seen[add].kernel.replace(from, to);
        assert!(evaluation.against(&[run(0, &seen), run(7, &other)]));
        assert_eq!(says(evaluation).says(), &evidence::Says::Different { count: 1 }, "{to}");
        let found = &evaluation.compared.as_ref().expect("compared").different[0];
        assert_eq!((found.evaluation, found.at), (7, add));
    }
    // A refused launch did not run.
    let refused: Vec<RecordedLaunch> =
        seen.iter().map(|seen| RecordedLaunch { refused: true, ..seen.clone() }).collect();
    assert!(evaluation.against(&[run(0, &refused)]));
    assert_eq!(says(evaluation).reach(), evidence::Reach::Unknown);
    assert_eq!(evaluation.compared.as_ref().expect("compared").refused, seen.len() as u64);
    // A truncated record, or one without this evaluation, does not prove that something was not launched.
    let cut = SeenRun { evaluation: 0, launches: real[..1].to_vec(), whole: false };
    for (run, seen) in [(cut, 1), (run(0, &[]), 0)] {
        assert!(evaluation.against(&[run]));
        let (compared, agrees) = (evaluation.compared.as_ref().unwrap(), evaluation.agrees.as_ref().unwrap());
        assert_eq!((compared.seen, compared.not_seen, compared.different.len()), (seen, real.len() as u64 - seen, 0));
        assert_ne!(agrees.word(), evidence::Word::Yes);
        assert_eq!(agrees.reach() == evidence::Reach::Unknown, seen == 0);
    }
    // A name without its arguments does not determine them.
    let mut bare = seen.clone();
    bare[add].kernel = "k_bin_bcast<>".to_owned();
    assert!(evaluation.against(&[run(0, &bare)]));
    assert_eq!(says(evaluation).reach(), evidence::Reach::Answered);
    let unknown = &evaluation.compared.as_ref().expect("compared").unknown_arguments;
    assert!(unknown.contains("k_bin_bcast: bin_op"), "{unknown:?}");
}

fn mangled(argument: &Argument) -> String {
    match argument {
        Argument::Number(number) => format!("Li{number}E"),
        Argument::Function(name) => format!("XadL_ZL{}{name}vEE", name.len()),
        Argument::Type(name) => match name.as_str() {
            "float" => "f".to_owned(),
            "half" => "6__half".to_owned(),
            "int64_t" => "l".to_owned(),
            "float *" => "Pf".to_owned(),
            other => format!("{}{other}", other.len()),
        },
        Argument::Pack(list) => format!("J{}E", list.iter().map(mangled).collect::<String>()),
        Argument::Other(_) | Argument::Unknown => panic!("{argument} is not known"),
    }
}
