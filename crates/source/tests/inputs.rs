//! Inputs of a rule outside the sources: the environment, CMake options, versions from a compiler's headers. A deciding
//! input without a value leaves an answer open; a misspelt one is refused.

mod ours;

use ours::{ask, changed, plain};
use source::Path::{Blas, Mmq};
use source::{Device, Outcome, Overrides, Shape, Survey, Tree};

const RULE: &str = "    return ne11 < 64;\n";
const MMQ: Option<(source::Path, i64)> = Some((Mmq, 64));
const BLAS: Option<(source::Path, i64)> = Some((Blas, 0));

fn survey<'t>(tree: &'t Tree, overrides: &Overrides) -> Result<Survey<'t>, source::RulesError> {
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let device = Device::find("gfx1030").expect("known");
    Survey::run(tree, shape.question(vec![device], vec!["Q4_K".to_owned()], vec![40]), overrides)
}

fn env(name: &str, value: &str) -> Overrides {
    Overrides { env: vec![(name.to_owned(), value.to_owned())], ..Overrides::default() }
}

/// A small question, for which unspecified versions are varied.
fn varied(tree: &Tree, gpu: &str) -> Vec<Option<(source::Path, i64)>> {
    ask(tree, gpu, "Q4_K", &[40], &Overrides { vary_versions: true, ..Overrides::default() })
}

fn define(text: &str) -> Overrides {
    Overrides { define: vec![text.to_owned()], ..Overrides::default() }
}

#[test]
fn a_variable_of_the_environment_is_an_input_and_named() {
    for rule in [
        "    if (getenv(\"GGML_CUDA_TILES_OFF\") != nullptr) { return false; }\n    return ne11 < 64;\n",
        "    static const bool off = getenv(\"GGML_CUDA_TILES_OFF\") != nullptr;\n    return !off && ne11 < 64;\n",
        "    static int off = [] { const char * e = std::getenv(\"GGML_CUDA_TILES_OFF\"); return e ? atoi(e) : 0; }();\n    return off != 1 && ne11 < 64;\n",
    ] {
        let tree = changed(RULE, rule);
        assert_eq!(plain(&tree, "gfx1030", "Q4_K", &[40]), [MMQ], "{rule}");
        assert_eq!(ask(&tree, "gfx1030", "Q4_K", &[40], &env("GGML_CUDA_TILES_OFF", "1")), [BLAS], "{rule}");
        let unset = survey(&tree, &Overrides::default()).expect("evaluates");
        assert_eq!(unset.environment.get("GGML_CUDA_TILES_OFF"), Some(&None), "{rule}");
        let told = unset.reasons(0, 0, 40);
        let of_it =
            told.iter().find(|reason| reason.condition.contains("GGML_CUDA_TILES_OFF") && reason.outcome == "not set");
        assert!(of_it.is_some(), "{rule}: {told:#?}");
        // The second row has it too, although a static is initialised only once.
        let rows = unset.reasons_of_rows();
        assert!(rows.iter().flatten().any(|reason| reason.outcome == "not set"), "{rule}");
        let set = survey(&tree, &env("GGML_CUDA_TILES_OFF", "1")).expect("evaluates");
        assert_eq!(set.environment.get("GGML_CUDA_TILES_OFF"), Some(&Some("1".to_owned())));
    }
}

#[test]
fn a_variable_whose_name_is_computed_leaves_it_open() {
    let tree = changed(
        "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {",
        "static bool on(const char * prefix) { char name[64]; snprintf(name, 64, \"%s_ON\", prefix); return getenv(name) != nullptr; }\n\
         bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {\n    if (on(\"GGML_TILES\")) { return false; }",
    );
    assert_eq!(plain(&tree, "gfx1030", "Q4_K", &[40]), [None]);
}

#[test]
fn what_is_misspelt_is_refused_with_what_was_meant() {
    let tree = changed(RULE, "    return getenv(\"GGML_CUDA_TILES_OFF\") == nullptr && ne11 < 64;\n");
    let error = survey(&tree, &env("GGML_CUDA_TILE_OFF", "1")).expect_err("nothing asks for it").to_string();
    assert!(error.contains("did you mean GGML_CUDA_TILES_OFF?"), "{error}");
    let cmake = |name: &str| Overrides { cmake: vec![(name.to_owned(), "ON".to_owned())], ..Overrides::default() };
    let error = survey(&tree, &cmake("GGML_CUDA_FORCE_CUBLASS")).expect_err("no such option").to_string();
    assert!(error.contains("did you mean GGML_CUDA_FORCE_CUBLAS?"), "{error}");
    let error = survey(&tree, &cmake("ENTIRELY_ELSE")).expect_err("no such option").to_string();
    assert!(!error.contains("did you mean"), "{error}");
    assert!(survey(&tree, &cmake("GGML_CUDA_FORCE_CUBLAS")).is_ok());
    assert!(survey(&tree, &cmake("CMAKE_BUILD_TYPE")).is_ok(), "CMake's own");
}

