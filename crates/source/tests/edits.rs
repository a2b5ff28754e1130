//! Edits that a commit might make to a dispatcher. Each was once silently answered wrong; now each is followed or
//! undetermined.

mod ours;

use ours::{ask, changed, files, plain, tree};
use source::{Device, Outcome, Overrides, Path, Shape, Survey, Tree};

const RULE: &str = "    return ne11 < 64;";

/// Paths at these column counts on a card for which the last line of the rule decides.
fn paths(tree: &Tree, columns: &[i64]) -> Vec<Option<Path>> {
    plain(tree, "gfx1030", "Q4_K", columns).into_iter().map(|answer| answer.map(|(path, _)| path)).collect()
}

fn with_rule(rule: &str) -> Tree {
    changed(RULE, rule)
}

const MMQ: Option<Path> = Some(Path::Mmq);
const BLAS: Option<Path> = Some(Path::Blas);

/// Checks the rule at every count up to 400.
fn holds(rule: &str, wanted: impl Fn(i64) -> bool) {
    let columns: Vec<i64> = (9..=400).collect();
    let found = paths(&with_rule(&format!("    {rule}")), &columns);
    for (&columns, found) in columns.iter().zip(found) {
        let wanted = if wanted(columns) { MMQ } else { BLAS };
        assert_eq!(found, wanted, "{rule} at {columns}");
    }
}

#[test]
fn unsigned_numbers_wrap_around() {
    holds("return (uint32_t) ne11 - 97u >= 200u;", |n| (n as u32).wrapping_sub(97) >= 200);
    holds("const size_t n = ne11; return n - 97 < 100;", |n| (n as u64).wrapping_sub(97) < 100);
    holds("const unsigned n = ne11; return n - 97 > 100;", |n| (n as u32).wrapping_sub(97) > 100);
    holds("return (uint8_t) ne11 < 100;", |n| (n as u8) < 100);
    holds("return (size_t) ne11 - 300 > 50;", |n| (n as u64).wrapping_sub(300) > 50);
    holds("return (uint64_t) ne11 * 0x100000000ull / 3 > 400000000000ull;", |n| {
        (n as u64 * 0x1_0000_0000) / 3 > 400_000_000_000
    });
}

#[test]
fn comparisons_are_done_in_the_common_type() {
    holds("const int n = (int) ne11 - 100; return n < sizeof(int64_t);", |n| ((n - 100) as i32 as u64) < 8);
    holds("const int n = (int) ne11 - 100; return n < (int) sizeof(int64_t);", |n| n - 100 < 8);
    holds("const int n = 100 - (int) ne11; return n > 20u;", |n| ((100 - n) as u32) > 20);
    holds("const uint16_t a = ne11; const uint16_t b = 200; return a - b < 0;", |n| n < 200);
    holds("return -1 < (unsigned) ne11;", |_| false);
    holds("return ~(unsigned) ne11 > 0xFFFFFF00u;", |n| !(n as u32) > 0xFFFF_FF00);
    holds("const unsigned z = 0; return (ne11 > 100 ? -1 : z) > 5;", |n| n > 100);
    holds("const int8_t n = ne11; return n >= 0;", |n| (n as i8) >= 0);
    // The result of `std::min<int64_t>` is signed, whatever its arguments are. Found by random rules.
    holds("const uint64_t s = 6; return (ne11 > 100 ? std::min<int64_t>(s, s) : (bool) s) >= -1ll;", |_| true);
    holds("const bool b = ne11 & 64; return b == 1;", |n| n & 64 != 0);
}

#[test]
fn a_signed_overflow_is_not_guessed() {
    let tree = with_rule("    return (int) ne11 * 20000000 > 0;");
    assert_eq!(paths(&tree, &[9, 107, 108]), [MMQ, MMQ, None]);
}

