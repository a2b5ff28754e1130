//! Tests a lake as users see it: written from real ledgers, queried by a real DuckDB, verified, and damaged in every
//! way that verification must detect.

use evidence::{
    About, Coverage, DeviceKind, Fact, Finding, Launched, Loaded, Observation, ObserverId, Recorded, Selected, Subject,
};
use export::parquet::{self, ParquetTable, Values};
use export::{Exported, Origin, prove, write};
use ledger::{Ledger, Reader};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn path_seen(path: &str, time: &str, device: DeviceKind) -> Observation {
    let subject = Subject::file("libggml-hip.so", "ab".repeat(32)).target("gfx1201").gpu("rx-9070-xt").device(device);
    let about = About::new([("type", "Q4_K"), ("columns", "290"), ("phase", "prefill")]);
    let finding = Finding::Saw(Fact::new("matmul.path", about, path));
    let (id, coverage) = (ObserverId::new("uprobe", "0.1.0"), Coverage::complete("launches", 9));
    match device {
        DeviceKind::Real => Observation::on::<Launched>(id, subject, finding, coverage, time),
        _ => Observation::on::<Selected>(id, subject, finding, coverage, time),
    }
    .expect("an observation")
}

fn kernel_seen(name: &str, count: i64) -> Observation {
    let subject = Subject::file("libggml-hip.so", "ab".repeat(32)).device(DeviceKind::Real).window("a test");
    let fact = Fact::new("kernel", About::new([("name", name), ("phase", "decode")]), count);
    let coverage = Coverage::partial("launches", 9, None, Vec::new()).lost(2);
    let time = "2026-11-15T10:00:00.000Z";
    Observation::on::<Launched>(ObserverId::new("uprobe", "0.1.0"), subject, Finding::Saw(fact), coverage, time)
        .expect("an observation")
}

fn ledger(dir: &Path, observations: &[Observation]) -> Reader {
    let mut ledger = Ledger::open(dir).expect("a ledger");
    ledger.append(observations).expect("kept");
    ledger.note("a person's \"words\"\n").expect("noted");
    drop(ledger);
    Reader::open(dir).expect("a reader")
}

fn graded(observations: &[Recorded]) -> (evidence::Investigation, Vec<evidence::Reading>) {
    let file = include_str!("../../site/tests/small/small.toml");
    let investigation = evidence::Investigation::parse("small.toml", file).expect("the file");
    let (readings, _) = investigation.read(observations, &[]);
    (investigation, readings)
}

fn export(dir: &Path, name: &str, observations: &[Observation], lake: &Path) -> Exported {
    let reader = ledger(&dir.join(name), observations);
    let (investigation, readings) = graded(&reader.observations().expect("observations"));
    let claims: Vec<_> = investigation.claims.iter().zip(&readings).collect();
    let origin = Origin { host: Some(name), machine: "0011", title: "A test", claims: &claims };
    write(&reader, &origin, lake).expect("exported")
}

/// A lake of two machines. One has changed from BLAS to MMQ, the other runs the fallback since the tenth.
fn lake(dir: &Path) -> PathBuf {
    let lake = dir.join("lake");
    let host = Observation::on::<Loaded>(
        ObserverId::new("host", "0.1.0"),
        Subject::host("this"),
        Finding::Blocked { why: "no <GPU>, 'quoted'".into(), fix: "none".into(), said: None },
        Coverage::partial("events", 0, None, Vec::new()),
        "2026-11-01T10:00:00.000Z",
    );
    let one = [
        host.expect("an observation"),
        path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real),
        path_seen("MMQ", "2026-11-12T10:00:00.000Z", DeviceKind::Real),
    ];
    let two = [
        path_seen("BLAS", "2026-11-03T10:00:00.000Z", DeviceKind::StandIn),
        path_seen("BLAS", "2026-11-10T10:00:00.000Z", DeviceKind::Real),
        path_seen("BLAS", "2026-11-14T10:00:00.000Z", DeviceKind::Real),
        kernel_seen("mul_mat_vec_q<Q4_K,1>", 4096),
    ];
    let written = export(dir, "alpha", &one, &lake);
    assert_eq!((written.rows, written.launches), (4, 2));
    let written = export(dir, "beta", &two, &lake);
    assert_eq!((written.rows, written.launches), (5, 4));
    lake
}

