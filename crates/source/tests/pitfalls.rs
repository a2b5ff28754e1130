//! One test for each difficulty in reading ggml's dispatch, and tests that unsupported code is never ignored.

mod ours;

use ours::{ask, changed, files, plain, tree};
use source::{Device, Outcome, Overrides, Path, Shape, Survey, Tree};

const PARSE: &str = "info.devices[id].cc = parse_id(prop.gcnArchName);";

fn with_parser(function: &str) -> Tree {
    let tree = files();
    let main = tree.into_iter().map(|(path, text)| match path {
        "src/cuda/main.cu" => (
            path,
            text.replace(
                "static ggml_cuda_device_info ggml_cuda_init",
                &format!("{function}\nstatic ggml_cuda_device_info ggml_cuda_init"),
            )
            .replace(PARSE, "info.devices[id].cc = id_of(prop.gcnArchName);"),
        ),
        _ => (path, text),
    });
    ours::tree(main.collect())
}

/// One question; the reason if there is no answer.
fn why(tree: &Tree, gpu: &str, columns: i64) -> Result<(Path, i64), String> {
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question = shape.question(vec![Device::find(gpu).expect("known")], vec!["Q4_K".to_owned()], vec![columns]);
    let survey = Survey::run(tree, question, &Overrides::default()).expect("evaluates");
    match &survey.answer(0, 0, columns).expect("answered").outcome {
        Outcome::Chosen(choice) => Ok((choice.path, choice.variant)),
        Outcome::Undetermined { place, why, .. } => Err(format!("{place}: {why}")),
    }
}

#[test]
fn targets_are_parsed_with_std_string_and_lambdas() {
    let tree = with_parser(
        r#"static int id_of(const char * given) {
            std::string name = given;
            name.erase(0, 3);
            name = name.substr(0, name.find(':'));
            const auto number = [](const std::string & text) { return (int) strtoul(text.c_str(), nullptr, 16); };
            int id = 0;
            if (name.size() > 8 && name.compare(name.size() - 8, 8, "-generic") == 0) {
                name.resize(name.size() - 8);
                const size_t dash = name.find('-');
                id = 0x100 * number(name.substr(0, dash));
                if (dash != std::string::npos) { id += 0x10 * number(name.substr(dash + 1)); }
            } else if (name.size() >= 3) {
                id = number(name);
            }
            return CC_OFFSET_AMD + id;
        }"#,
    );
    assert_eq!(why(&tree, "gfx1201", 290), Ok((Path::Mmq, 64)));
    assert_eq!(why(&tree, "gfx90a", 257), Ok((Path::Blas, 0)));
    assert_eq!(why(&tree, "gfx90a:sramecc+:xnack-", 256), Ok((Path::Mmq, 64)), "features are cut off");
    assert_eq!(why(&tree, "gfx1030", 64), Ok((Path::Blas, 0)));
}

/// Each of these changes a variable in a way that the evaluator does not know: the old value must not survive.
#[test]
fn what_an_unknown_call_may_write_is_unknown() {
    for change in [
        "std::rotate(name.begin(), name.begin() + 1, name.end());",
        "name.replace_somehow(1, 2);",
        "std::swap(id, other);",
        "stranger(&id);",
        "int & alias = id; stranger_by_value(alias); stranger(&alias);",
        "numbers[unknown_index()] = 7; id = numbers[0];",
        "memcpy(numbers, more, sizeof(more)); id = numbers[1];",
        "std::get<0>(pair) = 5; id = pair;",
        "(unknown_index() ? id : other) = 5;",
        "id = name.unknown_method();",
        "unknown_index() && (id = 5);",
        "declared_only(id);",
        "id = two(unknown_index());",
    ] {
        let tree = with_parser(&format!(
            r#"void declared_only(int & number);
            static int two(int a) {{ return a; }}
            static int two(float a) {{ return 2; }}
            static int id_of(const char * given) {{
                std::string name = given;
                int id = 0x1201; int other = 0; int pair = 0; int numbers[2] = {{ 0x1201, 0x1201 }}; int more[2] = {{ 1, 2 }};
                {change}
                if (name.size() < 3) {{ return 0; }}
                return CC_OFFSET_AMD + id;
            }}"#
        ));
        let answer = why(&tree, "gfx1201", 64);
        let place = answer.expect_err(change);
        assert!(place.contains(".cu:"), "{change}: the place is told: {place}");
    }
}

