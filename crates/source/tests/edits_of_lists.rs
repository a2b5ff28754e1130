//! Edits that affect the set of compiled files, the meaning of a name, and the handling of a tensor before it is
//! computed. Every answer equals that of the compiler or the build; everything else is undetermined.

mod ours;

use ours::{CMAKE, files, plain, tree};
use source::Path;

const RULE: &str = "    return ne11 < 64;";
const HEAD: &str = "bool should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {";
const BUILD: &str = "file(GLOB SOURCES src/cuda/*.cu)\nfile(GLOB HEADERS src/cuda/*.cuh)\n";
const TARGET: &str = "add_library(ggml-hip ${HEADERS} ${SOURCES})\nadd_library(ggml-base src/ggml.c)\n";

/// The path at 200 columns of a tree with these rules, declarations and build commands.
fn path(rule: &str, before: &str, commands: &str, more: &[(&'static str, &str)]) -> Option<Path> {
    let mut all = files();
    for (name, text) in &mut all {
        match *name {
            "CMakeLists.txt" => *text = format!("{CMAKE}{BUILD}{commands}\n{TARGET}"),
            "src/cuda/mmq.cu" => {
                *text = text.replace(RULE, &format!("    {rule}")).replace(HEAD, &format!("{before}\n{HEAD}"));
            }
            _ => {}
        }
    }
    all.extend(more.iter().map(|(name, text)| (*name, (*text).to_owned())));
    plain(&tree(all), "gfx1030", "Q4_K", &[200]).remove(0).map(|(path, _)| path)
}

#[test]
fn a_file_that_is_not_compiled_has_no_rule() {
    let built = |commands: &str| path("return true;", "", commands, &[]);
    for commands in [
        "",
        "list(FILTER SOURCES EXCLUDE REGEX \"none.cu$\")",
        "list(REMOVE_DUPLICATES SOURCES)\nlist(SORT SOURCES)\nlist(REVERSE SOURCES)",
        "set_source_files_properties(src/cuda/mmq.cu PROPERTIES HEADER_FILE_ONLY OFF)",
        "option(SLIM \"\" OFF)\nif (SLIM)\nlist(FILTER SOURCES EXCLUDE REGEX mmq)\nendif()",
        "list(APPEND SOURCES ${UNKNOWN_VERSION})",
        "list(FILTER SOURCES EXCLUDE REGEX mmq.cu$)\nlist(APPEND SOURCES src/cuda/mmq.cu)",
    ] {
        assert_eq!(built(commands), Some(Path::Mmq), "{commands}");
    }
    for commands in [
        "list(FILTER SOURCES EXCLUDE REGEX \"mmq[.]cu$\")",
        "list(FILTER SOURCES INCLUDE REGEX \"main\")",
        "list(FILTER SOURCES EXCLUDE REGEX \"main.cu$\")",
        "list(FILTER SOURCES EXCLUDE REGEX \".*\")",
        "list(REMOVE_ITEM SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/mmq.cu)",
        "list(REMOVE_AT SOURCES 1)",
        "list(SUBLIST SOURCES 0 1 SOURCES)",
        "list(POP_BACK SOURCES)",
        "list(TRANSFORM SOURCES REPLACE mmq.cu$ main.cu)",
        "list(TRANSFORM SOURCES REPLACE \"m(m)q.cu$\" \"\\\\1.cu\")",
        "list(GET SOURCES 0 SOURCES)",
        "set(KEEP)\nforeach(f ${SOURCES})\nif (NOT f MATCHES mmq)\nlist(APPEND KEEP ${f})\nendif()\nendforeach()\nset(SOURCES ${KEEP})",
        "set(KEEP)\nforeach(f ${SOURCES})\nget_filename_component(n ${f} NAME)\nif (n STREQUAL mmq.cu)\ncontinue()\nendif()\nlist(APPEND KEEP ${f})\nendforeach()\nset(SOURCES ${KEEP})",
        "function(slim v)\nset(l ${${v}})\nlist(FILTER l EXCLUDE REGEX mmq)\nset(${v} ${l} PARENT_SCOPE)\nendfunction()\nslim(SOURCES)",
        "string(REGEX REPLACE \"[^;]*mmq.cu\" \"\" SOURCES \"${SOURCES}\")",
        "set(SOURCES $<FILTER:${SOURCES},EXCLUDE,mmq.cu$>)",
        "if (CMAKE_VERSION VERSION_LESS 3.20)\nlist(FILTER SOURCES EXCLUDE REGEX mmq)\nendif()",
        "if (GPU_TARGETS)\nset(SOURCES src/cuda/main.cu)\nendif()",
        "set_source_files_properties(src/cuda/mmq.cu PROPERTIES HEADER_FILE_ONLY ON)",
        "set_property(SOURCE src/cuda/mmq.cu PROPERTY HEADER_FILE_ONLY TRUE)",
        "while (X)\nlist(FILTER SOURCES EXCLUDE REGEX mmq)\nendwhile()",
    ] {
        assert_eq!(built(commands), None, "{commands}");
    }
}

#[test]
fn a_definition_is_taken_from_a_file_that_is_compiled() {
    let other = "#include \"mmq.cuh\"\nbool limit(int64_t n) { return n < 100; }\n";
    let uses = |name| path("return limit(ne11);", "bool limit(int64_t n);", "", &[(name, other)]);
    assert_eq!(uses("src/cuda/limit.cu"), Some(Path::Blas));
    assert_eq!(uses("src/cuda/attic/limit.cu"), None);
    assert_eq!(uses("src/cuda/limit.cpp"), None);
}

#[test]
fn a_macro_of_the_place_has_the_value_that_it_has_there() {
    let asked = |condition: &str| {
        path(&format!("\n#if {condition}\n    return true;\n#else\n    return false;\n#endif"), "", "", &[])
    };
    for condition in ["__LINE__ > 10", "__LINE__", "defined(__LINE__)", "defined(__COUNTER__)", "defined __FILE__"] {
        assert_eq!(asked(condition), Some(Path::Mmq), "{condition}");
    }
    for condition in ["__LINE__ < 10", "!__LINE__", "__LINE__ > 4000"] {
        assert_eq!(asked(condition), Some(Path::Blas), "{condition}");
    }
    for condition in [
        "__COUNTER__",
        "__COUNTER__ == __COUNTER__",
        "__INCLUDE_LEVEL__ == 0",
        "__CHAR_BIT__ == 8",
        "__SIZEOF_LONG__ == 8",
        "defined(__ELF__)",
        "__STDC_HOSTED__",
        "__INT_MAX__ > 100",
        "\\\n__LINE__ > 10",
    ] {
        assert_eq!(asked(condition), None, "{condition}");
    }
    assert_eq!(path("\n#line 3\n#if __LINE__ > 10\n    return true;\n#endif\n    return false;", "", "", &[]), None);
    assert_eq!(path("int64_t v = 300; asm(\"mov $50, %0\" : \"=r\"(v)); return ne11 < v;", "", "", &[]), None);
}

#[test]
fn a_call_that_its_arguments_may_redirect_is_not_guessed() {
    let any = "struct any { template <class T> any(const T &) {} };\nstatic bool use(any) { return true; }\n";
    let key = "namespace tun { struct key { int64_t n; }; static bool use(key k) { return k.n < 50; } }\n";
    let friend = "struct key { int64_t n; friend bool use(key k) { return k.n < 50; } };\n";
    let base = "static bool use(int64_t n) { return true; }\nstruct base { bool use(int64_t n) { return n < 50; } };\nstruct more : base { int64_t n; bool go() { return use(n); } };\n";
    for (rule, before) in [
        ("tun::key k = { ne11 }; return use(k);", format!("{key}{any}")),
        ("key k = { ne11 }; return use(k);", format!("{friend}{any}")),
        (
            "return use(tun::big, ne11);",
            "namespace tun { enum size { small, big }; static bool use(size, int64_t n) { return n < 50; } }\nstatic bool use(int, int64_t) { return true; }\n".to_owned(),
        ),
        (
            "using namespace a; return use(ne11);",
            "namespace a { static bool use(int64_t n) { return n < 50; } }\nstatic bool use(double) { return true; }\n".to_owned(),
        ),
        (
            "return t::use(ne11);",
            "namespace tun { static bool use(int64_t n) { return n < 50; } }\nnamespace other { namespace t { static bool use(int64_t) { return true; } } }\nnamespace t = tun;\n".to_owned(),
        ),
        ("more m; m.n = ne11; return m.go();", base.to_owned()),
    ] {
        assert_ne!(path(rule, &before, "", &[]), Some(Path::Mmq), "{rule}");
    }
    for (rule, before) in [
        (
            "return go(ne11);",
            "static bool use(double) { return true; }\nstatic bool go(int64_t n) { return use(n); }\nstatic bool use(int64_t n) { return n < 50; }\n",
        ),
        (
            "return a::go(ne11);",
            "static bool use(int64_t) { return true; }\nnamespace a { static bool go(int64_t n) { return use(n); } static bool use(int64_t n) { return n < 50; } }\n",
        ),
        (
            "return a::go(ne11);",
            "static const int64_t lim = 300;\nnamespace a { static bool go(int64_t n) { return n < lim; } static const int64_t lim = 50; }\n",
        ),
    ] {
        assert_eq!(path(rule, before, "", &[]), Some(Path::Mmq), "what is declared later is not seen: {rule}");
    }
}

#[test]
fn a_hook_that_changes_a_tensor_leaves_the_answer_open() {
    let table = |body: &str| {
        let hook = format!(
            "struct hooks_i {{ int x; }};\nstatic void init_tensor(ggml_backend_buffer * buffer, ggml_tensor * tensor) {{ {body} }}\nstatic const ggml_backend_buffer_i buffer_interface = {{ init_tensor }};\nstatic bool supports_op("
        );
        let mut all = files();
        for (_, text) in &mut all {
            *text = text.replace("static bool supports_op(", &hook);
        }
        plain(&tree(all), "gfx1030", "Q4_K", &[20]).remove(0).map(|(path, _)| path)
    };
    for body in [
        "tensor->type = GGML_TYPE_F16;",
        "tensor->ne[1] = 1;",
        "ggml_tensor & t = *tensor; t.op = GGML_OP_ADD;",
        "enum ggml_type * p = &tensor->type; *p = GGML_TYPE_F16;",
        "int x = 0; memcpy(&tensor->type, &x, sizeof(x));",
        "if (tensor->src[0]) { tensor->src[0]->type = GGML_TYPE_F16; }",
        "ggml_tensor other = *tensor; *tensor = other;",
    ] {
        assert_eq!(table(body), None, "{body}");
    }
    for body in ["", "tensor->data = nullptr;", "int64_t low = 0; int64_t * p = &low; *p = tensor->ne[1];"] {
        assert_eq!(table(body), Some(Path::Mmq), "{body}");
    }
}
