//! The release build, without any path of the build directory in it.

use super::release::{Release, TARGET};
use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

pub fn top() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Builds the program from a clean tree and returns its path.
pub fn build(release: &Release) -> anyhow::Result<PathBuf> {
    ensure!(
        !release.has_changes,
        "the tree has changes: commit them, or package a finished program with --binary FILE"
    );
    let target = top().join("target/dist/build");
    let cargo_home = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => env::home_dir().context("no home directory")?.join(".cargo"),
    };
    let prefixes = [(cargo_home, "cargo"), (target.clone(), "target"), (top(), "whichkernel")];
    let flags = |option: &str, separator: &str| {
        let each = prefixes.iter().map(|(from, to)| format!("{option}={}=/{to}", from.display()));
        each.collect::<Vec<_>>().join(separator)
    };
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--package", "whichkernel", "--target", TARGET, "--target-dir"])
        .arg(&target)
        .current_dir(top())
        .env("CARGO_ENCODED_RUSTFLAGS", flags("--remap-path-prefix", "\x1f"))
        .env("CFLAGS", format!("{} {}", configured_cflags()?, flags("-ffile-prefix-map", " ")))
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .env("WHICHKERNEL_BUILD", release.build())
        .status()?;
    ensure!(status.success(), "cargo build failed");
    Ok(target.join(TARGET).join("release/whichkernel"))
}

/// An environment variable replaces the value in `.cargo/config.toml`, so both are combined.
fn configured_cflags() -> anyhow::Result<String> {
    let config = fs::read_to_string(top().join(".cargo/config.toml"))?;
    let line =
        config.lines().find_map(|line| line.strip_prefix("CFLAGS = \"")).context(".cargo/config.toml: no CFLAGS")?;
    Ok(line.trim_end_matches('"').to_owned())
}