/// Runs a query in DuckDB. The files of a wheel are not executable, so the loader starts it.
fn duckdb(lake: &Path, sql: &str) -> Option<serde_json::Value> {
    let program = test_artifacts::file("duckdb-cli-1.5.6", "duckdb_cli/duckdb")?;
    let output = Command::new("/lib64/ld-linux-x86-64.so.2")
        .arg(program)
        .args(["-json", "-c", sql])
        .current_dir(lake)
        .env("HOME", lake)
        .output()
        .expect("the loader");
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && wrong.is_empty(), "{sql}: {wrong}");
    if said.trim().is_empty() {
        return Some(serde_json::Value::Null);
    }
    Some(serde_json::from_str(&said).unwrap_or_else(|error| panic!("{sql}: {error}: {said}")))
}

#[test]
fn duckdb_runs_the_queries_of_the_page() {
    let dir = tempfile::tempdir().expect("a folder");
    let lake = lake(dir.path());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lake.md");
    let page = fs::read_to_string(page).expect("docs/lake.md");
    let queries: Vec<&str> = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(queries.len(), 2);
    let Some(claims) = duckdb(&lake, queries[0]) else { return };
    assert_eq!(claims.as_array().map(Vec::len), Some(4), "two claims of each machine: {claims}");
    let kernels = duckdb(&lake, queries[1]).expect("duckdb");
    assert_eq!((&kernels[0]["launches"], &kernels[0]["lost"]), (&"4096".into(), &"2".into()), "{kernels}");
}

#[test]
fn duckdb_reads_every_column_as_it_was_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let lake = lake(dir.path());
    let Some(found) = duckdb(
        &lake,
        "SELECT host, rung, topic, path, kernel, type, columns, launches, lost, contaminated, device FROM 'launches/*/*/*.parquet' ORDER BY time, path",
    ) else {
        return;
    };
    let rows = found.as_array().expect("rows");
    assert_eq!(rows.len(), 6, "{found}");
    let last = rows.iter().find(|row| row["topic"] == "kernel").expect("the kernel");
    assert_eq!(
        (&last["launches"], &last["lost"], &last["kernel"]),
        (&4096.into(), &2.into(), &"mul_mat_vec_q<Q4_K,1>".into())
    );
    assert_eq!((&last["contaminated"], &last["path"]), (&false.into(), &serde_json::Value::Null));
    // Check the chain alone, in SQL: every row's `prev` is the previous row's hash.
    let chain = "SELECT count(*) AS broken FROM (SELECT row, prev, lag(hash) OVER (PARTITION BY ledger ORDER BY row) AS before \
                 FROM 'observations/*/*/*.parquet') WHERE row > 1 AND prev != before";
    assert_eq!(duckdb(&lake, chain).expect("duckdb")[0]["broken"], 0);
    let bodies =
        duckdb(&lake, "SELECT kind, decode(body) AS body FROM 'observations/*/*/*.parquet' WHERE kind = 'note'")
            .expect("duckdb");
    assert!(bodies[0]["body"].as_str().is_some_and(|body| body.contains("a person's \"words\"")), "{bodies}");
}

fn tables(lake: &Path, table: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    test_artifacts::files(&lake.join(table), &mut |file| files.push(file.to_owned()));
    files.sort();
    files
}

fn alter(file: &Path, change: impl FnOnce(&mut ParquetTable)) {
    let mut table = parquet::read(&fs::read(file).expect("a file")).expect("a table");
    change(&mut table);
    let mut writer = parquet::Writer::new(Vec::new()).expect("a writer");
    writer.group(&table).expect("a group");
    fs::write(file, writer.finish(&table.about).expect("a file")).expect("written");
}

fn problems(lake: &Path) -> String {
    prove(lake)
        .expect("a lake")
        .into_iter()
        .flat_map(|one| one.problems)
        .map(|problem| problem.english)
        .collect::<Vec<_>>()
        .join("\n")
}

fn text<'a>(table: &'a mut ParquetTable, name: &str) -> &'a mut Vec<Option<String>> {
    match table.columns.iter_mut().find(|column| column.name == name).map(|column| &mut column.values) {
        Some(Values::Text(values)) => values,
        _ => panic!("no text column {name}"),
    }
}

