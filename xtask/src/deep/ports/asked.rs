//! The questions, and the files that they are about: answers of every command that works on other systems, and commands that don't.

use super::{Asked, Expected};
use crate::dist::build::top;
use anyhow::{Context as _, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The directory of the generated files inside the root; outside, it is below the results of the builds.
pub const INSIDE: &str = "/target/asked";

/// A clone with two releases of real trees, a ledger of the first format, recorded servers and models.
pub fn prepare(dir: &Path) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir)?;
    let copy = |from: &Path, to: &str| -> anyhow::Result<()> {
        done(Command::new("cp").arg("-r").arg(from).arg(dir.join(to)))
    };
    copy(&top().join("crates/ledger/tests/data/format-1/ledger"), "ledger")?;
    copy(&top().join("crates/ledger/tests/data/format-1/archive.json"), "archive.json")?;
    copy(&top().join("crates/probe/tests/recorded"), "recorded")?;
    let clone = dir.join("clone");
    for (release, artifact) in [("b5000", OLDER), ("b9000", NEWER)] {
        let tree = test_artifacts::need(artifact).with_context(|| format!("{artifact} is not in the cache"))?;
        let _ = fs::remove_dir_all(clone.join("ggml"));
        fs::create_dir_all(&clone)?;
        done(Command::new("cp").arg("-r").arg(tree.join("llama.cpp/.")).arg(&clone))?;
        for words in [
            ["init", "--quiet", "--initial-branch=main", "."].as_slice(),
            &["add", "--all"],
            &["-c", "user.name=w", "-c", "user.email=w@w", "commit", "--quiet", "--message", release],
            &["tag", release],
        ] {
            let mut git = Command::new("git");
            git.args(words).current_dir(&clone).env("GIT_CONFIG_GLOBAL", "/dev/null");
            // The same commits in every run.
            git.env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z").env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
            done(&mut git)?;
        }
    }
    Ok(())
}

const OLDER: &str = "llama-cpp-sys-2-0.1.39";
const NEWER: &str = "llama-cpp-sys-4-0.11.0";

