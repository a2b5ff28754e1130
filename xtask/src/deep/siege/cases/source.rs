//! Edits of a real tree that change the compiled files, the meaning of a name, or the handling of a tensor before it is
//! computed. The truth comes from g++ for rules and hooks, and from cmake for lists of sources.

use super::{Bench, Case, Outcome};
use anyhow::Context;
use std::path::Path;
use std::process::Command;

const TREE: &str = "llama-cpp-sys-4-0.11.0";
const COLUMNS: [i64; 6] = [9, 17, 40, 64, 100, 300];
const HEAD: &str = "bool ggml_cuda_should_use_mmq(enum ggml_type type, int cc, int64_t ne11, int64_t n_experts) {\n";
const HOOK: &str = "static enum ggml_status ggml_backend_cuda_buffer_init_tensor(ggml_backend_buffer_t buffer, ggml_tensor * tensor) {\n";
const TARGET: &str = "ggml_add_backend_library(ggml-hip\n";

/// A rule whose file must be compiled.
const PLAIN: &str = "return ne11 < 150;";

enum Edit {
    /// Declarations before the rule, and the rule itself.
    Rule(&'static str, &'static str),
    /// Commands before the backend's target is created.
    List(&'static str),
    /// The first statements of `init_tensor`.
    Hook(&'static str),
}
use Edit::{Hook, List, Rule};

macro_rules! cases {
    ($($quick:literal $name:literal => $edit:expr;)+) => {
        pub const CASES: &[Case] = &[
            $(Case { observer: "source", name: $name, quick: $quick, run: |bench| edited(bench, &$edit) },)+
            Case { observer: "source", name: "chain: the started program is not in the tree", quick: true, run: chain },
        ];
    };
}

cases! {
    true "#if on __LINE__, above the limit" => Rule("", "\n#if __LINE__ > 100\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#if on __LINE__, below the limit" => Rule("", "\n#if __LINE__ < 100\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#ifdef __LINE__" => Rule("", "\n#ifdef __LINE__\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#if on __LINE__ through a macro" => Rule("#define HERE __LINE__\n", "\n#if HERE > 100\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#if after #line" => Rule("", "\n#line 3\n#if __LINE__ < 100\nreturn true;\n#endif\nreturn false;\n");
    true "#if on __COUNTER__, twice" => Rule("", "\n#if __COUNTER__ == __COUNTER__\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#if __CHAR_BIT__" => Rule("", "\n#if __CHAR_BIT__ == 8\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#if __SIZEOF_LONG__" => Rule("", "\n#if __SIZEOF_LONG__ == 8\nreturn true;\n#else\nreturn false;\n#endif\n");
    false "#ifdef __ELF__" => Rule("", "\n#ifdef __ELF__\nreturn true;\n#else\nreturn false;\n#endif\n");
    true "argument-dependent lookup" => Rule("namespace tun { struct key { int64_t n; }; static bool use(key k) { return k.n < 50; } }\nstruct any { template <class T> any(const T &) {} };\nstatic bool use(any) { return true; }\n", "tun::key k = { ne11 }; return use(k);");
    false "hidden friend" => Rule("struct key { int64_t n; friend bool use(key k) { return k.n < 50; } };\nstruct any { template <class T> any(const T &) {} };\nstatic bool use(any) { return true; }\n", "key k = { ne11 }; return use(k);");
    false "lookup by an enum's namespace" => Rule("namespace tun { enum size { small, big }; static bool use(size, int64_t n) { return n < 50; } }\nstatic bool use(int, int64_t) { return true; }\n", "return use(tun::big, ne11);");
    false "using namespace in a function" => Rule("namespace a { static bool use(int64_t n) { return n < 50; } }\nstatic bool use(double) { return true; }\n", "using namespace a; return use(ne11);");
    false "an overload declared later" => Rule("static bool use(double) { return true; }\nstatic bool go(int64_t n) { return use(n); }\nstatic bool use(int64_t n) { return n < 50; }\n", "return go(ne11);");
    false "a constant declared later" => Rule("static const int64_t lim = 300;\nnamespace a { static bool go(int64_t n) { return n < lim; } static const int64_t lim = 50; }\n", "return a::go(ne11);");
    false "a namespace alias" => Rule("namespace tun { static bool use(int64_t n) { return n < 50; } }\nnamespace other { namespace t { static bool use(int64_t) { return true; } } }\nnamespace t = tun;\n", "return t::use(ne11);");
    false "a base class's method" => Rule("static bool use(int64_t) { return true; }\nstruct base { bool use(int64_t n) { return n < 50; } };\nstruct more : base { int64_t n; bool go() { return use(n); } };\n", "more m; m.n = ne11; return m.go();");
    false "an assembler statement that writes to a variable" => Rule("", "int64_t v = 300; asm(\"movq $50, %0\" : \"=r\"(v)); return ne11 < v;");
    false "an exported setter that is never called" => Rule("static int64_t lim = 300;\n__attribute__((constructor)) void tune() { lim = 50; }\n", "return ne11 < lim;");
    false "a setter that casts const away" => Rule("struct cfg { int64_t lim; };\nstatic cfg conf = { 300 };\nstatic const cfg * get() { return &conf; }\nstatic void set(const cfg * c) { ((cfg *) c)->lim = 50; }\n__attribute__((constructor)) static void tune() { set(get()); }\n", "return ne11 < get()->lim;");
    true "list(FILTER EXCLUDE)" => List("list(FILTER GGML_SOURCES_ROCM EXCLUDE REGEX \"mmq.cu$\")");
    false "list(FILTER EXCLUDE) of another file" => List("list(FILTER GGML_SOURCES_ROCM EXCLUDE REGEX \"softmax.cu$\")");
    false "list(FILTER INCLUDE)" => List("list(FILTER GGML_SOURCES_ROCM INCLUDE REGEX \"/[a-l]\")");
    false "a loop that leaves a file out" => List("set(KEEP)\nforeach(f ${GGML_SOURCES_ROCM})\nget_filename_component(n ${f} NAME)\nif (n STREQUAL \"mmq.cu\")\ncontinue()\nendif()\nlist(APPEND KEEP ${f})\nendforeach()\nset(GGML_SOURCES_ROCM ${KEEP})");
    false "list(TRANSFORM)" => List("list(TRANSFORM GGML_SOURCES_ROCM REPLACE \"mmq.cu$\" \"mmvq.cu\")");
    false "list(SUBLIST)" => List("list(SUBLIST GGML_SOURCES_ROCM 0 3 GGML_SOURCES_ROCM)");
    false "a function that filters" => List("function(slim v)\nset(l ${${v}})\nlist(FILTER l EXCLUDE REGEX \"mmq.cu$\")\nset(${v} ${l} PARENT_SCOPE)\nendfunction()\nslim(GGML_SOURCES_ROCM)");
    false "string(REGEX REPLACE)" => List("string(REGEX REPLACE \"[^;]*/mmq.cu;?\" \"\" GGML_SOURCES_ROCM \"${GGML_SOURCES_ROCM}\")");
    false "HEADER_FILE_ONLY" => List("foreach(f ${GGML_SOURCES_ROCM})\nif (f MATCHES \"/mmq.cu$\")\nset_source_files_properties(${f} PROPERTIES HEADER_FILE_ONLY ON)\nendif()\nendforeach()");
    false "init_tensor that changes a type" => Hook("if (tensor->type == GGML_TYPE_Q4_K) { tensor->type = GGML_TYPE_F16; }");
    false "init_tensor that changes a source" => Hook("if (tensor->src[0]) { tensor->src[0]->type = GGML_TYPE_F16; }");
    false "init_tensor through a pointer" => Hook("enum ggml_type * p = &tensor->type; *p = GGML_TYPE_F16;");
    false "init_tensor that changes nothing" => Hook("if (tensor->type == GGML_TYPE_F16 && tensor->ne[0] < 0) { return GGML_STATUS_SUCCESS; }");
}

fn edited(bench: &Bench, edit: &Edit) -> anyhow::Result<Outcome> {
    let Some(from) = test_artifacts::need(TREE) else { return Ok(skipped(TREE)) };
    for tool in ["g++", "cmake"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return Ok(skipped(tool));
        }
    }
    let (from, tree) = (from.join("llama.cpp"), bench.dir.join("tree"));
    copy(&from, &tree)?;
    let truth: Vec<Option<&str>> = match edit {
        Rule(before, rule) => {
            replace(&tree.join("ggml/src/ggml-cuda/mmq.cu"), HEAD, &format!("{before}{HEAD}{rule}\n"))?;
            compiled_rule(bench, before, rule)?.into_iter().map(Some).collect()
        }
        List(commands) => {
            replace(&tree.join("ggml/src/ggml-cuda/mmq.cu"), HEAD, &format!("{HEAD}{PLAIN}\n"))?;
            replace(&tree.join("ggml/src/ggml-hip/CMakeLists.txt"), TARGET, &format!("{commands}\n{TARGET}"))?;
            let built = is_listed(bench, &tree, commands)?;
            compiled_rule(bench, "", PLAIN)?.into_iter().map(|path| Some(path).filter(|_| built)).collect()
        }
        Hook(body) => {
            replace(&tree.join("ggml/src/ggml-cuda/mmq.cu"), HEAD, &format!("{HEAD}{PLAIN}\n"))?;
            replace(&tree.join("ggml/src/ggml-cuda/ggml-cuda.cu"), HOOK, &format!("{HOOK}{body}\n"))?;
            let kept = keeps_tensor(bench, body)?;
            compiled_rule(bench, "", PLAIN)?.into_iter().map(|path| Some(path).filter(|_| kept)).collect()
        }
    };
    let columns = COLUMNS.map(|count| count.to_string()).join(",");
    let words = ["source", "tree", "--gpu", "gfx1030", "--type", "Q4_K", "--columns", &columns, "--format", "csv"];
    let out = bench.run(words)?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let said: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').nth(4)).collect();
    if said.len() != COLUMNS.len() {
        return Ok(Outcome::Refused { why: String::from_utf8_lossy(&out.stderr).into_owned() });
    }
    let shown = runs(&truth.iter().map(|path| path.unwrap_or("no applicable rule")).collect::<Vec<_>>());
    let pairs = || truth.iter().zip(&said);
    if pairs().all(|(truth, said)| *truth == Some(*said)) {
        return Ok(Outcome::Equal { truth: shown });
    }
    let told = pairs().all(|(truth, said)| *said == "UNDETERMINED" || *truth == Some(*said));
    let said = runs(&said);
    Ok(if told { Outcome::Said { truth: shown, said } } else { Outcome::Silent { truth: shown, said } })
}

/// Equal neighbours as one: `3 x MMQ, 3 x BLAS`.
fn runs(paths: &[&str]) -> String {
    let same = paths.chunk_by(|a, b| a == b);
    same.map(|run| format!("{} x {}", run.len(), run[0])).collect::<Vec<_>>().join(", ")
}

/// The results of the rule compiled by g++, at each count.
fn compiled_rule(bench: &Bench, before: &str, rule: &str) -> anyhow::Result<Vec<&'static str>> {
    let counts = COLUMNS.map(|count| count.to_string()).join(",");
    // In the real file, more than 100 lines precede the rule.
    let code = format!(
        "#include <cstdint>\n#include <cstdio>\n#include <initializer_list>\nenum ggml_type {{ GGML_TYPE_Q4_K = 12 }};\n{}{before}{HEAD}{rule}\n}}\nint main() {{ for (int n : {{ {counts} }}) {{ printf(\"%d \", (int) ggml_cuda_should_use_mmq(GGML_TYPE_Q4_K, 0x1001030, n, 0)); }} }}\n",
        "\n".repeat(300),
    );
    let out = run_compiled(bench, "rule", &code)?;
    Ok(out.split_whitespace().map(|word| if word == "1" { "MMQ" } else { "BLAS" }).collect())
}

/// Whether the compiled hook leaves a tensor unchanged.
fn keeps_tensor(bench: &Bench, body: &str) -> anyhow::Result<bool> {
    let code = format!(
        "#include <cstdint>\n#include <cstdio>\n#include <cstring>\nenum ggml_type {{ GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_K = 12 }};\nenum ggml_status {{ GGML_STATUS_SUCCESS }};\nstruct ggml_tensor {{ enum ggml_type type; int64_t ne[4]; ggml_tensor * src[10]; }};\ntypedef void * ggml_backend_buffer_t;\n{HOOK}{body}\nreturn GGML_STATUS_SUCCESS; }}\nint main() {{ ggml_tensor w = {{ GGML_TYPE_Q4_K, {{ 4096, 4096, 1, 1 }}, {{}} }}, t = {{ GGML_TYPE_Q4_K, {{ 4096, 300, 1, 1 }}, {{ &w }} }}, w0 = w, t0 = t; ggml_backend_cuda_buffer_init_tensor(nullptr, &t); printf(\"%d\", !memcmp(&w, &w0, sizeof(w)) && !memcmp(&t, &t0, sizeof(t))); }}\n"
    );
    Ok(run_compiled(bench, "hook", &code)? == "1")
}

fn run_compiled(bench: &Bench, name: &str, code: &str) -> anyhow::Result<String> {
    let (source, program) = (bench.dir.join(format!("{name}.cpp")), bench.dir.join(name));
    std::fs::write(&source, code)?;
    let made = Command::new("g++").args(["-std=c++17", "-w", "-o"]).arg(&program).arg(&source).output()?;
    anyhow::ensure!(made.status.success(), "g++ {name}.cpp: {}", String::from_utf8_lossy(&made.stderr));
    Ok(String::from_utf8(Command::new(&program).output()?.stdout)?)
}

/// Whether cmake's own list of the target's sources contains mmq.cu.
fn is_listed(bench: &Bench, tree: &Path, commands: &str) -> anyhow::Result<bool> {
    let project = bench.dir.join("project");
    std::fs::create_dir_all(&project)?;
    let glob = tree.join("ggml/src/ggml-cuda/*.cu");
    let text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(list NONE)\nfile(GLOB GGML_SOURCES_ROCM \"{}\")\n{commands}\nadd_library(ggml-hip STATIC ${{GGML_SOURCES_ROCM}})\nget_target_property(all ggml-hip SOURCES)\nforeach(one ${{all}})\nget_source_file_property(header ${{one}} HEADER_FILE_ONLY)\nif (NOT header)\nmessage(STATUS \"built ${{one}}\")\nendif()\nendforeach()\n",
        glob.display(),
    );
    std::fs::write(project.join("CMakeLists.txt"), text)?;
    let out = Command::new("cmake").arg("-B").arg(project.join("out")).arg(&project).output()?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    anyhow::ensure!(said.contains("-- built "), "cmake: {said}{}", String::from_utf8_lossy(&out.stderr));
    Ok(said.lines().any(|line| line.starts_with("-- built ") && line.ends_with("/mmq.cu")))
}

/// Ollama 0.30: the package that sends the request starts llama-server; an image generator in the same tree serves the
/// same path.
fn chain(bench: &Bench) -> anyhow::Result<Outcome> {
    let files = [
        (
            "server/routes.go",
            "package server\nimport \"example.com/x/llm\"\nfunc (s *Server) GenerateHandler(c *Context) {\n\tr, err := s.schedule(c)\n\tr.Completion(c, nil)\n}\nfunc (s *Server) schedule(c *Context) (llm.LlamaServer, error) {\n\treturn nil, nil\n}\ntype Server struct{}\nfunc (s *Server) register(r *Router) {\n\tr.POST(\"/api/generate\", s.GenerateHandler)\n}\n",
        ),
        (
            "llm/server.go",
            "package llm\nimport (\"fmt\"; \"os/exec\")\nfunc (s *llmServer) Completion(ctx Context) error {\n\tendpoint := fmt.Sprintf(\"http://127.0.0.1:%d/completion\", s.port)\n\treturn post(endpoint)\n}\nfunc FindServer() (string, error) {\n\treturn find(\"llama-server\")\n}\nfunc start() {\n\texe, err := FindServer()\n\tcmd := exec.Command(exe, params...)\n}\ntype llmServer struct{}\ntype LlamaServer interface {\n\tCompletion(ctx Context) error\n}\n",
        ),
        (
            "x/imagegen/runner.go",
            "package imagegen\ntype server struct{}\nfunc (s *server) completionHandler(w Writer, r *Request) {\n}\nfunc Execute() {\n\tmux.HandleFunc(\"/completion\", server.completionHandler)\n}\n",
        ),
    ];
    for (path, text) in files {
        let path = bench.dir.join("ollama").join(path);
        std::fs::create_dir_all(path.parent().context("a directory")?)?;
        std::fs::write(path, text)?;
    }
    let out = bench.run(["source", "ollama", "--chain"])?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let truth = "the chain stops at llama-server, which is not in the tree".to_owned();
    let named = said.contains("not in this tree: llama-server");
    Ok(match (named, said.contains("completionHandler")) {
        (true, false) => Outcome::Equal { truth },
        _ => Outcome::Silent { truth, said },
    })
}

fn skipped(what: &str) -> Outcome {
    Outcome::Skipped { why: format!("{what} is not here") }
}

fn replace(file: &Path, from: &str, to: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file)?;
    anyhow::ensure!(text.matches(from).count() == 1, "{}: {from}", file.display());
    Ok(std::fs::write(file, text.replace(from, to))?)
}

/// The build files, ggml's own sources and the backend without the instances of its templates.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    for dir in [
        "",
        "ggml",
        "ggml/include",
        "ggml/cmake",
        "ggml/src",
        "ggml/src/ggml-hip",
        "ggml/src/ggml-cuda",
        "ggml/src/ggml-cuda/vendors",
    ] {
        let Ok(entries) = std::fs::read_dir(from.join(dir)) else { continue };
        std::fs::create_dir_all(to.join(dir))?;
        for entry in entries {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                std::fs::copy(&path, to.join(dir).join(name))?;
            }
        }
    }
    Ok(())
}