/// Options are refused for a tree without CMake, where they would have no effect.
#[test]
fn an_option_is_refused_where_no_cmake_file_is() {
    let files = ours::files().into_iter().filter(|(path, _)| *path != "CMakeLists.txt").collect();
    let tree = ours::tree(files);
    let overrides = Overrides { cmake: vec![("GGML_CUDA_FORCE_CUBLAS".into(), "ON".into())], ..Overrides::default() };
    let error = survey(&tree, &overrides).expect_err("no CMake").to_string();
    assert!(error.contains("CMake is not used to build"), "{error}");
}

/// A version decides if it changes anything on the way to the launch: the rule itself or its meaning, directly or
/// indirectly.
#[test]
fn a_version_that_nobody_gave_and_that_decides_leaves_it_open() {
    let head = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";
    let either = |new: &str, old: &str| format!("#if HIP_VERSION >= 70000000\n{new}\n#else\n{old}\n#endif\n");
    let cases: Vec<(&str, String, &str)> = vec![
        ("in the rule", String::new(), "#if HIP_VERSION >= 70000000\n    return ne11 < 32;\n#endif\n    return ne11 < 64;\n"),
        ("greater, not equal", String::new(), "#if HIP_VERSION > 60300000\n    return ne11 < 32;\n#endif\n    return ne11 < 64;\n"),
        ("one version alone", String::new(), "#if HIP_VERSION == 60400000\n    return ne11 < 32;\n#endif\n    return ne11 < 64;\n"),
        ("an older one", String::new(), "#if HIP_VERSION < 60000000\n    return ne11 < 32;\n#endif\n    return ne11 < 64;\n"),
        ("in plain code", String::new(), "    return HIP_VERSION >= 70000000 ? ne11 < 32 : ne11 < 64;\n"),
        ("a macro behind a macro", either("#define LIMIT 32", "#define LIMIT 64") + "#define BOUND (LIMIT + 0)\n", "    return ne11 < BOUND;\n"),
        ("a macro that another conditional asks for", "#if HIP_VERSION >= 70000000\n#define NEW_WAY\n#endif\n".to_owned(), "#ifdef NEW_WAY\n    return ne11 < 32;\n#endif\n    return ne11 < 64;\n"),
        ("a version by another name", "#define MY_VERSION (HIP_VERSION / 10000000)\n".to_owned(), "#if MY_VERSION >= 7\n    return ne11 < 32;\n#endif\n    return ne11 < 64;\n"),
        ("a constant", either("static const int limit = 32;", "static const int limit = 64;"), "    return ne11 < limit;\n"),
        ("an enumerator", either("enum { LIMIT = 32 };", "enum { LIMIT = 64 };"), "    return ne11 < LIMIT;\n"),
        ("in an enum", format!("enum {{ FIRST = 31,\n{}}};\n", either("LIMIT = 32", "LIMIT = 64")), "    return ne11 < LIMIT;\n"),
        ("a type", either("typedef int8_t small_t;", "typedef int64_t small_t;"), "    return (small_t) (ne11 * 4) > 0 && ne11 < 64;\n"),
        ("a field's start", format!("struct limits {{\n{}}};\n", either("    int most = 32;", "    int most = 64;")), "    limits l; return ne11 < l.most;\n"),
        ("another function", either("static int most() { return 32; }", "static int most() { return 64; }"), "    return ne11 < most();\n"),
        ("inside another function", format!("static int most() {{\n{}}}\n", either("    return 32;", "    return 64;")), "    return ne11 < most();\n"),
        ("a better overload", "static int most(long) { return 64; }\n#if HIP_VERSION >= 70000000\nstatic int most(int) { return 32; }\n#endif\n".to_owned(), "    return ne11 < most(1);\n"),
        ("a default argument", format!("static int most(\n{}) {{ return m; }}\n", either("int m = 32", "int m = 64")), "    return ne11 < most();\n"),
    ];
    for (what, before, rule) in cases {
        let files = ours::files()
            .into_iter()
            .map(|(path, text)| (path, text.replace(head, &format!("{before}{head}")).replace(RULE, rule)));
        let tree = ours::tree(files.collect());
        assert_eq!(varied(&tree, "gfx1030"), [None], "{what}");
        assert_eq!(varied(&tree, "gfx1201"), [MMQ], "{what}: a card that never comes to the rule");
        let new = ask(&tree, "gfx1030", "Q4_K", &[40], &define("HIP_VERSION=70000000"));
        let old = ask(&tree, "gfx1030", "Q4_K", &[40], &define("HIP_VERSION=60300000"));
        assert!(old == [MMQ] || old == [None], "{what}: {old:?}");
        let closed = !["one version alone", "an older one"].contains(&what);
        assert!(new == [if closed { BLAS } else { MMQ }] || new == [None], "{what}: {new:?}");
    }
}

