//! `runtime find`: finds the GPU stacks on this machine, in any location.

mod places;
mod processes;

use crate::library_names;
use std::{
    fs,
    path::{Path, PathBuf},
};

pub use places::{candidates, server_libraries};

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Kind: name {
        Ollama = "ollama",
        #[serde(rename = "llama.cpp")]
        LlamaCpp = "llama.cpp",
        Rocm = "rocm",
        Cuda = "cuda",
    }
}

/// One installation: a directory, the evidence for its kind, and its relevant libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub kind: Kind,
    pub path: PathBuf,
    /// The version from a version file, or from its library names.
    pub version: Option<String>,
    /// How the runtime was found: `PATH`, a well-known directory, a running process.
    pub by: String,
    pub libraries: Vec<Library>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    pub path: PathBuf,
    pub size: u64,
}

/// Finds all installations under `root` (`/` except in tests), each directory once.
pub fn find(root: &Path) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (dir, by) in candidates(root).into_iter().chain(processes::directories(root)) {
        let Ok(dir) = dir.canonicalize() else { continue };
        if found.iter().any(|other| other.path == dir) {
            continue;
        }
        if let Some(new) = look(&dir, by) {
            found.push(new);
        }
    }
    found.sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
    found
}

/// The kind of `dir`, determined by its libraries (two levels deep: Ollama has one directory per GPU library).
pub(crate) fn look(dir: &Path, by: String) -> Option<Found> {
    let libraries = libraries(dir, 2);
    let has = |start: &str| libraries.iter().any(|library| base(&library.path).starts_with(start));
    let text = dir.to_string_lossy();
    let kind = match () {
        () if text.contains("ollama") && (has("libggml") || has("libllama")) => Kind::Ollama,
        () if has("libggml") || has("libllama") || dir.join("llama-server").is_file() => Kind::LlamaCpp,
        () if has("libamdhip64") || has("librocblas") || has("libhsa-runtime64") => Kind::Rocm,
        () if has("libcudart") || has("libcublas") => Kind::Cuda,
        () => return None,
    };
    Some(Found { kind, version: version(dir, &libraries), path: dir.to_owned(), by, libraries })
}

/// The maximum number of entries read from a directory. Real library directories have fewer, but another user's process
/// may name any directory.
const MOST: usize = 1 << 14;

/// Shared libraries of a GPU stack, without symlinks, so that each file is listed once.
fn libraries(dir: &Path, depth: u32) -> Vec<Library> {
    let mut out = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else { return out };
    for entry in entries.flatten().take(MOST) {
        let path = entry.path();
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() && depth > 1 {
            out.extend(libraries(&path, depth - 1));
        } else if meta.is_file() && library_names::part(base(&path)).is_some() {
            out.push(Library { path, size: meta.len() });
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

fn version(dir: &Path, libraries: &[Library]) -> Option<String> {
    const LONGEST: u64 = 256;
    // The directory may belong to anyone: a file is read only if it has the same owner, and shown only if it contains a
    // version.
    let read = |file: &&str| sys::regular_file::owned_start(dir, &dir.join(file), LONGEST).ok();
    let written = [".info/version", "../.info/version"].iter().find_map(read);
    let written = written.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-+~_".contains(c);
    let written = written.filter(|text| !text.is_empty() && text.chars().all(plain));
    written.or_else(|| {
        libraries.iter().find_map(|library| {
            library_names::rocm_release(base(&library.path)).map(|release| format!("ROCm {release}"))
        })
    })
}

fn base(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ollama_bundle_and_a_rocm_tree_are_told_apart() {
        let root = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        };
        make("usr/local/lib/ollama/libggml-base.so");
        make("usr/local/lib/ollama/rocm/libggml-hip.so");
        make("usr/local/lib/ollama/rocm/librocblas.so.4.3.60303");
        make("opt/rocm-6.4.1/lib/libamdhip64.so.6.4.60401");
        make("opt/rocm-6.4.1/.info/version");
        fs::write(root.path().join("opt/rocm-6.4.1/.info/version"), "6.4.1-83\n").unwrap();
        let found = find(root.path());
        let at = |path: &str| found.iter().find(|f| f.path.ends_with(path)).unwrap();
        let ollama = at("usr/local/lib/ollama");
        assert_eq!((ollama.kind, ollama.version.as_deref()), (Kind::Ollama, Some("ROCm 6.3.3")));
        assert_eq!(ollama.libraries.len(), 3);
        let rocm = at("opt/rocm-6.4.1/lib");
        assert_eq!((rocm.kind, rocm.version.as_deref()), (Kind::Rocm, Some("6.4.1-83")));
    }
}
