//! Finds call chains from an entry point (an HTTP handler or a named function) to the kernel launch, through whole
//! trees of Go, cgo and C++, with file and line of each step. Also finds the lines that decide facts on which a chain
//! depends ([`facts`]), and how rocBLAS distinguishes GPUs ([`rocblas`]).
//!
//! The caller provides the texts. The crate does no I/O, has no unsafe code, and does not panic on any input. If a file
//! does not parse completely, the readable part is used. A step is taken only if declarations (scope, package, receiver
//! and type) determine its target ([`resolve`]). If several functions are possible, the step lists them. The type of a
//! receiver is never guessed: where a chain stops, the calls on receivers of unknown type are listed. A chain shows
//! what the source allows, not what ran.
//!
//! This crate is separate from `cxx` because a chain crosses thousands of files in two languages, without a common set
//! of defines, and the reader must accept any content. Here each file is read separately, from its tokens and brackets.
//! Evaluating a condition requires macro expansion, which only `cxx` does.
#![forbid(unsafe_code)]

mod answers;
mod child;
mod cpp;
mod edge;
mod facts;
mod go;
mod index;
mod resolve;
pub mod rocblas;
mod rocblas_answer;
mod search;
mod syntax;
mod trace;
mod type_text;
mod types;

pub use answers::{Beside, Chains, Tree, ways_found};
pub use edge::Kind;
pub use facts::{Fact, Subject, facts};
pub use rocblas_answer::RocblasSource;
pub use trace::{Branch, Chain, ChainStep, CodeLocation, Leg, Unresolved, between, trace};

pub use index::Index;
use index::Part;
use rayon::prelude::*;

/// A source file. The caller provides its path and text.
#[derive(Debug, Clone)]
pub struct File {
    pub path: String,
    pub text: String,
}

impl From<(String, String)> for File {
    fn from((path, text): (String, String)) -> File {
        File { path, text }
    }
}

/// Whether a chain may pass through a file: Go except tests, and C, C++ and CUDA except the backends of other vendors.
pub fn wanted(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let go = name.ends_with(".go") && !name.ends_with("_test.go");
    let cpp = [".c", ".cpp", ".h", ".hpp", ".cu", ".cuh"].iter().any(|end| name.ends_with(end));
    let vendored = ["vendor/", "tests/", "app/", "examples/", "pocs/", "integration/"];
    name == "LLAMA_CPP_VERSION"
        || (go || cpp) && !vendored.iter().any(|part| path.starts_with(part) || path.contains(&format!("/{part}")))
}

/// Parses every file, in parallel, into one index.
pub fn index(files: &[File]) -> Index {
    let parts: Vec<Part> = files
        .par_iter()
        .map(|file| if file.path.ends_with(".go") { go::read(&file.text) } else { cpp::read(&file.text) })
        .collect();
    let mut index = Index::default();
    for (file, part) in files.iter().zip(parts) {
        index.add(&file.path, part);
    }
    index.finish();
    index
}