#[test]
fn a_constant_of_another_unit_is_another_constant() {
    let edit = |declared: &str| {
        let mut all = files();
        for (path, text) in &mut all {
            match *path {
                "src/cuda/mmq.cu" => {
                    *text = text.replace(RULE, "    return ne11 < LIMIT;").replace(
                        "#include \"mmq.cuh\"",
                        &format!("#include \"mmq.cuh\"\n{}", declared.replace('N', "100")),
                    );
                }
                "src/cuda/main.cu" => text.insert_str(0, &format!("{}\n", declared.replace('N', "20"))),
                _ => {}
            }
        }
        tree(all)
    };
    for declared in [
        "static const int LIMIT = N;",
        "enum { LIMIT = N };",
        "#define VALUE N\nenum limits { LIMIT = VALUE };",
        "namespace { constexpr int LIMIT = N; }",
    ] {
        assert_eq!(paths(&edit(declared), &[20, 99, 100]), [MMQ, MMQ, BLAS], "{declared}");
    }
}

#[test]
fn a_header_is_compiled_with_the_macros_of_its_unit() {
    let mut all = files();
    for (path, text) in &mut all {
        match *path {
            "src/cuda/common.cuh" => text.push_str(
                "\n#ifdef WIDE\nstatic int limit() { return 100; }\n#else\nstatic int limit() { return 20; }\n#endif\n",
            ),
            "src/cuda/mmq.cu" => *text = format!("#define WIDE\n{}", text.replace(RULE, "    return ne11 < limit();")),
            _ => {}
        }
    }
    assert_eq!(paths(&tree(all), &[20, 99, 100]), [MMQ, MMQ, BLAS]);
}

#[test]
fn a_file_may_have_defines_of_its_own() {
    for (line, wanted) in [
        ("set_source_files_properties(src/cuda/mmq.cu PROPERTIES COMPILE_DEFINITIONS WIDE=1)", BLAS),
        ("set_property(SOURCE src/cuda/mmq.cu APPEND PROPERTY COMPILE_DEFINITIONS WIDE)", BLAS),
        ("set_source_files_properties(src/cuda/main.cu PROPERTIES COMPILE_DEFINITIONS WIDE=1)", MMQ),
    ] {
        let mut all = files();
        for (path, text) in &mut all {
            match *path {
                "CMakeLists.txt" => {
                    *text = text.replace("endif()\nendif()", &format!("endif()\n    {line}\nendif()")).replace(
                        "option(TREE_WIDE \"wide\" ON)",
                        &format!("option(TREE_WIDE \"wide\" ON)\noption(WIDE \"x\" OFF)\n{line}"),
                    )
                }
                "src/cuda/mmq.cu" => {
                    *text = text.replace(RULE, "#ifdef WIDE\n    return false;\n#endif\n    return true;")
                }
                _ => {}
            }
        }
        assert_eq!(paths(&tree(all), &[64]), [wanted], "{line}");
    }
}

/// Each rule keeps state between calls, or gets it from elsewhere.
#[test]
fn state_that_is_written_elsewhere_is_unknown() {
    for (declared, rule) in [
        ("static int calls = 0;", "return ++calls < 5 && ne11 < 64;"),
        ("", "static int calls = 0; calls++; return calls < 5;"),
        ("", "static int calls{0}; return calls++ < 5;"),
        ("static int limit = 64; void registered() { limit = 16; }", "return ne11 < limit;"),
        (
            "static int limit = 64; struct init { init() { limit = 16; } }; static init at_start;",
            "return ne11 < limit;",
        ),
        ("static int limit = 64; static int at_start = (limit = 16);", "return ne11 < limit;"),
        ("int limit = 64; void set(int * where); void registered() { set(&limit); }", "return ne11 < limit;"),
        ("static int limits[2] = { 64, 64 }; void registered() { limits[1] = 16; }", "return ne11 < limits[1];"),
        (
            "static int limit = 64; void change(int & what) { what = 3; } void registered() { change(limit); }",
            "return ne11 < limit;",
        ),
    ] {
        let tree = changed(
            "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {",
            &format!(
                "{declared}\nbool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {{"
            ),
        );
        let mut all: Vec<(String, Vec<u8>)> = Vec::new();
        for path in tree.paths() {
            let text = tree.text(path).expect("reads").replace(RULE, &format!("    {rule}"));
            all.push((path.to_owned(), text.into_bytes()));
        }
        let tree = Tree::from_memory("small", all);
        assert_eq!(paths(&tree, &[17]), [None], "{declared} {rule}");
    }
    // A variable without writers is a constant, and a value written in this call is known.
    assert_eq!(paths(&with_rule("    static int limit = 64; return ne11 < limit;"), &[63, 64]), [MMQ, BLAS]);
    assert_eq!(
        paths(&with_rule("    static int limit = 64; limit = 32; return ne11 < limit;"), &[31, 32]),
        [MMQ, BLAS]
    );
}

