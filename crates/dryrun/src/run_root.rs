//! The location of the program and its libraries: an unpacked system tree, a directory of libraries, or this machine.

use crate::error::{DryrunError, io_at};
use crate::program_file;
use codeobject::{ReadAt, elf::Elf};
use inventory::{DeviceCode, File};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRoot {
    /// A tree with its own C library, entered through namespaces.
    Tree { name: String, root: PathBuf },
    /// Libraries (and perhaps programs) that use this machine's C library.
    Directory { path: PathBuf },
    /// The program as installed on this machine.
    Host,
}

/// The maximum search depth. It is enough for the layout of any runtime, and the search is still fast.
const DEPTH: u32 = 7;

impl RunRoot {
    /// Finds a runtime in the cache by name, or a directory. It is a tree if it has its own loader.
    pub fn find(wanted: &str) -> Result<RunRoot, DryrunError> {
        if let Some(only) = sys::support::missing(sys::support::Need::Shims) {
            return Err(DryrunError::System { only });
        }
        let path = Path::new(wanted);
        if !wanted.contains('/') && !path.is_dir() {
            let root = runtime::Cache::from_env().root(wanted);
            let root = root.ok_or_else(|| DryrunError::NoRuntime { name: wanted.to_owned() })?;
            // A runtime built here uses this machine's C library.
            if root.is_symlink() && !has_loader(&root) {
                return Ok(RunRoot::Directory { path: fs::canonicalize(&root).map_err(io_at(&root))? });
            }
            return Ok(RunRoot::Tree { name: wanted.to_owned(), root });
        }
        let path = fs::canonicalize(path).map_err(io_at(path))?;
        if !path.is_dir() {
            return Err(DryrunError::NotADirectory { path });
        }
        let root = if path.join("root/usr").is_dir() { path.join("root") } else { path };
        let name = root.file_name().unwrap_or(OsStr::new("tree")).to_string_lossy().into_owned();
        Ok(if has_loader(&root) { RunRoot::Tree { name, root } } else { RunRoot::Directory { path: root } })
    }

    pub fn name(&self) -> String {
        match self {
            RunRoot::Tree { name, .. } => name.clone(),
            RunRoot::Directory { path } => path.display().to_string(),
            RunRoot::Host => "host".to_owned(),
        }
    }

    /// Every library with AMD device code, with the path at which the program will see it.
    ///
    /// With `blas`, includes the BLAS libraries, for runs that use the real ones.
    pub fn libraries(&self, blas: bool, program: Option<&Path>) -> Result<Vec<(PathBuf, String)>, DryrunError> {
        let mut found = Vec::new();
        match self {
            RunRoot::Tree { root, .. } => {
                for top in ["usr/lib", "usr/local/lib", "opt"] {
                    scan(&root.join(top), DEPTH, blas, &mut found)?;
                }
                let inside = |path: &Path| match path.strip_prefix(root) {
                    Ok(rest) => format!("/{}", rest.display()),
                    Err(_) => path.display().to_string(),
                };
                let mut list: Vec<_> = found.into_iter().map(|path| (path.clone(), inside(&path))).collect();
                list.extend(self.own_code(program)?);
                return Self::some(list, root);
            }
            RunRoot::Directory { path } => scan(path, DEPTH, blas, &mut found)?,
            RunRoot::Host => {
                for directory in host_directories(program) {
                    scan(&directory, 2, blas, &mut found)?;
                }
            }
        }
        let mut list: Vec<_> = found.into_iter().map(|path| (path.clone(), path.display().to_string())).collect();
        list.extend(self.own_code(program)?);
        match self {
            RunRoot::Directory { path } => Self::some(list, path),
            _ => Ok(list),
        }
    }

    /// The program itself, if it contains device code. It is treated like the libraries.
    fn own_code(&self, program: Option<&Path>) -> Result<Option<(PathBuf, String)>, DryrunError> {
        let Some(program) = program else { return Ok(None) };
        let tree = match self {
            RunRoot::Tree { root, .. } => program_file::inside(root, program.as_os_str()).map(|path| (path, root)),
            _ => None,
        };
        let (path, seen_as) = match tree {
            Some((path, root)) => {
                let seen_as = path.strip_prefix(root).map_or(path.clone(), |rest| Path::new("/").join(rest));
                (path, seen_as)
            }
            None => {
                let Some(path) = sys::on_path(program.as_os_str()).and_then(|path| fs::canonicalize(path).ok()) else {
                    return Ok(None);
                };
                (path.clone(), path)
            }
        };
        Ok(has_device_code(&path)?.then(|| (path, seen_as.display().to_string())))
    }

