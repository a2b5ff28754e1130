//! HIP and Vulkan side by side, by the whole command, on Debian's real packages.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn whichkernel(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel")).args(words).env("LC_ALL", "C").output().expect("a run")
}

fn runtimes() -> Option<(PathBuf, PathBuf)> {
    Some((test_artifacts::need("debian-sid")?, test_artifacts::need("debian-sid-vulkan")?))
}

fn kernels(product: &Value, side: &str) -> Vec<String> {
    let list = product[side].as_array().cloned().unwrap_or_default();
    list.iter().map(|of| of["kernel"].as_str().unwrap_or_default().to_owned()).collect()
}

fn count(product: &Value, side: &str, what: &str) -> u64 {
    let all = product[side].as_array().into_iter().flatten().filter_map(|of| of[what].as_object());
    all.flat_map(|of| of.values().filter_map(Value::as_u64).collect::<Vec<_>>()).sum()
}

/// For a prompt both sides use matrix instructions, for a token dot products; each is counted in the code that would
/// run.
#[test]
fn diff_rocm_vulkan_sets_both_kernels_of_a_card_side_by_side() {
    let Some((hip, vulkan)) = runtimes() else { return };
    let (rocm, vulkan) = (format!("rocm={}", hip.display()), format!("vulkan={}", vulkan.display()));
    let words =
        ["diff", &rocm, &vulkan, "--gpu", "gfx1100", "--type", "Q4_K", "--columns", "1,290", "--format", "json"];
    let done = whichkernel(&words);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "that they differ is no failure: {told}");
    let answer: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!((&answer["rung"], &answer["reach"]["says"]), (&"selected".into(), &"complete".into()), "{answer}");
    let [token, prompt] = answer["products"].as_array().map(Vec::as_slice).unwrap_or_default() else {
        panic!("{answer}")
    };
    assert!(kernels(token, "hip").iter().all(|name| name.starts_with("mul_mat_vec_q<Q4_K,1,")), "{token}");
    assert_eq!(kernels(token, "vulkan"), ["mul_mat_vec_q4_k_q8_1_f32"]);
    assert!(kernels(prompt, "hip").iter().all(|name| name.starts_with("mul_mat_q<Q4_K,")), "{prompt}");
    assert_eq!(kernels(prompt, "vulkan"), ["matmul_q4_k_q8_1_2"]);
    for side in ["hip", "vulkan"] {
        assert!(count(token, side, "dot") > 0 && count(token, side, "matrix") == 0, "{side}: {token}");
        assert!(count(prompt, side, "matrix") > 0, "{side}: {prompt}");
    }
}

/// One runtime with both backends: the two trees, linked into one.
fn both(hip: &Path, vulkan: &Path) -> Option<tempfile::TempDir> {
    let whole = tempfile::tempdir_in(hip.parent()?).ok()?;
    for tree in [hip, vulkan] {
        let linked =
            Command::new("cp").args(["-a", "-l", "-n"]).arg(tree.join("root")).arg(whole.path()).output().ok()?;
        // Older versions of cp exit with 1 if a file already exists.
        drop(linked);
    }
    Some(whole)
}

