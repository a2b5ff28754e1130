//! `dryrun`: the truth is the program's own arithmetic, the compiler's list of targets, or the requested number of
//! layers.

use super::{Bench, Case, Outcome};
use anyhow::Context;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

macro_rules! cases {
    ($($name:literal $quick:literal $run:expr;)*) => {
        pub const CASES: &[Case] = &[$(Case { observer: "dryrun", name: $name, quick: $quick, run: $run },)*];
    };
}

cases! {
    "dryrun: 1,000 launches" true |bench| launches(bench, "1000", "end", 1000);
    "dryrun: a program without launches" true |bench| launches(bench, "0", "end", 0);
    "dryrun: a program without HIP" true |bench| launches(bench, "0", "none", 0);
    "dryrun: launches of a forked child" true |bench| launches(bench, "70", "fork", 70);
    "dryrun: exit code 3 after 50 launches" true |bench| unfinished(bench, "fail", "failed");
    "dryrun: a crash after 50 launches" true |bench| unfinished(bench, "crash", "failed");
    "dryrun: killed after 50 launches" true |bench| unfinished(bench, "kill", "failed");
    "dryrun: a launch through a function that the stand-in lacks" true |bench| unfinished(bench, "old", "out-of-view");
    "dryrun: TERM to a server that shuts down normally" true |bench| told(bench, "handled", None);
    "dryrun: TERM to a program without a handler" true |bench| told(bench, "wait", Some("stopped"));
    "dryrun: a child with a cleared environment" false cleared;
    "dryrun: a disk that is full from the start" false |bench| small_disk(bench, 4, 8);
    "dryrun: a disk that fills up" false |bench| small_disk(bench, 8, 200_000);
    "dryrun: a program with code for the card" false |bench| own(bench, "gfx1100", &["gfx1100", "gfx906"], &[]);
    "dryrun: a program with code for two targets, with the card as the second" false |bench| own(bench, "gfx906", &["gfx1100", "gfx906"], &[]);
    "dryrun: a program with code for other cards" false |bench| own(bench, "gfx1030", &["gfx1100", "gfx906"], &[]);
    "dryrun: a program with compressed code for other cards" false
        |bench| own(bench, "gfx1030", &["gfx1100", "gfx906"], &["--offload-compress"]);
    "dryrun: a program with compressed code for the card" false
        |bench| own(bench, "gfx1030", &["gfx1030"], &["--offload-compress"]);
    "dryrun: a program with code for one of two cards" false two_cards;
    "dryrun: a library opened by its path, for the card" false |bench| opened(bench, "gfx1100", &[]);
    "dryrun: a library opened by its path, for another card" false |bench| opened(bench, "gfx906", &[]);
    "dryrun: a compressed library opened by its path, for another card" false
        |bench| opened(bench, "gfx906", &["--offload-compress"]);
    "dryrun: a code object for the card" false |bench| loaded(bench, "gfx1100");
    "dryrun: a code object for another card" false |bench| loaded(bench, "gfx906");
    "dryrun: the ledger names the file that contains the kernel" false filed;
    "dryrun: direct rocBLAS calls" false |bench| calls(bench, "rocblas", 7, None);
    "dryrun: direct hipBLAS calls" false |bench| calls(bench, "hipblas", 8, None);
    "dryrun: a rocBLAS call that is not a product" false |bench| calls(bench, "axpy", 7, Some("out-of-view"));
    "dryrun: a rocBLAS function that no version has" false |bench| calls(bench, "geam", 7, Some("failed"));
    "dryrun: none of 16 layers offloaded" false |bench| offloaded(bench, 0);
    "dryrun: 4 of 16 layers offloaded" false |bench| offloaded(bench, 4);
    "dryrun: 8 of 16 layers offloaded" false |bench| offloaded(bench, 8);
    "dryrun: all 16 layers offloaded" false |bench| offloaded(bench, 99);
    "dryrun: experts, Q4_K on an MI210" false |bench| experts(bench, "qwen3-30b-a3b", "Q4_K", "mi210");
    "dryrun: experts, F16" false |bench| experts(bench, "qwen3-30b-a3b", "F16", "gfx1100");
    "dryrun: experts after a dense layer" false |bench| experts(bench, "deepseek-r1", "Q4_K", "mi210");
    "dryrun: a map of DeepSeek with two layers" false two_layers;
    "dryrun: Vulkan, 8 of 16 layers offloaded" false vulkan;
}

