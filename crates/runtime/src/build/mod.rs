//! Builds a runtime that no distribution ships: ggml's real HIP backend for one target, with the distribution's clang
//! and without a GPU.
//!
//! The headers and device libraries of HIP come from Debian packages of under a megabyte; the compiler is the machine's
//! own clang, which supports every AMD target. CMake would need a whole ROCm, so two steps replace it. First each
//! translation unit is compiled separately, so an interrupted build continues where it stopped and existing units are
//! never compiled again. Then all are linked against stub libraries with the right names. The result equals a package:
//! a `libggml-hip.so` with one bundle per unit, and the tools of the same tree.

mod compile;
mod link;
mod toolchain;
mod tools;
mod tree;

pub use toolchain::{Headers, headers};
pub use tree::Tree;

use crate::cache::{Cache, check_name};
use crate::error::{Error, Result, at};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use sys::files::{self, Access};

#[derive(Debug, Clone)]
pub struct Request {
    /// A checkout of llama.cpp, ggml or Ollama.
    pub source: PathBuf,
    /// The llama.cpp that a tree without tools (Ollama's) is based on, at the right commit.
    pub with: Option<PathBuf>,
    /// The target to build for: `gfx1201`.
    pub target: String,
    /// Only the units whose file names begin with one of these; empty for all.
    pub only: Vec<String>,
    /// Besides the defines from the tree's own options: `GGML_HIP_NO_MMQ_MFMA`, `NAME=VALUE`.
    pub defines: Vec<String>,
    pub jobs: usize,
    /// Whether to build the tools of the same tree too.
    pub tools: bool,
    pub name: Option<String>,
}

/// Progress messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStep<'a> {
    Headers,
    Unit {
        name: &'a str,
        done: usize,
        total: usize,
    },
    Link,
    /// A line from the build of the tools.
    Tools(&'a str),
}

/// A runtime that was built here and added to the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Built {
    /// The library's name in the cache.
    pub name: String,
    pub target: String,
    pub library: PathBuf,
    /// Units in the library.
    pub units: usize,
    /// Units in the tree.
    #[serde(rename = "units_of_tree")]
    pub all_units: usize,
    /// Units that were compiled now; the others already existed.
    pub compiled: usize,
    pub defines: Vec<String>,
    pub compiler: String,
    /// The source of HIP's headers.
    #[serde(rename = "hip")]
    pub headers: String,
    pub tools: Vec<String>,
}

impl answer::Answer for Built {
    const SCHEMA: &'static str = "whichkernel.runtime-build/1";
}

pub fn build(cache: &Cache, request: &Request, step: &(dyn Fn(BuildStep<'_>) + Sync)) -> Result<Built> {
    let target = &request.target;
    if !target.starts_with("gfx") || !target.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Error::BadTarget { name: target.clone() });
    }
    let tree = Tree::find(&request.source, request.with.as_deref())?;
    let all = tree.units()?;
    let wanted: Vec<&String> = all.iter().filter(|unit| is_wanted(unit, &request.only)).collect();
    if wanted.is_empty() {
        return Err(Error::NoUnit {
            wanted: request.only.join(", "),
            example: all.first().cloned().unwrap_or_default(),
        });
    }
    let compiler = toolchain::compiler()?;
    step(BuildStep::Headers);
    let headers = headers(cache)?;
    let mut defines = tree.defines()?;
    defines.extend(request.defines.iter().cloned());
    let key = key(&tree, target, &defines, &compiler, &headers)?;
    let partial = wanted.len() < all.len();
    // Another selection of units gives another library.
    let part = if partial {
        format!("part-{}", short(&digest(wanted.iter().map(|unit| unit.as_bytes()))))
    } else {
        "runtime".to_owned()
    };
    let name = request.name.clone().unwrap_or_else(|| match partial {
        true => format!("built-{target}-{}-{part}", short(&key)),
        false => format!("built-{target}-{}", short(&key)),
    });
    check_name(&name)?;
    let _lock = cache.lock(&name)?;
    let home = cache.dir().join("built").join(&key);
    let objects = home.join("objects");
    files::create_dir_all(&objects, Access::Public).map_err(at(&objects))?;
    let unit = compile::Unit { tree: &tree, target, defines: &defines, compiler: &compiler, headers: &headers };
    let compiled = unit.all(&wanted, &objects, request.jobs.max(1), step)?;
    step(BuildStep::Link);
    let place = home.join(part);
    files::create_dir_all(&place, Access::Public).map_err(at(&place))?;
    let library = place.join("libggml-hip.so");
    let files: Vec<PathBuf> = wanted.iter().map(|unit| compile::object(&objects, unit)).collect();
    link::link(&compiler, &headers, &files, &home.join("names"), &library)?;
    let tools = match request.tools && !partial {
        true => tools::build(&tree, &home, &place, request.jobs.max(1), step)?,
        false => Vec::new(),
    };
    enter(cache, &name, &place)?;
    let (units, all_units) = (wanted.len(), all.len());
    let (compiler, headers) = (compiler.version, headers.version);
    Ok(Built { name, target: target.clone(), library, units, all_units, compiled, defines, compiler, headers, tools })
}

fn is_wanted(unit: &str, only: &[String]) -> bool {
    let name = unit.rsplit('/').next().unwrap_or(unit);
    only.is_empty() || only.iter().any(|word| name.starts_with(word.as_str()))
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn digest<'a>(words: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word);
        hash.update([0]);
    }
    hex::encode(hash.finalize())
}

/// A hash of everything that determines the result: the sources, the target, the defines, the compiler and the headers.
fn key(
    tree: &Tree,
    target: &str,
    defines: &[String],
    compiler: &toolchain::Compiler,
    headers: &Headers,
) -> Result<String> {
    let mut hash = Sha256::new();
    for word in [target, &defines.join(" "), &compiler.version, &headers.version] {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    for (name, path) in tree.sources()? {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(sys::regular_file::whole(&path, 256 << 20).map_err(at(&path))?);
    }
    Ok(hex::encode(hash.finalize()))
}

/// Links the build as a runtime, so that a later build continues in the same place.
fn enter(cache: &Cache, name: &str, place: &Path) -> Result<()> {
    let dir = cache.runtime(name);
    crate::fetch::remove(&dir)?;
    crate::add::link_into(cache, name, place)
}
