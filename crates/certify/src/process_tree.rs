//! A process that we started, and its descendants.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The programs named in a command line, by file name. Includes arguments, because a program may start another one, and
/// the targets of symlinks: `python3` may be `python3.12`.
pub fn programs(command: &[OsString]) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |path: &Path| {
        if let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned())
            && !names.contains(&name)
        {
            names.push(name);
        }
    };
    for (place, word) in command.iter().enumerate() {
        let found = sys::on_path(word).and_then(|path| path.canonicalize().ok());
        match &found {
            Some(path) if place == 0 || executable(path) => {
                add(Path::new(word));
                add(path);
            }
            // The file may exist only inside another root.
            _ => add(Path::new(word)),
        }
    }
    names
}

fn executable(path: &PathBuf) -> bool {
    use sys::unix::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The file name of the program that a process runs.
pub fn program_of(pid: u32) -> Option<String> {
    let exe = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    exe.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// CPU seconds of a process and its ended children. Also works for a zombie.
pub fn processor(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may contain any character; utime, stime, cutime and cstime are the fields 14 to 17 of
    // proc(5).
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: u64 = rest.split_whitespace().skip(11).take(4).filter_map(|word| word.parse::<u64>().ok()).sum();
    // Ticks are in USER_HZ, which does not depend on the kernel's clock: time(7).
    Some(ticks as f64 / 100.0)
}