const SID: &str = "debian-sid";

fn cache() -> PathBuf {
    test_artifacts::cache()
}

fn missing(runtime: &str) -> Option<Outcome> {
    let here = cache().join("runtimes").join(runtime).join("root").is_dir();
    (!here).then(|| Outcome::Skipped { why: format!("no runtime {runtime}: cargo xtask fetch") })
}

/// The command's answer as JSON, with its exit code.
fn dry(bench: &Bench, words: &[&str]) -> anyhow::Result<(Value, Option<i32>)> {
    let mut command = bench.command(["dryrun", "--format", "json"].iter().chain(words));
    let output = command.env("WHICHKERNEL_CACHE", cache()).output()?;
    let answer = serde_json::from_slice(&output.stdout);
    Ok((answer.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?, output.status.code()))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The reasons for the parts that the conclusion leaves out.
fn reasons(conclusion: &Value) -> BTreeSet<String> {
    let left = conclusion["left_out"].as_array().map(Vec::as_slice).unwrap_or_default();
    left.iter().map(|left| text(&left["why"])).collect()
}

/// Whether the conclusion says that there may be more launches, or others.
fn is_careful(conclusion: &Value) -> bool {
    let lost = conclusion["lost"].as_u64().unwrap_or(0) > 0;
    lost || !reasons(conclusion).is_empty() || ["alone", "unknown"].contains(&text(&conclusion["reach"]).as_str())
}

/// Compares a number of the answer with the truth.
fn judged(truth: u64, seen: u64, conclusion: &Value) -> Outcome {
    counted(truth, seen, "launches", conclusion)
}

fn counted(truth: u64, seen: u64, unit: &str, conclusion: &Value) -> Outcome {
    let said = format!("{seen} {unit} seen, with the reach \"{}\"", text(&conclusion["reach"]));
    let (same, truth) = (truth == seen, format!("{truth} {unit}"));
    match same {
        true => Outcome::Equal { truth },
        false if is_careful(conclusion) => Outcome::Said { truth, said },
        false => Outcome::Silent { truth, said },
    }
}

/// Something that the answer must contain.
fn must(truth: &str, holds: bool, said: impl ToString) -> Outcome {
    let truth = truth.to_owned();
    if holds { Outcome::Equal { truth } } else { Outcome::Silent { truth, said: said.to_string() } }
}

fn launched(answer: &Value) -> u64 {
    answer["verdict"]["reach"]["answered"].as_u64().unwrap_or(0)
}

/// A library of this name that accepts every call, for linking programs.
fn library(bench: &Bench, soname: &str) -> anyhow::Result<PathBuf> {
    let path = bench.dir.join(soname);
    let (name, part) = match soname {
        "librocblas.so.4" => ("-Wl,-soname,librocblas.so.4", "-DROCBLAS"),
        "libhipblas.so.2" => ("-Wl,-soname,libhipblas.so.2", "-DHIPBLAS"),
        _ => ("-Wl,-soname,libamdhip64.so.6", "-DHIP"),
    };
    bench.compile(soname, include_str!("../fixtures/runtime.c"), &["-shared", "-fPIC", "-w", part, name])?;
    Ok(path)
}

/// A C program linked with the runtime, and with nothing else of ROCm.
fn program(bench: &Bench, name: &str, source: &str, libraries: &[&str]) -> anyhow::Result<String> {
    let paths = libraries.iter().map(|soname| library(bench, soname)).collect::<anyhow::Result<Vec<_>>>()?;
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let mut flags = vec!["-w", "-ldl"];
    flags.extend(paths.iter().map(String::as_str));
    Ok(bench.compile(name, source, &flags)?.display().to_string())
}

const HIP: &str = "libamdhip64.so.6";

fn plain(bench: &Bench) -> anyhow::Result<String> {
    program(bench, "dry", include_str!("../fixtures/dry.c"), &[HIP])
}

fn launches(bench: &Bench, count: &str, how: &str, truth: u64) -> anyhow::Result<Outcome> {
    let (answer, _) = dry(bench, &["--gpu", "gfx1100", "--", &plain(bench)?, count, how])?;
    Ok(judged(truth, launched(&answer), &answer["verdict"]["reach"]))
}

/// Makes 50 launches, then an event that the conclusion must name.
fn unfinished(bench: &Bench, how: &str, why: &str) -> anyhow::Result<Outcome> {
    let (answer, _) = dry(bench, &["--gpu", "gfx1100", "--", &plain(bench)?, "50", how])?;
    let (reach, seen) = (&answer["verdict"]["reach"], launched(&answer));
    Ok(must(
        &format!("50 launches, and the conclusion says \"{why}\""),
        seen == 50 && reasons(reach).contains(why),
        reach,
    ))
}

/// The command is told to stop once the program has launched.
fn told(bench: &Bench, how: &str, why: Option<&str>) -> anyhow::Result<Outcome> {
    let program = plain(bench)?;
    let mut command = bench.command(["dryrun", "--format", "json", "--gpu", "gfx1100", "--", &program, "40", how]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(running.stderr.take().context("no standard error")?).lines();
    lines.by_ref().map_while(Result::ok).find(|line| line.contains("launched")).context("it launched nothing")?;
    Command::new("kill").args(["-TERM", &running.id().to_string()]).status()?;
    let rest = std::thread::spawn(move || lines.count());
    let mut answer = String::new();
    running.stdout.take().context("no standard output")?.read_to_string(&mut answer)?;
    running.wait()?;
    let _ = rest.join();
    let answer: Value = serde_json::from_str(&answer)?;
    let reach = &answer["verdict"]["reach"];
    let ends = BTreeSet::from(["failed".to_owned(), "stopped".to_owned()]);
    let said: BTreeSet<String> = reasons(reach).intersection(&ends).cloned().collect();
    let wanted: BTreeSet<String> = why.into_iter().map(str::to_owned).collect();
    let truth = match why {
        Some(why) => format!("40 launches, and the conclusion says \"{why}\""),
        None => "40 launches, and the run counts as ended".to_owned(),
    };
    Ok(must(&truth, launched(&answer) == 40 && said == wanted, reach))
}

/// The child finds the runtime that it was linked with, which accepts its 30 launches; the stand-in never sees them.
fn cleared(bench: &Bench) -> anyhow::Result<Outcome> {
    let program = plain(bench)?;
    let path = format!("LD_LIBRARY_PATH={}", bench.dir.display());
    let (answer, _) = dry(bench, &["--gpu", "gfx1100", "--", "env", "-i", &path, &program, "30"])?;
    Ok(judged(30, launched(&answer), &answer["verdict"]["reach"]))
}

/// A temporary directory with space for the stand-ins, but not for all records.
fn small_disk(bench: &Bench, megabytes: u32, count: u64) -> anyhow::Result<Outcome> {
    let (program, small) = (plain(bench)?, bench.dir.join("small"));
    std::fs::create_dir(&small)?;
    let size = format!("size={megabytes}m");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&small).status()?;
    if !mounted.success() {
        return Ok(Outcome::Skipped { why: "a file system of its own needs root".into() });
    }
    let count_text = count.to_string();
    let mut command = bench.command(["dryrun", "--format", "json", "--gpu", "gfx1100", "--", &program, &count_text]);
    let output = command.env("TMPDIR", &small).output();
    Command::new("umount").arg(&small).status()?;
    let output = output?;
    match serde_json::from_slice::<Value>(&output.stdout) {
        Ok(answer) => Ok(judged(count, launched(&answer), &answer["verdict"]["reach"])),
        Err(_) => Ok(Outcome::Refused { why: String::from_utf8_lossy(&output.stderr).trim().to_owned() }),
    }
}

fn clang() -> Option<PathBuf> {
    ["clang++-22", "clang++-21", "clang++-19"].iter().find_map(|name| sys::on_path(name.as_ref()))
}

/// Compiles the program with device code for these targets.
fn hip(bench: &Bench, name: &str, targets: &[&str], flags: &[&str]) -> anyhow::Result<Option<PathBuf>> {
    let Some(clang) = clang() else { return Ok(None) };
    let version = clang.to_string_lossy().rsplit('-').next().unwrap_or_default().to_owned();
    let (source, made) = (bench.dir.join("own.hip"), bench.dir.join(name));
    std::fs::write(&source, include_str!("../fixtures/own.hip"))?;
    let mut command = Command::new(&clang);
    command.args(["-x", "hip", "-O2", "-nogpuinc", "-nogpulib", "-no-hip-rt", "-fPIE"]).arg(&source).args(flags);
    command
        .arg(format!("-fuse-ld=lld-{version}"))
        .args(targets.iter().map(|target| format!("--offload-arch={target}")));
    command.arg("-Xlinker").arg(library(bench, HIP)?).arg("-o").arg(&made);
    let output = command.output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(made))
}