fn done(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

pub fn questions() -> Vec<Asked> {
    let mut all = Vec::new();
    let mut add = |group: &'static str, line: &str| {
        let words = line.split(' ').map(str::to_owned).collect();
        all.push(Asked { group, words, expected: Expected::Same, writes: None });
    };
    let cards = [
        "9070xt",
        "rx-7900-xtx",
        "mi300x",
        "rx-6800-xt",
        "gfx1151",
        "rtx-4090",
        "rtx-3090",
        "gfx90a",
        "sm_90",
        "rx-5700-xt",
    ];
    for (number, card) in cards.into_iter().enumerate() {
        for kind in ["Q4_K_M", "Q8_0", "F16", "Q6_K", "IQ4_XS"] {
            for (format, tokens) in [("json", "1"), ("text", "290"), ("csv", "9")] {
                let lang = if number % 2 == 0 { "en" } else { "ja" };
                add("explain", &format!("--lang {lang} explain {card} {kind} {tokens} --format {format}"));
            }
        }
    }
    for line in [
        "explain 9070xt Q4_K_M 290 0.12.6",
        "explain MMVQ",
        "explain --terms",
        "explain --choices",
        "explain 9070xtt Q4_K 1",
        "explain 9070xt Q4_K 0",
    ] {
        add("explain", line);
    }
    for file in files() {
        for options in ["", " --format json", " --kernels --format csv", " --has-target gfx1201"] {
            add("inspect", &format!("inspect {file}{options}"));
        }
        for options in ["", " --format json", " --by kernel --format csv"] {
            add("isa", &format!("isa {file}{options}"));
        }
    }
    add("inspect", "inspect no-such-file");
    let source = format!("artifacts/{NEWER}");
    add("source", &format!("source {source} --gpu rx-9070-xt --type Q4_K"));
    add("source", &format!("source {source} --gpu gfx90a --type Q8_0 --format json"));
    add("diff", &format!("diff {source} artifacts/{OLDER} --gpu rx-9070-xt --type Q4_K"));
    add("diff", &format!("diff {source} artifacts/{OLDER} --gpu rx-9070-xt --type Q4_K --format json"));
    add("skeleton", "skeleton --list");
    for server in ["llama-server-0.7.0", "ollama-0.9.3"] {
        add("probe", &format!("probe --replay {INSIDE}/recorded/{server}"));
        add("probe", &format!("--lang ja probe --replay {INSIDE}/recorded/{server} --format json"));
    }
    let ledger = format!("--ledger {INSIDE}/ledger");
    for line in ["ledger list", "ledger show 1", "ledger verify", "ledger verify --format json", "ledger export"] {
        add("ledger", &format!("{ledger} {line}"));
    }
    add("check", &format!("{ledger} check field-notes"));
    add("check", &format!("{ledger} check field-notes --format json"));
    add("schema", "schema");
    add("completions", "completions bash");
    let mut write = |group: &'static str, file: &'static str, line: &str| {
        let words = line.split(' ').map(str::to_owned).collect();
        all.push(Asked { group, words, expected: Expected::Same, writes: Some(file) });
    };
    // The file is compared instead of the output.
    write("skeleton", "model.gguf", "skeleton llama-3.1-8b --type Q4_K_M --layers 1 -o {}/model.gguf");
    write("inspect", "", "inspect {}/model.gguf --gpu 9070xt");
    write("why --model", "", "why --model {}/model.gguf --gpu 9070xt --format json");
    write("why --model", "", "--lang ja why --model {}/model.gguf --gpu 9070xt");
    write("ledger", "", &format!("--ledger {{}}/imported ledger import {INSIDE}/archive.json"));
    write("report", "report", &format!("{ledger} report field-notes --out {{}}/report"));
    write("man", "man", "man {}/man");
    for (group, writes, line) in [
        ("history", None, "history CLONE --gpu rx-9070-xt --type Q4_K"),
        ("history", None, "history CLONE --gpu rx-9070-xt --type Q4_K --format json"),
        ("atlas", Some("atlas"), "atlas CLONE --out {}/atlas --gpu rx-9070-xt --type Q4_K"),
    ] {
        let words = line.split(' ').map(|word| word.replace("CLONE", &format!("{INSIDE}/clone"))).collect();
        all.push(Asked { group, words, expected: Expected::SameByGit, writes });
    }
    for (line, windows_only) in [
        ("doctor", true),
        ("runtime list", true),
        ("investigate", true),
        ("mcp", true),
        ("probe", true),
        ("why", true),
        ("inspect 1", true),
        ("report --serve", true),
        ("watch --how logs --pid 1", true),
        ("dryrun --gpu 9070xt -- true", false),
        ("watch --pid 1", false),
        ("probe http://127.0.0.1:1 --watch", false),
    ] {
        let words = line.split(' ').map(str::to_owned).collect();
        let expected = if windows_only { Expected::RefusedOnWindows } else { Expected::Refused };
        all.push(Asked { group: "refused with a reason", words, expected, writes: None });
    }
    all
}

/// Real files with device code, in the tests' cache: two of each artifact that has any.
fn files() -> Vec<String> {
    let cache = test_artifacts::cache();
    let mut found = Vec::new();
    for name in ["bitsandbytes-0.49.2", "bitsandbytes-0.50.2", "amd-aiter-0.1.7.post2.dev18", "rocblas-sid"] {
        let Some(dir) = test_artifacts::need(name) else { continue };
        let (with_code, _) = runtime::inputs::device_files(&dir);
        let small = with_code.iter().filter(|path| fs::metadata(path).is_ok_and(|meta| meta.len() < 64 << 20));
        found.extend(small.take(2).filter_map(|path| Some(path.strip_prefix(&cache).ok()?.display().to_string())));
    }
    found
}
