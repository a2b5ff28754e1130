//! The list of the releases at which a path changed (`crates/source/tables/changes.json`), from an atlas.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use source::atlas::{make, question};
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
    let all = site::releases(&atlas);
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
