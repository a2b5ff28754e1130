//! `watch` of a Vulkan program with the whole command, on lavapipe: by probes, and by the layer, compared with
//! unwatched runs.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The command line of a program that submits 2000 dispatches from four threads.
fn program(home: &tempfile::TempDir) -> Option<(Vec<String>, PathBuf)> {
    let tree = test_artifacts::need("debian-sid-vulkan")?.join("root");
    let libraries = tree.join("usr/lib/x86_64-linux-gnu");
    let driver = home.path().join("driver.json");
    let library = libraries.join("libvulkan_lvp.so").display().to_string();
    let icd = format!("{{\"library_path\":{library:?},\"api_version\":\"1.4.0\"}}");
    std::fs::write(&driver, format!("{{\"file_format_version\":\"1.0.1\",\"ICD\":{icd}}}")).expect("written");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../watch/tests/data/dispatches.c");
    let made = home.path().join("dispatches");
    let mut cc = Command::new("cc");
    let done = cc.args(["-O1", "-w", "-o"]).arg(&made).args([source, "-lpthread", "-ldl"]).status();
    assert!(done.expect("a C compiler").success());
    let loader = tree.join("usr/lib64/ld-linux-x86-64.so.2");
    let line = [loader.as_path(), "--library-path".as_ref(), &libraries, &made, "threads".as_ref()];
    Some((line.map(|word| word.display().to_string()).to_vec(), driver))
}

fn watch(words: &[&str]) -> Option<Output> {
    let home = tempfile::tempdir().expect("a directory");
    let (line, driver) = program(&home)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.arg("watch").args(words).arg("--").args(line).env("VK_DRIVER_FILES", driver).env("LC_ALL", "C");
    Some(command.output().expect("a run"))
}

/// An observer's own library does not count as a difference.
#[test]
fn the_layer_is_certified_beside_runs_without_it() {
    let Some(done) = watch(&["--certify", "--how", "layer"]) else { return };
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("layer: dispatch-safe in this run") && !said.contains("DIFFERS"), "{said}");
}

#[test]
fn probes_count_every_dispatch_of_a_program_that_is_started() {
    if !test_artifacts::root("watch by uprobe: uprobes and BPF") {
        return;
    }
    let Some(done) = watch(&["--format", "json"]) else { return };
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{told}");
    let answer: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!((&answer["observer"], &answer["rung"]), (&"uprobe".into(), &"completed".into()), "{answer}");
    let rows = answer["rows"].as_array().cloned().unwrap_or_default();
    let launches: u64 = rows.iter().filter_map(|row| row["launches"].as_u64()).sum();
    assert_eq!(launches, 2000, "{answer}");
    assert_eq!(answer["devices"][0]["known"], "processor", "{answer}");
}
