//! The doctor verb and the summary of this machine, as a user runs them.

use serde_json::Value;
use std::process::Command;
use unicode_width::UnicodeWidthStr;

fn whichkernel(args: &[&str], columns: Option<&str>) -> String {
    let ledger = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(args).arg("--ledger").arg(ledger.path()).env_remove("COLUMNS").env("LANG", "C");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn json_has_every_observer_with_a_status_and_a_reason() {
    let json: Value = schema_check::answer(
        env!("CARGO_BIN_EXE_whichkernel"),
        whichkernel(&["doctor", "--format", "json"], None).as_bytes(),
    );
    assert_eq!(json["schema"], "whichkernel.doctor/1");
    let observers = json["observers"].as_array().unwrap();
    let wanted = ["uprobe", "preload", "ptrace", "rocprofv3", "rocblas-log", "amd-log", "phase-proxy", "dryrun"];
    for name in wanted {
        let observer =
            observers.iter().find(|observer| observer["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        let status = observer["status"].as_str().unwrap();
        assert!(["works", "blocked", "absent", "untested"].contains(&status), "{name}: {status}");
        assert!(!observer["why"].as_str().unwrap().is_empty(), "{name}");
        assert!(observer["fix"].is_string() || observer["fix"].is_null(), "{name}");
    }
    assert!(json["host"]["permissions"]["uid"].is_number());
    assert!(json["trials"]["ptrace"]["outcome"].is_string());
}

#[test]
fn text_fits_the_terminal_in_both_languages() {
    for lang in ["en", "ja"] {
        for columns in ["80", "200"] {
            let text = whichkernel(&["doctor", "--lang", lang], Some(columns));
            let limit: usize = columns.parse().unwrap();
            // Commands are for copying, so they are never wrapped.
            let command = |line: &str| {
                ["fix:", "対処:", "undo:", "元に戻す:"].iter().any(|label| line.trim_start().starts_with(label))
            };
            for line in text.lines().filter(|line| !command(line)) {
                assert!(line.width() <= limit, "{lang} {columns}: {line}");
            }
            assert!(!text.contains("doctor-"), "a key was not translated: {text}");
        }
    }
}

/// A tree with nothing to examine: finding nothing there is not a result, and does not pass.
#[test]
fn nothing_to_look_at_is_not_nothing_found() {
    let (tree, ledger) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.args(["doctor", "--root"]).arg(tree.path()).args(words).arg("--ledger").arg(ledger.path());
        command.env("LANG", "C").output().unwrap()
    };
    let said = run(&[]);
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(
        said.status.success()
            && text.contains("Unknown: /sys (could not be read)")
            && !text.contains("no problems found"),
        "{text}"
    );
    let strict = run(&["--strict"]);
    assert_eq!(strict.status.code(), Some(1), "{}", String::from_utf8_lossy(&strict.stderr));
    std::fs::create_dir_all(tree.path().join("sys/class")).unwrap();
    assert!(String::from_utf8(run(&[]).stdout).unwrap().contains("no problems found in the GPU devices"));
    assert!(run(&["--strict"]).status.success());
}

/// A machine whose service overrides its card's target.
fn troubled() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for (path, text) in [
        (
            "sys/class/kfd/kfd/topology/nodes/1/properties",
            "simd_count 128\nsimd_per_cu 2\ngfx_target_version 120001\ndevice_id 30032\n",
        ),
        ("dev/kfd", ""),
        ("etc/systemd/system/ollama.service", "[Service]\nEnvironment=HSA_OVERRIDE_GFX_VERSION=11.0.0\n"),
    ] {
        let path = tree.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    tree
}

#[test]
fn problems_come_first_with_their_undo_and_strict_fails() {
    let tree = troubled();
    let root = tree.path().display().to_string();
    let text = whichkernel(&["doctor", "--root", &root], None);
    let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("no {word}: {text}"));
    assert!(place("HSA_OVERRIDE_GFX_VERSION=11.0.0") < place("Observers"), "{text}");
    assert!(text.contains("UnsetEnvironment=") && text.contains("undo: sudo rm "), "{text}");
    // The test uses nothing from this machine, because other programs may be running on it.
    assert!(!text.contains("pid ") && !text.contains("none is running") && !text.contains("systemctl start"), "{text}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let strict = command.args(["doctor", "--strict", "--root", &root]).env("LANG", "C").output().unwrap();
    assert_eq!(strict.status.code(), Some(1), "{}", String::from_utf8_lossy(&strict.stderr));
}

#[test]
fn a_tree_that_is_not_there_is_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let output = command.args(["doctor", "--root", "/no/such"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such"));
}

#[test]
fn the_summary_is_a_few_lines_and_says_what_to_run_next() {
    for lang in ["en", "ja"] {
        let text = whichkernel(&["--lang", lang], None);
        assert!((4..=8).contains(&text.lines().count()), "{text}");
        assert!(text.contains("whichkernel ") && !text.contains("summary-"), "{text}");
    }
}

#[test]
fn what_doctor_found_can_be_recorded() {
    let ledger = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let output = command.args(["doctor", "--record", "--ledger"]).arg(ledger.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let observations = ledger::Reader::open(ledger.path()).unwrap().observations().unwrap();
    let topics: Vec<&str> = observations.iter().filter_map(|o| o.fact()).map(|fact| fact.topic.as_str()).collect();
    assert!(topics.contains(&"observer.result") && topics.contains(&"host.setting"), "{topics:?}");
    assert!(observations.iter().all(|o| o.rung() == evidence::Rung::Loaded && !o.raw_evidence().is_empty()));
}
