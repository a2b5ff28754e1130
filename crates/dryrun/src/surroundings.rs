//! The program's environment: the caller's variables, without those that lead to the user's own state.
//!
//! Programs store measurements (MIOpen's find-db, autotuning results) and compiled code. On a stand-in the times are
//! made up, so nothing of a run may reach the user's files: the program gets an empty home directory, and variables
//! that name another place for a cache or a database are withheld.

use crate::program_file::seen_at;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables that name a directory or a file where a program keeps caches, databases or tuning results.
const STATE: &[&str] = &[
    "AITER_ASM_DIR",
    "AITER_JIT_DIR",
    "AMD_COMGR_CACHE_DIR",
    "CUDA_CACHE_PATH",
    "CUPY_CACHE_DIR",
    "HIPBLASLT_TUNING_FILE",
    "INDUCTOR_CACHE_DIR",
    "JAX_COMPILATION_CACHE_DIR",
    "MIOPEN_CACHE_DIR",
    "MIOPEN_CUSTOM_CACHE_DIR",
    "MIOPEN_USER_DB_PATH",
    "NUMBA_CACHE_DIR",
    "ORT_MIGRAPHX_CACHE_PATH",
    "PYTORCH_KERNEL_CACHE_PATH",
    "PYTORCH_TUNABLEOP_FILENAME",
    "ROCFFT_RTC_CACHE_PATH",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "TRITON_CACHE_DIR",
    "TRITON_DUMP_DIR",
    "TRITON_HOME",
    "TRITON_OVERRIDE_DIR",
    "VLLM_CACHE_ROOT",
    "VLLM_CONFIG_ROOT",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Flags of XLA_FLAGS that name such a file or directory.
const XLA_STATE: &[&str] = &[
    "--xla_gpu_dump_autotune_results_to",
    "--xla_gpu_experimental_autotune_cache",
    "--xla_gpu_kernel_cache_file",
    "--xla_gpu_per_fusion_autotune_cache_dir",
];

/// Variables that a tree replaces with its own without reporting it: they describe this machine, not the program.
const OF_THE_MACHINE: &[&str] = &["HOME", "LANG", "LANGUAGE", "OLDPWD", "PATH", "PWD", "SHLVL", "_"];

/// The variables of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    pub passed: BTreeMap<OsString, OsString>,
    /// The caller's variables that the program does not get, for the reader.
    pub withheld: Vec<String>,
    /// Directories of this machine that variables name, which must be visible inside a tree.
    pub named: Vec<PathBuf>,
}

impl Environment {
    /// `root`: the tree in which the program runs.
    pub fn of(caller: impl IntoIterator<Item = (OsString, OsString)>, root: Option<&Path>) -> Environment {
        let mut made = Environment::default();
        for (name, value) in caller {
            let text = name.to_string_lossy().into_owned();
            if STATE.contains(&text.as_str()) || root.is_some() && leads_outside(&text, &value) {
                made.withheld.push(text);
                continue;
            }
            if root.is_some() && (OF_THE_MACHINE.contains(&text.as_str()) || text.starts_with("LC_")) {
                continue;
            }
            let value = match (text.as_str(), root) {
                ("XLA_FLAGS", _) => made.without_state(&value),
                ("PYTHONPATH", Some(root)) => made.inside(&value, root),
                _ => value,
            };
            made.passed.insert(name, value);
        }
        made.withheld.sort();
        made
    }

    fn without_state(&mut self, flags: &OsStr) -> OsString {
        let Some(text) = flags.to_str() else { return flags.to_owned() };
        let is_state = |flag: &&str| XLA_STATE.iter().any(|state| flag.split('=').next() == Some(state));
        let (state, others): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(is_state);
        self.withheld.extend(state.iter().map(|flag| format!("XLA_FLAGS {flag}")));
        if state.is_empty() { flags.to_owned() } else { others.join(" ").into() }
    }

    /// A list of directories as the program inside the tree sees them.
    fn inside(&mut self, list: &OsStr, root: &Path) -> OsString {
        let mut seen = Vec::new();
        for path in std::env::split_paths(list).filter(|path| path.is_absolute()) {
            seen.push(seen_at(root, &path));
            if path.exists() {
                self.named.push(path);
            }
        }
        std::env::join_paths(seen).unwrap_or_default()
    }

