//! The name and origin of this release: the common description for all packages and manifests.

use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, SystemTime};

pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A description of several lines, for package managers that show it.
pub const DESCRIPTION: &str = "\
whichkernel answers which GPU kernel a language model on Ollama or llama.cpp actually runs, and how certain that is: from the source's rules, \
the shipped libraries, and the launches of live processes. It works for AMD GPUs, and needs no GPU to explain a choice.";

pub struct Release {
    pub name: String,
    pub version: String,
    pub summary: String,
    pub licence: String,
    /// Empty until the project has a public repository: then no package contains an address.
    pub repository: String,
    pub commit: String,
    pub has_changes: bool,
    /// The target that its program is built for.
    pub target: &'static str,
    /// The time of the commit in seconds: SOURCE_DATE_EPOCH
    /// (<https://reproducible-builds.org/specs/source-date-epoch/>).
    pub epoch: u64,
    /// The output of `cargo metadata`: every package of the lock file.
    pub metadata: Value,
}

impl Release {
    pub fn of_this_tree(target: &'static str) -> anyhow::Result<Release> {
        let metadata: Value = serde_json::from_str(&output(
            "cargo",
            &["metadata", "--format-version=1", "--locked", "--filter-platform", target],
        )?)?;
        let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
        let own = packages.iter().find(|package| package["name"] == "whichkernel").context("no package whichkernel")?;
        let text = |field: &str| own[field].as_str().unwrap_or_default().to_owned();
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => output("git", &["log", "-1", "--format=%ct"])?,
        };
        Ok(Release {
            name: text("name"),
            version: text("version"),
            summary: text("description"),
            licence: text("license"),
            repository: text("repository"),
            commit: output("git", &["rev-parse", "--short=12", "HEAD"])?.trim().to_owned(),
            target,
            has_changes: !output("git", &["status", "--porcelain"])?.is_empty(),
            epoch: epoch.trim().parse().context("the time of the commit in seconds")?,
            metadata,
        })
    }

    /// The commit's time in RFC 3339.
    pub fn time(&self) -> String {
        sys::clock::rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(self.epoch))
    }

    pub fn date(&self) -> String {
        self.time().chars().take(10).collect()
    }

    /// The text that `whichkernel --version` prints after the version number.
    pub fn build(&self) -> String {
        format!("{} {} {}", self.commit, self.date(), self.target)
    }

    /// The download address of a release file, once there is a repository.
    pub fn address(&self, file: &str) -> String {
        format!("{}/releases/download/v{}/{file}", self.repository, self.version)
    }
}

/// The output of a developer program, run in this tree.
pub fn output(program: &str, args: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(args).current_dir(super::build::top()).output();
    let output = output.with_context(|| format!("{program} could not be started"))?;
    let wrong = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {} failed: {wrong}", args.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}
