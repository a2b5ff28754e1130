//! The list of artifacts.

use crate::cache;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Fetched by the test command and in CI.
    Quick,
    /// Fetched only for `cargo xtask deep`.
    Deep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the Python package index: a zip of binaries.
    Wheel,
    /// From the Rust crate registry: vendored sources.
    Crate,
    /// The upstream sources of a package from Debian sid.
    DebianSource,
    /// From Debian's sid: binary packages, unpacked. They are not installed, so nothing of the system changes.
    Debian,
    /// A tree created by `whichkernel runtime fetch`, with exactly these parts and targets.
    Runtime,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    pub package: String,
    /// For a runtime, only a word that distinguishes two runtimes of one suite, because the suite changes over time.
    #[serde(default)]
    pub version: String,
    pub tier: Tier,
    /// Patterns of the wanted files of a source package.
    #[serde(default)]
    pub keep: Vec<String>,
    #[serde(default)]
    pub parts: Vec<String>,
    #[serde(default)]
    pub targets: Vec<String>,
    /// For a runtime: packages whose archives are kept too, in `debs/`. For binary packages: their names.
    #[serde(default)]
    pub debs: Vec<String>,
    /// Paths that tests need: if one is missing, the fetch has failed.
    #[serde(default)]
    pub holds: Vec<String>,
    #[serde(skip, default = "wheel")]
    pub kind: Kind,
}

impl Artifact {
    /// A crate that no manifest declares: for comparisons over everything that a registry has.
    pub fn of_crate(package: &str, version: &str) -> Artifact {
        Artifact {
            package: package.to_owned(),
            version: version.to_owned(),
            tier: Tier::Deep,
            keep: Vec::new(),
            parts: Vec::new(),
            targets: Vec::new(),
            debs: Vec::new(),
            holds: Vec::new(),
            kind: Kind::Crate,
        }
    }

    pub fn name(&self) -> String {
        if self.version.is_empty() { self.package.clone() } else { format!("{}-{}", self.package, self.version) }
    }

    /// The artifact's directory, which contains nothing else. Runtimes are where the product looks for them.
    pub fn place(&self) -> PathBuf {
        self.place_in(&cache())
    }

    pub(crate) fn place_in(&self, cache: &Path) -> PathBuf {
        let room = if self.kind == Kind::Runtime { "runtimes" } else { "artifacts" };
        cache.join(room).join(self.name())
    }

    /// Whether it is complete and matches its current declaration: directories are moved into place by one rename.
    pub fn is_here(&self) -> bool {
        self.is_whole(&self.place())
    }

    pub(crate) fn is_whole(&self, place: &Path) -> bool {
        place.is_dir() && (self.kind != Kind::Runtime || fs::read_to_string(stamp(place)).ok() == Some(self.stamp()))
    }

    /// Records how a runtime's directory was fetched: parts and targets are not in its name.
    pub(crate) fn write_stamp(&self, dir: &Path) -> std::io::Result<()> {
        if self.kind == Kind::Runtime { fs::write(stamp(dir), self.stamp()) } else { Ok(()) }
    }

    fn stamp(&self) -> String {
        let list = |name: &str, list: &[String]| format!("{name}: {}\n", list.join(" "));
        [list("parts", &self.parts), list("targets", &self.targets), list("debs", &self.debs)].concat()
    }
}

fn stamp(dir: &Path) -> PathBuf {
    dir.join("declared")
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
    debian: Vec<Artifact>,
    runtime: Vec<Artifact>,
}

/// Every artifact of the committed manifest.
///
/// # Panics
/// When the committed manifest is broken, which its test would show first.
pub fn manifest() -> Vec<Artifact> {
    let file: File = toml::from_str(include_str!("../manifest.toml")).expect("dev/test-artifacts/manifest.toml");
    let of = |list: Vec<Artifact>, kind: Kind| list.into_iter().map(move |artifact| Artifact { kind, ..artifact });
    let registries = of(file.wheel, Kind::Wheel).chain(of(file.krate, Kind::Crate));
    let debian = of(file.debian_source, Kind::DebianSource).chain(of(file.debian, Kind::Debian));
    registries.chain(debian).chain(of(file.runtime, Kind::Runtime)).collect()
}
