//! Reports and counts tests that cannot run here.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::{env, fs, thread};

/// The environment variable with the path of the log that `cargo xtask test` reads: a line for each test that did not
/// run, with its program and the reason.
pub const LOG: &str = "WHICHKERNEL_SKIP_LOG";

/// Counts the running test as skipped because `what` is missing; `advice` says how to get it.
///
/// # Panics
/// With `CI=true`: a test must not pass by not running.
pub fn skip(what: &str, advice: &str) {
    let test = thread::current().name().unwrap_or("?").to_owned();
    let ci = env::var("CI").as_deref() == Ok("true");
    assert!(!ci, "{test} needs {what}: {advice}");
    eprintln!("SKIPPED {test}: needs {what}: {advice}");
    if let Some(path) = env::var_os(LOG)
        && let Ok(mut log) = fs::OpenOptions::new().create(true).append(true).open(path)
    {
        let program = env::args().next().unwrap_or_default();
        // A single write, because test programs run concurrently.
        let _ = log.write_all(format!("{program}\t{test}\t{what}\t{advice}\n").as_bytes());
    }
}

/// Whether the test runs as root, which it needs for `what`.
pub fn root(what: &str) -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !root {
        skip("root", what);
    }
    root
}

/// A program in PATH; `advice` says how to install it.
pub fn program(name: &str, advice: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&paths).map(|dir| dir.join(name)).find(|path| path.is_file());
    if found.is_none() {
        skip(name, advice);
    }
    found
}
