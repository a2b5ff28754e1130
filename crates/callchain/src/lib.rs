//! Call chains: from an entry (an HTTP handler, a function by name) to the kernel launch, through whole trees of Go,
//! cgo and C++, with file and line at each step. Also the lines that decide what a chain depends on ([`facts`]), and
//! how rocBLAS distinguishes GPUs ([`rocblas`]).
//!
//! Texts in, values out: no I/O, no unsafe, no panic on any input; a file that does not parse gives its readable part.
//! A step is taken only if declarations determine its target: scope, package, receiver and type ([`resolve`]). If they
//! allow more than one function, the step says so. A receiver without a declared type is not guessed; where a chain
//! stops, calls on such receivers are listed. A chain is what the source declares possible, not what ran.
//!
//! Why this is separate from `cxx`: a chain leads through thousands of files of two languages, without a single set of
//! defines, and must survive any content. Here each file is read separately, from its tokens and brackets. Evaluating a
//! condition requires macro expansion, which only `cxx` does.
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

/// One source file. The caller provides its path and text.
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

/// Whether a chain may lead through a file: Go except tests; C, C++ and CUDA except other vendors' backends.
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
