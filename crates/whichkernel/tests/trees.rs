//! Real trees: a row's reasons are its own, two trees are compared by whole kernels, and a clone's history has its turns.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OLD: &str = "llama-cpp-sys-2-0.1.160";
const NEW: &str = "llama-cpp-sys-4-0.11.0";

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel")).args(words).env("LC_ALL", "C").output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn path(dir: &Path) -> &str {
    dir.to_str().unwrap()
}

#[test]
fn every_row_has_the_reasons_of_its_own_columns() {
    let Some(tree) = test_artifacts::need(NEW) else { return };
    let columns = "1,2,8,9,17,290";
    let words = ["source", path(&tree), "--gpu", "gfx1201", "--type", "Q4_K", "--columns", columns, "--format", "json"];
    let answer = json(&run(&words));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let chain = &answer["reasons"][usize::try_from(row["reasons"].as_u64().unwrap()).unwrap()];
        let conditions = chain["conditions"].as_array().unwrap();
        let said: Vec<&str> = conditions.iter().filter_map(|it| it["values"]["ne11"].as_str()).collect();
        assert!(!said.is_empty(), "{chain}");
        let columns = row["columns"].to_string();
        assert!(said.iter().all(|value| **value == columns), "{columns}: {said:?}");
        assert!(row["kernel"].as_str().unwrap().starts_with(chain["launch"]["kernel"].as_str().unwrap()), "{row}");
    }
}

#[test]
fn the_same_path_with_other_template_arguments_is_a_difference() {
    let (Some(old), Some(new)) = (test_artifacts::need(OLD), test_artifacts::need(NEW)) else { return };
    let ask = ["--gpu", "gfx1201", "--type", "Q4_K", "--columns", "1..16", "--format", "json"];
    let output = run(&[&["diff", path(&old), path(&new)], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let answer = json(&output);
    let side = |of: &Value, what: &str| (of["a"][what].clone(), of["b"][what].clone());
    let hidden = |of: &&Value| side(of, "path").0 == side(of, "path").1 && side(of, "kernel").0 != side(of, "kernel").1;
    assert!(answer["differences"].as_array().unwrap().iter().any(|of| hidden(&of)), "{answer}");
    assert_eq!((&answer["conclusion"]["says"], &answer["conclusion"]["asked"]), (&"different".into(), &16.into()));

    let output = run(&[&["diff", path(&new), path(&new)], &ask[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    let same = &json(&output)["conclusion"];
    assert_eq!((&same["says"], &same["answered"]), (&"same".into(), &16.into()));
    assert!(same["left_out"].as_array().is_some_and(|left| !left.is_empty()), "what was not asked is listed: {same}");
}

#[test]
fn every_card_and_type_is_asked_where_none_is_named() {
    let Some(new) = test_artifacts::need(NEW) else { return };
    let answer = json(&run(&["diff", path(&new), path(&new), "--columns", "8", "--format", "json"]));
    // Ada and Blackwell among them: 37 targets with 24 types.
    assert_eq!(answer["conclusion"]["asked"], 37 * 24);
}

/// A clone of two commits, the trees of two releases.
#[test]
fn a_history_has_the_commit_at_which_the_choice_changed() {
    let (Some(old), Some(new)) = (test_artifacts::need(OLD), test_artifacts::need(NEW)) else { return };
    let dir = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(dir.path()).args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@localhost",
            "-c",
            "commit.gpgsign=false",
        ]);
        let output = git.args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let lay = |tree: &Path| {
        let ggml: PathBuf = tree.join("llama.cpp/ggml");
        let _ = std::fs::remove_dir_all(dir.path().join("ggml"));
        assert!(Command::new("cp").args(["-r", path(&ggml), path(dir.path())]).status().unwrap().success());
        git(&["add", "--all"]);
    };
    git(&["init", "-q"]);
    lay(&old);
    git(&["commit", "-qm", "the first"]);
    git(&["tag", "b1"]);
    lay(&new);
    git(&["commit", "-qm", "the second"]);
    git(&["tag", "b2"]);
    let words = ["history", path(dir.path()), "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "9"];
    let output = run(&words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("b2") && text.contains("the second"), "{text}");

    git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let output = run(&[&words[..], &["--since", "b2"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("did not change") && !text.contains("the second"), "{text}");
}
