//! Whether the device code that programs here would load fits the card. Examines ggml's backend with its own code, and
//! every library whose code is in external archives (kpack).
//!
//! From ROCm 7.14 on, a library may name its archives by target. The archive for this card is a separate package.
//! Without it, the library loads and registers its kernels, but has no code.

use crate::{Host, rocm};
use codeobject::kpack::Environment;
use codeobject::{Piece, ccob, walk};
use inventory::{Contents, DeviceCode, File};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// In system-wide directories, only files with the names of GPU stack libraries are opened.
const STACK: [&str; 8] = ["libroc", "libhip", "libggml", "librccl", "libMIOpen", "libtorch", "libamd", "librpp"];
/// The maximum number of libraries. A ROCm tree has a few hundred.
const MOST: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodeLibrary {
    pub library: String,
    /// The targets that it has code for, in the file itself or in archives that are present.
    pub targets: Vec<String>,
    /// The archives that contain the library's code, if it was moved out of the library.
    pub packed: Option<Archives>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Archives {
    /// The directories in which the library searches for its archives, relative to itself.
    pub search_paths: Vec<String>,
    /// The archives that are present.
    pub archives: Vec<String>,
}

pub fn read(host: &Host) -> Vec<CodeLibrary> {
    let environment = environment(host);
    let mut found = Vec::new();
    for directory in rocm::library_directories(host) {
        let own = directory.contains("/rocm") || directory.contains("/ollama");
        let wanted = |name: &String| name.contains(".so") && (own || STACK.iter().any(|start| name.starts_with(start)));
        for name in host.entries(&directory).into_iter().filter(wanted).take(MOST) {
            let library = format!("{directory}/{name}");
            // Symlinks are other names of the same file.
            if host.link(&library).found().is_none() {
                found.extend(one(host, library, name.starts_with("libggml-hip"), &environment));
            }
        }
    }
    found
}

/// The code of one library in any place: ggml's HIP backend, or a library whose code was moved out.
pub fn code_of(host: &Host, library: &str) -> Option<CodeLibrary> {
    one(host, library.to_owned(), true, &environment(host))
}

fn one(host: &Host, library: String, backend: bool, environment: &Environment) -> Option<CodeLibrary> {
    let file = File::opened(&host.path(&library), host.open(&library).ok()?).ok()?;
    let code = DeviceCode::of(&file);
    let shown = |path: PathBuf| {
        let inside = path.strip_prefix(host.path("/")).map(|rest| format!("/{}", rest.display()));
        inside.unwrap_or_else(|_| path.display().to_string())
    };
    match code.packed {
        Some(packed) => {
            let archives = packed.archives(environment).into_iter().map(shown).collect();
            let targets = packed.targets(environment).into_iter().collect();
            let packed = Some(Archives { archives, search_paths: packed.reference.search_paths });
            Some(CodeLibrary { library, targets, packed })
        }
        None if code.amd && backend => {
            Some(CodeLibrary { library, targets: first_bundle(&file)?.into_iter().collect(), packed: None })
        }
        None => None,
    }
}

/// The targets of the first bundle. One compiler run creates all bundles of a library for the same targets, so the
/// first one is enough.
fn first_bundle(file: &File) -> Option<BTreeSet<String>> {
    let Ok(Contents::Host { fatbins, .. }) = inventory::contents(file) else { return None };
    let bundle = walk(file, *fatbins.first()?, 0).find_map(|piece| match piece {
        Piece::Bundle(bundle) => Some(bundle),
        _ => None,
    })?;
    let opened = bundle.open(file, ccob::DEFAULT_LIMIT).ok()?;
    let device = opened.table.entries.iter().filter(|entry| !entry.id.is_host());
    Some(device.filter_map(|entry| entry.id.target.as_ref().map(ToString::to_string)).collect())
}

/// The variables of this shell that affect the search for archives, with paths as they are visible here.
fn environment(host: &Host) -> Environment {
    let read = Environment::read(|name| host.environment().get(name).cloned());
    let here = |paths: Vec<PathBuf>| paths.into_iter().map(|path| host.path(path)).collect();
    Environment { instead: here(read.instead), before: here(read.before), ..read }
}