fn no_clang() -> anyhow::Result<Outcome> {
    Ok(Outcome::Skipped { why: "no clang++-22, -21 or -19".into() })
}

/// The launches that a card accepts: all eight if the program was compiled for it, otherwise none.
fn accepted(answer: &Value, card_is_compiled_for: bool) -> Outcome {
    let (reach, truth) = (&answer["verdict"]["reach"], if card_is_compiled_for { 8 } else { 0 });
    let seen = launched(answer);
    match judged(truth, seen, reach) {
        Outcome::Equal { truth } if !card_is_compiled_for => {
            must(&truth, reasons(reach).contains("refused"), format!("{seen} and {reach}"))
        }
        outcome => outcome,
    }
}

fn own(bench: &Bench, card: &str, targets: &[&str], flags: &[&str]) -> anyhow::Result<Outcome> {
    if let Some(skipped) = missing(SID) {
        return Ok(skipped);
    }
    let Some(program) = hip(bench, "own", targets, flags)? else { return no_clang() };
    let (answer, _) = dry(bench, &["--gpu", card, "--runtime", SID, "--", &program.display().to_string()])?;
    Ok(accepted(&answer, targets.contains(&card)))
}

/// The program has no code for the second card of the machine, and launches on that one.
fn two_cards(bench: &Bench) -> anyhow::Result<Outcome> {
    if let Some(skipped) = missing(SID) {
        return Ok(skipped);
    }
    let Some(program) = hip(bench, "own", &["gfx1100"], &[])? else { return no_clang() };
    let words = ["--gpu", "gfx1100,gfx1030", "--runtime", SID, "--", &program.display().to_string(), "1"];
    Ok(accepted(&dry(bench, &words)?.0, false))
}

