//! Python packages for testing the tool with real clients and engines: each in its own folder of the tests' cache.

use std::fs;
use std::process::Command;
use test_artifacts::cache;

/// Installs a package if it is missing: `python-NAME-VERSION`. If that fails, it is named, and its tests are skipped, or
/// fail with `CI=true`.
pub fn ensure(name: &str) {
    let place = cache().join(name);
    if place.is_dir() {
        return;
    }
    let package = name.trim_start_matches("python-").replacen('-', "==", 1);
    eprintln!("installing {package} for the tests");
    let aside = cache().join(format!("aside-{name}-{}", std::process::id()));
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target"]);
    let installed = pip.arg(&aside).arg(&package).status().is_ok_and(|status| status.success());
    // A single rename makes the installation complete or absent.
    if !installed || fs::rename(&aside, &place).is_err() {
        let _ = fs::remove_dir_all(&aside);
        eprintln!("missing {package} (its tests are skipped): python3 -m pip install {package}");
    }
}