/// A loop that counts down from the number of columns: one operation per step would be too many to follow.
#[test]
fn a_loop_that_counts_down_is_followed() {
    let loops = "int64_t width = ne11 < 512 ? ne11 : 512; width -= width % 8; while (width > 24) { width -= 8; } return width == 24;";
    holds(loops, |n| n >= 24);
    let tiles = "int at = ne11 - ne11 % 8; int steps = 0; while (at > 0) { at -= 8; steps++; } return steps % 2 == 0;";
    holds(tiles, |n| n / 8 % 2 == 0);
    let wraps = "unsigned at = ne11 - ne11 % 8; int steps = 0; while (at < 4000000000u && steps < 40) { at -= 16; steps++; } return at % 16 == 0;";
    let wrapped = |n: i64| {
        let (mut at, mut steps) = ((n - n % 8) as u32, 0);
        while at < 4_000_000_000 && steps < 40 {
            at = at.wrapping_sub(16);
            steps += 1;
        }
        at % 16 == 0
    };
    holds(wraps, wrapped);
}

#[test]
fn a_kernel_taken_in_the_node_loop_is_told() {
    let looped = |body: &str| {
        changed(
            "static bool supports_op(",
            &format!(
                "void op_new_product(ggml_backend_cuda_context & ctx, ggml_tensor * node);\nstruct ggml_cgraph {{ int n_nodes; ggml_tensor ** nodes; }};\nstatic void evaluate_graph(ggml_backend_cuda_context & ctx, ggml_cgraph * graph) {{\n    for (int i = 0; i < graph->n_nodes; ++i) {{\n        ggml_tensor * node = graph->nodes[i];\n        {body}\n        ggml_cuda_compute_forward(ctx, node);\n    }}\n}}\nstatic bool supports_op("
            ),
        )
    };
    let taken =
        looped("if (node->op == GGML_OP_MUL_MAT && node->ne[1] == 17) { op_new_product(ctx, node); continue; }");
    assert_eq!(paths(&taken, &[17]), [None]);
    assert_eq!(paths(&looped(""), &[17]), [MMQ]);
    let another = looped("if (node->op == GGML_OP_ADD) { op_new_product(ctx, node); continue; }");
    assert_eq!(paths(&another, &[17]), [MMQ], "another operation's way is none of a product's");
}

#[test]
fn what_a_compiler_or_an_sdk_has_is_asked_for() {
    let tree = with_rule(
        "#if __has_include(<rocwmma/rocwmma.hpp>)\n    return ne11 < 100;\n#else\n    return ne11 < 64;\n#endif",
    );
    assert_eq!(paths(&tree, &[63, 64, 99, 100]), [MMQ, None, None, BLAS]);
    let own = with_rule("#if __has_include(\"tiles.inc\")\n    return ne11 < 100;\n#endif\n    return ne11 < 64;");
    assert_eq!(paths(&own, &[99, 100]), [MMQ, BLAS]);
}

/// An answer that depends on an unknown define is undetermined at every affected count, not only at the first of a
/// range.
#[test]
fn an_unknown_define_is_flagged_throughout_its_range() {
    let tree = with_rule("#ifdef GGML_CUDA_NARROW\n    return ne11 < 70 || ne11 > 300;\n#endif\n    return true;");
    assert_eq!(paths(&tree, &[17, 63, 65, 127, 256, 512]), [MMQ, MMQ, MMQ, None, None, MMQ]);
    let other = with_rule("#ifdef SOME_EXPERIMENT\n    return false;\n#endif\n    return true;");
    assert_eq!(paths(&other, &[17, 512]), [None, None]);
}

#[test]
fn a_macro_may_be_put_aside_and_taken_back() {
    let tree = with_rule(
        "#define LIMIT 64\n#pragma push_macro(\"LIMIT\")\n#undef LIMIT\n#define LIMIT 32\n#pragma pop_macro(\"LIMIT\")\n    return ne11 < LIMIT;",
    );
    assert_eq!(paths(&tree, &[63, 64]), [MMQ, BLAS]);
}

