//! Debian's llama-bench on the stand-in GPU, run under each observer: the stand-in's own record is the truth.

use super::Options;
use super::known::wait;
use super::table::{Memory, Tally, tallies};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(300);

pub fn run(options: &Options) -> anyhow::Result<bool> {
    let Some(tree) = test_artifacts::need("debian-sid") else {
        println!("skipped: llama-bench (debian-sid is not in the cache: cargo xtask fetch)");
        return Ok(true);
    };
    let home = tempfile::Builder::new().prefix("siege-llama-").tempdir()?;
    let model = home.path().join("model.gguf");
    let shape = gguf::known("qwen2-7b").context("a shape")?;
    let made = gguf::skeleton(&shape, gguf::TensorType::parse("Q4_K").context("a type")?, 2, true)?;
    std::fs::write(&model, &made.header)?;
    File::options().write(true).open(&model)?.set_len(made.file_size)?;
    let mut memory = Memory::open(&options.out.join("llama.jsonl"), &options.build()?)?;
    for how in ["uprobe", "preload"] {
        let name = format!("llama-bench | {how}, started");
        while options.wants(&name) && memory.count(&name) < options.runs {
            let at = |what: &str| home.path().join(what);
            let mut tool = Command::new(&options.tool);
            tool.args(["watch", "--how", how, "--format", "json", "--"]).arg(&options.tool);
            tool.args(["dryrun", "--gpu", "gfx1100", "--runtime"])
                .arg(tree.join("root"))
                .arg("--trace")
                .arg(at("truth"));
            tool.args(["--", "llama-bench", "-m"]).arg(&model).args(["-r", "2", "-t", "1", "-p", "12", "-n", "8"]);
            tool.env("LC_ALL", "C")
                .stdin(Stdio::null())
                .stdout(File::create(at("out"))?)
                .stderr(File::create(at("messages"))?);
            let ended = wait(&mut tool.spawn()?, PATIENCE)?;
            let truth = truth(&std::fs::read_to_string(at("truth")).unwrap_or_default());
            let report: Option<Value> = serde_json::from_slice(&std::fs::read(at("out"))?).ok();
            let messages = std::fs::read_to_string(at("messages")).unwrap_or_default();
            ensure!(!truth.is_empty(), "the stand-in recorded nothing: {messages}");
            let (verdict, word) = match (&report, ended.and_then(|status| status.code())) {
                (Some(report), Some(0)) => judge(report, &truth),
                (_, None) => ("broken", "no end in time".to_owned()),
                (_, Some(code)) => ("refused", format!("{code}: {}", messages.lines().last().unwrap_or_default())),
            };
            eprintln!("{name}: {verdict} {word}");
            let rung = report.as_ref().and_then(|report| report["rung"].as_str()).filter(|rung| *rung != "selected");
            let all: u64 = truth.values().sum();
            memory.add(&json!({"name": name, "verdict": verdict, "word": word, "harmed": Value::Null, "rung": rung, "truth": all}))?;
        }
    }
    let rows = tallies(memory.lines());
    let text = Tally::table(&rows);
    std::fs::write(options.out.join("llama.md"), &text)?;
    println!("{text}");
    Ok(rows.iter().all(|(_, row)| row.held()))
}

/// Accepted launches by kernel: the dry run's trace has a line for each, with graph replays expanded.
fn truth(trace: &str) -> BTreeMap<String, u64> {
    let mut out: BTreeMap<String, u64> = BTreeMap::new();
    let lines = trace.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in lines.filter(|line| line["status"] == 0) {
        if let Some(kernel) = line["kernel"].as_str() {
            *out.entry(kernel.to_owned()).or_default() += 1;
        }
    }
    out
}

/// As in `known::judge`: "late" does not cover replays.
fn judge(report: &Value, truth: &BTreeMap<String, u64>) -> (&'static str, String) {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for row in report["rows"].as_array().into_iter().flatten().filter(|row| row["family"] != "blas") {
        let name = row["mangled"].as_str().unwrap_or_default().to_owned();
        *seen.entry(name).or_default() += row["launches"].as_u64().unwrap_or(0);
    }
    let (all, was): (u64, u64) = (seen.values().sum(), truth.values().sum());
    if seen == *truth {
        return ("equal", String::new());
    }
    let word = format!("{all} of {was}, lost {}, unknown replays {}", report["lost"], report["unknown_replays"]);
    let number = report["lost"].as_u64() != Some(0) || report["unknown_replays"].as_u64() != Some(0);
    let graphs = report["gaps"].as_array().into_iter().flatten().any(|gap| gap.to_string().contains("graph"));
    let unnamed = all == was && report["unnamed"].as_u64() != Some(0);
    (if number || graphs || unnamed { "said" } else { "silent" }, word)
}