/// A library in a directory that is not searched in advance.
fn opened(bench: &Bench, target: &str, flags: &[&str]) -> anyhow::Result<Outcome> {
    let hidden: Vec<&str> = ["-shared", "-fPIC"].iter().chain(flags).copied().collect();
    let Some(made) = hip(bench, "libown.so", &[target], &hidden)? else { return no_clang() };
    let place = bench.dir.join("elsewhere/deep");
    std::fs::create_dir_all(&place)?;
    let library = place.join("libown.so");
    std::fs::rename(made, &library)?;
    let program = program(bench, "image", include_str!("../fixtures/image.c"), &[HIP])?;
    let words = ["--gpu", "gfx1100", "--strict", "--", &program, "open", &library.display().to_string()];
    let answer = dry(bench, &words)?.0;
    Ok(match (target == "gfx1100", flags.is_empty()) {
        (_, true) => accepted(&answer, target == "gfx1100"),
        // The content of a compressed bundle is read after the run.
        (ours, false) => judged(if ours { 8 } else { 0 }, launched(&answer), &answer["verdict"]["reach"]),
    })
}

/// A code object without a bundle around it.
fn loaded(bench: &Bench, target: &str) -> anyhow::Result<Outcome> {
    let Some(clang) = clang() else { return no_clang() };
    let (source, object) = (bench.dir.join("own.hip"), bench.dir.join("own.co"));
    std::fs::write(&source, include_str!("../fixtures/own.hip"))?;
    let mut command = Command::new(clang);
    command.args(["-x", "hip", "-O2", "-nogpuinc", "-nogpulib", "--cuda-device-only", "--no-gpu-bundle-output"]);
    command.arg(format!("--offload-arch={target}")).arg(&source).arg("-o").arg(&object);
    let output = command.output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let program = program(bench, "image", include_str!("../fixtures/image.c"), &[HIP])?;
    let (answer, _) = dry(bench, &["--gpu", "gfx1100", "--", &program, "load", &object.display().to_string()])?;
    let truth = if target == "gfx1100" { 4 } else { 0 };
    Ok(match judged(truth, launched(&answer), &answer["verdict"]["reach"]) {
        Outcome::Said { truth, said } => Outcome::Silent { truth, said },
        outcome => outcome,
    })
}