#[test]
fn explain_backend_both_tells_of_both_and_refuses_a_runtime_of_one() {
    let Some((hip, vulkan)) = runtimes() else { return };
    let ask = |runtime: &Path| {
        let runtime = runtime.display().to_string();
        let words =
            ["explain", "--gpu", "gfx1100", "--type", "Q4_K", "--columns", "290", "--backend", "both", "--runtime"];
        whichkernel(&[&words[..], &[&runtime]].concat())
    };
    for (runtime, lacks) in [(&vulkan, "HIP backend"), (&hip, "RADV")] {
        let done = ask(runtime);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && told.contains(lacks), "{told}");
    }
    let Some(whole) = both(&hip, &vulkan) else {
        return test_artifacts::skip("two runtimes in one", "the cache must be writable");
    };
    let done = ask(&whole.path().join("root"));
    let (said, told) = (String::from_utf8_lossy(&done.stdout).into_owned(), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(0), "{said}{told}");
    for word in ["mul_mat_q<Q4_K,", "matmul_q4_k_q8_1_2", "v_wmma_i32_16x16x16_iu8"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// A card described by vulkaninfo gives the same answer as the built-in card; an invalid file is refused by name.
#[test]
fn source_takes_a_card_of_ones_own() {
    let Some(tree) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../source/tests/data/vulkaninfo");
    let ask = |more: &[&str]| {
        let tree = tree.display().to_string();
        let words = ["source", &tree, "--backend", "vulkan", "--type", "Q4_K", "--columns", "1,290"];
        whichkernel(&[&words[..], &["--rows", "8192", "--k", "2048", "--format", "json"], more].concat())
    };
    let chosen = |more: &[&str]| -> Vec<String> {
        let done = ask(more);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let answer: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let cells = answer["cells"].as_array().cloned().unwrap_or_default();
        cells.iter().map(|cell| cell["kernel"].as_str().unwrap_or("?").to_owned()).collect()
    };
    for card in ["gfx1201", "navi21"] {
        let file = format!("{data}/{card}.json");
        assert_eq!(chosen(&["--vulkan-device", &file]), chosen(&["--gpu", card]), "{card}");
    }
    let file = format!("{data}/gfx1201.json");
    let experts = chosen(&["--vulkan-device", &file, "--op", "mul-mat-id"]);
    assert!(experts.iter().all(|kernel| kernel.contains("_id_")), "{experts:?}");
    let without = chosen(&["--vulkan-device", &file, "--env", "GGML_VK_DISABLE_COOPMAT=1"]);
    assert_eq!(without.last().map(String::as_str), Some("matmul_q4_k_q8_1_1"), "as the dry run showed");
    let home = tempfile::tempdir().expect("a directory");
    let (empty, cut, none) = (home.path().join("empty"), home.path().join("cut"), home.path().join("none"));
    std::fs::write(&empty, "").expect("written");
    let text = std::fs::read(&file).expect("read");
    std::fs::write(&cut, &text[..text.len() / 2]).expect("written");
    for (path, says) in [(&empty, "not JSON"), (&cut, "not JSON"), (&none, "none")] {
        let done = ask(&["--vulkan-device", &path.display().to_string()]);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && told.contains(says) && !told.contains("panicked"), "{told}");
    }
}

const CLAIMS: &str = r#"
schema = "whichkernel.investigation/1"
title = { en = "x", ja = "x" }
subject = { target = "gfx1201", gpu = "rx-9070-xt", device = "stand-in", runtime = "*", model = "*" }
phases = [{ id = "A", en = "a", ja = "a" }]
pages = [{ id = "here", en = "here", ja = "here" }]

[[claims]]
id = "vulkan"
phase = "A"
page = "here"
en = "a prompt multiplies matrices"
ja = "x"
rung = "selected"
topic = "vulkan.path"
about = { type = "Q4_K", columns = "290" }
expected = { equals = "matmul" }
closes = "whichkernel dryrun --backend vulkan --record"

[[claims]]
id = "hip"
phase = "A"
page = "here"
en = "the same words of another backend"
ja = "x"
rung = "selected"
topic = "matmul.path"
about = { type = "Q4_K", columns = "290" }
expected = { equals = "matmul" }
closes = "whichkernel dryrun --record"
"#;

/// Observations of a Vulkan dry run decide a claim about Vulkan, but none about HIP.
#[test]
fn a_claim_about_vulkan_is_graded_and_one_about_hip_stays_open() {
    let Some(runtime) = test_artifacts::need("debian-sid-vulkan") else { return };
    let home = tempfile::tempdir().expect("a directory");
    let (ledger, file) = (home.path().join("ledger").display().to_string(), home.path().join("claims.toml"));
    std::fs::write(&file, CLAIMS).expect("written");
    let (runtime, file) = (runtime.display().to_string(), file.display().to_string());
    let asked = ["dryrun", "--backend", "vulkan", "--gpu", "rx-9070-xt", "--type", "Q4_K", "--columns", "290"];
    let done = whichkernel(&[&asked[..], &["--runtime", &runtime, "--record", "--ledger", &ledger]].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = whichkernel(&["check", &file, "--ledger", &ledger]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("1 confirmed, 0 inferred, 0 limited, 0 refuted, 1 open"), "{said}");
}
