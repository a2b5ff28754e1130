//! Answers carried to the next state of a tree equal the answers of that state alone: after edits that change answers
//! in many ways, and after edits that do not. Most of the latter must be recognised.

mod ours;

use ours::{files, tree};
use source::Tree;
use source::atlas::{next_table, question, table};
use source::decision_table::DecisionTable;

const GPUS: &[&str] = &["gfx1201", "gfx1030", "gfx908"];
const TYPES: &[&str] = &["Q4_0", "Q4_K", "F16"];
const CELLS: usize = 9;

type Files = Vec<(&'static str, String)>;

fn asked() -> source::Question {
    let own = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    question(&own(GPUS), &own(TYPES)).expect("known")
}

fn with(mut all: Files, path: &str, from: &str, to: &str) -> Files {
    let text = all.iter_mut().find(|(known, _)| *known == path).map(|(_, text)| text).expect("a file of the tree");
    assert!(text.contains(from), "{path} has {from}");
    *text = text.replacen(from, to, 1);
    all
}

/// The table of a tree alone, the table carried over from an earlier state, and how many cells were reused.
fn both(before: &Tree, after: &Tree) -> (DecisionTable, DecisionTable, usize) {
    let question = asked();
    let (first, _, carried) = next_table(before, &question, None, ["t", "1", "", ""]).expect("evaluates");
    // Answers that depend on unspecified inputs are not carried over.
    let before = carried.map(|carried| (carried, first));
    let (found, spared, _) = next_table(after, &question, before, ["t", "2", "", ""]).expect("evaluates");
    (table(after, &question, "t", "2", "", "").expect("evaluates"), found, spared)
}

/// Paths and tiles without their line numbers.
fn choices(table: &DecisionTable) -> Vec<String> {
    let cells = GPUS.iter().flat_map(|gpu| TYPES.iter().map(move |ty| (gpu, ty)));
    let all = cells.flat_map(|(gpu, ty)| (1..=1024).map(move |n| (gpu, ty, n)));
    let one = |(gpu, ty, n): (&&str, &&str, i64)| {
        table.look_up(gpu, ty, n).map_or(String::new(), |found| format!("{} {:?}", found.path, found.tile))
    };
    all.map(one).collect()
}

fn of(files: Files) -> DecisionTable {
    table(&tree(files), &asked(), "t", "0", "", "").expect("evaluates")
}

/// Each edit changes an answer.
#[test]
fn every_edit_that_changes_an_answer_is_seen() {
    const MAIN: &str = "src/cuda/main.cu";
    const CU: &str = "src/cuda/mmq.cu";
    const CUH: &str = "src/cuda/mmq.cuh";
    const CMAKE: &str = "CMakeLists.txt";
    const RULE: &str = "    return ne11 < 64;";
    const CALL: &str = "static void ggml_cuda_mul_mat(ggml_backend_cuda_context & ctx,";
    let edits: &[(&str, &str, &str, &str)] = &[
        ("the rule", CU, RULE, "    return ne11 < 32;"),
        ("an operator of it", CU, RULE, "    return ne11 <= 64;"),
        ("a macro", "src/cuda/common.cuh", "#define MAX_BATCH 8", "#define MAX_BATCH 4"),
        ("a macro that others are made of", "src/cuda/common.cuh", "CC_OFFSET_AMD + 0x1200", "CC_OFFSET_AMD + 0x1030"),
        ("a macro of the tiles", CUH, "return (J_); }", "return (J_) == 16 ? 0 : (J_); }"),
        ("a file that is included", "src/cuda/tiles.inc", " CASE(GGML_TYPE_Q4_K, 64);", ""),
        ("a default argument", CUH, "int64_t n_experts = 0)", "int64_t n_experts = 65)"),
        (
            "an early return in the caller",
            MAIN,
            "    GGML_BINARY_LOCALS\n",
            "    GGML_BINARY_LOCALS\n    if (ne11 > 100) { op_blas(ctx, src0, src1, dst); return; }\n",
        ),
        (
            "the order of the branches",
            MAIN,
            "quantized && ne11 <= MAX_BATCH",
            "quantized && ne11 <= MAX_BATCH && !should_use_mmq(src0->type, cc, ne11)",
        ),
        (
            "another function in the case",
            MAIN,
            "ggml_cuda_mul_mat(ctx, dst->src[0], dst->src[1], dst); break;",
            "op_blas(ctx, dst->src[0], dst->src[1], dst); break;",
        ),
        (
            "a static of the same name in its unit",
            MAIN,
            CALL,
            "static bool ggml_is_quantized(int type) { return type == 12; }\nstatic void ggml_cuda_mul_mat(ggml_backend_cuda_context & ctx,",
        ),
        (
            "a better overload",
            MAIN,
            CALL,
            "static bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11) { return ne11 < 20; }\nstatic void ggml_cuda_mul_mat(ggml_backend_cuda_context & ctx,",
        ),
        (
            "a specialisation",
            CU,
            "void op_mul_mat_q(",
            "template <> void mul_mat_q_case<GGML_TYPE_Q4_K>(ggml_backend_cuda_context & ctx, const mmq_args & args, cudaStream_t stream) { launch_mul_mat_q<GGML_TYPE_Q4_K, 16>(ctx, args, stream); }\nvoid op_mul_mat_q(",
        ),
        (
            "a table of another file",
            "src/ggml.c",
            ".type_size = sizeof(block_q4_0), .is_quantized = true",
            ".type_size = sizeof(block_q4_0), .is_quantized = false",
        ),
        (
            "the numbers of an enum",
            "src/ggml.h",
            "GGML_TYPE_Q4_0 = 2, GGML_TYPE_Q4_K = 12, GGML_TYPE_COUNT",
            "GGML_TYPE_Q4_0 = 2, GGML_TYPE_Q4_K = 2, GGML_TYPE_COUNT",
        ),
        (
            "a field that is read",
            MAIN,
            "info.devices[id].cc = parse_id(prop.gcnArchName);",
            "info.devices[id].nsm = parse_id(prop.gcnArchName);",
        ),
        (
            "how a number is read",
            MAIN,
            "return CC_OFFSET_AMD + major*0x100 + minor;",
            "return CC_OFFSET_AMD + major*0x80 + minor;",
        ),
        (
            "a define of the build",
            CMAKE,
            "add_compile_definitions(GGML_USE_HIP)",
            "add_compile_definitions(GGML_USE_HIP GGML_CUDA_FORCE_CUBLAS)",
        ),
        (
            "a default of an option",
            CMAKE,
            "option(GGML_CUDA_FORCE_CUBLAS \"blas\" OFF)",
            "option(GGML_CUDA_FORCE_CUBLAS \"blas\" ON)",
        ),
        (
            "a define of one file",
            CMAKE,
            "add_compile_definitions(GGML_USE_HIP)",
            "add_compile_definitions(GGML_USE_HIP)\n    set_source_files_properties(src/cuda/mmq.cu PROPERTIES COMPILE_DEFINITIONS GGML_CUDA_FORCE_CUBLAS)",
        ),
        (
            "a define that nobody speaks of",
            CU,
            RULE,
            "#ifdef SOMETHING_ELSE\n    return false;\n#endif\n    return ne11 < 64;",
        ),
        ("a macro put over a name", CU, "#include \"mmq.cuh\"", "#include \"mmq.cuh\"\n#define ne11 (n_experts + 1)"),
        ("a unit that cannot be read on", CU, RULE, "    return ne11 < undeclared_limit();"),
    ];
    let before = of(files());
    for (what, path, from, to) in edits {
        let edited = with(files(), path, from, to);
        let (alone, found, spared) = both(&tree(files()), &tree(edited.clone()));
        assert_ne!(choices(&before), choices(&alone), "{what}: this edit changes nothing");
        assert_eq!(found, alone, "{what}: {spared} cells were not asked again");
        // The reverse edit.
        let (alone, found, spared) = both(&tree(edited), &tree(files()));
        assert_eq!(found, alone, "{what}, taken back: {spared} cells were not asked again");
    }
}

#[test]
fn a_header_that_comes_in_is_seen() {
    let mut edited =
        with(files(), "src/cuda/main.cu", "#include \"mmq.cuh\"", "#include \"mmq.cuh\"\n#include \"more.cuh\"");
    edited.push(("src/cuda/more.cuh", "#undef MAX_BATCH\n#define MAX_BATCH 2\n".to_owned()));
    let (alone, found, _) = both(&tree(files()), &tree(edited));
    assert_ne!(choices(&of(files())), choices(&alone));
    assert_eq!(found, alone);
}

/// A limit stored in a variable: its initial value and its writers.
#[test]
fn a_variable_and_its_writers_are_seen() {
    let rule = "    return ne11 < limit;";
    let declared = |what: &str| {
        let all = with(files(), "src/cuda/mmq.cu", "    return ne11 < 64;", rule);
        with(all, "src/cuda/mmq.cu", "#include \"mmq.cuh\"", &format!("#include \"mmq.cuh\"\n{what}"))
    };
    let base = declared("static int limit = 64;");
    for other in [
        "static int limit = 32;",
        "static int limit = 64; void registered() { limit = 16; }",
        "static int limit = 64; static void change(int & what) { what = 3; } void registered() { change(limit); }",
        "static int limit = 64; struct init { init() { limit = 16; } }; static init at_start;",
        "static int limit = 64; static int at_start = (limit = 16);",
        "static int start() { return 32; } static int limit = start();",
    ] {
        let (alone, found, spared) = both(&tree(base.clone()), &tree(declared(other)));
        assert_ne!(choices(&of(base.clone())), choices(&alone), "{other}");
        assert_eq!(found, alone, "{other}: {spared} cells were not asked again");
    }
    // An existing reader starts to write; a function that only passes it on gets another declaration.
    let reader = "static int limit = 64; static void look(const int & what) { } void registered() { look(limit); }";
    let (alone, found, _) = both(&tree(declared(reader)), &tree(declared(&reader.replace("const int &", "int &"))));
    assert_ne!(choices(&of(declared(reader))), choices(&alone));
    assert_eq!(found, alone);
}

/// Edits that affect no answer, like most edits of a backend.
#[test]
fn what_has_no_part_is_not_asked_again() {
    let quiet: &[(&str, &str, &str, &str)] = &[
        ("lines that move", "src/cuda/mmq.cu", "void op_mul_mat_q(", "// one\n\n// two\nvoid op_mul_mat_q("),
        ("a remark within", "src/cuda/mmq.cu", "    if (CC_IS_RDNA4(cc)) {", "    // said\n    if (CC_IS_RDNA4(cc)) {"),
        ("a kernel's body", "src/cuda/mmq.cuh", "{ NO_DEVICE_CODE; }", "{ int y = 1; y += 2; NO_DEVICE_CODE; }"),
        (
            "a function that nobody names",
            "src/cuda/common.cuh",
            "int ggml_cuda_get_device();",
            "int ggml_cuda_get_device();\nstatic __device__ int never_heard_of(int x) { return x + MAX_BATCH; }",
        ),
        (
            "a body that was not run",
            "src/cuda/main.cu",
            "return op->src[0]->type != GGML_TYPE_COUNT;",
            "return op->src[0]->type == GGML_TYPE_Q4_K;",
        ),
        (
            "a macro that nobody uses",
            "src/cuda/common.cuh",
            "#define MAX_BATCH 8",
            "#define MAX_BATCH 8\n#define MAX_OTHER 9",
        ),
        ("a version", "CMakeLists.txt", "project(small)", "project(small)\nadd_compile_definitions(SMALL_VERSION=3)"),
    ];
    for (what, path, from, to) in quiet {
        let (alone, found, spared) = both(&tree(files()), &tree(with(files(), path, from, to)));
        assert_eq!(found, alone, "{what}");
        assert_eq!(spared, CELLS, "{what} has no part in any answer");
    }
    // A function for one type only: the others keep their answers.
    let edited =
        with(files(), "src/cuda/main.cu", "CUBLAS_OP_T, CUBLAS_OP_N, 1, 2, 3", "CUBLAS_OP_T, CUBLAS_OP_N, 1, 2, 4");
    let (alone, found, spared) = both(&tree(files()), &tree(edited));
    assert_eq!(found, alone);
    assert!(spared > 0 && spared < CELLS, "{spared}");
}