#[test]
fn a_lake_is_proved_and_whatever_was_altered_is_named() {
    type Change = fn(&mut ParquetTable);
    let changes: [(&str, &str, Change, &str); 11] = [
        (
            "observations",
            "a value",
            |table| text(table, "value")[1] = Some("MMQ".into()),
            "'value' does not match its rows",
        ),
        (
            "observations",
            "a body",
            |table| {
                let Some(Values::Bytes(bodies)) =
                    table.columns.iter_mut().find(|c| c.name == "body").map(|c| &mut c.values)
                else {
                    panic!("no body")
                };
                if let Some(Some(body)) = bodies.get_mut(0) {
                    let at = body.len() / 2;
                    body[at] ^= 1;
                }
            },
            "row 1 was altered",
        ),
        ("observations", "the order", |table| text(table, "prev").swap(1, 2), "row 2 does not follow"),
        (
            "observations",
            "the host",
            |table| text(table, "host")[0] = Some("gamma".into()),
            "'host' does not match its rows",
        ),
        (
            "observations",
            "the tail",
            |table| {
                for column in &mut table.columns {
                    match &mut column.values {
                        Values::Text(values) => drop(values.pop()),
                        Values::Bytes(values) => drop(values.pop()),
                        Values::Number(values) => drop(values.pop()),
                        Values::Bool(values) => drop(values.pop()),
                    }
                }
            },
            "rows are missing",
        ),
        ("launches", "a path", |table| text(table, "path")[0] = Some("MMQ".into()), "launches: the column 'path'"),
        ("claims", "a grade", |table| text(table, "grade")[0] = Some("confirmed".into()), "the table was altered"),
        ("claims", "a title", |table| text(table, "investigation")[0] = Some("Mine".into()), "the table was altered"),
        ("claims", "a source", |table| text(table, "cites")[0] = Some("aa".repeat(32)), "claim cites the observation"),
        (
            "claims",
            "a host",
            |table| text(table, "host")[0] = Some("gamma".into()),
            "claims: the column 'host' differs from the observations",
        ),
        ("observations", "a column", |table| table.columns.retain(|column| column.name != "rung"), "'rung' is missing"),
    ];
    for (table, what, change, said) in changes {
        let dir = tempfile::tempdir().expect("a folder");
        let lake = lake(dir.path());
        assert_eq!(problems(&lake), "");
        assert_eq!(prove(&lake).expect("a lake").len(), 2);
        alter(&tables(&lake, table)[0], change);
        assert!(problems(&lake).contains(said), "{what}: {}", problems(&lake));
    }
}

#[test]
fn half_a_lake_foreign_files_and_an_empty_one_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    assert!(prove(&dir.path().join("nothing")).is_err());
    let lake = lake(dir.path());
    for table in ["launches", "claims"] {
        let foreign = tables(&lake, table)[0].with_file_name("0000.parquet");
        fs::copy(&tables(&lake, table)[0], &foreign).expect("copied");
        assert!(problems(&lake).contains("no manifest lists this table"), "{}", problems(&lake));
        fs::remove_file(foreign).expect("gone");
    }
    assert_eq!(problems(&lake), "");
    fs::remove_dir_all(lake.join("launches")).expect("gone");
    assert!(problems(&lake).contains("launches"), "{}", problems(&lake));
    let file = tables(&lake, "observations")[0].clone();
    fs::write(&file, b"PAR1 rubbish PAR1").expect("written");
    assert!(problems(&lake).contains("footer"), "{}", problems(&lake));
    if duckdb(&lake, &format!("COPY (SELECT 1 AS row, 'x' AS ledger) TO '{}' (FORMAT parquet)", file.display()))
        .is_some()
    {
        assert!(problems(&lake).contains("only files that whichkernel exported"), "{}", problems(&lake));
    }
    for file in tables(&lake, "observations") {
        fs::remove_file(file).expect("gone");
    }
    assert!(problems(&lake).contains("the table is missing"), "{}", problems(&lake));
    for folder in ["observations", "launches", "claims", "manifests"] {
        let _ = fs::remove_dir_all(lake.join(folder));
    }
    assert!(prove(&lake).is_err(), "a proof of nothing proves nothing");
}

