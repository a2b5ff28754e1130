//! Checks that the evaluator knows C++ but no vendor, backend or model. Everything about those comes from a dialect.

use std::fs;
use std::path::{Path, PathBuf};

/// Prefixes of words that belong to the GPU domain.
const WORDS: &[&str] = &[
    "amd",
    "bfloat",
    "blas",
    "cublas",
    "cuda",
    "device",
    "dim3",
    "gcn",
    "gemm",
    "gfx",
    "ggml",
    "gpu",
    "grid",
    "half2",
    "hip",
    "kernel",
    "launch",
    "llama",
    "mmq",
    "mmvq",
    "nvidia",
    "ollama",
    "opencl",
    "rocblas",
    "rocm",
    "tensor",
    "vulkan",
    "warp",
    "wavefront",
];

/// Exceptions, each with a reason. Should stay empty.
const ALLOWED: &[(&str, &str)] = &[];

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a directory of the crate") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files(&path, out),
            false => out.push(path),
        }
    }
}

/// Splits identifiers into words: `cudaMalloc`, `is_kernel` and `GGML_ASSERT` have several.
fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    let parts = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.flat_map(|part| {
        let humps = part.char_indices().filter(|(at, c)| {
            let before = part[..*at].chars().last();
            c.is_ascii_uppercase() && before.is_some_and(|before| before.is_ascii_lowercase())
        });
        let mut cuts: Vec<usize> = humps.map(|(at, _)| at).collect();
        cuts.insert(0, 0);
        cuts.push(part.len());
        cuts.windows(2).map(|cut| part[cut[0]..cut[1]].to_ascii_lowercase()).collect::<Vec<_>>()
    })
}

fn found(text: &str) -> Vec<(usize, String)> {
    let told = |word: &String| WORDS.iter().any(|known| word.starts_with(known));
    let allowed = |word: &String| ALLOWED.iter().any(|(known, _)| known == word);
    let of_line = |(number, line)| words(line).map(move |word| (number + 1, word)).collect::<Vec<_>>();
    text.lines().enumerate().flat_map(of_line).filter(|(_, word)| told(word) && !allowed(word)).collect()
}

#[test]
fn no_source_of_the_crate_speaks_of_gpus() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    assert!(all.len() > 30, "{} files: the sources were not found", all.len());
    for path in all {
        let text = fs::read_to_string(&path).expect("a source of the crate");
        assert_eq!(found(&text), [], "{}", path.display());
    }
}

#[test]
fn the_search_finds_words_in_every_spelling() {
    for text in ["cudaMalloc(x)", "is_kernel", "GGML_ASSERT", "// runs on a GPU", "struct ThingLaunch", "hipFree"] {
        assert_eq!(found(text).len(), 1, "{text}");
    }
    assert_eq!(found("relationship, gridlock").len(), 1, "whole words from their beginning");
    assert!(found("relationship of chips").is_empty());
}