#[test]
fn the_same_without_the_change_is_known() {
    let tree = with_parser(
        "static int id_of(const char * given) { std::string name = given; int id = 0x1201; std::string twin = name; return name.size() < 3 ? 0 : CC_OFFSET_AMD + id; }",
    );
    assert_eq!(why(&tree, "gfx1201", 64), Ok((Path::Mmq, 64)));
}

/// A loop over an unknown condition is followed up to 31 forks, whatever the outcomes; a longer one is undetermined.
#[test]
fn a_loop_over_what_is_unknown_is_followed_as_far_as_forks_go() {
    let with_loop = |rounds: usize, then: &str| {
        why(
            &with_parser(&format!(
                "static int id_of(const char * given) {{ int id = 0x1201; for (int i = 0; i < {rounds}; ++i) {{ if (unknown_index() == i) {{ {then} }} }} return CC_OFFSET_AMD + id; }}"
            )),
            "gfx1201",
            64,
        )
    };
    for rounds in [1, 2, 3, 20, 31] {
        assert_eq!(with_loop(rounds, "break;"), Ok((Path::Mmq, 64)), "{rounds} rounds");
    }
    for rounds in [32, 33, 34, 1000] {
        let why = with_loop(rounds, "break;").expect_err("more than are followed");
        assert!(why.contains("unknown_index()"), "{rounds} rounds: {why}");
    }
    assert!(with_loop(3, "id = 0x1030;").is_err(), "it comes out differently");
    assert!(with_loop(1000, "id = 0x1030;").is_err());
}

/// Pitfall 5: code after an unconditional return is never reached.
#[test]
fn code_after_a_return_is_dead() {
    let tree = changed(
        "    if (CC_IS_RDNA4(cc)) { return true; }",
        "    return false;\n    if (CC_IS_RDNA4(cc)) { return true; }",
    );
    assert_eq!(plain(&tree, "gfx1201", "Q4_K", &[8, 9]), [Some((Path::Mmvq, 8)), Some((Path::Blas, 0))]);
}

/// Pitfall 7: a decimal compute capability, from the version alone: gfx90a is 9.0 and not CDNA there.
#[test]
fn compute_capabilities_may_be_decimal() {
    let mut all = files();
    for (path, text) in &mut all {
        if *path == "src/cuda/main.cu" {
            *text = text.replace(PARSE, "info.devices[id].cc = CC_OFFSET_AMD + 100*prop.major + 10*prop.minor;");
        }
        if *path == "src/cuda/common.cuh" {
            *text = text
                .replace("0x1000000", "1000000")
                .replace("0x908", "908")
                .replace("0x1010", "1010")
                .replace("0x1200", "1200");
        }
    }
    let tree = tree(all);
    assert_eq!(plain(&tree, "gfx90a", "Q4_K", &[63, 64]), [Some((Path::Mmq, 64)), Some((Path::Blas, 0))]);
    assert_eq!(plain(&tree, "gfx1201", "Q4_K", &[64]), [Some((Path::Mmq, 64))]);
}