#[test]
fn namespaces_keep_names_apart() {
    let space = "namespace old { constexpr int LIMIT = 16; static bool use(int64_t n) { return n < LIMIT; } }\ninline namespace now { constexpr int LIMIT = 100; static bool use(int64_t n) { return n < LIMIT; } }\nbool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";
    for (rule, limit) in [
        ("return ne11 < LIMIT;", 100),
        ("return use(ne11);", 100),
        ("return ne11 < old::LIMIT;", 16),
        ("return old::use(ne11);", 16),
    ] {
        let tree =
            changed("bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {", space);
        let all: Vec<(String, Vec<u8>)> = tree
            .paths()
            .map(|path| {
                (path.to_owned(), tree.text(path).expect("reads").replace(RULE, &format!("    {rule}")).into_bytes())
            })
            .collect();
        let tree = Tree::from_memory("small", all);
        assert_eq!(paths(&tree, &[limit - 1, limit]), [MMQ, BLAS], "{rule}");
    }
}

#[test]
fn a_lambda_keeps_what_it_copied() {
    let tree = with_rule(
        "    int limit = 32; const auto fits = [limit](int64_t n) { return n < limit; }; limit = 100; return fits(ne11);",
    );
    assert_eq!(paths(&tree, &[31, 32, 99]), [MMQ, BLAS, BLAS]);
    let all = with_rule(
        "    int limit = 32; const auto fits = [=](int64_t n) { return n < limit; }; limit = 100; return fits(ne11);",
    );
    assert_eq!(paths(&all, &[31, 32]), [MMQ, BLAS]);
    let by_reference = with_rule(
        "    int limit = 32; const auto fits = [&](int64_t n) { return n < limit; }; limit = 100; return fits(ne11);",
    );
    assert_eq!(paths(&by_reference, &[32, 99, 100]), [MMQ, MMQ, BLAS]);
    let own = with_rule(
        "    int limit = 32; const auto fits = [most = limit * 2](int64_t n) { return n < most; }; limit = 100; return fits(ne11);",
    );
    assert_eq!(paths(&own, &[63, 64]), [MMQ, BLAS]);
}

/// The sources may undefine a define of the command line.
#[test]
fn a_define_of_the_build_can_be_undone_by_the_sources() {
    let tree = with_rule("#undef GIVEN\n#ifdef GIVEN\n    return false;\n#endif\n    return true;");
    let given = Overrides { define: vec!["GIVEN=1".to_owned()], ..Overrides::default() };
    assert_eq!(ask(&tree, "gfx1030", "Q4_K", &[64], &given), [Some((Path::Mmq, 64))]);
}

#[test]
fn literals_mean_what_the_language_says() {
    for (rule, limit) in [
        ("const char * name = \"a\" \"bc\"; return ne11 < 10 * (int64_t) strlen(name);", 30),
        ("return ne11 < '\\x28';", 0x28),
        ("return ne11 < 0x20 + 010;", 40),
        ("return ne11 < (int64_t) alignof(int64_t) * 5;", 40),
    ] {
        let found = paths(&with_rule(&format!("    {rule}")), &[limit - 1, limit]);
        assert!(found == [MMQ, BLAS] || found == [None, None], "{rule}: {found:?}");
    }
}

/// The reason for a missing answer includes its position.
#[test]
fn what_is_unknown_says_where() {
    let tree = with_rule("    static int calls = 0; calls++; return calls < 5;");
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question = shape.question(vec![Device::find("gfx1030").expect("known")], vec!["Q4_K".to_owned()], vec![17]);
    let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
    match &survey.answer(0, 0, 17).expect("answered").outcome {
        Outcome::Undetermined { place, either, .. } => {
            assert!(place.contains(".cu:"), "{place}");
            assert_eq!(either.len(), 2);
        }
        Outcome::Chosen(choice) => panic!("{choice:?}"),
    }
}

