//! The user's own directories, by the rules of each system.

use std::env;
use std::path::PathBuf;

/// The directory for persistent data: `$XDG_DATA_HOME`, `~/.local/share`; on Windows `%LOCALAPPDATA%`.
pub fn data() -> Option<PathBuf> {
    below("XDG_DATA_HOME", ".local/share", "")
}

/// The directory for data that can be fetched again: `$XDG_CACHE_HOME`, `~/.cache`; on Windows `%LOCALAPPDATA%\Cache`.
pub fn cache() -> Option<PathBuf> {
    below("XDG_CACHE_HOME", ".cache", "Cache")
}

fn below(variable: &str, usual: &str, on_windows: &str) -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from);
    let own = || match cfg!(windows) {
        true => Some(set("LOCALAPPDATA")?.join(on_windows)),
        false => Some(set("HOME")?.join(usual)),
    };
    set(variable).or_else(own)
}
