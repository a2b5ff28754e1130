//! A lake of 200 machines with planted changes: every engine finds exactly these, and none else.

#[path = "fleet/made.rs"]
mod made;

use export::fleet::{self, Dates, Dialect, Engine, FleetAnswer, FleetError, Query, Question, ResultRow, State};
use made::{MACHINES, Planted, host, lake, planted};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A program that starts another one: the files of a wheel are not executable, and Python must find its packages.
fn starter(dir: &Path, name: &str, line: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{line} \"$@\"\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

fn python(dir: &Path, name: &str, packages: &Path) -> PathBuf {
    starter(dir, name, &format!("PYTHONPATH='{}' exec python3", packages.display()))
}

/// Every engine that can be had, on a lake's machine. Missing ones are skipped by name.
fn engines(dir: &Path) -> Vec<Engine> {
    let program = test_artifacts::file("duckdb-cli-1.5.6", "duckdb_cli/duckdb").map(|program| {
        Engine::DuckdbProgram(starter(
            dir,
            "duckdb",
            &format!("exec /lib64/ld-linux-x86-64.so.2 '{}'", program.display()),
        ))
    });
    let duckdb = test_artifacts::python(test_artifacts::DUCKDB).map(|at| Engine::DuckdbPython(python(dir, "py1", &at)));
    let chdb = test_artifacts::need("chdb-core-26.9.0").map(|at| Engine::Chdb(python(dir, "py2", &at)));
    program.into_iter().chain(duckdb).chain(chdb).collect()
}

fn dates(before: &str, after: &str) -> Dates {
    Dates::new(before, after).expect("dates")
}

fn diff() -> Question {
    Question::Diff(dates("2026-11-10", "2026-11-12"))
}

fn alerts() -> Question {
    Question::Alerts(dates("2026-11-10", "2026-11-10"))
}

fn with(wanted: &[Planted]) -> BTreeSet<String> {
    (0..MACHINES).filter(|machine| wanted.contains(&planted(*machine))).map(host).collect()
}

fn in_state(answer: &FleetAnswer, state: State) -> BTreeSet<String> {
    answer.in_state(state).map(|one| one.host.clone()).collect()
}

/// Each change as host, card, columns and the two paths.
fn paths(answer: &FleetAnswer) -> BTreeSet<String> {
    let line = |one: &fleet::PathChange| {
        format!("{} {} {} {} {}", one.host, one.card, one.columns, one.gone.join("+"), one.appeared.join("+"))
    };
    answer.changes.iter().map(line).collect()
}

fn expected_paths() -> BTreeSet<String> {
    let mut all: BTreeSet<String> =
        with(&[Planted::UpgradeToFallback]).into_iter().map(|host| format!("{host} rx-9070-xt 290 MMQ BLAS")).collect();
    all.extend(with(&[Planted::TwoCards]).into_iter().map(|host| format!("{host} rx-7900-xtx 290 MMQ BLAS")));
    all.extend(with(&[Planted::Recovered]).into_iter().map(|host| format!("{host} rx-9070-xt 290 BLAS MMQ")));
    all
}

fn check_diff(answer: &FleetAnswer) {
    let engine = &answer.engine;
    assert_eq!(paths(answer), expected_paths(), "{engine}");
    let by_upgrade: BTreeSet<String> =
        answer.changes.iter().filter(|one| one.upgrade.changed).map(|one| one.host.clone()).collect();
    assert_eq!(by_upgrade, with(&[Planted::UpgradeToFallback, Planted::TwoCards]), "{engine}");
    for one in answer.changes.iter().filter(|one| planted_on(&one.host) == Planted::UpgradeToFallback) {
        assert!(one.since.starts_with("2026-11-12"), "{engine}: {one:?}");
        let runtimes = (one.upgrade.runtime_before.as_str(), one.upgrade.runtime_after.as_str());
        assert_eq!(runtimes, ("ollama-rocm-60303", "ollama-rocm-70000"), "{engine}");
    }
    let software: BTreeSet<String> = answer.software.iter().flatten().map(|one| one.host.clone()).collect();
    let changed = [Planted::UpgradeToFallback, Planted::UpgradeOnly, Planted::DriverOnly, Planted::TwoCards];
    assert_eq!(software, with(&changed), "{engine}");
    let driver: Vec<_> = answer.software.iter().flatten().filter(|one| one.what == "host.rocm").collect();
    assert!(driver.len() == 1 && driver[0].after.contains("7.0.0"), "{engine}: {driver:?}");
    states(answer);
}

fn planted_on(name: &str) -> Planted {
    (0..MACHINES).find(|machine| host(*machine) == name).map_or(Planted::Nothing, planted)
}

fn states(answer: &FleetAnswer) {
    let engine = &answer.engine;
    assert_eq!(answer.machines.len(), MACHINES, "{engine}");
    assert_eq!(in_state(answer, State::Silent), with(&[Planted::Silent]), "{engine}: silent is not fixed");
    assert_eq!(in_state(answer, State::Clock), with(&[Planted::ClockBack]), "{engine}");
    assert_eq!(in_state(answer, State::New), with(&[Planted::New]), "{engine}");
    assert_eq!(in_state(answer, State::NotCompared), with(&[Planted::OtherColumns]), "{engine}");
    let cloned: BTreeSet<String> =
        answer.machines.iter().filter(|one| one.cloned).map(|one| one.host.clone()).collect();
    assert_eq!(cloned, with(&[Planted::Clone]), "{engine}");
}

fn check_alerts(answer: &FleetAnswer) {
    let engine = &answer.engine;
    let fallback = answer.fallback.as_ref().expect("alerts");
    let hosts: BTreeSet<String> = fallback.iter().map(|one| one.host.clone()).collect();
    assert_eq!(hosts, with(&[Planted::UpgradeToFallback, Planted::TwoCards, Planted::AlwaysFallback]), "{engine}");
    assert_eq!(fallback.len(), hosts.len(), "{engine}: one card of each");
    for one in fallback {
        let always = planted_on(&one.host) == Planted::AlwaysFallback;
        assert_eq!(one.last_other.is_empty(), always, "{engine}: {one:?}");
        assert!(one.since.starts_with(if always { "2026-11-02" } else { "2026-11-12" }), "{engine}: {one:?}");
        assert_eq!(one.upgrade.changed && !always, !always, "{engine}: {one:?}");
    }
    assert_eq!(paths(answer), expected_paths(), "{engine}");
    states(answer);
}

#[test]
fn every_engine_finds_the_planted_changes_of_200_machines_and_none_else() {
    // In memory where possible: 800 exports wait for the disk several times each.
    let memory = Path::new("/dev/shm");
    let dir = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).expect("a folder");
    let programs = tempfile::tempdir().expect("a folder");
    let begun = std::time::Instant::now();
    let lake = lake(dir.path());
    println!("{MACHINES} machines exported in {:.1} s", begun.elapsed().as_secs_f32());
    let proved = export::prove(&lake).expect("a lake");
    assert_eq!(
        proved.iter().flat_map(|one| &one.problems).count(),
        0,
        "{:?}",
        proved.iter().find(|one| !one.problems.is_empty())
    );
    assert_eq!(proved.len(), MACHINES);
    let mut table = String::new();
    let engines = engines(programs.path());
    for engine in &engines {
        let begun = std::time::Instant::now();
        check_diff(&fleet::ask(&lake, &diff(), || Ok(engine.clone())).expect("an answer"));
        check_alerts(&fleet::ask(&lake, &alerts(), || Ok(engine.clone())).expect("an answer"));
        table += &format!("| {} | {:.1} |\n", engine.name(), begun.elapsed().as_secs_f32());
    }
    if let Some(path) = std::env::var_os("WHICHKERNEL_FLEET_TABLE") {
        let begun = std::time::Instant::now();
        let [one, two] = spark(&lake);
        check_diff(&one);
        check_alerts(&two);
        table += &format!("| spark | {:.1} |\n", begun.elapsed().as_secs_f32());
        fs::write(path, &table).expect("written");
    }
    println!("{table}");
    damaged(&lake, &engines);
}