#[test]
fn an_export_that_cannot_be_written_leaves_the_last_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let lake = lake(dir.path());
    let reader = Reader::open(&dir.path().join("alpha")).expect("a reader");
    let (investigation, readings) = graded(&reader.observations().expect("observations"));
    let claims: Vec<_> = investigation.claims.iter().zip(&readings).collect();
    let origin = Origin { host: Some("alpha"), machine: "0011", title: "A test", claims: &claims };
    append(&dir.path().join("alpha"), "MMVQ");
    // A file in the way of a folder simulates a full disk, because root may write anywhere else.
    fs::rename(lake.join("claims"), lake.join("aside")).expect("moved");
    fs::write(lake.join("claims"), "in the way").expect("written");
    assert!(write(&reader, &origin, &lake).is_err());
    fs::remove_file(lake.join("claims")).expect("gone");
    fs::rename(lake.join("aside"), lake.join("claims")).expect("moved back");
    assert_eq!(problems(&lake), "", "what was there is still whole");
    let left = tables(&lake, "").into_iter().filter(|path| path.to_string_lossy().contains(".export-")).count();
    assert_eq!(left, 0, "no temporary file is left");
    assert_eq!(write(&reader, &origin, &lake).expect("exported").new_rows, 1);
    assert_eq!(problems(&lake), "");
    let empty = Reader::open(&dir.path().join("empty")).expect("a reader");
    assert!(write(&empty, &origin, &lake).is_err_and(|error| error.to_string().contains("nothing to export")));
}

#[test]
fn claims_stand_beside_with_their_grades() {
    let seen = vec![Recorded::new(path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real))];
    let (investigation, readings) = graded(&seen);
    let claims: Vec<_> = investigation.claims.iter().zip(&readings).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let reader = ledger(&dir.path().join("l"), &[path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real)]);
    let lake = dir.path().join("lake");
    let written = write(&reader, &Origin { host: None, machine: "0011", title: "A test", claims: &claims }, &lake)
        .expect("exported");
    assert_eq!(written.claims, 2);
    let table = parquet::read(&fs::read(&tables(&lake, "claims")[0]).expect("a file")).expect("a table");
    let Some(Values::Text(grades)) = table.column("grade") else { panic!("no grades") };
    assert!(grades.iter().all(|grade| grade.as_deref() == Some("unresolved")), "{grades:?}");
    let Some(Values::Text(hosts)) = table.column("host") else { panic!("no hosts") };
    assert_eq!(hosts[0].as_deref(), Some(format!("{}-0011", written.ledger).as_str()), "without a name the two ids");
}

fn export_as(ledger: &Path, host: Option<&str>, machine: &str, lake: &Path) -> Exported {
    let reader = Reader::open(ledger).expect("a reader");
    write(&reader, &Origin { host, machine, title: "A test", claims: &[] }, lake).expect("exported")
}

fn clone_of(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(copied.success());
}

fn append(dir: &Path, path: &str) {
    let mut ledger = Ledger::open(dir).expect("a ledger");
    ledger.append(&[path_seen(path, "2026-11-16T10:00:00.000Z", DeviceKind::Real)]).expect("kept");
}

/// The values in the lake's own tables.
fn values(lake: &Path) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for file in tables(lake, "observations") {
        let mut table = parquet::read(&fs::read(file).expect("a file")).expect("a table");
        all.extend(text(&mut table, "value").iter().flatten().cloned());
    }
    all.sort();
    all
}

#[test]
fn a_cloned_machine_loses_nothing_and_takes_nothing_away() {
    let dir = tempfile::tempdir().expect("a folder");
    let (one, two, lake) = (dir.path().join("one"), dir.path().join("two"), dir.path().join("lake"));
    drop(ledger(&one, &[path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real)]));
    clone_of(&one, &two);
    append(&one, "MMQ");
    append(&two, "MMVQ");
    // The image was cloned, but each machine has its own id.
    let (first, second) = (export_as(&one, None, "aaaa", &lake), export_as(&two, None, "bbbb", &lake));
    assert_eq!(first.ledger, second.ledger);
    assert_ne!(first.stem, second.stem);
    assert_eq!(
        (problems(&lake).as_str(), values(&lake)),
        ("", vec!["BLAS".into(), "BLAS".into(), "MMQ".into(), "MMVQ".into()])
    );
    // The id was cloned too, so only the rows show the difference.
    let third = export_as(&two, None, "aaaa", &lake);
    assert_eq!((third.stem, third.beside), (format!("{}-2", first.stem), Some(first.stem.clone())));
    assert!(tables(&lake, "observations").iter().any(|file| file.to_string_lossy().contains("machine=maaaa-2")));
    assert_eq!((problems(&lake).as_str(), values(&lake).len()), ("", 6));
    // Each export continues in its own files, also under another name.
    append(&two, "MMF");
    let again = export_as(&two, Some("two"), "aaaa", &lake);
    assert_eq!((again.stem, again.beside), (format!("{}-2", first.stem), Some(first.stem.clone())));
    assert_eq!(export_as(&one, Some("one"), "aaaa", &lake).stem, first.stem);
    assert_eq!((problems(&lake).as_str(), values(&lake).len()), ("", 7));
}

