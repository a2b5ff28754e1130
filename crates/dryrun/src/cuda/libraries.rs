//! Which files have CUDA code that the program may launch: the program itself, the libraries beside it, and those of a Python
//! interpreter.

use crate::RunRoot;
use crate::error::DryrunError;
use crate::program_file::inside;
use codeobject::ReadAt;
use codeobject::elf::Elf;
use inventory::File;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The depth of a search: enough for site-packages/NAME/lib/x/y.
const DEPTH: u32 = 5;
/// Releases that the stand-in replaces: name of the runtime, and its version number.
const RELEASES: [(&str, u32); 2] = [("libcudart.so.12", 12_090), ("libcudart.so.13", 13_000)];
/// NVIDIA's own libraries are replaced; their kernels are never launched here.
const VENDOR: &[&str] = &[
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcusparse",
    "libcusolver",
    "libcurand",
    "libnccl",
    "libnvrtc",
    "libnvJitLink",
    "libcupti",
    "libnpp",
    "libnvshmem",
    "libcufile",
    "libcudart",
    "libnvjpeg",
    "libcutensor",
];

enum Linked {
    /// No CUDA code.
    Not,
    /// The CUDA runtime is a separate library of this name.
    Shared(String),
    /// The runtime is part of the file.
    Static,
}

