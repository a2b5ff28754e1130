//! `schema`, and errors as JSON: what a program that reads us can rely on.

use serde_json::Value;
use std::process::{Command, Output};

const WHICHKERNEL: &str = env!("CARGO_BIN_EXE_whichkernel");

fn run(args: &[&str]) -> Output {
    let nowhere = std::env::temp_dir().join("whichkernel-there-is-nothing");
    let mut command = Command::new(WHICHKERNEL);
    command.args(["--lang", "en"]).args(args).env("WHICHKERNEL_LEDGER", &nowhere).env("WHICHKERNEL_CACHE", &nowhere);
    command.output().expect("run")
}

#[test]
fn every_schema_that_is_listed_is_printed_by_both_its_names() {
    let list = schema_check::answer(WHICHKERNEL, &run(&["schema", "--format", "json"]).stdout);
    let names: Vec<&str> =
        list["answers"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"whichkernel.ledger-list/1") && names.contains(&"whichkernel.error/1"), "{names:?}");
    for name in names {
        let schema = run(&["schema", name]);
        assert!(schema.status.success());
        let short = name.strip_prefix("whichkernel.").unwrap().split('/').next().unwrap();
        assert_eq!(run(&["schema", short]).stdout, schema.stdout);
        let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
        assert_eq!(schema["properties"]["schema"]["const"], name);
    }
}

#[test]
fn a_verb_that_could_not_run_says_so_in_the_format_that_was_asked_for() {
    for line in [
        &["inspect", "/there/is/no/such/file", "--format", "json"][..],
        &["ledger", "show", "7", "--format=json"],
        &["ledger", "list", "--rung", "hoped", "--format", "json"],
        &["nonsense", "--format", "json"],
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        let error = schema_check::answer(WHICHKERNEL, &output.stdout);
        assert_eq!((&error["schema"], &error["exit"]), (&"whichkernel.error/1".into(), &2.into()), "{line:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let first = error["error"].as_str().unwrap().lines().next().unwrap();
        assert!(!first.is_empty() && said.contains(first), "{said}\n{error}");
    }
    let plain = run(&["inspect", "/there/is/no/such/file"]);
    assert_eq!((plain.status.code(), plain.stdout.len()), (Some(2), 0));
}

#[test]
fn a_rung_is_written_as_everywhere_else() {
    let line = ["explain", "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "8", "--format", "json"];
    let answer = schema_check::answer(WHICHKERNEL, &run(&line).stdout);
    assert_eq!(answer["rung"], "declared");
}
