//! `runtime fetch vllm`: vLLM and the packages that its rules import, from PyPI, in a virtual environment in the cache.

use crate::error::{VllmError, at};
use runtime::{Cache, Index};
use std::process::Stdio;
use sys::files::{self, Access};
use sys::private_dir::{SessionDir, put};

const PROGRAM: &str = include_str!("../python/fetch.py");

/// The version in `vllm` or `vllm-0.32.0`; None if the name is another runtime's.
pub fn wanted(name: &str) -> Option<Option<&str>> {
    if name == "vllm" {
        return Some(None);
    }
    let version = name.strip_prefix("vllm-")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+');
    (!version.is_empty() && version.chars().all(plain)).then_some(Some(version))
}

/// Fetches a version, or the newest. A version that is in the cache is not fetched again.
pub fn fetch(cache: &Cache, version: Option<&str>) -> Result<Index, VllmError> {
    if let Some(only) = sys::support::missing(sys::support::Need::Shims) {
        return Err(VllmError::System { only });
    }
    if let Some(version) = version
        && let Ok(index) = Index::read(&cache.runtime(&format!("vllm-{version}")))
    {
        return Ok(index);
    }
    let lock = cache.lock("vllm").map_err(VllmError::Runtime)?;
    let staging = cache.runtimes().join(".staging-vllm");
    if staging.exists() {
        files::remove_dir_all(&staging).map_err(at(&staging))?;
    }
    files::create_dir_all(&staging, Access::Public).map_err(at(&staging))?;
    let root = staging.join("root");
    let session = SessionDir::new("vllm", &std::env::temp_dir()).map_err(at(&staging))?;
    let program = session.outer().join("fetch.py");
    put(&program, PROGRAM.as_bytes()).map_err(at(&program))?;
    let no = |source| VllmError::NoPython { program: "python3".to_owned(), source };
    let mut command = sys::program::command("python3").map_err(no)?;
    command.args(["-E", "-B"]).arg(&program).arg(&root).args(version).stdin(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().map_err(no)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let said = text.lines().rev().find(|line| line.contains("ERROR")).or_else(|| text.lines().last());
        let said = said.unwrap_or_default().chars().take(500).collect();
        let _ = files::remove_dir_all(&staging);
        return Err(VllmError::Pip { said });
    }
    let found = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().trim().to_owned();
    let name = format!("vllm-{found}");
    runtime::cache::check_name(&name).map_err(VllmError::Runtime)?;
    let (files_count, bytes) = size(&root);
    let index = Index {
        name: name.clone(),
        origin: "PyPI".to_owned(),
        linked: false,
        date: sys::clock::now_to_the_second(),
        parts: Vec::new(),
        targets: Vec::new(),
        files: files_count,
        bytes,
        packages: Vec::new(),
        left_out: Vec::new(),
        refused: Vec::new(),
    };
    index.write(&staging).map_err(VllmError::Runtime)?;
    let place = cache.runtime(&name);
    if place.exists() {
        files::remove_dir_all(&place).map_err(at(&place))?;
    }
    files::rename(&staging, &place).map_err(at(&place))?;
    drop(lock);
    Ok(index)
}

/// Regular files below a folder, and their bytes.
fn size(folder: &std::path::Path) -> (u64, u64) {
    let mut sum = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) if found.is_file() => sum = (sum.0 + 1, sum.1 + found.len()),
                _ => {}
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_vllm_are_taken() {
        assert_eq!(wanted("vllm"), Some(None));
        assert_eq!(wanted("vllm-0.32.0"), Some(Some("0.32.0")));
        for other in ["debian-sid", "vllm-", "vllm-../x", "vllm-0.1; rm", "vllm0.1"] {
            assert_eq!(wanted(other), None, "{other}");
        }
    }
}
