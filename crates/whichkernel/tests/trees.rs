//! Real trees: each row has its own reasons, two trees are compared by whole kernels, and a clone's history has every
//! change.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OLD: &str = "llama-cpp-sys-2-0.1.160";
const NEW: &str = "llama-cpp-sys-4-0.11.0";

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel")).args(words).env("LC_ALL", "C").output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
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
    let ask = ["--op", "mul-mat", "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "1..16", "--format", "json"];
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
    let words = ["diff", path(&new), path(&new), "--op", "mul-mat", "--columns", "8", "--format", "json"];
    let answer = json(&run(&words));
    // This includes Ada and Blackwell: 37 targets with 24 types.
    assert_eq!(answer["conclusion"]["asked"], 37 * 24);
}

#[test]
fn every_operation_is_compared_where_none_is_named() {
    let (Some(old), Some(new)) = (test_artifacts::need(OLD), test_artifacts::need(NEW)) else { return };
    let ask = |more: &[&str]| {
        let words = ["diff", path(&old), path(&new), "--gpu", "gfx1201", "--columns", "8,64", "--format", "json"];
        json(&run(&[&words[..], more].concat()))
    };
    let asked = |answer: &Value| answer["conclusion"]["asked"].as_u64().unwrap();
    let left_out = |answer: &Value| answer["conclusion"]["left_out"].to_string();
    let whole = ask(&[]);
    let all = ["mul-mat", "mul-mat-id", "flash-attn", "rope", "get-rows"];
    let parts: u64 = all.iter().map(|op| asked(&ask(&["--op", op]))).sum();
    assert_eq!(asked(&whole), parts, "{whole}");
    assert!(!left_out(&whole).contains("\"flash-attn, rope\""), "{whole}");
    // Weight types do not apply to attention, which is then left out and named.
    let weights = ask(&["--type", "Q4_K"]);
    assert!(left_out(&weights).contains("\"flash-attn, rope\""), "{weights}");
    let differ = |answer: &Value, op: &str| {
        answer["differences"].as_array().unwrap().iter().any(|change| change["operation"] == op)
    };
    for op in all {
        assert_eq!(differ(&whole, op), differ(&ask(&["--op", op]), op), "{op}");
    }
}

/// A clone of two commits, the trees of two releases.
struct Clone(tempfile::TempDir);

impl Clone {
    fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        let settings = ["user.name=n", "user.email=e@localhost", "commit.gpgsign=false"];
        git.arg("-C").arg(self.0.path()).args(settings.iter().flat_map(|setting| ["-c", setting]));
        let output = git.args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, tree: &Path, subject: &str, tag: &str) {
        let ggml: PathBuf = tree.join("llama.cpp/ggml");
        let _ = std::fs::remove_dir_all(self.0.path().join("ggml"));
        assert!(Command::new("cp").args(["-r", path(&ggml), path(self.0.path())]).status().unwrap().success());
        self.git(&["add", "--all"]);
        self.git(&["commit", "-qm", subject]);
        self.git(&["tag", tag]);
    }

    fn new() -> Option<Clone> {
        let (Some(old), Some(new)) = (test_artifacts::need(OLD), test_artifacts::need(NEW)) else { return None };
        let clone = Clone(tempfile::tempdir().unwrap());
        clone.git(&["init", "-q"]);
        clone.commit(&old, "the first", "b1");
        clone.commit(&new, "the second", "b2");
        Some(clone)
    }

    fn at(&self, rev: &str) -> String {
        format!("{}@{rev}", path(self.0.path()))
    }
}

