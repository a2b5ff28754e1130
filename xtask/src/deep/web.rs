//! The web page against the command line: many questions, and the largest library in the cache, with times.

use anyhow::{Context as _, ensure};
use browser::Browser;
use serde_json::{Value, json};
use source::choices::choices;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so";
const TYPES: [&str; 6] = ["Q4_K_M", "Q8_0", "F16", "MXFP4", "IQ4_XS", "NVFP4"];
const TOKENS: [i64; 5] = [1, 8, 64, 290, 1024];

pub fn run() -> anyhow::Result<bool> {
    let out = std::env::current_dir()?.join("target/web/page");
    crate::web::run(&["--out".to_owned(), out.display().to_string()])?;
    let program = program()?;
    let mut browser = Browser::start();
    let mut rows = String::new();
    browser.open(&format!("file://{}/index.html#lang=en", out.display()));
    browser.until("document.body.dataset.answered === '1'");
    let first = browser.eval("document.body.dataset.milliseconds");
    writeln!(rows, "| first answer after opening the page | {} ms | |", word(&first))?;
    let (asked, wrong, median) = explain(&mut browser, &program, &out)?;
    writeln!(rows, "| {asked} answers of `explain` | {median} ms each (median) | {} |", verdict(wrong))?;
    let mut agreed = wrong == 0;
    if let Some(runtime) = test_artifacts::need_deep("debian-sid") {
        let file = runtime.join(LIBRARY);
        let size = file.metadata()?.len();
        for (what, time, memory, same) in library(&mut browser, &program, &out, &file)? {
            agreed &= same;
            writeln!(
                rows,
                "| {what} of libggml-hip.so ({size} bytes) | {time} ms, {memory} MiB of memory | {} |",
                verdict(usize::from(!same))
            )?;
        }
    }
    let text = format!(
        "# The web page compared with the command line\n\nWritten by `cargo xtask deep web` on {} in headless Chromium, opened from disk. \
         Equal means the same bytes as `--format json`. Memory is that of the WebAssembly module.\n\n| what | measured | result |\n|---|---|---|\n{rows}",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    std::fs::write("docs/measurements/web.md", text)?;
    Ok(agreed)
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn verdict(wrong: usize) -> String {
    if wrong == 0 { "equal".to_owned() } else { format!("{wrong} differ") }
}

/// This tree's program.
fn program() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    ensure!(
        Command::new(cargo).args(["build", "--quiet", "--package", "whichkernel"]).status()?.success(),
        "cargo build"
    );
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Ok(target.join("debug/whichkernel").canonicalize()?)
}

fn printed(program: &Path, dir: &Path, args: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(program);
    let done = command.current_dir(dir).args(args).args(["--format", "json"]).env("LANG", "C").output()?;
    Ok(String::from_utf8(done.stdout)?)
}

/// Compares every card and version, with types and counts in turn. Returns the number of questions, the number of
/// differences, and the median time.
fn explain(browser: &mut Browser, program: &Path, dir: &Path) -> anyhow::Result<(usize, usize, i64)> {
    let choices = choices();
    let (mut asked, mut wrong, mut times) = (0, 0, Vec::new());
    for card in choices.cards.iter().filter(|card| card.in_tables) {
        for version in &choices.versions {
            let (kind, tokens) = (TYPES[asked % TYPES.len()], TOKENS[asked % TOKENS.len()].to_string());
            let request =
                json!({"ask": "explain", "gpu": card.name, "type": kind, "tokens": tokens, "version": version.version});
            let script = format!(
                "(async () => {{ const t = performance.now(); const a = await wk.ask({request}); return [a.json, performance.now() - t]; }})()"
            );
            let answer = browser.eval(&script);
            let flags =
                ["explain", "--gpu", &card.name, "--type", kind, "--columns", &tokens, "--source", &version.version];
            let expected = printed(program, dir, &flags)?;
            if answer[0].as_str() != Some(&expected) {
                eprintln!("differs: {request}");
                wrong += 1;
            }
            times.push((answer[1].as_f64().unwrap_or_default() * 10.0) as i64);
            asked += 1;
        }
    }
    times.sort_unstable();
    Ok((asked, wrong, times.get(times.len() / 2).copied().unwrap_or_default() / 10))
}

/// The question, milliseconds, memory, and whether the bytes are the same.
fn library(
    browser: &mut Browser,
    program: &Path,
    page: &Path,
    file: &Path,
) -> anyhow::Result<Vec<(&'static str, String, u64, bool)>> {
    let (dir, name) = (file.parent().context("a folder")?, "libggml-hip.so");
    browser.open(&format!("file://{}/file.html#lang=en&card=rx-7900-xtx", page.display()));
    browser.until("document.body.dataset.ready === '1'");
    browser.choose("#choose", &[file]);
    for _ in 0..10 {
        // The answer may take longer than one wait.
        if browser.eval("document.body.dataset.shown === '1'") == json!(true) {
            break;
        }
        browser.eval("new Promise(done => setTimeout(done, 6000))");
    }
    let memory = |value: &Value| word(value).parse::<u64>().unwrap_or_default() >> 20;
    let time = word(&browser.eval("document.body.dataset.milliseconds"));
    let used = memory(&browser.eval("document.body.dataset.memory"));
    let mut rows = Vec::new();
    let asked = browser.eval("wk.ask({ask: 'serves', gpu: 'rx-7900-xtx'})");
    let same =
        asked["json"].as_str() == Some(&printed(program, dir, &["inspect", name, "--has-target", "rx-7900-xtx"])?);
    rows.push(("the inventory", time, used, same));
    for (what, request, flags) in [
        ("the kernels for gfx1100", "kernels", ["inspect", name, "--kernels", "--target", "gfx1100"].as_slice()),
        ("the instructions for gfx1100", "census", ["isa", name, "--target", "gfx1100"].as_slice()),
    ] {
        let script = format!(
            "(async () => {{ const t = performance.now(); const a = await wk.ask({{ask: '{request}', target: 'gfx1100'}}); return [a.json, Math.round(performance.now() - t), a.memory]; }})()"
        );
        let answer = browser.eval(&script);
        let same = answer[0].as_str() == Some(&printed(program, dir, flags)?);
        rows.push((what, word(&answer[1]), memory(&answer[2]), same));
    }
    Ok(rows)
}
