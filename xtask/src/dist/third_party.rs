//! Third-party libraries that are compiled into the program, with their licences.

use super::release::{Release, output};
use anyhow::{Context as _, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub struct Component {
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub licence: String,
    pub repository: String,
    /// The hash of the archive on crates.io.
    pub sha256: Option<String>,
    /// The library's licence texts, by file name.
    pub texts: Vec<(String, String)>,
}

/// Crates without a licence text in their archive, and under no licence whose text is available here: their copyright
/// line.
const COPYRIGHT: [(&str, &str); 1] = [("iced-x86", "Copyright (C) 2018-present iced project and contributors")];

/// Sorted by name and version.
pub fn components(release: &Release) -> anyhow::Result<Vec<Component>> {
    let linked = linked(release.target)?;
    let sums = checksums()?;
    let mut all = Vec::new();
    for package in release.metadata["packages"].as_array().into_iter().flatten() {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let key = (text("name"), text("version"));
        // A package without a source is our own.
        if package["source"].is_null() || !linked.contains(&key) {
            continue;
        }
        let (name, version) = key.clone();
        let licence = text("license").replace('/', " OR ");
        let manifest = PathBuf::from(text("manifest_path"));
        let texts = texts(manifest.parent().context("a manifest in a directory")?, &name, &licence)?;
        all.push(Component {
            name,
            version,
            licence,
            repository: text("repository"),
            sha256: sums.get(&key).cloned(),
            texts,
        });
    }
    all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(all)
}

/// Name and version of every package that the program links. `cargo metadata` merges the features of the whole
/// workspace; `cargo tree` does not.
fn linked(target: &str) -> anyhow::Result<BTreeSet<(String, String)>> {
    let edges = ["--edges", "normal,no-proc-macro", "--target", target];
    let tree =
        output("cargo", &[&["tree", "--locked", "--package", "whichkernel", "--prefix", "none"], &edges[..]].concat())?;
    let mut found = BTreeSet::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next().and_then(|word| word.strip_prefix('v'))) else {
            bail!("cargo tree printed {line:?}");
        };
        found.insert((name.to_owned(), version.to_owned()));
    }
    Ok(found)
}

fn checksums() -> anyhow::Result<BTreeMap<(String, String), String>> {
    let lock = fs::read_to_string(super::build::top().join("Cargo.lock"))?;
    let value = |part: &str, key: &str| {
        let line = part.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|rest| rest.trim_end_matches('"').to_owned())
    };
    let parts = lock.split("[[package]]").skip(1);
    Ok(parts
        .filter_map(|part| Some(((value(part, "name")?, value(part, "version")?), value(part, "checksum")?)))
        .collect())
}

/// The licence files of a crate's archive, including those of a bundled C library one directory below.
fn texts(dir: &Path, name: &str, licence: &str) -> anyhow::Result<Vec<(String, String)>> {
    const STARTS: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];
    let mut found = Vec::new();
    let mut open = vec![(dir.to_owned(), String::new())];
    while let Some((dir, before)) = open.pop() {
        for entry in fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
            let path = entry?.path();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && before.is_empty() {
                open.push((path, format!("{file}/")));
            } else if path.is_file() && STARTS.iter().any(|start| file.to_lowercase().starts_with(start)) {
                found.push((format!("{before}{file}"), String::from_utf8_lossy(&fs::read(&path)?).into_owned()));
            }
        }
    }
    if found.is_empty() {
        found.push(absent(name, licence)?);
    }
    found.sort();
    Ok(found)
}

fn absent(name: &str, licence: &str) -> anyhow::Result<(String, String)> {
    let ours = |file: &str| fs::read_to_string(super::build::top().join(file));
    if licence.split(" OR ").any(|one| one == "Apache-2.0") {
        return Ok(("Apache-2.0".into(), ours("LICENSE-APACHE")?));
    }
    let line = COPYRIGHT.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, line)| *line);
    match line {
        Some(line) if licence == "MIT" => {
            Ok(("MIT".into(), ours("LICENSE-MIT")?.replace("Copyright (c) 2026 The whichkernel authors", line)))
        }
        _ => {
            bail!("{name} ({licence}) brings no licence text: add its line of copyright to COPYRIGHT in third_party.rs")
        }
    }
}
