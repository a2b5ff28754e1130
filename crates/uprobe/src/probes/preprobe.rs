//! Finds the runtime files that a program may open, before it runs. A probe belongs to a file, so probing in advance
//! shows the very first launch.
//!
//! The files that the loader finds through the program's dependencies are certain. Files that the program opens itself
//! are searched for in the usual places. An unnecessary file costs only its probes. A missing file is probed when it is
//! mapped, which is reported as a gap.

use crate::probes::entries::Home;
use crate::probes::recognise::home_of;
use runtime::linkage::{Chain, Inside, Search};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use sys::on_path;
use sys::unix::MetadataExt;

/// The maximum number of files, because a directory may contain the runtimes of many releases.
const MOST: usize = 48;

/// A file: device and inode.
pub type Inode = (u64, u64);

pub fn inode(path: &Path) -> Option<Inode> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| (file.dev(), file.ino()))
}

/// Runtimes that a command may open, each file once.
pub fn candidates(command: &[OsString]) -> Vec<PathBuf> {
    let library_path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let search = Search::new(Inside::new("/"), &library_path);
    let mut places = Places { search, preload: preloaded(), dirs: BTreeSet::new(), found: BTreeMap::new() };
    places.dirs.extend(library_path.split(':').filter(|dir| !dir.is_empty()).map(PathBuf::from));
    // The actual program may be anywhere in the line: after `env`, `nice`, `sh -c` and the like.
    let words = command.iter().flat_map(|word| {
        let text = word.to_string_lossy().into_owned();
        text.split_whitespace().map(OsString::from).collect::<Vec<_>>()
    });
    for word in words.take(256) {
        places.word(&word);
    }
    places.usual();
    places.found.into_values().take(MOST).collect()
}

fn preloaded() -> Vec<String> {
    let text = std::env::var("LD_PRELOAD").unwrap_or_default();
    text.split([':', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

struct Places {
    search: Search,
    preload: Vec<String>,
    dirs: BTreeSet<PathBuf>,
    found: BTreeMap<Inode, PathBuf>,
}

impl Places {
    fn word(&mut self, word: &OsStr) {
        let path = on_path(word).unwrap_or_else(|| PathBuf::from(word));
        let Some(path) = path.canonicalize().ok().filter(|path| path.is_file()) else { return };
        self.file(&path);
        self.program(&path);
    }

    /// The file itself, if it is a runtime.
    fn file(&mut self, path: &Path) {
        if home_of(path).is_some()
            && let Some(inode) = inode(path)
        {
            self.found.entry(inode).or_insert_with(|| path.to_owned());
        }
    }

    /// The dependencies of a program, and the directories of the program and its libraries.
    fn program(&mut self, path: &Path) {
        let mut start = [0; 64];
        let read =
            sys::regular_file::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut start)).unwrap_or(0);
        let start = start.get(..read).unwrap_or(&[]);
        if let Some(line) = start.strip_prefix(b"#!") {
            let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next().unwrap_or(&[])).into_owned();
            for word in line.split_whitespace().take(2) {
                if let Some(program) = on_path(OsStr::new(word)).and_then(|path| path.canonicalize().ok()) {
                    self.needs(&program);
                }
            }
        } else if start.starts_with(b"\x7fELF") {
            self.needs(path);
        }
    }

    fn needs(&mut self, program: &Path) {
        let chain = Chain::of(&self.search, program, &self.preload);
        for object in &chain.objects {
            self.file(&object.real);
            self.dirs.extend(object.real.parent().map(Path::to_owned));
        }
        let Some(home) = program.parent() else { return };
        let beside = ["", "lib", "../lib", "../lib64"].map(|part| home.join(part));
        for lib in &beside {
            // Ollama keeps each runtime in a separate directory.
            let ollama = lib.join("ollama");
            self.dirs.extend(below(&ollama));
            self.dirs.insert(ollama);
        }
        self.dirs.extend(beside);
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("python") {
            self.packages(home);
        }
    }

    /// Python packages contain their own runtimes.
    fn packages(&mut self, bin: &Path) {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let mut roots: Vec<PathBuf> = [bin.join(".."), "/usr/local".into(), "/usr".into()].to_vec();
        roots.extend(["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| set(name)));
        roots.extend(set("HOME").map(|home| home.join(".local")));
        let versions = roots.iter().flat_map(|root| below(&root.join("lib")));
        let versions = versions.filter(|dir| name_of(dir).starts_with("python3"));
        let mut sites: Vec<PathBuf> =
            versions.flat_map(|dir| ["site-packages", "dist-packages"].map(|part| dir.join(part))).collect();
        sites.extend(set("PYTHONPATH").iter().flat_map(std::env::split_paths));
        for site in sites {
            self.dirs.insert(site.join("torch/lib"));
            let own = below(&site).into_iter().filter(|dir| name_of(dir).starts_with("_rocm_sdk_"));
            self.dirs.extend(below(&site.join("nvidia")).into_iter().chain(own).map(|dir| dir.join("lib")));
        }
    }

    /// The places where the loader finds a runtime by name, and where packages install it.
    fn usual(&mut self) {
        const NAMES: [(&str, &[&str]); 8] = [
            ("libamdhip64.so", &["5", "6", "7"]),
            ("libcuda.so", &["1"]),
            ("libcudart.so", &["11.0", "12", "13"]),
            ("librocblas.so", &["0", "3", "4", "5"]),
            ("libhipblas.so", &["0", "1", "2", "3"]),
            ("libhipblaslt.so", &["0", "1"]),
            ("libcublas.so", &["11", "12", "13"]),
            ("libvulkan.so", &["1"]),
        ];
        for (name, version) in NAMES.iter().flat_map(|(name, list)| list.iter().map(move |version| (name, version))) {
            let found = self.search.find(&format!("{name}.{version}"), &[]);
            if let Some(path) = found.and_then(|(path, _)| path.canonicalize().ok()) {
                self.file(&path);
            }
        }
        for (parent, start, lib) in [("/opt", "rocm", "lib"), ("/usr/local", "cuda", "lib64")] {
            let installed = below(Path::new(parent)).into_iter().filter(|dir| name_of(dir).starts_with(start));
            self.dirs.extend(installed.map(|dir| dir.join(lib)));
        }
        self.dirs.insert("/usr/lib/wsl/lib".into());
        for dir in std::mem::take(&mut self.dirs) {
            let files = fs::read_dir(dir).into_iter().flatten().flatten();
            let runtimes = files.filter(|file| file.file_name().to_str().is_some_and(|name| Home::of(name).is_some()));
            for file in runtimes {
                if let Ok(path) = file.path().canonicalize() {
                    self.file(&path);
                }
            }
        }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The directories in a directory.
fn below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_beside_the_program_or_in_the_line_is_found_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("lib/ollama/rocm")).expect("made");
        fs::copy("/bin/true", at("server")).expect("copied");
        for name in ["lib/ollama/rocm/libamdhip64.so.6.4", "libcublasLt.so.13", "lib/libother.so"] {
            fs::write(at(name), name).expect("written");
        }
        std::os::unix::fs::symlink("libamdhip64.so.6.4", at("lib/ollama/rocm/libamdhip64.so.6")).expect("linked");
        let command = ["nice".into(), at("server").into_os_string(), at("libcublasLt.so.13").into_os_string()];
        let found = candidates(&command);
        let ours: Vec<&PathBuf> = found.iter().filter(|path| path.starts_with(dir.path())).collect();
        assert_eq!(ours.len(), 2, "{found:?}");
    }
}