/// The same lake with parts removed, foreign or damaged: no engine concludes more than the files show.
fn damaged(lake: &Path, engines: &[Engine]) {
    let Some(engine) = engines.first() else { return };
    let asked = |question: &Question| fleet::ask(lake, question, || Ok(engine.clone()));
    // Dates without records on one side: nothing can be compared, and no machine counts as unchanged.
    let later = asked(&Question::Diff(dates("2026-12-01", "2026-12-01"))).expect("an answer");
    assert_eq!(later.conclusion.answered(), 0);
    assert_eq!(later.conclusion.reach(), evidence::Reach::Unknown);
    assert_eq!(later.in_state(State::Silent).count(), MACHINES - 1, "all but the one with the clock");
    // A machine's later files are gone: the answer names the gap.
    let file = lake.join("launches/day=2026-11-18/machine=m000000000050").read_dir().expect("a folder").next();
    let file = file.expect("a file").expect("a file").path();
    let kept = fs::read(&file).expect("a file");
    fs::remove_file(&file).expect("gone");
    let half = asked(&diff()).expect("an answer");
    assert_eq!(half.missing_files, std::slice::from_ref(&file));
    assert_ne!(half.conclusion.left_out().len(), 0);
    // A damaged file is an error of the engine, not an answer without it.
    fs::write(&file, kept.get(..kept.len() / 2).expect("half")).expect("written");
    assert!(matches!(asked(&diff()), Err(FleetError::Failed { .. })), "{:?}", asked(&diff()));
    fs::write(&file, kept).expect("written");
    check_diff(&asked(&diff()).expect("an answer"));
    fs::remove_dir_all(lake.join("launches")).expect("gone");
    assert!(matches!(asked(&diff()), Err(FleetError::NoLaunches(_))));
    fs::remove_dir_all(lake.join("observations")).expect("gone");
    assert!(matches!(asked(&diff()), Err(FleetError::Empty(_))));
}

/// Spark reads the same lake with the same queries. A session takes minutes, so only `cargo xtask deep fleet` runs it.
fn spark(lake: &Path) -> [FleetAnswer; 2] {
    let packages = test_artifacts::python(test_artifacts::SPARK).expect("Spark");
    let asked = [diff(), alerts()];
    let queries = |question: &Question| -> String {
        let sql = |query: &Query| query.sql(Dialect::Spark, "", question.dates());
        serde_json::to_string(&question.queries().iter().map(sql).collect::<Vec<_>>()).expect("json")
    };
    let output = std::process::Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/spark.py"))
        .args(asked.iter().map(queries))
        .env("PYTHONPATH", packages)
        .current_dir(lake)
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: [Vec<Vec<ResultRow>>; 2] = serde_json::from_slice(&output.stdout).expect("rows");
    let inventory = export::Inventory::of(lake).expect("a lake");
    let mut answers = answers.into_iter().zip(&asked).map(|(rows, question)| {
        let rows = question.queries().iter().copied().zip(rows).collect();
        FleetAnswer::new(lake, "spark", question, &inventory, rows)
    });
    [answers.next(), answers.next()].map(|answer| answer.expect("an answer"))
}