/// A table written as a chain of ifs is skipped by the value that its rows compare; a row may change that value.
#[test]
fn tables_of_many_rows_are_read_row_by_row() {
    const ROWS: [(i64, i64, i64); 20] = [
        (0, 3, 0),
        (4, 5, 1),
        (8, 7, 2),
        (12, 11, 3),
        (4, 13, 4),
        (60, 17, 5),
        (-4, 2, 0),
        (7, 2, 1),
        (16, 19, 6),
        (20, 23, 7),
        (24, 29, 8),
        (28, 31, 9),
        (32, 37, 10),
        (36, 41, 11),
        (40, 43, 12),
        (44, 47, 13),
        (48, 53, 14),
        (60, 59, 15),
        (52, 61, 16),
        (56, 67, 17),
    ];
    let row = |(value, by, rest): &(i64, i64, i64)| {
        format!("if (j == {value} && ne11 % {by} == {rest}) {{ found = true; }};\n")
    };
    let rows: String = ROWS.iter().map(row).collect();
    let jump = "if (j == 8 && ne11 > 50) { j = 60; }\n";
    for (kind, step) in [("int", 4), ("unsigned", 4), ("int64_t", 4), ("int", 8)] {
        let loops = format!("for ({kind} j = 0; j < 64; j += {step}) {{\n{jump}{rows}}}");
        holds(&format!("bool found = false; {loops} return found;"), |n| {
            let (mut found, mut j) = (false, 0);
            while j < 64 {
                if j == 8 && n > 50 {
                    j = 60;
                }
                found |= ROWS.iter().any(|(value, by, rest)| j == *value && n % by == *rest);
                j += step;
            }
            found
        });
    }
}

/// A long header is reused if the macros that it depends on are the same, however they are reached, and read again
/// otherwise.
#[test]
fn a_long_header_under_other_macros_is_another() {
    let filler: String =
        (0..200).map(|number| format!("static int filler_{number}() {{ return {number}; }}\n")).collect();
    let ways = [
        ("LIMIT", "LIMIT"),
        ("#define NOW LIMIT\n", "NOW"),
        ("#define JOIN(a, b) a##b\n", "JOIN(LIM, IT)"),
        ("#if LIMIT == 33\n#define BOUND 33\n#else\n#define BOUND 77\n#endif\n", "BOUND"),
        ("#ifdef ONLY_HERE\n#define BOUND 33\n#else\n#define BOUND 77\n#endif\n", "BOUND"),
    ];
    for (before, value) in ways {
        let before = if before.starts_with('#') { before } else { "" };
        let header = format!(
            "{before}{filler}static int limit_of() {{ return {value}; }}\n#undef BOUND\n#undef NOW\n#undef JOIN\n"
        );
        let mut files = files();
        for (path, text) in &mut files {
            match *path {
                "src/cuda/main.cu" => *text = format!("#define LIMIT 77\n#include \"limit.inc\"\n{text}"),
                "src/cuda/mmq.cu" => {
                    let text_now = text.replace(RULE, "    return ne11 < limit_of();");
                    let other = "#define ONLY_HERE\n#define HAS_NO_PART 1\n#define LIMIT 33\n#include \"limit.inc\"\n";
                    *text = format!("{other}{text_now}");
                }
                _ => {}
            }
        }
        files.push(("src/cuda/limit.inc", header));
        let tree = tree(files);
        assert_eq!(paths(&tree, &[32, 33, 76, 77]), [MMQ, BLAS, BLAS, BLAS], "{value} {before}");
    }
}

/// A lambda that receives an array writes to the caller's array, as a function does; so does a call of an object.
#[test]
fn what_is_written_through_an_array_that_was_given_is_written() {
    let lambda = "auto fold = [](int64_t n[]) { n[0] *= n[1]; n[1] = 1; };";
    holds(&format!("{lambda} int64_t n[] = {{ 3, ne11 }}; fold(n); return n[0] < 300 && n[1] == 1;"), |n| 3 * n < 300);
    let object = "struct twice { int64_t by; int64_t operator()(int64_t n) { return n * by; } };";
    let rule = format!("{object} twice t = {{ 2 }}; return t(ne11) < 200;");
    let found = paths(&with_rule(&format!("    {rule}")), &[99, 100]);
    assert!(found == [MMQ, BLAS] || found == [None, None], "{found:?}");
}
