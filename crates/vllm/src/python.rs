//! The Python interpreter with vLLM: of this machine, or of a fetched runtime.

use crate::error::{VllmError, at};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Prints where the interpreter's files are. It runs outside the sandbox, as `python3 --version` would, and imports
/// nothing but the standard library.
const PROBE: &str = "import importlib.util, json, os, sys\n\
    spec = lambda name: importlib.util.find_spec(name)\n\
    print(json.dumps({'executable': sys.executable, 'prefixes': [sys.prefix, sys.base_prefix], \
    'paths': [p for p in sys.path if p and os.path.isdir(p)], \
    'vllm': spec('vllm') is not None, 'torch': spec('torch') is not None}))";

#[derive(Debug, Deserialize)]
struct Probe {
    executable: PathBuf,
    prefixes: Vec<PathBuf>,
    paths: Vec<PathBuf>,
    vllm: bool,
    torch: bool,
}

/// An interpreter, and the folders that it needs.
#[derive(Debug, Clone)]
pub struct Python {
    /// The user's name for it: a runtime's name, or a path.
    pub name: String,
    pub(crate) executable: PathBuf,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) folders: Vec<PathBuf>,
    /// Empty libraries for the CUDA libraries that PyPI's torch links and no rule uses.
    pub(crate) absent: Option<PathBuf>,
}

impl Python {
    /// `runtime`: a name in the cache, a virtual environment, or None for `python3` of this machine. `tree`: a folder
    /// that contains the package `vllm` and replaces the installed one.
    pub fn find(runtime: Option<&str>, tree: Option<&Path>) -> Result<Python, VllmError> {
        if let Some(only) = sys::support::missing(sys::support::Need::Shims) {
            return Err(VllmError::System { only });
        }
        let root = runtime.map(root).transpose()?;
        let (program, name) = match &root {
            Some(root) => (root.join("bin/python"), runtime.unwrap_or_default().to_owned()),
            None => (PathBuf::from("python3"), "python3".to_owned()),
        };
        let probe = probe(&program)?;
        if !probe.torch {
            return Err(VllmError::NoTorch { python: name, said: String::new() });
        }
        let mut paths = probe.paths;
        if let Some(tree) = tree {
            let tree = std::fs::canonicalize(tree).map_err(at(tree))?;
            if !tree.join("vllm/__init__.py").is_file() {
                return Err(VllmError::NoTree { path: tree });
            }
            paths.insert(0, tree);
        } else if !probe.vllm {
            return Err(VllmError::NoVllm { python: name });
        }
        let absent = root.map(|root| root.join("absent")).filter(|path| path.join("libabsent.so").is_file());
        let mut folders = probe.prefixes;
        folders.extend(paths.iter().cloned());
        folders.extend(absent.clone());
        Ok(Python { name, executable: probe.executable, paths, folders, absent })
    }
}

/// A runtime's name or a virtual environment.
fn root(wanted: &str) -> Result<PathBuf, VllmError> {
    let path = Path::new(wanted);
    let found = if wanted.contains('/') || path.is_dir() {
        std::path::absolute(path).map_err(at(path))?
    } else {
        let missing = || VllmError::NoRuntime { name: wanted.to_owned() };
        runtime::Cache::from_env().root(wanted).ok_or_else(missing)?
    };
    Ok(found)
}

fn probe(program: &Path) -> Result<Probe, VllmError> {
    let name = program.display().to_string();
    let no = |source| VllmError::NoPython { program: name.clone(), source };
    let mut command = if program.is_absolute() {
        sys::program::given(std::fs::metadata(program).map(|_| program).map_err(no)?)
    } else {
        sys::program::command(program).map_err(no)?
    };
    command.args(["-E", "-B", "-c", PROBE]).current_dir("/").stdin(Stdio::null());
    let output = command.output().map_err(no)?;
    let said = || String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| VllmError::PythonSaid { program: name.clone(), said: said() })
}