/// Pitfall 8: the list of compiled architectures decides where the code reads it.
#[test]
fn the_list_of_compiled_architectures_is_a_define() {
    let mut all = files();
    for (path, text) in &mut all {
        if *path == "src/cuda/common.cuh" {
            text.push_str(
                r#"
#ifdef __CUDA_ARCH_LIST__
constexpr int newest_of(const int cc, const int first) { return first <= cc ? first : 0; }
template <class... Archs> constexpr int newest_of(const int cc, const int first, Archs... rest) {
    return first <= cc && first > newest_of(cc, rest...) ? first : newest_of(cc, rest...);
}
constexpr int newest(const int cc) { return newest_of(cc, __CUDA_ARCH_LIST__); }
#else
static int newest(const int cc) { return cc; }
#endif
"#,
            );
        }
        if *path == "src/cuda/mmq.cu" {
            *text = text.replace("return ne11 < 64;", "return newest(cc) >= 610 && ne11 < 64;");
        }
        if *path == "src/cuda/main.cu" {
            *text = text.replace(PARSE, "info.devices[id].cc = 100*prop.major + 10*prop.minor;");
        }
    }
    let tree = tree(all);
    let with = |list: &str| Overrides { define: vec![format!("__CUDA_ARCH_LIST__={list}")], ..Overrides::default() };
    assert_eq!(plain(&tree, "sm_61", "Q4_K", &[9]), [Some((Path::Mmq, 16))]);
    assert_eq!(ask(&tree, "sm_61", "Q4_K", &[9], &with("520,610,750")), [Some((Path::Mmq, 16))]);
    assert_eq!(ask(&tree, "sm_61", "Q4_K", &[9], &with("520,750")), [Some((Path::Blas, 0))]);
}

/// Pitfall 9: shape and stride are part of the question.
#[test]
fn shapes_and_strides_decide() {
    let tree = changed("return ne11 < 64;", "return true;");
    let tree_by_shape = changed(
        "const int cc = ggml_cuda_info().devices[ctx.device].cc;\n    if (const bool",
        "const int cc = ggml_cuda_info().devices[ctx.device].cc;\n    if (src0->nb[1] % 128 != 0 || src0->ne[0] > 8192) { op_blas(ctx, src0, src1, dst); return; }\n    if (const bool",
    );
    let ask = |tree: &Tree, k: i64| {
        let shape = Shape::MulMat { rows: 4096, k };
        let question = shape.question(vec![Device::find("gfx1201").expect("known")], vec!["Q4_K".to_owned()], vec![9]);
        let survey = Survey::run(tree, question, &Overrides::default()).expect("evaluates");
        survey.rows().first().and_then(|row| row.path)
    };
    assert_eq!(ask(&tree, 4096), Some(Path::Mmq));
    // A row of 4096 values is 16 blocks of 144 bytes: 2304 = 18 x 128. With one more block, it is not a multiple.
    assert_eq!(ask(&tree_by_shape, 4096), Some(Path::Mmq));
    assert_eq!(ask(&tree_by_shape, 4096 + 256), Some(Path::Blas));
    assert_eq!(ask(&tree_by_shape, 16384), Some(Path::Blas));
}

/// Pitfall 10: a product with experts does not use the entry of the plain product.
#[test]
fn products_with_experts_have_a_chain_of_their_own() {
    let mut all = files();
    for (_, text) in &mut all {
        *text = text.replace("GGML_OP_MUL_MAT };", "GGML_OP_MUL_MAT, GGML_OP_MUL_MAT_ID };").replace(
            "enum ggml_type { GGML_TYPE_F32 = 0,",
            "enum ggml_type { GGML_TYPE_I32 = 26, GGML_TYPE_F32 = 0,",
        ).replace(
            "    [GGML_TYPE_F16] ",
            "    [GGML_TYPE_I32]  = { .name = \"i32\", .blck_size = 1, .type_size = 4 },\n    [GGML_TYPE_F16] ",
        ).replace("GGML_TYPE_Q4_K = 12, GGML_TYPE_COUNT", "GGML_TYPE_Q4_K = 12, GGML_TYPE_COUNT = 40").replace(
            "        default: return false;\n    }\n    return true;",
            "        case GGML_OP_MUL_MAT_ID: by_expert(ctx, dst); break;\n        default: return false;\n    }\n    return true;",
        ).replace(
            "static bool ggml_cuda_compute_forward",
            "static void by_expert(ggml_backend_cuda_context & ctx, ggml_tensor * dst) {\n    if (dst->ne[2] <= 4 && dst->src[2]->ne[0] == 8) { op_mul_mat_vec_q(ctx, dst->src[0], dst->src[1], dst); return; }\n    op_mul_mat_q(ctx, dst->src[0], dst->src[1], dst);\n}\nstatic bool ggml_cuda_compute_forward",
        );
    }
    let tree = tree(all);
    let shape = Shape::MulMatId { rows: 4096, k: 4096, experts: 64, used: 8 };
    let question =
        shape.question(vec![Device::find("gfx1030").expect("known")], vec!["Q4_K".to_owned()], vec![1, 4, 5, 512]);
    let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
    let paths: Vec<Option<Path>> = survey.rows().iter().map(|row| row.path).collect();
    assert_eq!(paths, [Some(Path::Mmvq), Some(Path::Mmvq), Some(Path::Mmq), Some(Path::Mmq)]);
    // The plain product of the same tree is still decided by its own predicate.
    assert_eq!(plain(&tree, "gfx1030", "Q4_K", &[63, 64]), [Some((Path::Mmq, 64)), Some((Path::Blas, 0))]);
}