fn filed(bench: &Bench) -> anyhow::Result<Outcome> {
    if let Some(skipped) = missing(SID) {
        return Ok(skipped);
    }
    let Some(program) = hip(bench, "own", &["gfx1100"], &[])? else { return no_clang() };
    dry(bench, &["--gpu", "gfx1100", "--runtime", SID, "--record", "--", &program.display().to_string()])?;
    let rows = bench.run(["ledger", "list"])?;
    let rows = String::from_utf8_lossy(&rows.stdout).into_owned();
    let row = rows.lines().find(|line| line.contains("name=scale")).unwrap_or_default();
    Ok(must("the ledger names the program", row.contains(" own (") && !row.contains("libggml"), row))
}

fn calls(bench: &Bench, how: &str, truth: u64, why: Option<&str>) -> anyhow::Result<Outcome> {
    let source = include_str!("../fixtures/calls.c");
    let program = program(bench, "calls", source, &[HIP, "librocblas.so.4", "libhipblas.so.2"])?;
    let (answer, _) = dry(bench, &["--gpu", "gfx1100", "--", &program, how])?;
    let blas = &answer["verdict"]["blas"];
    let found = blas["count"].as_u64().unwrap_or(0);
    let named = why.is_none_or(|why| reasons(&answer["verdict"]["reach"]).contains(why));
    Ok(match counted(truth, found, "BLAS calls", blas) {
        Outcome::Equal { truth } => must(&truth, named, &answer["verdict"]["reach"]),
        outcome => outcome,
    })
}

fn skeleton(bench: &Bench, shape: &str, kind: &str, layers: &str) -> anyhow::Result<String> {
    let path = bench.dir.join("model.gguf").display().to_string();
    let made = bench.run(["skeleton", shape, "--type", kind, "--layers", layers, "--no-words", "-o", &path])?;
    anyhow::ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Ok(path)
}

fn bench_words<'a>(model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["--", "llama-bench", "-m", model, "-p", "290", "-n", "2", "-r", "1", "--no-warmup", "-t", "1"];
    words.extend(more);
    words
}

/// Phases with the widths of their evaluations.
fn phases(answer: &Value) -> BTreeSet<(String, u64)> {
    let rows = answer["selected"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| (text(&row["phase"]), row["width"].as_u64().unwrap_or(0))).collect()
}

