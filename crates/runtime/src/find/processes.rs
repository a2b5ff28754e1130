//! Finds installations through running processes: the directories of active servers.

use super::places::beside;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The directories of the executables and GPU libraries of running servers. Processes of other users are skipped if
/// /proc denies access.
pub fn directories(root: &Path) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    if root != Path::new("/") {
        return out;
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(exe) = fs::read_link(entry.path().join("exe")) else { continue };
        let name = exe.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("ollama") || name.starts_with("llama-") {
            out.extend(beside(&exe).into_iter().map(|dir| (dir, format!("process {pid} ({name})"))));
        }
        let Ok(maps) = sys::regular_file::start(&entry.path().join("maps"), 64 << 20) else { continue };
        for line in String::from_utf8_lossy(&maps).lines() {
            let Some(path) = line.find('/').and_then(|at| line.get(at..)).map(Path::new) else { continue };
            let base = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let ours = ["libggml-hip", "libggml-cuda", "libamdhip64", "libcudart"];
            if ours.iter().any(|start| base.starts_with(start))
                && let Some(dir) = path.parent()
            {
                out.push((dir.to_owned(), format!("loaded by process {pid} ({name})")));
            }
        }
    }
    out.dedup();
    out
}