#[test]
fn an_older_state_of_a_ledger_does_not_replace_a_later_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let (now, before, lake) = (dir.path().join("now"), dir.path().join("before"), dir.path().join("lake"));
    drop(ledger(&now, &[path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real)]));
    clone_of(&now, &before);
    append(&now, "MMQ");
    let whole = export_as(&now, None, "aaaa", &lake);
    let older = export_as(&before, None, "aaaa", &lake);
    assert!(older.kept_later && older.stem == whole.stem, "{older:?}");
    assert_eq!((problems(&lake).as_str(), values(&lake)), ("", vec!["BLAS".into(), "MMQ".into()]));
    // Under another name, the same export counts as that of another machine.
    assert!(!export_as(&before, Some("old"), "aaaa", &lake).kept_later);
    assert_eq!((problems(&lake).as_str(), values(&lake).len()), ("", 3));
}

#[test]
fn a_manifest_that_is_gone_altered_or_of_another_export_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let lake = lake(dir.path());
    let manifest = tables(&lake, "manifests")[0].clone();
    let kept = fs::read_to_string(&manifest).expect("a manifest");
    fs::remove_file(&manifest).expect("gone");
    assert!(problems(&lake).contains("no manifest lists this table"), "{}", problems(&lake));
    fs::write(&manifest, kept.replacen("\"rows\": ", "\"rows\": 1", 1)).expect("written");
    assert!(problems(&lake).contains("another last row"), "{}", problems(&lake));
    fs::write(&manifest, kept.replacen("\"machine\": \"", "\"machine\": \"../", 1)).expect("written");
    assert!(problems(&lake).contains("a name that no export writes"), "{}", problems(&lake));
    fs::write(&manifest, "{").expect("written");
    assert!(problems(&lake).contains(".json"), "{}", problems(&lake));
    fs::write(&manifest, kept).expect("written");
    assert_eq!(problems(&lake), "");
    // If someone rewrites table and manifest, a hash that was kept elsewhere detects it.
    let seal = |lake: &Path| prove(lake).expect("a lake")[0].seal.clone().expect("a manifest");
    let before = seal(&lake);
    assert!(export::ExpectedHash::find(before.clone(), &prove(&lake).expect("a lake")).is_there());
    let named = manifest.file_stem().expect("a name").to_string_lossy().replace("-0011", "");
    let claims = tables(&lake, "claims").into_iter().find(|file| file.to_string_lossy().contains(&named));
    let claims = claims.expect("claims");
    let sha = |file: &Path| {
        let said = Command::new("sha256sum").arg(file).output().expect("coreutils").stdout;
        String::from_utf8_lossy(&said)[..64].to_owned()
    };
    let old = sha(&claims);
    alter(&claims, |table| text(table, "grade")[0] = Some("confirmed".into()));
    let forged = fs::read_to_string(&manifest).expect("a manifest").replace(&old, &sha(&claims));
    fs::write(&manifest, forged).expect("written");
    assert!(!export::ExpectedHash::find(before, &prove(&lake).expect("a lake")).is_there());
}

#[test]
fn only_new_rows_are_exported_and_nothing_is_written_without_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let (one, lake) = (dir.path().join("one"), dir.path().join("lake"));
    drop(ledger(&one, &[path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real)]));
    let first = export_as(&one, Some("one"), "aaaa", &lake);
    assert_eq!((first.new_rows, first.rows), (2, 2));
    let stamp = |lake: &Path| -> Vec<_> {
        let all = tables(lake, "").into_iter();
        all.map(|file| (file.clone(), fs::metadata(file).expect("a file").modified().expect("a time"))).collect()
    };
    let before = stamp(&lake);
    let again = export_as(&one, Some("one"), "aaaa", &lake);
    assert_eq!((again.new_rows, again.rows, &again.seal), (0, 2, &first.seal));
    assert_eq!(stamp(&lake), before, "no file was touched");
    append(&one, "MMQ");
    let more = export_as(&one, Some("one"), "aaaa", &lake);
    assert_eq!((more.new_rows, more.rows), (1, 3));
    assert_eq!((problems(&lake).as_str(), values(&lake)), ("", vec!["BLAS".into(), "MMQ".into()]));
    let reader = Reader::open(&one).expect("a reader");
    let own = export::OwnLedger::compare(&reader, &prove(&lake).expect("a lake")).expect("compared").expect("ours");
    assert_eq!((own.rows, own.exported, own.differs_at), (3, 3, None));
    append(&one, "MMVQ");
    let own = export::OwnLedger::compare(&reader, &prove(&lake).expect("a lake")).expect("compared").expect("ours");
    assert_eq!((own.rows, own.exported, own.differs_at), (4, 3, None), "a newer row is not a difference");
}