    /// Gives the variables to the program, with `home` as its home directory.
    pub fn give(&self, command: &mut Command, home: &Path, root: Option<&Path>) {
        command.env_clear().envs(&self.passed);
        if root.is_some() {
            command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        } else if let Some(packages) = user_packages(&self.passed) {
            // Packages that were installed for the user only are found below the home directory.
            command.env("PYTHONUSERBASE", packages);
        }
        // PyTorch keeps this cache outside of the home directory.
        command.env("HOME", home).env("TORCHINDUCTOR_CACHE_DIR", home.join(".cache/torchinductor"));
    }
}

/// Variables that name files of this machine, which a tree does not have.
fn leads_outside(name: &str, value: &OsStr) -> bool {
    match name {
        "TMPDIR" => value != "/tmp",
        "PYTHONHOME" | "PYTHONUSERBASE" | "VIRTUAL_ENV" | "XDG_RUNTIME_DIR" => true,
        _ => name.starts_with("LD_"),
    }
}

fn user_packages(passed: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let get = |name: &str| passed.get(OsStr::new(name));
    let base = Path::new(get("HOME")?).join(".local");
    (get("PYTHONUSERBASE").is_none() && base.is_dir()).then_some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], root: Option<&Path>) -> Environment {
        let owned = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Environment::of(owned.collect::<Vec<_>>(), root)
    }

    fn names(environment: &Environment) -> Vec<&str> {
        environment.passed.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn variables_are_passed_except_those_that_lead_to_the_users_state() {
        let variables = [
            ("MIOPEN_FIND_MODE", "1"),
            ("MIOPEN_USER_DB_PATH", "/home/u/db"),
            ("JAX_PLATFORMS", "rocm"),
            ("XDG_CACHE_HOME", "/home/u/c"),
            ("PATH", "/opt/bin"),
            ("LD_LIBRARY_PATH", "/opt/lib"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ];
        let host = of(&variables, None);
        assert_eq!(host.withheld, ["MIOPEN_USER_DB_PATH", "XDG_CACHE_HOME"]);
        assert_eq!(
            names(&host),
            ["JAX_PLATFORMS", "LD_LIBRARY_PATH", "MIOPEN_FIND_MODE", "PATH", "PYTHONDONTWRITEBYTECODE"]
        );
        let tree = of(&variables, Some(Path::new("/nonexistent")));
        assert_eq!(tree.withheld, ["LD_LIBRARY_PATH", "MIOPEN_USER_DB_PATH", "XDG_CACHE_HOME"]);
        assert_eq!(names(&tree), ["JAX_PLATFORMS", "MIOPEN_FIND_MODE", "PYTHONDONTWRITEBYTECODE"]);
    }

    #[test]
    fn flags_of_xla_stay_except_those_that_name_a_cache() {
        let flags = "--xla_gpu_autotune_level=0 --xla_gpu_per_fusion_autotune_cache_dir=/home/u/x --xla_dump_to=/d";
        let made = of(&[("XLA_FLAGS", flags)], None);
        assert_eq!(made.passed.get(OsStr::new("XLA_FLAGS")).unwrap(), "--xla_gpu_autotune_level=0 --xla_dump_to=/d");
        assert_eq!(made.withheld, ["XLA_FLAGS --xla_gpu_per_fusion_autotune_cache_dir=/home/u/x"]);
    }

    #[test]
    fn directories_with_python_packages_are_named_for_a_tree() {
        let home = tempfile::tempdir().expect("a directory");
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join("usr")).expect("a directory");
        let list = format!("{}::relative:/usr/nothing-here", home.path().display());
        let made = of(&[("PYTHONPATH", &list)], Some(root.path()));
        assert_eq!(made.named, [home.path()]);
        let seen = made.passed.get(OsStr::new("PYTHONPATH")).expect("passed").to_str().expect("text");
        assert_eq!(seen, format!("{}:/mnt/usr/nothing-here", home.path().display()));
    }
}
