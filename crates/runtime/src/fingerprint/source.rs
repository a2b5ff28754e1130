//! The kernel shapes that a ggml source declares: every `__global__` function, found by its text.
//!
//! No preprocessor is run: both branches of an `#if` count, because either may have been built.

use super::shape::{Shape, count};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The kernels that a translation unit or header declares.
pub fn shapes_in_text(text: &str) -> BTreeSet<Shape> {
    let text = plain(text);
    let mut out = BTreeSet::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("__global__")).map(|at| at + from) {
        from = at + "__global__".len();
        let Some(tail) = text.get(from..) else { break };
        let Some((name, list)) = declarator(tail) else { continue };
        let head = text.get(..at).unwrap_or_default();
        let start = head.rfind([';', '{', '}']).map_or(0, |at| at + 1);
        let arguments = template(head.get(start..).unwrap_or_default());
        out.insert(Shape { name, arguments, parameters: count(&list) });
    }
    out
}

/// All kernels below `dir`, which is `ggml/src/ggml-cuda` or a tree of llama.cpp, ggml or Ollama.
pub fn shapes_in_tree(dir: &Path) -> io::Result<BTreeSet<Shape>> {
    let inside =
        ["ggml/src/ggml-cuda", "src/ggml-cuda", "ml/backend/ggml/ggml/src/ggml-cuda", "llama.cpp/ggml/src/ggml-cuda"];
    let start = inside.iter().map(|sub| dir.join(sub)).find(|path| path.is_dir()).unwrap_or_else(|| dir.to_owned());
    let mut out = BTreeSet::new();
    let mut queue: Vec<PathBuf> = vec![start];
    while let Some(dir) = queue.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                queue.push(path);
            } else if is_cuda(&path.to_string_lossy()) {
                out.append(&mut shapes_in_text(&String::from_utf8_lossy(&sys::regular_file::whole(&path, 64 << 20)?)));
            }
        }
    }
    Ok(out)
}

pub fn is_cuda(path: &str) -> bool {
    path.ends_with(".cu") || path.ends_with(".cuh")
}

/// The text without comments, quoted text and preprocessor lines with their continuations.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        rest = if let Some(tail) = tail.strip_prefix("//") {
            tail.find('\n').and_then(|end| tail.get(end..)).unwrap_or_default()
        } else if let Some(tail) = tail.strip_prefix("/*") {
            out.push(' ');
            tail.find("*/").and_then(|end| tail.get(end + 2..)).unwrap_or_default()
        } else if let Some(tail) = tail.strip_prefix('"') {
            let line = tail.find('\n').unwrap_or(tail.len());
            let end = tail.find('"').filter(|end| *end < line).map_or(line, |end| end + 1);
            tail.get(end..).unwrap_or_default()
        } else {
            out.push('/');
            tail.get(1..).unwrap_or_default()
        };
    }
    out.push_str(rest);
    let mut kept = String::with_capacity(out.len());
    let mut skipping = false;
    for line in out.lines() {
        let directive = skipping || line.trim_start().starts_with('#');
        skipping = directive && line.trim_end().ends_with('\\');
        if !directive {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// The name and parameter list after `__global__`: `void __launch_bounds__(256, 1) name(...)`.
fn declarator(tail: &str) -> Option<(String, String)> {
    let mut rest = tail;
    loop {
        rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let (word, after) = rest.split_at_checked(end)?;
        let after = after.trim_start();
        match word {
            "" => return None,
            "void" | "static" | "inline" | "__forceinline__" => rest = after,
            _ if word.starts_with("__") || word == "GGML_CUDA_LAUNCH_BOUNDS" => {
                rest = after.strip_prefix(balanced(after).unwrap_or_default()).unwrap_or(after);
            }
            name => {
                let list = balanced(after)?;
                return Some((name.to_owned(), list.get(1..list.len().checked_sub(1)?)?.to_owned()));
            }
        }
    }
}

/// The parenthesised text at the start of `text`.
fn balanced(text: &str) -> Option<&str> {
    if !text.starts_with('(') {
        return None;
    }
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..=at);
        }
    }
    None
}

/// The number of parameters of the template head before a declaration: 0 without one, None with a pack.
fn template(head: &str) -> Option<u8> {
    let Some(start) = head.rfind("template") else { return Some(0) };
    let list = head.get(start + "template".len()..).unwrap_or_default().trim_start();
    let mut depth = 0_i32;
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let inner = list.get(1..at).unwrap_or_default();
            return if inner.contains("...") { None } else { Some(count(inner)) };
        }
    }
    Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_all_kinds() {
        let text = "\
// static __global__ void not_this(int a)
template <ggml_type type, int mmq_x, bool need_check>
#if defined(GGML_USE_HIP)
    __launch_bounds__(256, 2)
#else
    __launch_bounds__(256, 1)
#endif // x
static __global__ void mul_mat_q(const char * __restrict__ x, const int a,
        float * y) { if (a < 3) { f<1, 2>(x); } }
static __global__ void plain(void) {}
template<float (*bin_op)(const float, const float), typename src0_t, typename... Ts>
static __global__ void k_bin(src0_t * x, Ts... more) {}
template <int D> __global__ void __launch_bounds__(D*2, 1)
flash(const char * Q /* , int ignored */, const float2 p) { }
";
        let shapes: Vec<String> = shapes_in_text(text).iter().map(ToString::to_string).collect();
        assert_eq!(shapes, ["flash<1>(2)", "k_bin<...>(2)", "mul_mat_q<3>(3)", "plain(0)"]);
    }
}
