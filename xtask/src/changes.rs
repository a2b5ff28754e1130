//! The list of the releases at which a path changed (`crates/source/tables/changes.json`), from an atlas.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use source::atlas::{Atlas, make, question};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let (repo, dir, since) = match args {
        [repo, dir] => (repo, dir, None),
        [repo, dir, flag, since] if flag == "--since" => (repo, dir, Some(since.as_str())),
        _ => bail!("cargo xtask changes REPO DIR [--since RELEASE]"),
    };
    let told = |release: &source::atlas::Release, fresh: bool, at: usize, of: usize| {
        if fresh {
            eprintln!("{} ({at} of {of})", release.name);
        }
    };
    let atlas = make(Path::new(repo), Path::new(dir), &question(&[], &[])?, since, told)?;
    if let Some(lost) = atlas.releases.iter().find(|release| release.unreadable.is_some()) {
        bail!("{} could not be read: begin after it, with --since", lost.name);
    }
    let mut all = site::releases(&atlas);
    // The embedded tables were evaluated once and checked: a target that contradicts one of them is left out.
    let doubtful = contradicting(&atlas);
    if let Some(cells) = all["cells"].as_object_mut() {
        cells.retain(|target, _| !doubtful.contains(target));
    }
    doubtful.iter().for_each(|target| println!("{target}: contradicts an embedded table, left out"));
    let part = |name: &str| all.get(name).cloned().with_context(|| name.to_owned());
    let releases: Vec<Value> = part("releases")?.as_array().cloned().unwrap_or_default();
    let release = |it: &Value| json!({"name": it["name"], "date": it["date"], "commit": it["commit"]});
    let releases: Vec<Value> = releases.iter().map(release).collect();
    let text = json!({"releases": releases, "plans": part("plans")?, "cells": part("cells")?}).to_string() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/source/tables/changes.json");
    std::fs::write(&path, &text)?;
    println!("{}: {} releases, {} bytes", path.display(), releases.len(), text.len());
    Ok(ExitCode::SUCCESS)
}

/// The targets with other paths in this atlas than in the embedded table of the same release.
fn contradicting(atlas: &Atlas) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for embedded in source::decision_table::all() {
        let Some(release) = atlas.releases.iter().find(|release| release.name == embedded.version) else { continue };
        let Some(table) = atlas.tables.iter().find(|table| table.version == release.table) else { continue };
        for (target, of) in &embedded.targets {
            if of.types.keys().any(|kind| embedded.stretches(target, kind) != table.stretches(target, kind)) {
                out.insert(target.clone());
            }
        }
    }
    out
}
