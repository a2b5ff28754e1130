//! Edits between a backend's interface and its dispatcher, and of unspecified inputs: followed, or undetermined.

mod ours;

use ours::{ask, files, plain, tree};
use source::{Overrides, Path, Tree};

const GRAPH: &str = r#"
struct ggml_cgraph { int n_nodes; struct ggml_tensor ** nodes; };
struct ggml_backend { void * context; };
struct ggml_backend_device { void * context; };
typedef struct ggml_backend * ggml_backend_t;
typedef struct ggml_backend_device * ggml_backend_dev_t;
enum ggml_status { GGML_STATUS_SUCCESS = 0 };
struct ggml_backend_i { const char * (*get_name)(ggml_backend_t); enum ggml_status (*graph_compute)(ggml_backend_t, struct ggml_cgraph *); };
struct ggml_backend_device_i { const char * (*get_name)(ggml_backend_dev_t); bool (*supports_op)(ggml_backend_dev_t, const struct ggml_tensor *); };
struct ggml_backend_cuda_device_context { int device; };
"#;

const LOOP: &str = r#"
static bool is_noop(const ggml_tensor * t) { return t->op == GGML_OP_NONE; }
static void evaluate(ggml_backend_cuda_context * cuda_ctx, ggml_cgraph * cgraph, bool use_graph) {
    bool done = false;
    while (!done) {
        if (!use_graph) {
            for (int i = 0; i < cgraph->n_nodes; i++) {
                ggml_tensor * node = cgraph->nodes[i];
                if (is_noop(node)) {
                    continue;
                }
                // before
                bool ok = ggml_cuda_compute_forward(*cuda_ctx, node);
                if (!ok) {
                    GGML_LOG_ERROR("not supported");
                }
                GGML_ASSERT(ok);
                // after
            }
        }
        done = true;
    }
}
static enum ggml_status graph_compute(ggml_backend_t backend, ggml_cgraph * cgraph) {
    ggml_backend_cuda_context * cuda_ctx = (ggml_backend_cuda_context *) backend->context;
    // first
    evaluate(cuda_ctx, cgraph, false);
    return GGML_STATUS_SUCCESS;
}
static bool device_supports_op(ggml_backend_dev_t dev, const ggml_tensor * op) {
    ggml_backend_cuda_device_context * dev_ctx = (ggml_backend_cuda_device_context *) dev->context;
    if (dev_ctx->device != 0) { return false; }
    // asked
    switch (op->op) { case GGML_OP_MUL_MAT: return true; default: return false; }
}
static const ggml_backend_i interface = { nullptr, graph_compute };
static const ggml_backend_device_i device_interface = { nullptr, device_supports_op };
"#;

/// The small tree with a backend around its dispatcher, with replaced texts.
fn edited(edits: &[(&str, &str)]) -> Tree {
    let mut all = files();
    for (path, text) in &mut all {
        match *path {
            "src/ggml.h" => text.push_str(GRAPH),
            "src/cuda/main.cu" => text.push_str(LOOP),
            _ => {}
        }
    }
    for (from, to) in edits {
        assert!(all.iter().any(|(_, text)| text.contains(from)), "{from} is in the tree");
        all.iter_mut().for_each(|(_, text)| *text = text.replace(from, to));
    }
    tree(all)
}

fn paths(tree: &Tree) -> Vec<Option<Path>> {
    plain(tree, "gfx1030", "Q4_K", &[4, 20, 100]).into_iter().map(|answer| answer.map(|(path, _)| path)).collect()
}

const AS_IT_IS: [Option<Path>; 3] = [Some(Path::Mmvq), Some(Path::Mmq), Some(Path::Blas)];

#[test]
fn a_backend_as_it_is_has_its_dispatchers_answers() {
    assert_eq!(paths(&edited(&[])), AS_IT_IS);
}

