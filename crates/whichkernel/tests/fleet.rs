//! `fleet` from a user's view: an engine that is missing or installed, a lake that is empty, whole or remote, and what
//! the answer says. The queries themselves are tested on 200 machines in `crates/export/tests/fleet.rs`.

use evidence::{About, Coverage, DeviceKind, Fact, Finding, Launched, Observation, ObserverId, Subject};
use ledger::Ledger;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_whichkernel");
const DIFF: &str = "fleet diff lake --before 2026-11-10 --after 2026-11-12";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("bin")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a real DuckDB on the PATH, which is otherwise empty.
    fn install(&self) -> bool {
        let Some(program) = test_artifacts::file("duckdb-cli-1.5.6", "duckdb_cli/duckdb") else { return false };
        let path = self.path("bin/duckdb");
        fs::write(&path, format!("#!/bin/sh\nexec /lib64/ld-linux-x86-64.so.2 '{}' \"$@\"\n", program.display()))
            .unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        true
    }

    fn run(&self, line: &str) -> Output {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.0.path()).env("WHICHKERNEL_LEDGER", self.path("ledger"));
        command.env("WHICHKERNEL_CACHE", self.path("no-cache")).env("LANG", "C.UTF-8").env_remove("LC_ALL");
        command.env("PATH", self.path("bin")).args(line.split(' ')).output().unwrap()
    }

    /// The output and the errors; the command must end with this exit code.
    fn said(&self, line: &str, code: i32) -> (String, String) {
        let output = self.run(line);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(code), "{line}: {out}{err}");
        assert!(!err.contains("panicked"), "{err}");
        (out, err)
    }

    /// Records a launch and exports it.
    fn export(&self, path: &str, time: &str, host: &str) {
        let mut ledger = Ledger::open(&self.path("ledger")).unwrap();
        ledger.append(&[launched(path, time)]).unwrap();
        self.said(&format!("report --export parquet --out lake --host {host}"), 0);
    }
}

fn launched(path: &str, time: &str) -> Observation {
    let subject = Subject::file("libggml-hip.so", "ab".repeat(32)).gpu("rx-9070-xt").device(DeviceKind::Real);
    let about = About::new([("type", "Q4_K"), ("columns", "290"), ("phase", "prefill")]);
    let finding = Finding::Saw(Fact::new("matmul.path", about, path));
    let (id, coverage) = (ObserverId::new("uprobe", "0.1.0"), Coverage::complete("launches", 9));
    Observation::on::<Launched>(id, subject, finding, coverage, time).unwrap()
}

#[test]
fn without_a_lake_or_an_engine_the_error_says_what_to_do() {
    let place = Place::new();
    assert!(place.said(DIFF, 2).1.contains("lake"));
    fs::create_dir(place.path("lake")).unwrap();
    assert!(place.said(DIFF, 2).1.contains("report --export parquet"), "an empty folder");
    let reversed = "fleet diff lake --before 2026-11-12 --after 2026-11-10";
    assert!(place.said(reversed, 2).1.contains("--before 2026-11-12 is later than"), "dates in the wrong order");
    assert!(place.said("fleet diff lake --before yesterday --after 2026-11-10", 2).1.contains("2026-11-17"));
    assert!(place.said("fleet diff s3://bucket/lake --before 2026-11-10 --after 2026-11-12", 2).1.contains("--sql"));
    place.export("MMQ", "2026-11-02T10:00:00.000Z", "alpha");
    let (_, missing) = place.said(DIFF, 2);
    assert!(missing.contains("pip install duckdb") && missing.contains("--sql"), "{missing}");
    let (sql, _) = place.said(&format!("{DIFF} --sql"), 0);
    assert!(sql.contains("read_parquet('launches/*/*/*.parquet'") && sql.contains("'2026-11-10'"), "{sql}");
    let (sql, _) = place.said("fleet alerts s3://bucket/lake --since 2026-11-10 --sql", 0);
    assert!(sql.contains("read_parquet('s3://bucket/lake/launches/*/*/*.parquet'"), "{sql}");
    assert!(place.said("fleet alerts s3://b'--lake --sql", 2).1.contains("quotation marks"));
}

#[test]
fn the_first_line_answers_and_what_is_not_known_is_said() {
    let place = Place::new();
    place.export("MMQ", "2026-11-02T10:00:00.000Z", "alpha");
    if !place.install() {
        return;
    }
    let (silent, _) = place.said(DIFF, 2);
    assert!(silent.starts_with("Unknown: 1 machine of the lake (not reported)"), "{silent}");
    assert!(
        silent.contains("alpha") && silent.contains("silent") && silent.contains("Queries run by: duckdb"),
        "{silent}"
    );
    place.export("MMQ", "2026-11-13T10:00:00.000Z", "alpha");
    let (same, _) = place.said(DIFF, 0);
    assert!(same.starts_with("The same in "), "{same}");
    place.export("BLAS", "2026-11-14T10:00:00.000Z", "alpha");
    let (changed, _) = place.said(DIFF, 1);
    assert!(changed.starts_with("Different in 1 of 1 machine"), "{changed}");
    assert!(changed.contains("MMQ → BLAS") && changed.contains("same runtime and file"), "{changed}");
    let answer = schema_check::answer(PROGRAM, &place.run(&format!("{DIFF} --format json")).stdout);
    assert_eq!(answer["changes"][0]["appeared"][0], "BLAS");
    assert_eq!(answer["changes"][0]["since"], "2026-11-14T10:00:00.000Z");
    let (alerts, _) = place.said("fleet alerts lake --since 2026-11-12", 1);
    assert!(alerts.contains("On the fallback (BLAS) at the last observation (1 machine)"), "{alerts}");
    let (csv, _) = place.said(&format!("{DIFF} --format csv"), 1);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let (japanese, _) = place.said(&format!("--lang ja {DIFF}"), 1);
    assert!(japanese.contains("経路の変化（1 台）"), "{japanese}");
}

#[test]
fn a_host_name_cannot_control_the_terminal() {
    let place = Place::new();
    place.export("MMQ", "2026-11-02T10:00:00.000Z", "evil\u{1b}[2J");
    if place.install() {
        let (said, _) = place.said(DIFF, 2);
        assert!(said.contains("evil") && !said.contains('\u{1b}'), "{said:?}");
    }
}
