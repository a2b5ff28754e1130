//! `whichkernel dryrun`, `map` and `diff` on Debian's real llama-bench and libggml-hip, without any GPU.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    whichkernel().args(args).output().expect("it runs")
}

fn whichkernel() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.env_remove("HSA_OVERRIDE_GFX_VERSION").env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
}

/// The rows of a CSV, including quotes, by column name.
fn rows(output: &Output) -> Vec<Vec<String>> {
    let split = |line: &str| {
        let (mut fields, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields.last_mut().expect("a field").push(c),
            }
        }
        fields
    };
    text(output).lines().map(split).collect()
}

const HEADER: &str = "card,target,type,columns,path,kernel,mangled,ne11,grid,block,shmem,file,bundle,count,reach";
const TARGETS: &str = "gfx900,gfx906,gfx908,gfx90a,gfx1030,gfx1100,gfx1201";

#[test]
fn source_and_dry_run_agree_around_every_threshold() {
    let (Some(_), Some(tree)) = (test_artifacts::need("debian-sid"), test_artifacts::need("llama-cpp-sys-2-0.1.160"))
    else {
        return;
    };
    let tree = tree.display().to_string();
    let columns = "1,3,4,8,9,16,17,128,129,257";
    let ask = ["--gpu", TARGETS, "--type", "Q4_K,Q6_K,F16", "--columns", columns];
    let output = run(&[&["map", "--source", &tree, "--check", "--format", "csv"], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output), words(&output));
    let rows = rows(&output);
    assert_eq!(rows.len() - 1, 7 * 3 * 10);
    for row in &rows[1..] {
        assert!(!row[3].is_empty() && !row[4].is_empty() && row[4] != "-" && row[4] != "!", "{row:?}");
        assert_eq!(row[5], "yes", "{row:?}");
    }
}