#[test]
fn what_the_loop_does_with_a_node_by_itself_is_not_overlooked() {
    let big = "node->op == GGML_OP_MUL_MAT && node->ne[1] >= 100";
    for before in [
        format!("if ({big}) {{ continue; }}"),
        format!("if ({big}) {{ op_blas(*cuda_ctx, node->src[0], node->src[1], node); continue; }}"),
        format!("if ({big}) {{ mul_mat_vec_q<GGML_TYPE_Q4_K, 1><<<1, 32>>>(node->data); continue; }}"),
        format!("if ({big}) {{ node->src[1]->type = GGML_TYPE_F16; }}"),
        "if (edited_skip(node)) { continue; }".to_owned(),
        "auto * other = node; other->type = GGML_TYPE_F16;".to_owned(),
        "static const bool no_fusion = true; if (no_fusion) { op_blas(*cuda_ctx, node->src[0], node->src[1], node); continue; }".to_owned(),
        "cuda_ctx->edited_run(node);".to_owned(),
        "node = node->src[1];".to_owned(),
        "i++;".to_owned(),
        "memcpy(node, cgraph->nodes[0], sizeof(*node));".to_owned(),
    ] {
        assert_eq!(paths(&edited(&[("// before", &before)])), [None; 3], "{before}");
        assert_eq!(paths(&edited(&[("// after", &before)])), [None; 3], "{before}");
    }
    let harmless =
        "if (node->op == GGML_OP_ADD) { continue; } GGML_ASSERT(node->src[0] != nullptr); int told = 0; told++;";
    assert_eq!(paths(&edited(&[("// before", harmless)])), AS_IT_IS);
}

#[test]
fn what_the_loop_does_by_another_name_is_not_overlooked() {
    let types = "struct edited_run { edited_run(ggml_backend_cuda_context & c, ggml_tensor * t) { op_blas(c, t->src[0], t->src[1], t); } };\n\
        struct edited_end { ggml_tensor * t; ~edited_end() { t->type = GGML_TYPE_F16; } };\n\
        struct edited_plain { int n = 0; edited_plain(int m) : n(m) {} };\n\
        using edited_alias = edited_run;\n\
        static void edited_set(int64_t & n) { n = 1; }\n\
        static bool is_noop(";
    let with = |before: &str| paths(&edited(&[("static bool is_noop(", types), ("// before", before)]));
    assert_eq!(with("edited_plain plain(3); edited_plain other{plain.n};"), AS_IT_IS);
    for before in [
        "edited_run run(*cuda_ctx, node);",
        "edited_alias run(*cuda_ctx, node);",
        "edited_run{*cuda_ctx, node};",
        "auto * run = new edited_run(*cuda_ctx, node);",
        "{ edited_end end{node}; }",
        "edited_set(node->ne[1]);",
        "switch (node->op) { case GGML_OP_MUL_MAT: if (node->ne[1] >= 100) { continue; } break; default: break; }",
        "int skip = 0; auto mark = [&]() { skip = 1; }; mark(); if (skip) { continue; }",
        "int skip = 0; int * behind = &skip; *behind = 1; if (skip) { continue; }",
        "int64_t * ne = node->ne; ne[1] = 1;",
        "auto ** src = &node->src[0]; *src = node;",
        "auto & type = node->type; type = GGML_TYPE_F16;",
        "ggml_tensor *& again = cgraph->nodes[i]; again = node->src[0];",
        "std::vector<ggml_tensor *> all; all.push_back(node); all[0]->type = GGML_TYPE_F16;",
        "for (auto & [key, value] : cuda_ctx->edited) { value->type = GGML_TYPE_F16; }",
        "std::swap(cgraph->nodes[0], cgraph->nodes[1]);",
        "if (ggml_can_fuse(cgraph, i, { GGML_OP_MUL_MAT })) { continue; }",
        "goto done;",
    ] {
        assert_eq!(with(before), [None; 3], "{before}");
    }
    for before in [
        "for (auto & [key, value] : cuda_ctx->edited) { value.waits = false; }",
        "int kept[4]; kept[i % 4] = i; std::vector<int> all; all.push_back(i); all[0] = 3;",
        "if (ggml_can_fuse(cgraph, i, { GGML_OP_MUL_MAT, GGML_OP_ADD })) { continue; }",
        "switch (node->op) { case GGML_OP_ADD: break; default: break; }",
    ] {
        assert_eq!(with(before), AS_IT_IS, "{before}");
    }
}