fn choices(conclusion: &Value) -> String {
    let list = conclusion["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(text).collect::<Vec<_>>().join(" | ")
}

/// The prompt has 290 columns and every token one, on CPU and GPU alike; with layers left on the CPU, tokens are computed there
/// too.
fn offloaded(bench: &Bench, layers: u32) -> anyhow::Result<Outcome> {
    if let Some(skipped) = missing(SID) {
        return Ok(skipped);
    }
    let (model, number) = (skeleton(bench, "llama-3.2-1b", "Q4_K", "16")?, layers.to_string());
    let words = bench_words(&model, &["-ngl", &number]);
    let (answer, _) = dry(bench, &[&["--gpu", "gfx1100", "--runtime", SID], words.as_slice()].concat())?;
    let found = phases(&answer);
    let known =
        |one: &(String, u64)| matches!((one.0.as_str(), one.1), ("prefill", 290) | ("decode", 1) | ("other", 0));
    let tokens = choices(&answer["verdict"]["tokens"]);
    let cpu = tokens.contains("CPU") == (layers < 16);
    let said = format!("{found:?}, tokens: {tokens}");
    Ok(must("a prompt of 290 columns and tokens of one column", found.iter().all(known) && cpu, said))
}

/// The verdict on prompts names BLAS exactly if BLAS was called, and every prefill has the width of the prompt.
fn experts(bench: &Bench, shape: &str, kind: &str, card: &str) -> anyhow::Result<Outcome> {
    if let Some(skipped) = missing(SID) {
        return Ok(skipped);
    }
    let model = skeleton(bench, shape, kind, "3")?;
    let words = bench_words(&model, &[]);
    let (answer, _) = dry(bench, &[&["--gpu", card, "--runtime", SID], words.as_slice()].concat())?;
    let widths = phases(&answer).into_iter().all(|(phase, width)| phase != "prefill" || width == 290);
    let calls = answer["verdict"]["blas"]["count"].as_u64().unwrap_or(0);
    let prompts = choices(&answer["verdict"]["prompts"]);
    let said = format!("{prompts}, {calls} BLAS calls, {:?}", phases(&answer));
    Ok(must("products with 290 columns", widths && prompts.contains("BLAS") == (calls > 0), said))
}

/// 58 of DeepSeek's 61 layers have experts; in two layers only the last one has, at one column.
fn two_layers(bench: &Bench) -> anyhow::Result<Outcome> {
    if let Some(skipped) = missing(SID) {
        return Ok(skipped);
    }
    let words = ["--gpu", "gfx1100", "--runtime", SID, "--arch-of", "deepseek-r1", "--layers", "2", "--type", "Q4_K"];
    let (answer, _) = dry(bench, &[words.as_slice(), &["--columns", "64"]].concat())?;
    let reach = &answer["maps"][0]["reach"];
    Ok(must("the experts are reported as missing at 64 columns", reach.to_string().contains("ffn_down_exps"), reach))
}

fn vulkan(bench: &Bench) -> anyhow::Result<Outcome> {
    const RUNTIME: &str = "debian-sid-vulkan";
    if let Some(skipped) = missing(RUNTIME) {
        return Ok(skipped);
    }
    let model = skeleton(bench, "llama-3.2-1b", "Q4_K", "16")?;
    let words = bench_words(&model, &["-ngl", "8"]);
    let card = ["--backend", "vulkan", "--gpu", "gfx1201", "--runtime", RUNTIME];
    let (answer, _) = dry(bench, &[card.as_slice(), words.as_slice()].concat())?;
    let cpu = answer["products"]["elsewhere"]["CPU"].as_u64().unwrap_or(0);
    let second = answer["reach"]["accounts"].to_string().contains("graph-nodes") || is_careful(&answer["reach"]);
    Ok(must("products on the CPU, confirmed by a second source", cpu > 0 && second, &answer["reach"]))
}
