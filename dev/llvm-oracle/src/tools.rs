//! Finding a tool under its versioned or plain name.

use std::env;
use std::path::PathBuf;

/// `llvm-readelf-22`, or an older or unversioned one; newest first.
pub fn find(tool: &str) -> Option<PathBuf> {
    let versions = (18..=26).rev().map(|version| format!("{tool}-{version}"));
    let path = env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut names = versions.chain([tool.to_owned()]);
    names.find_map(|name| dirs.iter().map(|dir| dir.join(&name)).find(|path| path.is_file()))
}

/// The path of the tool. If it is missing, returns None and counts the running test as skipped.
///
/// # Panics
/// With `CI=true` if the tool is missing: a test must not pass by not running.
pub fn need(tool: &str) -> Option<PathBuf> {
    let found = find(tool);
    if found.is_none() {
        test_artifacts::skip(tool, "install LLVM's tools");
    }
    found
}