#[test]
fn what_stands_around_the_loop_is_not_overlooked() {
    for (from, to) in [
        ("return t->op == GGML_OP_NONE;", "return t->op == GGML_OP_NONE || t->op == GGML_OP_MUL_MAT;"),
        ("int i = 0; i < cgraph->n_nodes; i++", "int i = cgraph->n_nodes - 1; i >= 0; i--"),
        ("i < cgraph->n_nodes;", "i < cgraph->n_nodes / 2;"),
        ("    // first", "    if (cgraph->n_nodes == 1) { return GGML_STATUS_SUCCESS; }"),
        ("    // first", "    cgraph->nodes[0]->type = GGML_TYPE_F16;"),
        ("    // first", "    op_blas(*cuda_ctx, cgraph->nodes[0], cgraph->nodes[0], cgraph->nodes[0]);"),
        (
            "bool ok = ggml_cuda_compute_forward(*cuda_ctx, node);",
            "bool ok = true; for (int j = 0; j < 2; j++) { ok = ggml_cuda_compute_forward(*cuda_ctx, node); }",
        ),
        (
            "bool ok = ggml_cuda_compute_forward(*cuda_ctx, node);",
            "ggml_tensor copy = *node; bool ok = ggml_cuda_compute_forward(*cuda_ctx, &copy);",
        ),
        (
            "bool ok = ggml_cuda_compute_forward(*cuda_ctx, node);",
            "bool ok = (node->ne[1] > 9 ? edited : ggml_cuda_compute_forward)(*cuda_ctx, node);",
        ),
        (
            "{ nullptr, graph_compute }",
            "{ nullptr, [](ggml_backend_t, ggml_cgraph *) { return GGML_STATUS_SUCCESS; } }",
        ),
        (
            "static void evaluate(",
            "static bool wrapped(ggml_backend_cuda_context & ctx, ggml_tensor * t) { return ggml_cuda_compute_forward(ctx, t); }\nstatic void evaluate(",
        ),
    ] {
        let also = if to.contains("wrapped") {
            ("bool ok = ggml_cuda_compute_forward(*cuda_ctx", "bool ok = wrapped(*cuda_ctx")
        } else {
            (from, to)
        };
        let edits: &[(&str, &str)] = if to.contains("wrapped") { &[(from, to), also] } else { &[(from, to)] };
        assert_eq!(paths(&edited(edits)), [None; 3], "{to}");
    }
}

#[test]
fn what_the_backend_refuses_takes_no_path_of_it() {
    let refused = |asked: &str| paths(&edited(&[("// asked", asked)]));
    assert_eq!(refused("if (op->src[0]->type == GGML_TYPE_Q4_K) { return false; }"), [None; 3]);
    assert_eq!(refused("if (op->ne[1] > 9) { return false; }"), [Some(Path::Mmvq), None, None]);
    assert_eq!(refused("if (op->src[0]->type == GGML_TYPE_F16) { return false; }"), AS_IT_IS);
    let elsewhere = edited(&[(
        "{ nullptr, device_supports_op }",
        "{ nullptr, [](ggml_backend_dev_t, const ggml_tensor *) { return false; } }",
    )]);
    assert_eq!(paths(&elsewhere), [None; 3]);
}

#[test]
fn a_function_that_no_loop_calls_is_no_dispatcher() {
    let dead = "static bool debug_forward(ggml_backend_cuda_context & ctx, struct ggml_tensor * dst) {\n\
        switch (dst->op) { case GGML_OP_MUL_MAT: op_blas(ctx, dst->src[0], dst->src[1], dst); return true; default: return false; }\n}\n\
        static bool ggml_cuda_compute_forward(";
    assert_eq!(paths(&edited(&[("static bool ggml_cuda_compute_forward(", dead)])), AS_IT_IS);
}