    /// The path on this machine of a file that the program saw at `seen`.
    pub fn on_host(&self, seen: &str) -> PathBuf {
        match self {
            RunRoot::Tree { root, .. } => {
                let inside = root.join(seen.trim_start_matches('/'));
                if inside.is_file() { inside } else { PathBuf::from(seen) }
            }
            _ => PathBuf::from(seen),
        }
    }

    /// Whether llama.cpp, Ollama or another program with ggml is here.
    pub fn has_ggml(&self, program: Option<&Path>) -> bool {
        if let RunRoot::Tree { .. } = self {
            return self.library("libggml").is_some();
        }
        let is_ggml = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libggml"));
        self.libraries(false, program).unwrap_or_default().iter().any(|(path, _)| is_ggml(path))
    }

    /// Finds a library by the prefix of its name (`libhipblas.so.`). Returns the path as the program sees it.
    pub fn library(&self, start: &str) -> Option<String> {
        let (tops, root) = match self {
            RunRoot::Tree { root, .. } => {
                let tops = ["usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib", "opt/rocm/lib", "usr/local/lib"];
                (tops.iter().map(|top| root.join(top)).collect(), Some(root))
            }
            RunRoot::Directory { path } => (vec![path.clone(), path.join("lib"), path.join("rocm")], None),
            RunRoot::Host => {
                let mut tops = host_directories(None);
                tops.extend(["/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"].map(PathBuf::from));
                (tops, None)
            }
        };
        for top in tops {
            let names = fs::read_dir(&top).into_iter().flatten().flatten().map(|entry| entry.file_name());
            let names = names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(start));
            // The loader looks for the shortest name.
            if let Some(name) = names.min_by_key(String::len) {
                let path = top.join(name);
                return Some(match root.and_then(|root| path.strip_prefix(root).ok()) {
                    Some(rest) => format!("/{}", rest.display()),
                    None => path.display().to_string(),
                });
            }
        }
        None
    }

    fn some(list: Vec<(PathBuf, String)>, path: &Path) -> Result<Vec<(PathBuf, String)>, DryrunError> {
        if list.is_empty() { Err(DryrunError::NoDeviceCode { path: path.to_owned() }) } else { Ok(list) }
    }
}

/// Whether a tree has its own C library.
fn has_loader(root: &Path) -> bool {
    let places = [
        "usr/lib64/ld-linux-x86-64.so.2",
        "lib64/ld-linux-x86-64.so.2",
        "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    ];
    places.iter().any(|at| root.join(at).exists())
}

/// The directories where a program of this machine finds backends: its own, the library directory next to that, and the
/// library path.
fn host_directories(program: Option<&Path>) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
        .map(|paths| std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    if let Some(directory) = program.and_then(|program| fs::canonicalize(program).ok()?.parent().map(Path::to_owned)) {
        list.push(directory.join("../lib/ollama"));
        list.push(directory.join("../lib/x86_64-linux-gnu/ggml"));
        list.push(directory);
    }
    list
}

fn scan(directory: &Path, depth: u32, blas: bool, found: &mut Vec<PathBuf>) -> Result<(), DryrunError> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        // Symlinks are other names of files that the walk visits anyway.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if depth > 0 && !matches!(name.as_str(), "library" | "share" | "include" | "python3" | "gconv" | "cmake") {
                scan(&path, depth - 1, blas, found)?;
            }
        } else if kind.is_file() && name.contains(".so") && (blas || !is_blas(&name)) && has_device_code(&path)? {
            found.push(path);
        }
    }
    Ok(())
}

fn is_blas(name: &str) -> bool {
    ["librocblas", "libhipblas", "librocsolver", "librocsparse", "libMIOpen"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn has_device_code(path: &Path) -> Result<bool, DryrunError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(_) => return Ok(false),
    };
    if !DeviceCode::of(&file).is_amd() {
        return Ok(false);
    }
    let source: &dyn ReadAt = &file;
    let Ok(elf) = Elf::parse(source) else { return Ok(false) };
    // The dynamic strings contain the name of its runtime.
    let strings = elf.section(".dynstr").and_then(|section| elf.data(section).ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(&strings);
    for soname in text.split('\0').filter(|text| text.starts_with("libamdhip64.so.")) {
        if embedded_shims::nullgpu(soname).is_none() {
            return Err(DryrunError::Soname { library: path.to_owned(), soname: soname.to_owned() });
        }
    }
    Ok(true)
}
