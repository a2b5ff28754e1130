//! `explain vllm`, tuning tables and Triton caches: the parts that need no vLLM. docs/measurements/vllm.md compares the
//! answers of a real vLLM with direct calls of its functions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn whichkernel(arguments: &[&str], path: Option<&Path>) -> Output {
    let program = env!("CARGO_BIN_EXE_whichkernel");
    let mut command = match path {
        // The command that starts a program apart is found on PATH too.
        Some(path) => {
            let mut command = Command::new(program);
            command.env("PATH", path);
            command
        }
        None => test_artifacts::alone(program),
    };
    command.args(arguments).env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8").output().expect("run")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models")
}

fn model(name: &str) -> String {
    models().join(name).display().to_string()
}

fn fails(arguments: &[&str], path: Option<&Path>, expected: &str) {
    let output = whichkernel(arguments, path);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(text.contains(expected), "{arguments:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn questions_that_cannot_be_asked_say_why() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let llama = model("llama-3.1-8b");
    let cut = at("cut.json", "{\"model_type\": \"lla");
    let list = at("list.json", "[1, 2]");
    let hostile = dir.path().join("a\u{1b}[31m\n; rm -rf $HOME").display().to_string();
    fails(&["explain", "vllm", &cut, "--gpu", "mi300x"], None, "cut.json");
    fails(&["explain", "vllm", &list, "--gpu", "mi300x"], None, "is not a JSON object");
    fails(&["explain", "vllm", &hostile, "--gpu", "mi300x"], None, "does not exist");
    let output = whichkernel(&["explain", "vllm", &hostile, "--gpu", "mi300x"], None);
    assert!(!said(&output).contains('\u{1b}'), "no escape sequence of a path reaches the terminal");
    fails(&["explain", "vllm", &llama, "--gpu", "nonsense"], None, "nonsense");
    fails(&["explain", "vllm", &llama, "--gpu", "h200"], None, "NVIDIA");
    fails(&["explain", "vllm", &llama, "--gpu", "mi300x", "--env", "NO_VALUE"], None, "NAME=VALUE");
    fails(&["explain", "vllm", &llama, "--gpu", "mi300x", "--with", "torch"], None, "torch cannot be declared");
    fails(&["explain", "vllm", &llama, "--gpu", "mi300x", "--with", "../x"], None, "cannot be declared");
    // No Python on PATH, and a folder that is not a Python environment.
    fails(&["explain", "vllm", &llama, "--gpu", "mi300x"], Some(dir.path()), "python3 cannot be run");
    let folder = dir.path().display().to_string();
    fails(&["explain", "vllm", &llama, "--gpu", "mi300x", "--runtime", &folder], None, "cannot be run");
}

#[test]
fn a_python_without_torch_or_vllm_is_named() {
    let Some(python) = ["/usr/bin/python3", "/usr/local/bin/python3"].iter().find(|path| Path::new(path).exists())
    else {
        test_artifacts::skip("python3", "apt install python3");
        return;
    };
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("bin")).expect("made");
    std::os::unix::fs::symlink(python, dir.path().join("bin/python")).expect("linked");
    let folder = dir.path().display().to_string();
    let output =
        whichkernel(&["explain", "vllm", &model("mixtral-8x7b"), "--gpu", "mi300x", "--runtime", &folder], None);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("has no usable torch") || text.contains("has no vLLM"), "{text}");
}

/// The tables of one folder: vLLM's for an MI300X and another card, AITER's for gfx942 and gfx950.
fn tables(dir: &Path) {
    let moe = "E=256,N=256,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json";
    fs::create_dir_all(dir.join("vllm/platforms")).expect("made");
    fs::write(dir.join("vllm/platforms/rocm.py"), "NAMES = {\n    \"0x74a1\": \"AMD_Instinct_MI300X\",\n}\n")
        .expect("written");
    fs::write(dir.join(moe), "{\"1\": {}, \"64\": {}, \"triton_version\": \"3.4.0\"}").expect("written");
    let linear = "N=7168,K=256,device_name=AMD_Instinct_MI325X,dtype=fp8_w8a8,block_shape=[128,128].json";
    fs::write(dir.join(linear), "{\"1\": {}}").expect("written");
    let csv = "gfx,cu_num,M,N,K,libtype\ngfx942,304,1,7168,2048,ck\ngfx942,304,512,7168,2048,ck\ngfx950,256,1,2112,7168,asm\n";
    fs::write(dir.join("a8w8_blockscale_tuned_gemm.csv"), csv).expect("written");
    fs::write(dir.join("a8w8_blockscale_untuned_gemm.csv"), "M,N,K\n1,2112,7168\n").expect("written");
}