fn linked(path: &Path) -> Linked {
    let Ok(file) = File::open(path) else { return Linked::Not };
    let source: &dyn ReadAt = &file;
    let Ok(elf) = Elf::parse(source) else { return Linked::Not };
    if elf.section(".nv_fatbin").is_none() {
        return Linked::Not;
    }
    let strings = elf.section(".dynstr").and_then(|section| elf.data(section).ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(&strings);
    match text.split('\0').find(|word| word.starts_with("libcudart.so.")) {
        Some(soname) => Linked::Shared(soname.to_owned()),
        // A library of kernels may leave registration to the program that loads it.
        None if text.split('\0').any(|word| word == "__cudaRegisterFatBinary") => Linked::Shared(String::new()),
        None => Linked::Static,
    }
}

/// Every file with CUDA code, with the path at which the program will see it. A program with a static CUDA runtime is an error.
pub(crate) fn libraries(place: &RunRoot, program: Option<&Path>) -> Result<Vec<(PathBuf, String)>, DryrunError> {
    let mut found = BTreeSet::new();
    let root = match place {
        RunRoot::Tree { root, .. } => Some(root.as_path()),
        _ => None,
    };
    for directory in directories(place, program) {
        scan(&directory, DEPTH, &mut found)?;
    }
    let own = program.and_then(|program| match root {
        Some(root) => inside(root, program.as_os_str()),
        None => sys::on_path(program.as_os_str()),
    });
    if let Some(own) = own.and_then(|own| fs::canonicalize(own).ok()) {
        match linked(&own) {
            Linked::Static => return Err(DryrunError::StaticCudart { program: own }),
            Linked::Shared(soname) => {
                supported(&own, &soname)?;
                found.insert(own);
            }
            Linked::Not => {}
        }
    }
    let seen = |path: &Path| match root.and_then(|root| path.strip_prefix(root).ok()) {
        Some(rest) => format!("/{}", rest.display()),
        None => path.display().to_string(),
    };
    Ok(found.into_iter().map(|path| (path.clone(), seen(&path))).collect())
}

/// Directories with NVIDIA's run-time compiler, which is used as it is. It looks for its own parts on the library path only.
pub(crate) fn compilers(place: &RunRoot, program: Option<&Path>) -> Vec<PathBuf> {
    let RunRoot::Host = place else { return Vec::new() };
    let mut found = BTreeSet::new();
    for directory in directories(place, program) {
        // As in site-packages/nvidia/cu13/lib and site-packages/nvidia/cuda_nvrtc/lib.
        for package in fs::read_dir(directory.join("nvidia")).into_iter().flatten().flatten() {
            let library = package.path().join("lib");
            let names = fs::read_dir(&library).into_iter().flatten().flatten().map(|entry| entry.file_name());
            if names.into_iter().any(|name| name.to_string_lossy().starts_with("libnvrtc.so.")) {
                found.insert(library);
            }
        }
    }
    found.into_iter().collect()
}

/// The release of the runtime that most of the files ask for; the newest one if none does.
pub(crate) fn release(libraries: &[(PathBuf, String)]) -> u32 {
    let asked = libraries.iter().filter_map(|(path, _)| match linked(path) {
        Linked::Shared(soname) => RELEASES.iter().find(|(name, _)| *name == soname).map(|(_, release)| *release),
        _ => None,
    });
    asked.max().unwrap_or(13_000)
}

/// An older runtime has other layouts, so it is not replaced.
fn supported(library: &Path, soname: &str) -> Result<(), DryrunError> {
    if soname.is_empty() || RELEASES.iter().any(|(name, _)| *name == soname) {
        return Ok(());
    }
    Err(DryrunError::CudaSoname { library: library.to_owned(), soname: soname.to_owned() })
}

fn directories(place: &RunRoot, program: Option<&Path>) -> Vec<PathBuf> {
    match place {
        RunRoot::Tree { root, .. } => ["usr/lib", "usr/local/lib", "opt"].iter().map(|top| root.join(top)).collect(),
        RunRoot::Directory { path } => vec![path.clone()],
        RunRoot::Host => {
            let mut list: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
                .map(|paths| std::env::split_paths(&paths).filter(|path| path.is_absolute()).collect())
                .unwrap_or_default();
            let file = program.and_then(|program| sys::on_path(program.as_os_str()));
            if let Some(directory) =
                file.as_deref().and_then(|file| fs::canonicalize(file).ok()?.parent().map(Path::to_owned))
            {
                // Directories of system programs are skipped, because they have thousands of files and no CUDA
                // libraries.
                if !directory.starts_with("/usr") && !directory.starts_with("/bin") {
                    list.push(directory.join("../lib"));
                    list.push(directory);
                }
            }
            list.extend(file.as_deref().and_then(interpreter).map(|python| modules(&python)).unwrap_or_default());
            list
        }
    }
}

/// The Python interpreter that a program is or, for a script, names in its first line.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let is_python = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    if is_python(program) {
        return Some(program.to_owned());
    }
    let file = File::open(program).ok()?;
    let source: &dyn ReadAt = &file;
    let head = source.bytes(0, source.len().min(256), "first line").ok()?;
    let head = String::from_utf8_lossy(&head);
    let line = head.strip_prefix("#!")?.lines().next()?.trim();
    let mut words = line.split_whitespace();
    let first = Path::new(words.next()?);
    let named = if first.ends_with("env") { sys::on_path(OsStr::new(words.next()?))? } else { first.to_owned() };
    is_python(&named).then_some(named)
}

/// The directories in which an interpreter looks for packages, as it reports them.
fn modules(python: &Path) -> Vec<PathBuf> {
    let mut command = sys::program::given(python.as_os_str());
    command.args(["-c", "import sys; print('\\n'.join(sys.path))"]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(output) = command.output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let packages = |path: &&Path| {
        path.is_absolute() && path.components().any(|part| part.as_os_str().to_string_lossy().ends_with("-packages"))
    };
    text.lines().map(Path::new).filter(packages).map(Path::to_owned).collect()
}

fn scan(directory: &Path, depth: u32, found: &mut BTreeSet<PathBuf>) -> Result<(), DryrunError> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if depth > 0
                && !matches!(name.as_str(), "share" | "include" | "cmake" | "__pycache__" | "gconv" | "firmware")
            {
                scan(&path, depth - 1, found)?;
            }
        } else if kind.is_file() && name.contains(".so") && !VENDOR.iter().any(|start| name.starts_with(start)) {
            // Libraries of another release, or with their own runtime, are reported when the program uses them.
            if let Linked::Shared(soname) = linked(&path)
                && supported(&path, &soname).is_ok()
                && let Ok(real) = fs::canonicalize(&path)
            {
                found.insert(real);
            }
        }
    }
    Ok(())
}
