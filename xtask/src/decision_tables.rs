//! The decision tables that come with the program, extracted from the real sources by the program's own evaluator.
//!
//! `--check` extracts them again and compares; an unavailable source is named and skipped.

use anyhow::{Context, bail};
use source::Tree;
use source::decision_table::{DecisionTable, names, text};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let check = args.iter().any(|arg| arg == "--check");
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).map(PathBuf::from);
    let env = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let llama = value("--llama").or_else(|| env("WHICHKERNEL_LLAMA_REPO"));
    let ollama = value("--ollama").or_else(|| env("WHICHKERNEL_OLLAMA_REPO"));
    let only: Vec<&String> = args.iter().filter(|arg| names().any(|name| name == arg.as_str())).collect();
    let (mut differs, mut missing) = (0, 0);
    for name in names().filter(|name| only.is_empty() || only.iter().any(|only| only == name)) {
        let found = match name.split_once('-') {
            Some(("ollama", commit)) => ollama.as_deref().map(|repo| extract(repo, "ollama", commit, commit)),
            Some(("crate", artifact)) => {
                crate_tree(artifact).map(|(tree, version)| table(&tree, "llama.cpp", &version, artifact, ""))
            }
            _ => llama.as_deref().map(|repo| extract(repo, "llama.cpp", name, name)),
        };
        let Some(found) = found else {
            println!("{name}: its source is not at hand (--llama REPO, --ollama REPO)");
            missing += 1;
            continue;
        };
        let new = serde_json::to_string(&found.with_context(|| name.to_owned())?)? + "\n";
        if check {
            let same = text(name) == Some(new.as_str());
            println!("{name}: {}", if same { "same" } else { "differs" });
            differs += usize::from(!same);
        } else {
            let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/source/tables");
            let path = value("--out").unwrap_or(tables).join(format!("{name}.json"));
            std::fs::write(&path, &new)?;
            println!("{name}: {} bytes", new.len());
        }
    }
    if differs > 0 {
        bail!("{differs} tables differ from what the sources give; run without --check");
    }
    if missing > 0 {
        println!("{missing} not compared");
    }
    Ok(ExitCode::SUCCESS)
}

fn extract(repo: &Path, source: &str, version: &str, rev: &str) -> anyhow::Result<DecisionTable> {
    let tree = Tree::open(&format!("{}@{rev}", repo.display()))?;
    let commit = tree.commit.clone().unwrap_or_default();
    let out = Command::new("git")
        .arg("--git-dir")
        .arg(git_dir(repo))
        .args(["show", "-s", "--format=%cs", &commit])
        .output()?;
    let date = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    table(&tree, source, version, &commit, &date)
}

fn git_dir(repo: &Path) -> PathBuf {
    let dot = repo.join(".git");
    if dot.exists() { dot } else { repo.to_owned() }
}

/// A crate that vendors llama.cpp; its version is the ggml version that its build file states.
fn crate_tree(artifact: &str) -> Option<(Tree, String)> {
    let dir = test_artifacts::directory(artifact);
    let tree = Tree::open(&dir.display().to_string()).ok()?;
    let build = tree.paths().find(|path| path.ends_with("ggml/CMakeLists.txt"))?.to_owned();
    let text = tree.text(&build).ok()?;
    let part = |name: &str| {
        let line = text.lines().find(|line| line.contains(name))?;
        Some(line.split_whitespace().nth(1)?.trim_end_matches(')').to_owned())
    };
    let parts = ["GGML_VERSION_MAJOR", "GGML_VERSION_MINOR", "GGML_VERSION_PATCH"].map(part);
    let version: Vec<String> = parts.into_iter().flatten().collect();
    Some((tree, format!("ggml-{}", version.join("."))))
}

/// Computes the table that the atlas has for the release.
fn table(tree: &Tree, of: &str, version: &str, commit: &str, date: &str) -> anyhow::Result<DecisionTable> {
    let mut question = source::atlas::question(&[], &[])?;
    // The tables are embedded in the program, so they have to stay small.
    question.launch_shapes = false;
    Ok(source::atlas::table(tree, &question, of, version, commit, date)?)
}