#[test]
fn an_address_is_refused_before_a_folder_of_that_name_is_made() {
    let dir = tempfile::tempdir().expect("a folder");
    let reader = ledger(&dir.path().join("l"), &[path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real)]);
    let origin = Origin { host: None, machine: "0011", title: "A test", claims: &[] };
    let refused = write(&reader, &origin, Path::new("s3://bucket/lake")).expect_err("an address");
    assert!(refused.to_string().contains("aws s3 sync"), "{refused}");
    assert!(!Path::new("s3:").exists());
}

/// This is not a test but the child process of the test below: it exports until it is killed.
#[test]
#[ignore = "the exporter that another test starts and kills"]
fn exporter() {
    let Some(dir) = std::env::var_os("EXPORTER_DIR").map(PathBuf::from) else { return };
    for at in 0.. {
        append(&dir.join("one"), &format!("PATH-{at}-{}", std::process::id()));
        export_as(&dir.join("one"), Some("one"), "aaaa", &dir.join("lake"));
        println!("exported");
    }
}

/// Every row in the visible files, by number. A half file, a row twice, or a row that is not the ledger's fails.
fn visible(lake: &Path, reader: &Reader) -> u64 {
    let mut seen = std::collections::BTreeMap::new();
    for file in tables(lake, "observations") {
        let mut table = parquet::read(&fs::read(&file).expect("a file")).unwrap_or_else(|_| panic!("half: {file:?}"));
        let Some(Values::Number(rows)) = table.column("row").cloned() else { panic!("no rows") };
        for (row, hash) in rows.into_iter().zip(text(&mut table, "hash").iter()) {
            assert!(seen.insert(row.expect("a number"), hash.clone()).is_none(), "row {row:?} is there twice");
        }
    }
    for (row, hash) in &seen {
        let own = reader.row(*row as u64).expect("read").expect("a row of the ledger");
        assert_eq!(hash.as_deref(), Some(own.hash.to_string().as_str()));
    }
    assert!(seen.keys().copied().eq(1..=seen.len() as i64), "no row is missing between others");
    seen.len() as u64
}

#[test]
fn killed_at_any_moment_no_row_is_lost_doubled_or_half_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let (one, lake) = (dir.path().join("one"), dir.path().join("lake"));
    drop(ledger(&one, &[path_seen("BLAS", "2026-11-02T10:00:00.000Z", DeviceKind::Real)]));
    let (mut before, mut interrupted) = (0, 0);
    for round in 0..40_u64 {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", "exporter", "--nocapture"])
            .env("EXPORTER_DIR", dir.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("started");
        let mut lines = std::io::BufReader::new(child.stdout.take().expect("its output"));
        let mut said = String::new();
        while !said.contains("exported") {
            assert_ne!(std::io::BufRead::read_line(&mut lines, &mut said).expect("read"), 0, "{said}");
        }
        std::thread::sleep(std::time::Duration::from_micros(round * 7919 % 9000));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let reader = Reader::open(&one).expect("a reader");
        let rows = visible(&lake, &reader);
        assert!(rows >= before, "round {round}: {rows} rows after {before}");
        interrupted += usize::from(!problems(&lake).is_empty());
        // The next export completes what was interrupted.
        let whole = export_as(&one, Some("one"), "aaaa", &lake);
        assert_eq!(problems(&lake), "", "round {round}");
        assert_eq!(visible(&lake, &reader), whole.rows);
        before = whole.rows;
    }
    println!("{before} rows, {interrupted} of 40 kills between the first and the last rename");
    assert!(before > 40, "every round exported: {before}");
}
