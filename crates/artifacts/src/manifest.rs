//! The list of artifacts.

use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Fetched by the test command and in CI.
    Quick,
    /// Only for `cargo xtask deep`.
    Deep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the Python package index: a zip of binaries.
    Wheel,
    /// From the Rust crate registry: vendored sources.
    Crate,
    /// From Debian's sid: the upstream sources of a package.
    DebianSource,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    pub package: String,
    pub version: String,
    pub tier: Tier,
    /// Of a source package: the patterns of the files that are wanted.
    #[serde(default)]
    pub keep: Vec<String>,
    #[serde(skip, default = "wheel")]
    pub kind: Kind,
}

impl Artifact {
    pub fn name(&self) -> String {
        format!("{}-{}", self.package, self.version)
    }
}

fn wheel() -> Kind {
    Kind::Wheel
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    wheel: Vec<Artifact>,
    #[serde(rename = "crate")]
    krate: Vec<Artifact>,
    #[serde(rename = "debian-source")]
    debian_source: Vec<Artifact>,
}

/// Every artifact of the committed manifest.
///
/// # Panics
/// When the committed manifest is broken, which its test would show first.
pub fn manifest() -> Vec<Artifact> {
    let file: File = toml::from_str(include_str!("../manifest.toml")).expect("crates/artifacts/manifest.toml");
    let crates = file.krate.into_iter().map(|artifact| Artifact { kind: Kind::Crate, ..artifact });
    let sources = file.debian_source.into_iter().map(|artifact| Artifact { kind: Kind::DebianSource, ..artifact });
    file.wheel.into_iter().chain(crates).chain(sources).collect()
}
