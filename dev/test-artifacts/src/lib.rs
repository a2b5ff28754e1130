//! Real files that the tests run on: declared in `manifest.toml`, fetched from the registries by their ordinary
//! clients, kept in a separate cache; and the only way for a test to report that it cannot run here.
//!
//! A test calls [`need`] or [`file`], and gets only what the manifest declares. If something is missing, the test
//! counts as skipped, with name and reason; with `CI=true` that is a failure. The same applies to rights ([`root`]) and
//! programs ([`program`]). `cargo xtask test` fetches first, and lists the skipped tests at the end.
#![forbid(unsafe_code)]

mod debian;
mod fetch;
mod manifest;
mod skip;
mod tmux;

pub use debian::mirror as debian_mirror;
pub use fetch::{FetchError, fetch, settle};
pub use manifest::{Artifact, Kind, Tier, manifest};
pub use skip::{LOG, program, root, skip};
pub use tmux::Tmux;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// A client of the Model Context Protocol with all that it needs, below [`cache`]; `cargo xtask test` installs it.
pub const MCP_CLIENT: &str = "python-mcp-2.3.0";
/// DuckDB for Python.
pub const DUCKDB: &str = "python-duckdb-2.0.0";
/// Spark for Python, which needs Java; `cargo xtask deep fleet` installs it.
pub const SPARK: &str = "python-pyspark-4.3.0";

/// A Python package below [`cache`]; None, and a skipped test, if it is missing.
pub fn python(name: &str) -> Option<PathBuf> {
    let place = cache().join(name);
    if !place.is_dir() {
        skip(name, "`cargo xtask test` or `cargo xtask deep` installs it");
        return None;
    }
    Some(place)
}

/// `$WHICHKERNEL_TEST_CACHE`, else `whichkernel-tests` in the user's cache directory: never the product's own cache,
/// which may contain anything. `.cargo/runner` sets it for tests, also as the product's cache.
pub fn cache() -> PathBuf {
    if let Some(dir) = env::var_os("WHICHKERNEL_TEST_CACHE") {
        return PathBuf::from(dir);
    }
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")));
    base.unwrap_or_else(env::temp_dir).join("whichkernel-tests")
}

/// The directory of an artifact that the ordinary tests may ask for: `package-version`, or a runtime's name.
///
/// # Panics
/// If the manifest does not declare it, or declares it only for the deep comparisons; with `CI=true` also if it is
/// missing.
pub fn need(name: &str) -> Option<PathBuf> {
    let artifact = declared(name);
    assert!(
        artifact.tier == Tier::Quick,
        "{name} is declared for `cargo xtask deep` alone: no ordinary test may ask for it"
    );
    here(&artifact, "cargo xtask fetch")
}

/// Like [`need`], for tests that only `cargo xtask deep` runs.
///
/// # Panics
/// If the manifest does not declare it; with `CI=true` also if it is missing.
pub fn need_deep(name: &str) -> Option<PathBuf> {
    here(&declared(name), "cargo xtask fetch --deep")
}

/// One file or directory of an artifact.
///
/// # Panics
/// If the artifact exists but does not contain the file; otherwise as [`need`].
pub fn file(name: &str, path: &str) -> Option<PathBuf> {
    let file = need(name)?.join(path);
    assert!(file.exists(), "{name} holds no {path}: what dev/test-artifacts/manifest.toml declares does not bring it");
    Some(file)
}

fn declared(name: &str) -> Artifact {
    let found = manifest().into_iter().find(|artifact| artifact.name() == name);
    found.unwrap_or_else(|| panic!("{name} is not declared in dev/test-artifacts/manifest.toml"))
}

fn here(artifact: &Artifact, fetch: &str) -> Option<PathBuf> {
    if !artifact.is_here() {
        skip(&artifact.name(), &format!("`{fetch}` brings it"));
        return None;
    }
    Some(artifact.place())
}

/// The path of a fetched artifact.
pub fn directory(name: &str) -> PathBuf {
    let found = manifest().into_iter().find(|artifact| artifact.name() == name);
    found.map_or_else(|| cache().join("artifacts").join(name), |artifact| artifact.place())
}

/// Every file under a directory, in no particular order.
pub fn files(dir: &Path, found: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&path, found),
            Ok(kind) if kind.is_file() => found(&path),
            _ => {}
        }
    }
}

/// The program in its own process namespace, so that it sees no processes (and no servers) of concurrent tests. Without
/// root it sees them all.
pub fn alone(program: &str) -> Command {
    const APART: [&str; 4] = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    let try_it = || Command::new("unshare").args(APART).arg("true").output().is_ok_and(|done| done.status.success());
    if !*POSSIBLE.get_or_init(try_it) {
        return Command::new(program);
    }
    let mut command = Command::new("unshare");
    command.args(APART).arg("--").arg(program);
    command
}