const PRODUCT: &str = "ggml_cuda_mul_mat(ctx, dst->src[0], dst->src[1], dst); break;";

#[test]
fn what_no_question_gives_of_a_tensor_is_not_known() {
    for asked in ["dst->name[0] != 0", "dst->src[1]->op == GGML_OP_NONE", "dst->src[1]->src[0] == nullptr"] {
        let way = format!("if ({asked}) {{ op_blas(ctx, dst->src[0], dst->src[1], dst); break; }} {PRODUCT}");
        assert_eq!(paths(&edited(&[(PRODUCT, &way)]))[..2], [None; 2], "{asked}");
    }
    for asked in ["dst->src[0]->op != GGML_OP_NONE", "dst->view_src != nullptr", "dst->src[2] != nullptr"] {
        let way = format!("if ({asked}) {{ op_blas(ctx, dst->src[0], dst->src[1], dst); break; }} {PRODUCT}");
        assert_eq!(paths(&edited(&[(PRODUCT, &way)])), AS_IT_IS, "{asked}");
    }
}

#[test]
fn what_a_driver_would_say_and_nobody_gave_is_not_known() {
    let rule = "    return ne11 < 64;";
    let asks = |declared: &str, asked: &str| {
        edited(&[
            (rule, &format!("    if ({asked}) {{ return false; }}\n{rule}")),
            (
                "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {",
                &format!(
                    "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {{\n{declared}"
                ),
            ),
        ])
    };
    let prop = "cudaDeviceProp prop = {}; cudaGetDeviceProperties(&prop, 0);";
    assert_eq!(paths(&asks(prop, "prop.pciDomainID == 0"))[1], None);
    assert_eq!(paths(&asks(prop, "prop.warpSize == 64")), AS_IT_IS);
    let attribute = |name: &str| format!("int value = 0; cudaDeviceGetAttribute(&value, {name}, 0);");
    assert_eq!(paths(&asks(&attribute("cudaDevAttrReservedSharedMemoryPerBlock"), "value > 1024"))[1], None);
    assert_eq!(paths(&asks(&attribute("cudaDevAttrMaxSharedMemoryPerBlock"), "value < 1024")), AS_IT_IS);
}

#[test]
fn what_nothing_calls_does_not_run() {
    let never = "static int limit = 20;\nstatic void never() { int n; cudaGetDeviceCount(&n); limit = 0; }\nbool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";
    let edits = [("bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {", never)];
    assert_eq!(paths(&edited(&edits)), AS_IT_IS);
}

#[test]
fn a_variable_that_the_program_sets_is_not_known() {
    let rule = "    return ne11 < 64;";
    let asks = format!("    if (getenv(\"TREE_BLAS\") != nullptr) {{ return false; }}\n{rule}");
    let set = |call: &str| {
        edited(&[
            (rule, &asks),
            ("static int parse_id(", &format!("static void prepare() {{ {call} }}\nstatic int parse_id(")),
        ])
    };
    assert_eq!(paths(&set("setenv(\"TREE_BLAS\", \"1\", 1);"))[1], None);
    assert_eq!(paths(&set("putenv((char *) text);"))[1], None);
    assert_eq!(paths(&set("setenv(\"OTHER\", \"1\", 1);")), AS_IT_IS);
    let joined = edited(&[
        (rule, &format!("    if (ASKED(BLAS)) {{ return false; }}\n{rule}")),
        (
            "#include \"mmq.cuh\"\nvoid",
            "#include \"mmq.cuh\"\n#define ASKED(x) (getenv(\"TREE_\" #x) != nullptr)\nvoid",
        ),
    ]);
    let given = Overrides { env: vec![("TREE_BLAS".to_owned(), "1".to_owned())], ..Overrides::default() };
    let found = ask(&joined, "gfx1030", "Q4_K", &[20], &given);
    assert_eq!(found.into_iter().map(|answer| answer.map(|(path, _)| path)).collect::<Vec<_>>(), [Some(Path::Blas)]);
}