/// Fusion bypasses the dispatcher: the answer for a single product stays, and the bypass is reported.
#[test]
fn fused_products_are_told_beside_the_answer() {
    let fusing = r#"
struct ggml_cgraph { int n_nodes; ggml_tensor ** nodes; };
static bool ggml_can_fuse(const ggml_cgraph * graph, int i) { return graph->n_nodes > i; }
static void evaluate_graph(ggml_backend_cuda_context & ctx, ggml_cgraph * graph) {
    static bool disable_fusion = getenv("GGML_CUDA_DISABLE_FUSION") != nullptr;
    for (int i = 0; i < graph->n_nodes; ++i) {
        ggml_tensor * node = graph->nodes[i];
        if (!disable_fusion && ggml_can_fuse(graph, i)) {
            op_mul_mat_vec_q(ctx, node->src[0], node->src[1], node);
            continue;
        }
        ggml_cuda_compute_forward(ctx, node);
    }
}
static bool supports_op("#;
    let fused = changed("static bool supports_op(", fusing);
    assert_eq!(why(&fused, "gfx1201", 1), Ok((Path::Mmvq, 1)), "the dispatcher's own answer stands");
    let survey = |tree| {
        let shape = Shape::MulMat { rows: 4096, k: 4096 };
        let question = shape.question(vec![Device::find("gfx1201").expect("known")], vec!["Q4_K".to_owned()], vec![1]);
        Survey::run(tree, question, &Overrides::default()).expect("evaluates").fused_paths()
    };
    let found = survey(&fused);
    let line = |text: &str| files_line("src/cuda/main.cu", fusing, text);
    let told: Vec<_> = found.iter().map(|way| (way.function.as_str(), way.calls.as_str(), way.lines.clone())).collect();
    assert_eq!(told, [("evaluate_graph", "op_mul_mat_vec_q", vec![line("op_mul_mat_vec_q(ctx, node->src[0]")])]);
    assert_eq!(found[0].switch.as_deref(), Some("GGML_CUDA_DISABLE_FUSION"));
    assert_eq!(survey(&tree(files())), [], "nothing is fused in the plain tree");
}

/// The line of `text` in a file, inserted with `insert` before `supports_op`.
fn files_line(file: &str, insert: &str, text: &str) -> usize {
    let all = files();
    let (_, before) = all.iter().find(|(path, _)| *path == file).expect("there");
    let whole = before.replace("static bool supports_op(", insert);
    whole[..whole.find(text).expect("there")].matches('\n').count() + 1
}

/// The survey finds the fused path of a real tree: since 2025-10 llama.cpp fuses at one column.
#[test]
fn a_real_tree_fuses_past_its_dispatcher() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question = shape.question(vec![Device::find("gfx1201").expect("known")], vec!["Q4_K".to_owned()], vec![1]);
    let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
    let found = survey.fused_paths();
    let mmvq = found.iter().find(|way| way.path == Path::Mmvq).expect("the vector product is fused");
    let text = tree.text(&mmvq.file).expect("reads");
    for line in &mmvq.lines {
        let line = text.lines().nth(line - 1).expect("a line");
        assert!(line.contains(&mmvq.calls) && line.contains("fusion"), "{line}");
    }
    assert_eq!(mmvq.switch.as_deref(), Some("GGML_CUDA_DISABLE_FUSION"));
    // Paths through the dispatcher itself are not bypasses.
    assert!(found.iter().all(|way| way.function != survey.function()), "{found:?}");
}
