//! Evaluates every version of the crates that vendor ggml: each is fetched by cargo, evaluated and deleted. Answers
//! stay in the cache, so an interrupted sweep continues where it stopped.

use super::survey;
use anyhow::{Context, bail};
use source::{Row, Tree};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use test_artifacts::Artifact;

const CRATES: &[&str] = &["llama_cpp_sys", "llama-cpp-sys-2", "llama-cpp-sys-3", "llama-cpp-sys-4", "whisper-rs-sys"];
/// From this date on, every K-quant must be decided.
const SINCE: &str = "2024-06";

/// The table, and whether every K-quant is settled in every version from 2024-06 on.
pub fn run() -> anyhow::Result<(String, bool)> {
    let kept = test_artifacts::cache().join("deep/source/crates");
    fs::create_dir_all(&kept)?;
    let mut page =
        "| crate | published | ggml | rows | undetermined | of K-quants |\n|---|---|---|---:|---:|---:|\n".to_owned();
    let mut settled = true;
    for package in CRATES {
        for (version, published) in versions(package)? {
            let file = kept.join(format!("{package}-{version}.txt"));
            let line = match fs::read_to_string(&file) {
                Ok(line) => line,
                Err(_) => {
                    let line = evaluate(package, &version)?;
                    fs::write(&file, &line)?;
                    line
                }
            };
            let open = line.split(" | ").nth(3).and_then(|open| open.trim().parse::<usize>().ok());
            let day = published.get(..10).unwrap_or_default();
            settled &= day < SINCE || open.is_none_or(|open| open == 0);
            eprintln!("{package} {version}: {line}");
            let _ = writeln!(page, "| {package} {version} | {day} | {line} |");
        }
    }
    Ok((page, settled))
}

/// The versions that are not yanked, with their publication dates, from cargo's own copy of the index.
fn versions(package: &str) -> anyhow::Result<Vec<(String, String)>> {
    let output = Command::new("cargo").args(["info", "--quiet", package]).current_dir(env::temp_dir()).output()?;
    if !output.status.success() {
        bail!("cargo info {package}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let index = home.context("no home directory")?.join("registry/index");
    let (first, second) = (package.get(..2).unwrap_or_default(), package.get(2..4).unwrap_or_default());
    for registry in fs::read_dir(&index).with_context(|| index.display().to_string())?.flatten() {
        let file = registry.path().join(".cache").join(first).join(second).join(package);
        let Ok(bytes) = fs::read(&file) else { continue };
        // A header, then for each version its number and its line of the index, all terminated by NUL.
        let lines = bytes.split(|byte| *byte == 0).filter(|part| part.starts_with(b"{"));
        let entries = lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
        let text = |entry: &serde_json::Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        return Ok(entries
            .filter(|entry| entry["yanked"] != true)
            .map(|entry| (text(&entry, "vers"), text(&entry, "pubtime")))
            .collect());
    }
    bail!("cargo has no index entry of {package} under {}", index.display())
}

/// `ggml | rows | undetermined | of K-quants`, or the missing part.
fn evaluate(package: &str, version: &str) -> anyhow::Result<String> {
    let artifact = Artifact::of_crate(package, version);
    let there = artifact.is_here();
    let dir = test_artifacts::fetch(&artifact)?;
    let tree = Tree::open(&dir.display().to_string())?;
    let line = match survey(&tree) {
        Ok(survey) => {
            let rows = survey.rows();
            let open: Vec<&Row> = rows.iter().filter(|row| row.path.is_none()).collect();
            let of_k = open.iter().filter(|row| row.ty.ends_with("_K")).count();
            let mut absent = survey.backends.iter().filter_map(|backend| backend.rules.program.macros.absent.first());
            match absent.next().filter(|_| !open.is_empty()) {
                Some(file) => format!("{} | {file} is not in the crate | | ", ggml_version(&tree)),
                None => format!("{} | {} | {} | {of_k}", ggml_version(&tree), rows.len(), open.len()),
            }
        }
        Err(error) => format!("{} | {} | | ", ggml_version(&tree), first_sentence(&error.to_string(), &dir)),
    };
    if !there {
        fs::remove_dir_all(&dir)?;
    }
    Ok(line)
}

fn first_sentence(text: &str, dir: &Path) -> String {
    let text = text.replace(&dir.display().to_string(), "it");
    text.split(['.', ':']).next().unwrap_or_default().replace('|', "/")
}

/// The tree's own version: ggml's, if its build file has one (since 2025-08).
fn ggml_version(tree: &Tree) -> String {
    let Some(build) = tree.paths().find(|path| path.ends_with("ggml/CMakeLists.txt")) else { return String::new() };
    let text = tree.text(build).unwrap_or_else(|_| "".into());
    let part = |name: &str| {
        let line = text.lines().find(|line| line.contains(&format!("set({name} ")))?;
        Some(line.split_whitespace().nth(1)?.trim_end_matches(')').to_owned())
    };
    let parts = ["GGML_VERSION_MAJOR", "GGML_VERSION_MINOR", "GGML_VERSION_PATCH"].map(part);
    let known: Vec<String> = parts.into_iter().flatten().collect();
    known.join(".")
}
