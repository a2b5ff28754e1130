//! A real client of the Model Context Protocol for testing the tool: a Python package in the tests' cache.

use std::fs;
use std::process::Command;
use test_artifacts::{MCP_CLIENT, cache};

/// Installs it if it is missing. If that fails, it is named, and its test is skipped, or fails with `CI=true`.
pub fn ensure() {
    let place = cache().join(MCP_CLIENT);
    if place.is_dir() {
        return;
    }
    let package = MCP_CLIENT.trim_start_matches("python-").replacen('-', "==", 1);
    eprintln!("installing {package} for the tests");
    let aside = cache().join(format!("aside-{MCP_CLIENT}-{}", std::process::id()));
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target"]);
    let installed = pip.arg(&aside).arg(&package).status().is_ok_and(|status| status.success());
    // A single rename makes the installation complete or absent.
    if !installed || fs::rename(&aside, &place).is_err() {
        let _ = fs::remove_dir_all(&aside);
        eprintln!("missing {package} (the test with a real client is skipped): python3 -m pip install {package}");
    }
}
