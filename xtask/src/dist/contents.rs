//! The contents of every package: the program, manual pages, completions, licences, notices, the list of components.

use super::release::Release;
use super::{build::top, notices, sbom, third_party};
use anyhow::{Context as _, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

pub struct Contents {
    pub binary: Vec<u8>,
    /// The manual pages by file name, sorted and not compressed.
    pub man: Vec<(String, Vec<u8>)>,
    /// The completions for bash, zsh and fish.
    pub completions: [Vec<u8>; 3],
    pub powershell: Vec<u8>,
    /// Licences, notices and documentation by file name, sorted.
    pub docs: Vec<(String, Vec<u8>)>,
}

/// A file of a package, relative to the root that it is installed in; a directory if its path ends with a slash.
pub struct Entry {
    pub path: String,
    pub mode: u32,
    pub bytes: Vec<u8>,
}

impl Entry {
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Entry {
        Entry { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    pub fn program(path: impl Into<String>, bytes: &[u8]) -> Entry {
        Entry { path: path.into(), mode: 0o755, bytes: bytes.to_vec() }
    }
}

impl Contents {
    /// `speaker`: a program of this release that runs here, and writes the manual pages and completions.
    pub fn collect(release: &Release, binary: &Path, speaker: &Path) -> anyhow::Result<Contents> {
        let bytes = fs::read(binary).with_context(|| binary.display().to_string())?;
        let binary = fs::canonicalize(speaker).with_context(|| speaker.display().to_string())?;
        let place = tempfile::tempdir()?;
        let pages = place.path().join("man");
        answered(&binary, &["man", &pages.display().to_string()], place.path())?;
        let shells = ["bash", "zsh", "fish", "powershell"];
        let [bash, zsh, fish, powershell] =
            shells.map(|shell| answered(&binary, &["completions", shell], place.path()));
        let components = third_party::components(release)?;
        let mut docs = vec![
            ("THIRD-PARTY.txt".to_owned(), notices::text(&components)?.into_bytes()),
            ("sbom.cdx.json".to_owned(), sbom::document(release, &components, &bytes)?),
        ];
        for name in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "README.ja.md", "README.md"] {
            docs.push((name.to_owned(), fs::read(top().join(name)).with_context(|| name)?));
        }
        docs.push(("LICENSE-LLVM".to_owned(), fs::read(top().join("crates/isa/LICENSE-LLVM"))?));
        docs.sort();
        let completions = [bash?, zsh?, fish?];
        Ok(Contents { binary: bytes, man: files(&pages)?, completions, powershell: powershell?, docs })
    }

    /// The layout below `usr`, as in distributions. `zsh` and `doc` differ between them.
    pub fn installed(&self, zsh: &str, doc: &str) -> anyhow::Result<Vec<Entry>> {
        let mut all = vec![Entry::program("usr/bin/whichkernel", &self.binary)];
        for (name, page) in &self.man {
            let page = super::compress::gzip(page, super::compress::Effort::Small)?;
            all.push(Entry::new(format!("usr/share/man/man1/{name}.gz"), page));
        }
        let [bash, zsh_script, fish] = &self.completions;
        all.push(Entry::new("usr/share/bash-completion/completions/whichkernel", bash.as_slice()));
        all.push(Entry::new(format!("{zsh}/_whichkernel"), zsh_script.as_slice()));
        all.push(Entry::new("usr/share/fish/vendor_completions.d/whichkernel.fish", fish.as_slice()));
        all.extend(self.docs.iter().map(|(name, text)| Entry::new(format!("{doc}/{name}"), text.as_slice())));
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }
}

/// Every directory above the entries, sorted.
pub fn directories(entries: &[Entry]) -> Vec<String> {
    let mut all: Vec<String> = entries
        .iter()
        .flat_map(|entry| Path::new(&entry.path).ancestors().skip(1))
        .map(|dir| dir.display().to_string())
        .filter(|dir| !dir.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The program's own output in English, independent of the user's settings.
fn answered(binary: &Path, args: &[&str], home: &Path) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::new(binary);
    command.args(["--lang", "en"]).args(args).env_clear().env("HOME", home).current_dir(home);
    let Output { status, stdout, stderr } = command.output().with_context(|| binary.display().to_string())?;
    ensure!(status.success(), "whichkernel {} failed: {}", args.join(" "), String::from_utf8_lossy(&stderr));
    Ok(stdout)
}

/// The files of a directory without its subdirectories, sorted by name.
pub fn files(dir: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push((name, fs::read(&path)?));
    }
    ensure!(!found.is_empty(), "{}: no file", dir.display());
    found.sort();
    Ok(found)
}