#[test]
fn shapes_without_a_row_for_the_card_are_listed() {
    let dir = tempfile::tempdir().expect("a directory");
    tables(dir.path());
    let (folder, model) = (dir.path().display().to_string(), model("deepseek-v3"));
    let asked = ["inspect", &folder, "--gpu", "mi300x", "--model", &model, "--tp", "8", "--format", "json"];
    let output = whichkernel(&asked, None);
    assert!(output.status.success(), "{}", said(&output));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["device_name"], "AMD_Instinct_MI300X");
    assert_eq!(answer["device_name_known"], true);
    let row = |layer: &str, family: &str| {
        let rows = answer["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["layer"] == layer && row["family"] == family).cloned().unwrap_or_default()
    };
    let experts = row("experts", "vllm-moe");
    assert_eq!((&experts["verdict"], &experts["tokens"]), (&"tuned".into(), &serde_json::json!([1, 64])), "{answer}");
    assert_eq!(row("shared_experts.down_proj", "vllm-linear")["elsewhere"], serde_json::json!(["AMD_Instinct_MI325X"]));
    assert_eq!(row("o_proj", "a8w8_blockscale")["tokens"], serde_json::json!([1, 512]));
    let fused = row("fused_qkv_a_proj", "a8w8_blockscale");
    assert_eq!((&fused["verdict"], &fused["elsewhere"]), (&"other-cards".into(), &serde_json::json!(["gfx950:256"])));
    assert_eq!(row("q_b_proj", "a8w8_blockscale")["verdict"], "missing");
    let strict =
        whichkernel(&["inspect", &folder, "--gpu", "mi300x", "--model", &model, "--tp", "8", "--strict"], None);
    assert_eq!(strict.status.code(), Some(1), "{}", said(&strict));
}

#[test]
fn tables_that_cannot_be_judged_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = dir.path().display().to_string();
    let llama = model("llama-3.1-8b");
    fails(&["inspect", &folder, "--gpu", "mi300x", "--model", &llama], None, "has no tuning tables");
    tables(dir.path());
    fails(&["inspect", &folder, "--model", &llama], None, "needs --gpu");
    fails(
        &["inspect", &folder, "--gpu", "mi300x", "--model", &model("mixtral-8x7b"), "--tp", "7"],
        None,
        "not divisible",
    );
    let huge = dir.path().join("huge.json");
    let sizes = "{\"model_type\": \"llama\", \"hidden_size\": 99999999999999999999, \"num_attention_heads\": 1}";
    fs::write(&huge, sizes).expect("written");
    let huge = huge.display().to_string();
    fails(&["inspect", &folder, "--gpu", "mi300x", "--model", &huge], None, "hidden_size");
    // A damaged table is not a missing row.
    let moe = "E=256,N=256,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json";
    fs::write(dir.path().join(moe), "{").expect("written");
    let asked = ["inspect", &folder, "--gpu", "mi300x", "--model", &model("deepseek-v3"), "--tp", "8", "--strict"];
    let output = whichkernel(&asked, None);
    assert!(output.status.code() == Some(1) && said(&output).contains("Not readable"), "{}", said(&output));
}

#[test]
fn a_damaged_triton_cache_is_not_an_empty_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = dir.path().display().to_string();
    fails(&["inspect", &folder, "--fits", "mi300x"], None, "no compiled Triton kernels");
    fs::create_dir(dir.path().join("HASH")).expect("made");
    fs::write(dir.path().join("HASH/k.hsaco"), "no ELF").expect("written");
    let config = "{\"target\": {\"backend\": \"hip\", \"arch\": \"gfx942\", \"warp_size\": 64}, \"num_warps\": 4, \"shared\": 0}";
    fs::write(dir.path().join("HASH/k.json"), config).expect("written");
    let output = whichkernel(&["inspect", &folder], None);
    assert!(output.status.code() == Some(2) && said(&output).contains("k.hsaco"), "{}", said(&output));
    fs::write(dir.path().join("HASH/k.json"), "{\"target\": {\"backend\": \"hip\"}}").expect("written");
    let output = whichkernel(&["inspect", &folder], None);
    assert!(output.status.code() == Some(2) && said(&output).contains("warp_size"), "{}", said(&output));
}
