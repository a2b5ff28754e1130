//! `whichkernel skeleton`: models that Debian's real llama.cpp accepts in a dry run.

use serde_json::Value;
use std::io::Read;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.env_remove("HSA_OVERRIDE_GFX_VERSION").env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command.args(args).output().expect("it runs")
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Each shape with its usual mix of types, and a type that must be among the products of a prompt.
const MODELS: [(&str, &str, &str); 7] = [
    ("llama-3.1-8b", "Q4_K_M", "Q6_K"),
    ("gpt-oss-20b", "MXFP4_MOE", "MXFP4"),
    ("gemma-3-4b", "Q4_K_M", "Q4_K"),
    ("qwen1.5-moe-a2.7b", "Q4_K_M", "Q8_0"),
    ("qwen3-30b-a3b", "Q4_K_M", "Q6_K"),
    ("deepseek-v2-lite", "Q4_K_M", "Q4_K"),
    ("deepseek-r1", "Q4_K_M", "Q4_K"),
];

#[test]
fn the_real_program_takes_each_model() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    for (shape, mix, kind) in MODELS {
        let file = home.path().join(format!("{shape}.gguf")).display().to_string();
        let made = run(&["skeleton", shape, "--type", mix, "--no-words", "-o", &file, "--format", "json"]);
        assert_eq!(made.status.code(), Some(0), "{}", words(&made));
        let made = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &made.stdout);
        assert!(made["bytes_on_disk"].as_u64() < Some(1 << 20) && made["tensors"][kind].is_u64(), "{made}");
        let bench = ["llama-bench", "-m", &file, "-p", "12", "-n", "1", "-r", "1", "--no-warmup", "-t", "1"];
        let ask = ["dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--format", "json", "--"];
        let ran = run(&[&ask[..], &bench].concat());
        assert_eq!(ran.status.code(), Some(0), "{shape}: {}", words(&ran));
        let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &ran.stdout);
        assert_eq!(value["verdict"]["reach"]["reach"], "whole", "{shape}");
        let rows = value["selected"].as_array().expect("rows");
        let product = |row: &&Value| row["type"] == kind && row["phase"] == "prefill";
        assert!(rows.iter().any(|row| product(&row)), "{shape}: no product in {kind}");
        let experts = rows.iter().filter(|row| row["experts"] == true).count();
        let routed = shape.contains("moe") || shape.contains("a3b") || shape.contains("oss") || shape.contains("deep");
        assert_eq!(experts > 0, routed, "{shape}");
    }
}

/// The type that the real llama-quantize would give each tensor: `[ 1/ 76] output.weight - [...], type = f16, ... (q6_K)`.
fn quantized(model: &str, mix: &str) -> Vec<(String, String)> {
    let ask =
        ["dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--", "llama-quantize", "--dry-run", model, mix];
    let said = words(&run(&ask));
    let tensor = |line: &str| {
        let (_, rest) = line.strip_prefix('[')?.split_once(']')?;
        let (name, rest) = rest.split_once(" - [")?;
        let plain = rest.split_once("type =")?.1.trim_start().split(',').next()?;
        let new = rest.rsplit_once('(').and_then(|(_, end)| end.trim_end().strip_suffix(')'));
        Some((name.trim().to_owned(), new.unwrap_or(plain).to_ascii_uppercase()))
    };
    said.lines().filter_map(tensor).collect()
}

#[test]
fn a_mix_is_tensor_by_tensor_what_llama_quantize_makes() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let made = |shape: &str, mix: &str, layers: &str| {
        let file = home.path().join(format!("{shape}-{mix}.gguf"));
        let path = file.display().to_string();
        let output = run(&["skeleton", shape, "--type", mix, "--layers", layers, "--no-words", "-o", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        file
    };
    // The model has all its 80 layers, because the last layer has a separate rule.
    let models = MODELS.map(|(shape, mix, _)| (shape, mix, "9"));
    for (shape, mix, layers) in models.into_iter().chain([("llama-3-70b", "Q4_K_M", "0")]) {
        let plain = made(shape, "F16", layers).display().to_string();
        for mix in [mix, "Q3_K_M"] {
            let mut header = Vec::new();
            let file = std::fs::File::open(made(shape, mix, layers)).expect("a file");
            file.take(1 << 20).read_to_end(&mut header).expect("its beginning");
            let ours = gguf::Gguf::parse(&header).expect("a header");
            let theirs = quantized(&plain, mix);
            assert_eq!(theirs.len(), ours.tensors.len(), "{shape} {mix}");
            for (name, kind) in theirs {
                let tensor = ours.tensors.iter().find(|tensor| tensor.name == name).expect("a tensor of the same name");
                assert_eq!(tensor.kind.name(), kind, "{shape} {mix} {name}");
            }
        }
    }
}

#[test]
fn a_file_that_is_there_is_left_alone_and_an_unknown_shape_is_named() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("mine.gguf");
    std::fs::write(&file, "mine").expect("a file");
    let refused = run(&["skeleton", "llama-3.1-8b", "-o", &file.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
    let unknown = run(&["skeleton", "llama-9", "-o", "x.gguf"]);
    assert!(unknown.status.code() == Some(2) && words(&unknown).contains("llama-3.1-8b"), "{}", words(&unknown));
    assert!(words(&run(&["skeleton", "--list"])).contains("gpt-oss-20b"));
}
