//! Build files of trees that vendor ggml without CMake: a crate's `build.rs`, and the cgo lines of a Go package (Ollama
//! 0.4 and 0.5). From a build script, only unconditional defines are taken: a conditional define belongs to a feature,
//! and no feature is on by default.

use crate::tree::Tree;

/// A define that is always passed, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Passed {
    pub name: String,
    pub value: String,
    pub place: String,
}

/// The build script above a dispatcher, if it compiles the dispatcher, that is, if it passes defines to a compiler.
pub fn find(tree: &Tree, dispatcher: &str) -> Option<String> {
    let mut dirs: Vec<&str> = dispatcher.match_indices('/').filter_map(|(at, _)| dispatcher.get(..at)).collect();
    dirs.insert(0, "");
    let file = |dir: &str| if dir.is_empty() { "build.rs".to_owned() } else { format!("{dir}/build.rs") };
    let compiles = |path: &String| tree.text(path).is_ok_and(|text| text.contains(".define(\""));
    dirs.into_iter().map(file).filter(|path| tree.has(path)).find(compiles)
}

/// Unconditional defines in functions about `backend`.
pub fn passed(tree: &Tree, script: &str, backend: &str) -> Vec<Passed> {
    let Ok(text) = tree.text(script) else { return Vec::new() };
    let mut out = Vec::new();
    // The text before each open brace, innermost last.
    let mut open: Vec<String> = Vec::new();
    let mut head = String::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        let about = open.iter().any(|head| head.contains("fn ") && head.contains(backend));
        let always =
            open.iter().all(|head| !["if ", "else", "match ", "for ", "=>"].iter().any(|word| head.contains(word)));
        if about && always {
            out.extend(defines(line).map(|(name, value)| Passed {
                name,
                value,
                place: format!("{script}:{}", number + 1),
            }));
        }
        for character in line.chars() {
            match character {
                '{' => open.push(std::mem::take(&mut head)),
                '}' => {
                    open.pop();
                    head.clear();
                }
                ';' => head.clear(),
                other => head.push(other),
            }
        }
        head.push(' ');
    }
    out
}

/// `#cgo rocm CFLAGS: -DNAME=VALUE` in the Go files next to or above a dispatcher, for one build tag.
pub fn cgo(tree: &Tree, dispatcher: &str, tag: &str) -> Vec<Passed> {
    let above = |path: &&str| {
        let dir = path.rsplit_once('/').map(|(dir, _)| dir);
        path.ends_with(".go") && dir.is_some_and(|dir| dispatcher.starts_with(&format!("{dir}/")))
    };
    let mut out: Vec<Passed> = Vec::new();
    for path in tree.paths().filter(above) {
        let Ok(text) = tree.text(path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let Some((condition, flags)) = line.strip_prefix("#cgo ").and_then(|rest| rest.split_once("FLAGS:")) else {
                continue;
            };
            // `cuda C`, `rocm CXX`: the build tags precede the language.
            let mut words = condition.split_whitespace().rev().skip(1);
            if !words.any(|word| word.split(',').any(|word| word == tag)) {
                continue;
            }
            for define in flags.split_whitespace().filter_map(|word| word.strip_prefix("-D")) {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                if !out.iter().any(|known| known.name == name) {
                    let place = format!("{path}:{}", number + 1);
                    out.push(Passed { name: name.to_owned(), value: value.to_owned(), place });
                }
            }
        }
    }
    out
}

/// `.define("NAME", None)`, `.define("NAME", "2")`, `.define("NAME", Some("2"))`.
fn defines(line: &str) -> impl Iterator<Item = (String, String)> {
    line.split(".define(\"").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once('"')?;
        let value = rest.trim_start_matches(',').trim_start();
        if value.starts_with("None") {
            return Some((name.to_owned(), "1".to_owned()));
        }
        let value = value.trim_start_matches("Some(").strip_prefix('"')?;
        Some((name.to_owned(), value.split('"').next()?.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = r#"
fn push_common_flags(cxx: &mut Build) { cxx.define("GGML_SCHED_MAX_COPIES", "4"); }
fn compile_cuda(cxx: &mut Build) -> &'static str {
    cxx.define("GGML_USE_CUDA", None);
    let mut nvcc = Build::new();
    nvcc.cuda(true)
        .define("K_QUANTS_PER_ITERATION", Some("2")) // as upstream
        .define("GGML_CUDA_MMV_Y", "1");
    for lib in ["cuda", "cublas"] { println!("{lib}"); }
    if cfg!(feature = "cuda_dmmv") {
        nvcc.define("GGML_CUDA_FORCE_DMMV", None);
    }
    nvcc.define("LAST", None);
    "ggml-cuda"
}
"#;

    #[test]
    fn what_a_build_script_always_passes_is_told_from_what_a_feature_adds() {
        let files = [("c/build.rs".to_owned(), SCRIPT.as_bytes().to_vec())];
        let tree = Tree::from_memory("crate", files);
        let script = find(&tree, "c/llama.cpp/ggml-cuda.cu").expect("above the dispatcher");
        let found: Vec<(String, String, String)> =
            passed(&tree, &script, "cuda").into_iter().map(|p| (p.name, p.value, p.place)).collect();
        let expected = [
            ("GGML_USE_CUDA", "1", "c/build.rs:4"),
            ("K_QUANTS_PER_ITERATION", "2", "c/build.rs:7"),
            ("GGML_CUDA_MMV_Y", "1", "c/build.rs:8"),
            ("LAST", "1", "c/build.rs:13"),
        ];
        let expected = expected.map(|(name, value, place)| (name.to_owned(), value.to_owned(), place.to_owned()));
        assert_eq!(found, expected);
        assert_eq!(find(&tree, "d/ggml-cuda.cu"), None);
    }

    #[test]
    fn cgo_lines_give_the_defines_of_their_build_tag() {
        let text = "#cgo CFLAGS: -O2 -DNDEBUG\n#cgo cuda CFLAGS: -fPIE -DGGML_USE_CUDA -DGGML_CUDA_DMMV_X=32\n\
                    #cgo linux,rocm CXXFLAGS: -DGGML_USE_HIPBLAS\n";
        let files = [("llama/llama.go".to_owned(), text.as_bytes().to_vec())];
        let tree = Tree::from_memory("go", files);
        let found = |tag| -> Vec<String> {
            let passed = cgo(&tree, "llama/ggml-cuda/ggml-cuda.cu", tag);
            passed.into_iter().map(|p| format!("{}={} {}", p.name, p.value, p.place)).collect()
        };
        assert_eq!(found("cuda"), ["GGML_USE_CUDA=1 llama/llama.go:2", "GGML_CUDA_DMMV_X=32 llama/llama.go:2"]);
        assert_eq!(found("rocm"), ["GGML_USE_HIPBLAS=1 llama/llama.go:3"]);
        assert_eq!(cgo(&tree, "ggml/ggml-cuda.cu", "cuda"), []);
    }
}