#[test]
fn a_history_has_the_commit_at_which_the_choice_changed() {
    let Some(clone) = Clone::new() else { return };
    let dir = &clone.0;
    let words = ["history", path(dir.path()), "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "9"];
    let output = run(&words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("b2") && text.contains("the second"), "{text}");

    let answer = json(&run(&[&words[..], &["--format", "json"]].concat()));
    let event = &answer["events"][0];
    assert_eq!((&event["tag"], &event["subject"]), (&"b2".into(), &"the second".into()));
    assert!(event["changes"][0]["b"]["kernel"].as_str().is_some_and(|kernel| kernel.contains('<')), "{event}");
    assert!(event["lines"]["b"]["line"].as_u64() > Some(0) && !event["ollama"]["release"].is_null(), "{event}");

    clone.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let output = run(&[&words[..], &["--since", "b2"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("did not change") && !text.contains("the second"), "{text}");
}

#[test]
fn what_is_said_of_the_ends_of_a_history_is_said_of_them() {
    let Some(clone) = Clone::new() else { return };
    let rule = clone.0.path().join("ggml/src/ggml-cuda/ggml-cuda.cu");
    let text = std::fs::read_to_string(&rule).unwrap();
    let commit = |text: &str, tag: &str| {
        std::fs::write(&rule, text).unwrap();
        clone.git(&["commit", "-qam", tag]);
        clone.git(&["tag", tag]);
    };
    commit(&format!("<<<<<<< a\n=======\n>>>>>>> b\n{text}"), "b3");
    commit(&text, "b4");
    let ask = |tree: &str, since: &str| {
        let words = ["history", tree, "--since", since, "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "9"];
        run(&[&words[..], &["--format", "json"]].concat())
    };
    // The result of an end that cannot be evaluated is not taken from its neighbour.
    let answer = json(&ask(path(clone.0.path()), "b3"));
    assert_eq!((&answer["ends"]["reach"], &answer["ends"]["answered"]), (&"unknown".into(), &0.into()), "{answer}");
    assert_eq!(answer["changed"]["reach"], "answered", "{answer}");
    assert!(answer["ends"]["left_out"].to_string().contains("merge-conflict"), "{answer}");
    // A change after a commit that cannot be evaluated may have been made by that commit.
    commit(&format!("<<<<<<< a\n=======\n>>>>>>> b\n{text}"), "b5");
    let Some(old) = test_artifacts::need(OLD) else { return };
    clone.commit(&old, "back", "b6");
    let answer = json(&ask(path(clone.0.path()), "b4"));
    assert_eq!(answer["events"][0]["unread"].as_array().map(Vec::len), Some(1), "{answer}");
    // A range that does not follow the main line forwards is refused.
    let refused = ask(&clone.at("b1"), "b2");
    let said = String::from_utf8_lossy(&refused.stdout).into_owned() + &String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("b2 is not an ancestor of b1"), "{said}");
}

#[test]
fn no_way_is_an_answer_in_every_format() {
    let Some(new) = test_artifacts::need(NEW) else { return };
    let ask = |format: &str| {
        let ends = ["--chain", "--from", "ggml_abort", "--to", "ggml_cuda_mul_mat", "--format", format];
        run(&[&["source", path(&new)], &ends[..]].concat())
    };
    for format in ["json", "csv", "md", "text"] {
        assert_eq!(ask(format).status.code(), Some(1), "{format}");
    }
    let answer = json(&ask("json"));
    assert_eq!((&answer["found"]["says"], &answer["found"]["reach"]), (&"nothing".into(), &"answered".into()));
    assert_eq!(answer["chains"], Value::Array(Vec::new()));
    assert!(String::from_utf8_lossy(&ask("csv").stdout).starts_with("chain,step,"));
}

#[test]
fn what_is_no_file_and_what_is_no_type_is_refused_at_once() {
    let Some(new) = test_artifacts::need(NEW) else { return };
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = |words: &[&str], what: &str| {
        let output = run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(what), "{words:?}: {said}");
    };
    let graph = ["source", path(&new), "--gpu", "gfx1100", "--graph"];
    refused(&[&graph[..], &[path(&pipe)]].concat(), "a pipe");
    let model = dir.path().join("m.gguf");
    let made = run(&["skeleton", "qwen2-7b", "-o", path(&model)]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    refused(&[&graph[..], &[path(&model), "--columns", "1", "--against", path(&pipe)]].concat(), "a pipe");
    let Some(clone) = Clone::new() else { return };
    let out = dir.path().join("atlas");
    let atlas = ["atlas", path(clone.0.path()), "--out", path(&out), "--gpu", "gfx1201", "--type", "Q9"];
    refused(&atlas, "Q9");
    assert!(!out.exists(), "nothing was written");
    // Cells that the source leaves open have no answer.
    let map = ["map", "--gpu", "gfx1201", "--source", path(&new), "--no-dryrun", "--columns", "1", "--type"];
    assert_eq!(run(&[&map[..], &["Q9"]].concat()).status.code(), Some(1));
    assert_eq!(run(&[&map[..], &["Q4_K"]].concat()).status.code(), Some(0));
}

#[test]
fn template_arguments_that_are_not_known_are_not_the_same() {
    let Some(new) = test_artifacts::need(NEW) else { return };
    let dir = tempfile::tempdir().unwrap();
    let ggml = new.join("llama.cpp/ggml");
    assert!(Command::new("cp").args(["-r", path(&ggml), path(dir.path())]).status().unwrap().success());
    let rows = dir.path().join("ggml/src/ggml-cuda/getrows.cu");
    let text = std::fs::read_to_string(&rows).unwrap();
    let call = "dequantize_q4_0>(src0_d, src1_d, dst_d,";
    assert!(text.contains(call));
    std::fs::write(&rows, text.replace(call, "dequantize_q4_0>(src0_d, src1_d, (half *) dst_d,")).unwrap();
    let ask = ["--op", "get-rows", "--gpu", "gfx1201", "--type", "Q4_0", "--columns", "1,8", "--format", "json"];
    let output = run(&[&["diff", path(&new), path(dir.path())], &ask[..]].concat());
    let conclusion = &json(&output)["conclusion"];
    assert_eq!(output.status.code(), Some(1), "{conclusion}");
    // The result is "different" or unknown, never "same".
    assert!(conclusion["says"] == "different" || conclusion["reach"] == "unknown", "{conclusion}");
    if conclusion["reach"] == "unknown" {
        assert!(conclusion["left_out"].to_string().contains("k_get_rows: dst_t"), "{conclusion}");
    }
}

#[test]
fn a_diff_as_a_comment_links_to_the_lines_and_fails_the_check() {
    let Some(clone) = Clone::new() else { return };
    let (a, b) = (clone.at("b1"), clone.at("b2"));
    let words = ["diff", &a, &b, "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "1..16", "--format", "md"];
    let output = Command::new(env!("CARGO_BIN_EXE_whichkernel"))
        .args(words)
        .env("GITHUB_REPOSITORY", "owner/name")
        .env("GITHUB_SERVER_URL", "https://example.com")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("](https://example.com/owner/name/blob/") && text.contains("#L"), "{text}");
    assert!(text.contains("<details><summary>") && text.len() < 65_536, "{text}");
}

/// The step of an action in the workflow file: the lines of `run: |` below its name.
fn step(workflow: &str, name: &str) -> String {
    let lines = workflow.lines().skip_while(|line| line.trim() != format!("- name: {name}"));
    let mut body = lines.skip_while(|line| line.trim() != "run: |").skip(1).peekable();
    let indent = body.peek().map_or(0, |line| line.len() - line.trim_start().len());
    let inside = |line: &&str| line.len() - line.trim_start().len() >= indent && !line.trim().is_empty();
    body.take_while(inside).map(|line| format!("{}\n", &line[indent..])).collect()
}

#[test]
fn the_action_and_the_hook_of_the_docs_say_what_a_change_selects() {
    let Some(clone) = Clone::new() else { return };
    let work = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(clone.0.path(), work.path().join("tree")).unwrap();
    let tool = Path::new(env!("CARGO_BIN_EXE_whichkernel")).parent().unwrap();
    let search = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap_or_default());
    let script = step(include_str!("../../../action.yml"), "Compare");
    assert!(script.contains("whichkernel diff") && script.contains("GITHUB_OUTPUT"), "{script}");
    // One card and two counts keep the test short; everything else runs as written.
    let short = script.replace("--format md", "--gpu gfx1201 --columns 8,64 --format md");
    let compare = |base: &str, head: &str| {
        let (summary, outcome) = (work.path().join("summary"), work.path().join("output"));
        let mut bash = Command::new("bash");
        bash.args(["-e", "-o", "pipefail", "-c", &short]).current_dir(work.path());
        bash.env("PATH", &search).env("TREE", "tree").env("BASE", base).env("HEAD", head).env("LC_ALL", "C");
        bash.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_OUTPUT", &outcome);
        let done = bash.env("GITHUB_REPOSITORY", "owner/name").output().unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let said = (read(&summary), read(&outcome));
        for name in ["summary", "output", "selection.md"] {
            let _ = std::fs::remove_file(work.path().join(name));
        }
        (done.status.code(), said.0, said.1)
    };
    let (code, summary, output) = compare("b1", "b2");
    assert_eq!((code, output.as_str()), (Some(0), "changed=1\n"), "{summary}");
    assert!(summary.contains("/owner/name/blob/") && summary.contains("gfx1201"), "{summary}");
    assert!(summary.contains("### mul-mat\n") && summary.contains("### get-rows\n"), "every operation: {summary}");
    let (code, summary, output) = compare("b2", "b2");
    assert_eq!((code, output.as_str()), (Some(0), "changed=0\n"), "{summary}");
    let (code, _, output) = compare("b2", "no-such-commit");
    assert!(code != Some(0) && output.is_empty(), "what cannot be compared fails the job: {code:?} {output}");

    // Runs the hook as in practice: the work tree compared with HEAD.
    let page = include_str!("../../../docs/diff-in-ci.md");
    let entry = page.lines().find_map(|line| line.trim().strip_prefix("entry: ")).expect("the hook's entry");
    let hook = || {
        let words: Vec<&str> = entry.split(' ').collect();
        let mut hook = Command::new(words[0]);
        hook.args(&words[1..]).current_dir(clone.0.path()).env("PATH", &search).env("LC_ALL", "C");
        hook.output().unwrap().status.code()
    };
    assert_eq!(hook(), Some(0), "nothing was changed");
    let rule = clone.0.path().join("ggml/src/ggml-cuda/mmq.cu");
    let text = std::fs::read_to_string(&rule).unwrap();
    let name = text.find("bool ggml_cuda_should_use_mmq(").expect("the rule");
    let body = name + text[name..].find('{').expect("its body") + 1;
    std::fs::write(&rule, format!("{}\n    return false;\n{}", &text[..body], &text[body..])).unwrap();
    assert_eq!(hook(), Some(1), "a rule was changed");
}

#[test]
fn an_ollama_tree_without_ggml_names_its_pin_and_takes_the_clone_at_it() {
    let Some(clone) = Clone::new() else { return };
    let ollama = tempfile::tempdir().unwrap();
    std::fs::write(ollama.path().join("LLAMA_CPP_VERSION"), "b1\n").unwrap();
    std::fs::write(ollama.path().join("main.go"), "package main\n").unwrap();
    let ask = ["--gpu", "gfx1201", "--type", "Q4_K", "--columns", "9", "--format", "csv"];
    let output = run(&[&["source", path(ollama.path())], &ask[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("llama.cpp b1 ") && said.contains("--with CLONE"), "{said}");
    let with = run(&[&["source", path(ollama.path()), "--with", path(clone.0.path())], &ask[..]].concat());
    let direct = run(&[&["source", &clone.at("b1")], &ask[..]].concat());
    assert_eq!(with.status.code(), Some(0), "{}", String::from_utf8_lossy(&with.stderr));
    assert_eq!(with.stdout, direct.stdout, "the pinned release answers, not the newest");
}

#[test]
fn an_atlas_goes_on_where_it_was_and_is_the_table_of_each_release() {
    let Some(clone) = Clone::new() else { return };
    let out = tempfile::tempdir().unwrap();
    let words = ["atlas", path(clone.0.path()), "--out", path(out.path()), "--gpu", "gfx1201", "--type", "Q4_K"];
    let first = run(&words);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap_or_default();
    assert_eq!(read("releases.csv").lines().count(), 3, "{}", read("releases.csv"));
    let choices = read("choices.csv");
    assert!(choices.contains("b1,") && choices.contains("b2,"), "{choices}");
    assert!(read("gfx1201.html").contains("<svg"), "strips");
    let parquet = std::fs::read(out.path().join("choices.parquet")).unwrap();
    let parquet = export::parquet::read(&parquet).expect("a table");
    assert_eq!(parquet.rows(), choices.lines().count() - 1, "the same rows as the CSV");
    assert!(matches!(parquet.column("to"), Some(export::parquet::Values::Number(_))));

    // Nothing is evaluated again: an empty release shares the table of the release before it.
    clone.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    clone.git(&["tag", "b3"]);
    let second = run(&words);
    let said = String::from_utf8_lossy(&second.stdout).into_owned();
    assert!(said.contains("Checked in this run: 1. Evaluated: 0"), "{said}");
    assert!(read("releases.csv").lines().any(|line| line.starts_with("b3,") && line.contains(",b2,")));
    assert_eq!(read("choices.csv"), choices.replace(",b2,", ",b3,"), "what b2 chose holds up to b3");

    let other = run(&[&words[..6], &["gfx1100", "--type", "Q4_K"]].concat());
    assert_eq!(other.status.code(), Some(2), "another question needs another folder");
}