#[test]
fn one_row_per_card_type_columns_and_kernel() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let ask = ["--type", "Q4_K", "--columns", "7,257", "--format", "csv"];
    let output = run(&[&["dryrun", "--gpu", "gfx90a,rx-9070-xt"], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let rows = rows(&output);
    assert_eq!(rows[0].join(","), HEADER);
    let find = |gpu: &str, columns: &str, path: &str| {
        let fits = |row: &&Vec<String>| row[0] == gpu && row[3] == columns && row[4] == path && row[7] == columns;
        rows.iter().find(fits).unwrap_or_else(|| panic!("{gpu} {columns} {path}: {}", text(&output)))
    };
    let seven = find("mi210", "7", "MMQ");
    assert!(seven[5].starts_with("mul_mat_q<Q4_K,16,"), "{seven:?}");
    assert!(seven[6].starts_with("_ZL9mul_mat_qIL9ggml_type12ELi16E"), "{seven:?}");
    assert_eq!(seven[8], "104x1x1", "one workgroup for each of the 104 multiprocessors: {seven:?}");
    assert_eq!((seven[11].as_str(), seven[14].as_str()), ("libggml-hip.so", "whole"));
    assert!(seven[12].parse::<u32>().is_ok() && seven[13].parse::<u32>().is_ok(), "{seven:?}");
    assert_eq!(find("mi210", "257", "BLAS")[5], "hipblasGemmEx");
    let navi = find("rx-9070-xt", "257", "MMQ");
    assert_eq!((navi[1].as_str(), navi[14].as_str()), ("gfx1201", "answered"), "Debian ships no gfx1201");
    let mut keys: Vec<_> = rows.iter().map(|row| (&row[0], &row[2], &row[3], &row[6], &row[5])).collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn a_bare_target_means_its_reference_card() {
    let list = json(&run(&["dryrun", "--list-gpus", "--format", "json"]));
    let cards = list["cards"].as_array().expect("cards");
    for (target, card) in [
        ("gfx803", "rx-580"),
        ("gfx900", "vega-64"),
        ("gfx906", "mi50"),
        ("gfx908", "mi100"),
        ("gfx90a", "mi210"),
        ("gfx942", "mi300x"),
        ("gfx1010", "rx-5700-xt"),
        ("gfx1030", "rx-6900-xt"),
        ("gfx1100", "rx-7900-xtx"),
        ("gfx1101", "rx-7800-xt"),
        ("gfx1102", "rx-7600"),
        ("gfx1151", "8060s"),
        ("gfx1200", "rx-9060-xt"),
        ("gfx1201", "rx-9070-xt"),
    ] {
        let of: Vec<_> = cards.iter().filter(|c| c["reference"] == target).map(|c| &c["card"]).collect();
        assert_eq!(of, [card], "{target}");
    }
}

#[test]
fn what_if_and_the_override_change_what_is_selected() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let ask = ["--type", "Q4_K", "--columns", "7", "--format", "csv"];
    let output = run(&[&["dryrun", "--gpu", "mi210", "--set", "multiProcessorCount=50"], &ask[..]].concat());
    assert_eq!(rows(&output)[1][8], "50x1x1", "{}", text(&output));
    let mut command = whichkernel();
    command.env("HSA_OVERRIDE_GFX_VERSION", "11.0.0").args(["dryrun", "--gpu", "rx-9070-xt", "--type", "Q6_K"]);
    let value = json(&command.args(["--columns", "290", "--format", "json"]).output().expect("it runs"));
    let map = &value["maps"][0];
    assert_eq!((&map["run"]["target"], &map["run"]["overridden_from"]), (&"gfx1100".into(), &"gfx1201".into()));
    assert_eq!((&map["cells"][0]["label"], &map["run"]["reach"]), (&"BLAS".into(), &"whole".into()));
    let wrong = whichkernel().env("HSA_OVERRIDE_GFX_VERSION", "spam").args(["dryrun"]).output().expect("it runs");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(words(&wrong).contains("MAJOR.MINOR.STEPPING"), "{}", words(&wrong));
}

#[test]
fn two_cards_that_differ_are_said_to_by_the_exit_status() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let ask = ["--type", "Q6_K", "--columns", "256", "--format", "md"];
    let output = run(&[&["diff", "rx-7900-xtx", "rx-9070-xt"], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let said = text(&output);
    assert!(said.starts_with("### whichkernel: `rx-7900-xtx` → `rx-9070-xt`"), "{said}");
    assert!(said.contains("| BLAS | mmq128 |"), "{said}");
    let same = run(&[&["diff", "debian-sid", "debian-sid", "--gpu", "rx-7600"], &ask[..]].concat());
    assert_eq!(same.status.code(), Some(0), "{}{}", text(&same), words(&same));
}

#[test]
fn rocblas_names_its_kernel_and_the_number_of_its_solution() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let ask = ["dryrun", "--gpu", "gfx900,gfx1100", "--blas", "real", "--type", "Q6_K", "--columns", "290"];
    let output = run(&[&ask[..], &["--format", "csv"]].concat());
    let blas: Vec<_> = rows(&output).into_iter().filter(|row| row[4] == "BLAS").collect();
    for target in ["gfx900", "gfx1100"] {
        let of: Vec<_> = blas.iter().filter(|row| row[1] == target).collect();
        assert!(!of.is_empty(), "{}", text(&output));
        for row in of {
            assert!(row[6].starts_with("Cijk_Alik_Bljk_H"), "{row:?}");
            assert!(row[5].contains(" #"), "{row:?}");
            assert!(row[11].starts_with("TensileLibrary_Type_HH") && row[11].contains(target), "{row:?}");
        }
    }
    let lines = text(&run(&[&ask[..], &["--bench-lines"]].concat()));
    let line = lines.lines().next().expect("a line");
    assert!(line.starts_with("rocblas-bench -f gemm_ex --transposeA T") && line.contains("# rocBLAS "), "{line}");
}

/// A skeleton of a small model, as a user's file.
fn model(home: &Path) -> PathBuf {
    let shape = gguf::known("llama-3.2-1b").expect("a shape");
    let kind = gguf::TensorType::parse("Q4_K").expect("a type");
    let made = gguf::skeleton(&shape, kind, 2, true).expect("a skeleton");
    let path = home.join("model.gguf");
    std::fs::write(&path, &made.header).expect("a file");
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
    file.set_len(made.file_size).expect("a sparse file");
    path
}

#[test]
fn a_command_is_shown_by_phase_and_its_trace_holds_the_arguments() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let (model, trace) = (model(home.path()).display().to_string(), home.path().join("trace.jsonl"));
    let ask = ["dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--trace", &trace.display().to_string(), "--"];
    let bench = ["llama-bench", "-m", &model, "-p", "9", "-n", "4", "-r", "1", "--no-warmup", "-t", "1"];
    let mut command = whichkernel();
    let output = command.env("COLUMNS", "80").args(ask).args(bench).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let said = text(&output);
    // The verdict comes before the tables.
    let (verdict, tables) = said.split_once("Prefill, 9 columns").expect("a prompt");
    for word in [
        "Prompts: MMQ (Q4_K)",
        "Tokens:  MMVQ (Q4_K); ",
        "launches per token",
        "BLAS calls: None in any of the",
        "Nothing is computed",
    ] {
        assert!(verdict.contains(word), "{word}: {said}");
    }
    assert!(!tables.contains("Nothing is computed"));
    for word in ["Decode", "mul_mat_q<Q4_K,16", "mul_mat_vec_q<Q4_K,1", "columns are hidden"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(said.lines().filter(|line| line.contains("mul_mat")).all(|line| line.chars().count() <= 80), "{said}");
    let lines = std::fs::read_to_string(&trace).expect("a trace");
    let mut widths = Vec::new();
    let end: Value = lines.lines().last().and_then(|end| serde_json::from_str(end).ok()).expect("an end");
    let steps = lines.lines().count() - 1;
    assert_eq!(end["end"]["lines"], steps, "what is counted is there");
    for line in lines.lines().take(steps) {
        let step: Value = serde_json::from_str(line).expect("JSON");
        assert!(step["args"].as_str().is_some_and(|args| !args.is_empty()), "{line}");
        if step["kernel"].as_str().is_some_and(|name| name.contains("mul_mat_q")) {
            widths.push(step["ne11"].as_u64());
        }
    }
    assert!(widths.contains(&Some(9)), "{widths:?}");
}

#[test]
fn nothing_launched_and_a_killed_program_are_no_confirmation() {
    for (words, sentence) in [(&["true"][..], "never called HIP"), (&["sh", "-c", "kill -SEGV $$"], "Signal 11 killed")]
    {
        let output = run(&[&["dryrun", "--gpu", "gfx1100", "--"], words].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let said = text(&output);
        assert!(said.contains(sentence) && said.contains("Incomplete"), "{said}");
        assert!(!said.to_lowercase().contains("confirmed") && !said.contains("None in any of the"), "{said}");
    }
}

#[test]
fn cells_that_were_not_answered_fail_the_run_and_the_comparison() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    // Rows of 896 elements cannot be split into blocks of 256, so these cells do not exist.
    let ask = ["--gpu", "gfx1100", "--columns", "9", "--format", "csv"];
    let output = run(&[&["dryrun", "--arch-of", "qwen2-0.5b", "--type", "Q4_K,Q8_0"], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let output = run(&[&["map", "--arch-of", "qwen2-0.5b", "--type", "Q4_K"], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
}

#[test]
fn a_map_says_its_rung_what_is_not_shipped_and_what_it_cannot_take() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let output = run(&["map", "--gpu", "rx-9070-xt", "--type", "Q4_K", "--columns", "290"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(
        said.contains("have no code for gfx1201") && said.contains("Selected") && said.contains("Incomplete"),
        "{said}"
    );
    for extra in [&["--", "llama-bench"][..], &["--trace", "x.jsonl"], &["--record"]] {
        let refused = run(&[&["map", "--gpu", "gfx1100"], extra].concat());
        assert_eq!(refused.status.code(), Some(2), "{extra:?}: {}", text(&refused));
    }
}

#[test]
fn a_profile_is_read_through_hip_here_from_the_stand_in_itself() {
    let plain = run(&["dryrun", "--profile-from-host"]);
    if plain.status.success() {
        return test_artifacts::skip("a machine without a HIP runtime", "this one has a GPU");
    }
    assert_eq!(plain.status.code(), Some(2));
    assert!(words(&plain).contains("no HIP runtime can be loaded here"), "{}", words(&plain));
    let own = env!("CARGO_BIN_EXE_whichkernel");
    let output = run(&["dryrun", "--gpu", "rx-7900-xt", "--", own, "dryrun", "--profile-from-host"]);
    // The program's own output goes to standard error.
    let said = words(&output);
    let profile = said.find("name = ").map(|at| &said[at..]).unwrap_or_else(|| panic!("{said}"));
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("card.toml");
    std::fs::write(&file, profile).expect("a file");
    let read = gpu::Profile::parse(profile).expect("a profile");
    let card = gpu::find("rx-7900-xt").expect("a card");
    assert_eq!(read.gcn_arch_name, card.gcn_arch_name);
    for name in ["multiProcessorCount", "totalGlobalMem", "sharedMemPerBlock", "warpSize", "l2CacheSize", "integrated"]
    {
        assert_eq!(read.get(name), card.get(name), "{name}");
    }
    assert!(profile.contains("read through HIP"), "{profile}");
}

/// Keeps state where MIOpen, Triton and others do, and prints where that was.
const KEEPER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
static void keep(const char *variable, const char *below) {
    char path[4096];
    const char *place = variable ? getenv(variable) : 0;
    if (place) snprintf(path, sizeof path, "%s/", place);
    else snprintf(path, sizeof path, "%s/%s/", getenv("HOME"), below);
    for (char *at = path + 1; (at = strchr(at, '/')); at++) { *at = 0; mkdir(path, 0700); *at = '/'; }
    strcat(path, "kept");
    FILE *file = fopen(path, "w");
    if (!file || fputs("0.001 ms", file) < 0 || fclose(file)) { printf("not kept: %s\n", path); exit(1); }
    printf("kept: %s\n", path);
}
int main(void) {
    keep("MIOPEN_USER_DB_PATH", ".config/miopen");
    keep("MIOPEN_CUSTOM_CACHE_DIR", ".cache/miopen");
    keep("TRITON_CACHE_DIR", ".triton/cache");
    keep("XDG_CACHE_HOME", ".cache");
    keep("JAX_COMPILATION_CACHE_DIR", ".cache/jax");
    keep(0, ".cache/comgr");
    printf("mode: %s\n", getenv("MIOPEN_FIND_MODE"));
    return 0;
}
"#;

/// Every file below a directory, with its content.
fn held(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    test_artifacts::files(directory, &mut |file| {
        found.push((file.to_owned(), std::fs::read(file).expect("read")));
    });
    found.sort();
    found
}

#[test]
fn a_run_writes_nothing_into_the_users_caches_and_databases() {
    let home = tempfile::tempdir().expect("a directory");
    let source = home.path().join("keeper.c");
    std::fs::write(&source, KEEPER).expect("a file");
    let program = home.path().join("keeper");
    assert!(Command::new("gcc").arg("-o").args([&program, &source]).status().expect("gcc runs").success());
    let user = home.path().join("user");
    std::fs::create_dir_all(user.join(".config/miopen")).expect("a directory");
    std::fs::write(user.join(".config/miopen/gfx1100.ufdb.txt"), "measured").expect("a file");
    let before = held(&user);
    let program = program.display().to_string();
    let tree = test_artifacts::need("debian-sid").map(|_| ["--runtime", "debian-sid"]);
    for more in std::iter::once(&[][..]).chain(tree.as_ref().map(|tree| &tree[..])) {
        let line = [&["dryrun", "--gpu", "gfx1100", "--format", "json"], more, &["--", &program]].concat();
        let mut command = whichkernel();
        command.args(&line).env("HOME", &user).env("XDG_CACHE_HOME", user.join("cache"));
        command.env("MIOPEN_USER_DB_PATH", user.join("db")).env("MIOPEN_FIND_MODE", "3");
        let output = command.output().expect("it runs");
        let said = words(&output);
        assert!(said.contains("mode: 3"), "other variables are passed: {said}");
        let kept: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("kept: ")).collect();
        assert_eq!(kept.len(), 6, "{said}");
        for path in kept {
            assert!(!Path::new(path).starts_with(&user), "{path}");
            assert!(!Path::new(path).exists(), "{path} is gone after the run");
        }
        assert_eq!(held(&user), before, "{more:?}");
        let withheld = json(&output)["withheld"].clone();
        let withheld: Vec<&str> = withheld.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        for name in ["MIOPEN_USER_DB_PATH", "XDG_CACHE_HOME"] {
            assert!(withheld.contains(&name), "{withheld:?}");
        }
    }
}

/// One program on several cards: a card compared with itself is the same, two generations differ, and a failed run is
/// not taken for a difference.
#[test]
fn a_program_is_compared_between_cards() {
    let Some(_) = test_artifacts::need("debian-sid") else { return };
    let home = tempfile::tempdir().expect("a directory");
    let model = home.path().join("m.gguf").display().to_string();
    assert!(run(&["skeleton", "qwen2-0.5b", "-o", &model]).status.success());
    let bench = ["--", "llama-bench", "-m", &model, "-p", "16", "-n", "1", "-r", "1", "--no-warmup"];
    let on = |cards: [&str; 2]| {
        let head = ["diff", cards[0], cards[1], "--runtime", "debian-sid", "--format", "json"];
        let output = run(&[&head[..], &bench].concat());
        (output.status.code(), json(&output))
    };
    let (code, same) = on(["rx-9070-xt", "rx-9070-xt"]);
    assert_eq!(code, Some(0), "{same:#}");
    assert!(same["kernels"].as_array().expect("kernels").len() > 5, "{same:#}");
    let (code, other) = on(["rx-9070-xt", "rx-580"]);
    assert_eq!(code, Some(1));
    let launches = |card: usize| other["cards"][card]["launches"].as_u64().expect("a number");
    assert!(launches(0) > 20 && launches(1) > 20, "{:#}", other["cards"]);
    let kernels = other["kernels"].as_array().expect("kernels");
    for kernel in kernels {
        let cards: Vec<Vec<Value>> = kernel["cards"].as_array().expect("cards").iter().map(launched).collect();
        assert_eq!(kernel["same"], cards[0] == cards[1], "{kernel:#}");
    }
    let differ = kernels.iter().filter(|kernel| kernel["same"] == false).count();
    let text =
        text(&run(
            &[&["dryrun", "--each", "--gpu", "rx-9070-xt,rx-580", "--runtime", "debian-sid"][..], &bench].concat()
        ));
    assert!(text.starts_with(&format!("{differ} of {} kernels differ", kernels.len())), "{text}");
    let failed = run(&["diff", "h200", "a100", "--", "false"]);
    assert_ne!(failed.status.code(), Some(0), "{}", self::text(&failed));
    assert_eq!(run(&["diff", "debian-sid", "debian-sid", "--", "true"]).status.code(), Some(2));
    assert_eq!(run(&["dryrun", "--each", "--gpu", "h200", "--", "true"]).status.code(), Some(2));
}

/// The launches of a card without the resources of its code.
fn launched(card: &Value) -> Vec<Value> {
    let without = |one: &Value| {
        let mut one = one.clone();
        one.as_object_mut().expect("an object").remove("registers");
        one
    };
    card.as_array().expect("launches").iter().map(without).collect()
}

/// `why --model` says how to make a dry run, then uses the recorded one, and names another model's as such.
#[test]
fn why_without_a_server_uses_the_recorded_dry_run() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let (ledger, model) = (home.path().join("ledger").display().to_string(), home.path().join("m.gguf"));
    let (file, other) = (model.display().to_string(), home.path().join("n.gguf").display().to_string());
    let made = run(&["skeleton", "qwen2-7b", "--type", "Q4_K", "--no-words", "-o", &file]);
    assert_eq!(made.status.code(), Some(0), "{}", words(&made));
    std::fs::hard_link(&model, &other).expect("a second name");
    let why = |file: &str, more: &[&str]| {
        let ask = ["why", "--model", file, "--gpu", "gfx1100", "--ledger", &ledger];
        run(&[&ask[..], more].concat())
    };
    let before = json(&why(&file, &["--format", "json"]));
    let next = before["next"].as_str().unwrap_or_default();
    assert!(before["dry_run"].is_null() && next.starts_with("whichkernel dryrun --gpu"), "{before:#}");
    assert!(next.ends_with("--record"), "{next}");
    let ask = ["dryrun", "--gpu", "gfx1100", "--model", &file, "--columns", "1,8,64,512", "--record"];
    let done = run(&[&ask[..], &["--ledger", &ledger]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    let after = json(&why(&file, &["--format", "json"]));
    let found = &after["dry_run"];
    assert_eq!((&found["model"], &found["same_model"]), (&"m.gguf".into(), &true.into()), "{found:#}");
    let paths: Vec<_> = found["rows"].as_array().expect("rows").iter().map(|row| row["columns"].as_u64()).collect();
    assert_eq!(paths, [1, 8, 64, 512].map(Some), "{found:#}");
    assert_ne!(after["next"], before["next"], "it was just run");
    let shown = text(&why(&file, &[]));
    assert!(shown.contains("Dry run") && shown.contains("of m.gguf in debian-sid"), "{shown}");
    let foreign = json(&why(&other, &["--format", "json"]));
    assert_eq!(foreign["dry_run"]["same_model"], false, "{foreign:#}");
}