/// A version defined by a header that is not in the tree: `#include <rocwmma/rocwmma-version.hpp>`.
#[test]
fn a_version_of_a_header_that_is_not_there_leaves_it_open() {
    let tree = changed(
        RULE,
        "#if defined(TREE_WIDE) && (ROCWMMA_VERSION_MAJOR < 2 || ROCWMMA_VERSION_MINOR > 0 || ROCWMMA_VERSION_PATCH > 0)\n    return true;\n#else\n    return ne11 < 64;\n#endif\n",
    );
    let given = |major: i64| {
        let define = vec!["TREE_WIDE".to_owned(), format!("ROCWMMA_VERSION_MAJOR={major}")];
        let undefine = vec!["ROCWMMA_VERSION_MINOR".to_owned(), "ROCWMMA_VERSION_PATCH".to_owned()];
        Overrides { define, undefine, ..Overrides::default() }
    };
    assert_eq!(ask(&tree, "gfx1030", "Q4_K", &[100], &define("TREE_WIDE")), [None]);
    assert_eq!(ask(&tree, "gfx1030", "Q4_K", &[100], &given(1)), [MMQ]);
    assert_eq!(ask(&tree, "gfx1030", "Q4_K", &[100], &given(2)), [BLAS]);
    // Without the option, no code reads the version.
    assert_eq!(plain(&tree, "gfx1030", "Q4_K", &[100]), [BLAS]);
}

/// A real tree: flash attention with rocWMMA depends on the version of its headers, which was once assumed to be 0.
#[test]
fn rocwmma_without_its_version_is_not_guessed() {
    let Some(path) = test_artifacts::need("llama-cpp-sys-2-0.1.130") else { return };
    let tree = Tree::open(&path.display().to_string()).expect("opens");
    let shape = Shape::FlashAttn { head: 128, head_v: 128, heads: 32, heads_kv: 8, kv: 4096, mask: true };
    let ask = |define: &[&str]| {
        let devices = ["gfx942", "gfx1201"].map(|name| Device::find(name).expect("known")).to_vec();
        let overrides =
            Overrides { define: define.iter().map(|name| (*name).to_owned()).collect(), ..Overrides::default() };
        let question = shape.clone().question(devices, vec!["F16".to_owned()], vec![64]);
        let survey = Survey::run(&tree, question, &overrides).expect("evaluates");
        [0, 1].map(|device| match &survey.answer(device, 0, 64).expect("answered").outcome {
            Outcome::Chosen(choice) => Some(choice.path),
            Outcome::Undetermined { .. } => None,
        })
    };
    assert_eq!(ask(&["GGML_HIP_ROCWMMA_FATTN"]), [None, None]);
    let version = |major: &'static str| {
        ask(&["GGML_HIP_ROCWMMA_FATTN", major, "ROCWMMA_VERSION_MINOR=0", "ROCWMMA_VERSION_PATCH=0"])
    };
    assert_eq!(version("ROCWMMA_VERSION_MAJOR=1"), [Some(source::Path::Wmma), Some(source::Path::Tile)]);
    assert_eq!(version("ROCWMMA_VERSION_MAJOR=2"), [Some(source::Path::Tile), Some(source::Path::Wmma)]);
}

/// Another build is read only if its change can affect the answer.
#[test]
fn a_version_without_a_part_costs_nothing() {
    let head = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";
    let idle = "#if HIP_VERSION >= 70000000\nstatic int unused_one() { return 1; }\n#define UNUSED_TWO 2\n#else\nstatic int unused_three(int a) { return a; }\n#endif\n\
        static int never_called(int a) {\n#if HIP_VERSION >= 70000000\n    a += 1;\n#endif\n    return a;\n}\n";
    let tree = changed(head, &format!("{idle}{head}"));
    let survey = survey(&tree, &Overrides { vary_versions: true, ..Overrides::default() }).expect("evaluates");
    assert_eq!(survey.tried, Vec::<String>::new());
    assert!(survey.open_defines.is_empty());
}
