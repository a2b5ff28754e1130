//! Real files that the tests run on: named in `manifest.toml`, fetched from the registries by their ordinary
//! clients, verified by hash, kept in a cache outside the tree.
//!
//! A test asks with [`need`]. Offline the answer is None and the test counts as skipped, by name; with `CI=true` a
//! missing artifact is a failure.
#![forbid(unsafe_code)]

mod debian;
mod fetch;
mod manifest;

pub use fetch::{FetchError, fetch};
pub use manifest::{Artifact, Kind, Tier, manifest};

use std::{env, fs, io::Write, path::PathBuf};

/// `$WHICHKERNEL_CACHE`, else the user's cache directory.
pub fn cache() -> PathBuf {
    if let Some(dir) = env::var_os("WHICHKERNEL_CACHE") {
        return PathBuf::from(dir);
    }
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")));
    base.unwrap_or_else(env::temp_dir).join("whichkernel")
}

/// The unpacked artifact, `name` being `package-version` (or, for what `runtime fetch` brings, the runtime's name).
///
/// # Panics
/// With `CI=true` when the artifact is missing: a test must not pass by not running.
pub fn need(name: &str) -> Option<PathBuf> {
    let dir = directory(name);
    if dir.is_dir() {
        return Some(dir);
    }
    skip(name, "run `cargo xtask fetch`");
    None
}

/// The same for what only `cargo xtask fetch --deep` brings. Its absence is counted as skipped, by name, in CI too: the
/// deep tier is gigabytes.
pub fn need_deep(name: &str) -> Option<PathBuf> {
    let dir = directory(name);
    if !dir.is_dir() {
        log_skipped(name, "`cargo xtask fetch --deep` brings it");
        return None;
    }
    Some(dir)
}

/// Counts the running test as skipped for want of `what`; `advice` says where that comes from.
///
/// # Panics
/// With `CI=true`: a test must not pass by not running.
pub fn skip(what: &str, advice: &str) {
    let ci = env::var("CI").as_deref() == Ok("true");
    assert!(!ci, "{} needs {what}: {advice}", test());
    log_skipped(what, advice);
}

fn test() -> String {
    std::thread::current().name().unwrap_or("?").to_owned()
}

fn log_skipped(what: &str, advice: &str) {
    let test = test();
    eprintln!("SKIPPED {test}: {what} is not here; {advice}");
    if let Some(log) = env::var_os("WHICHKERNEL_SKIP_LOG")
        && let Ok(mut log) = fs::OpenOptions::new().create(true).append(true).open(log)
    {
        let _ = writeln!(log, "{test}\t{what}");
    }
}

/// Where an artifact lies once it is fetched.
pub fn directory(name: &str) -> PathBuf {
    let artifacts = cache().join("artifacts").join(name);
    if artifacts.is_dir() { artifacts } else { runtime_or(name, artifacts) }
}

fn runtime_or(name: &str, artifacts: PathBuf) -> PathBuf {
    let runtime = cache().join("runtimes").join(name);
    if runtime.is_dir() { runtime } else { artifacts }
}

/// Every file under a directory, in no particular order.
pub fn files(dir: &std::path::Path, found: &mut impl FnMut(&std::path::Path)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&path, found),
            Ok(kind) if kind.is_file() => found(&path),
            _ => {}
        }
    }
}
