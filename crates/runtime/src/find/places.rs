//! The directories in which installers, distributions and build trees put GPU stacks.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Directories, and how each was found; most do not exist on a given machine.
pub fn candidates(root: &Path) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    let mut add = |path: PathBuf, by: &str| out.push((path, by.to_owned()));
    for dir in ["usr/local/lib/ollama", "usr/lib/ollama", "usr/lib64/ollama", "opt/ollama/lib/ollama"] {
        add(root.join(dir), "well-known directory");
    }
    for dir in ["usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib", "usr/local/lib"] {
        add(root.join(dir).join("ggml/backends0"), "distribution directory");
        add(root.join(dir).join("llama"), "distribution directory");
        add(root.join(dir), "distribution directory");
    }
    // /opt/rocm, /opt/rocm-6.4.1, /opt/rocm/core-7.1, ...
    for entry in fs::read_dir(root.join("opt")).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with("rocm") {
            add(path.join("lib"), "well-known directory");
            for core in fs::read_dir(&path).into_iter().flatten().flatten() {
                if core.file_name().to_string_lossy().starts_with("core") {
                    add(core.path().join("lib"), "well-known directory");
                }
            }
        }
    }
    for entry in fs::read_dir(root.join("usr/local")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("cuda") {
            add(entry.path().join("lib64"), "well-known directory");
        }
    }
    if root == Path::new("/") {
        for (dir, by) in on_path() {
            add(dir, &by);
        }
        for name in ["ROCM_PATH", "HIP_PATH", "OLLAMA_LIBRARY_PATH"] {
            if let Some(dir) = env::var_os(name).filter(|dir| !dir.is_empty()) {
                add(PathBuf::from(&dir).join("lib"), name);
                add(PathBuf::from(dir), name);
            }
        }
    }
    out
}

/// The directories in which the installers of Ollama and LM Studio put their libraries; `variable` reads the
/// environment.
pub fn server_libraries(windows: bool, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let below = |name: &str, parts: &[&str]| {
        let start = PathBuf::from(variable(name).filter(|value| !value.is_empty())?);
        Some(parts.iter().fold(start, |path, part| path.join(part)))
    };
    let ollama = ["Programs", "Ollama", "lib", "ollama"];
    let (new, old) = ([".lmstudio", "extensions", "backends"], [".cache", "lm-studio", "extensions", "backends"]);
    if windows {
        let all = [
            below("LOCALAPPDATA", &ollama),
            below("ProgramFiles", &["Ollama", "lib", "ollama"]),
            below("USERPROFILE", &new),
            below("USERPROFILE", &old),
        ];
        return all.into_iter().flatten().collect();
    }
    let system = ["/usr/local/lib/ollama", "/usr/lib/ollama", "/usr/lib64/ollama", "/opt/ollama/lib/ollama"];
    let own = [below("HOME", &new), below("HOME", &old)];
    system.into_iter().map(PathBuf::from).chain(own.into_iter().flatten()).collect()
}

/// The real location of a program on PATH, and its library directories.
fn on_path() -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    let path = env::var_os("PATH").unwrap_or_default();
    for dir in env::split_paths(&path) {
        for program in ["ollama", "llama-server", "llama-bench", "llama-cli", "hipcc", "rocminfo"] {
            let Ok(real) = dir.join(program).canonicalize() else { continue };
            out.extend(beside(&real).into_iter().map(|dir| (dir, format!("{program} on PATH"))));
        }
    }
    out
}

/// A program's own directory, and `../lib` and `../lib/ollama` next to it.
pub fn beside(program: &Path) -> Vec<PathBuf> {
    let Some(dir) = program.parent() else { return Vec::new() };
    let mut out = vec![];
    if let Some(up) = dir.parent() {
        out.push(up.join("lib/ollama"));
        out.push(up.join("lib"));
    }
    // A build tree has libraries next to the programs; /usr/bin and similar do not.
    out.push(dir.to_owned());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_keep_their_libraries_where_their_installers_put_them() {
        let set = |name: &str| Some(OsString::from(format!("/{name}")));
        let windows = server_libraries(true, set);
        let ollama = Path::new("/LOCALAPPDATA").join("Programs").join("Ollama").join("lib").join("ollama");
        assert_eq!(windows.first(), Some(&ollama));
        assert!(windows.contains(&Path::new("/USERPROFILE").join(".lmstudio").join("extensions").join("backends")));
        let linux = server_libraries(false, set);
        assert!(linux.contains(&PathBuf::from("/usr/lib/ollama")));
        assert!(linux.contains(&PathBuf::from("/HOME/.lmstudio/extensions/backends")));
        // A variable that is empty or missing names no directory.
        assert_eq!(server_libraries(true, |_| None), Vec::<PathBuf>::new());
        assert_eq!(server_libraries(true, |_| Some(OsString::new())), Vec::<PathBuf>::new());
    }
}
