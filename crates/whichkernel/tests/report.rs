//! `report`, `investigate init` and exports from a user's view: pages, exports, a lake, a bundle, a server; good input
//! and bad.

use evidence::{About, Coverage, DeviceKind, Fact, Finding, Launched, Loaded, Observation, ObserverId, Subject};
use ledger::Ledger;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_whichkernel");

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(self.dir.path())
            .env("WHICHKERNEL_LEDGER", self.path("ledger"))
            // No runtimes: the developer's cache must not be used here.
            .env("WHICHKERNEL_CACHE", self.path("no-cache"))
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL")
            .env_remove("COLUMNS")
            .args(line.split(' '));
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// The command must succeed; returns its output.
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", err(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The command must end with this exit code; returns its errors.
    fn fails(&self, line: &str, code: i32) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", err(&output));
        assert!(!err(&output).contains("panicked"), "{}", err(&output));
        err(&output)
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap()
    }
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn launched(path: &str, time: &str) -> Observation {
    let subject = Subject::file("libggml-hip.so", "ab".repeat(32)).target("gfx1201").device(DeviceKind::Real);
    let fact = Fact::new("matmul.path", About::new([("type", "Q4_K"), ("columns", "290")]), path);
    let coverage = Coverage::complete("launches", 9);
    Observation::on::<Launched>(ObserverId::new("uprobe", "0.1.0"), subject, Finding::Saw(fact), coverage, time)
        .unwrap()
}

#[test]
fn investigate_writes_the_report_and_names_it_last() {
    let place = Place::new();
    let said = place.ok("investigate field-notes --offline");
    let page = place.path("ledger/report/index.html");
    assert_eq!(said.lines().last(), Some(format!("Report: {}", page.display()).as_str()), "{said}");
    let first = fs::read_to_string(&page).unwrap();
    assert!(first.contains("Q4_K"), "{first}");
    let whole: serde_json::Value = {
        let output = place.run("investigate field-notes --offline --format json");
        assert!(err(&output).contains("Report: "), "in JSON the path is on standard error too: {}", err(&output));
        schema_check::answer(PROGRAM, &output.stdout)
    };
    assert_eq!(whole["report"].as_str().map(Path::new), Some(page.as_path()));
    // Written again: the pages contain the new record.
    place.ok("ledger note --phase A the-fan-was-loud");
    place.ok("investigate field-notes --offline");
    assert!(place.text("ledger/report/worklog.html").contains("the-fan-was-loud"));
    // A report that cannot be written is reported, but the command does not fail.
    fs::remove_dir_all(place.path("ledger/report")).unwrap();
    fs::write(place.path("ledger/report"), "in the way").unwrap();
    let output = place.run("investigate field-notes --offline");
    assert!(output.status.success() && err(&output).contains("The report was not written"), "{}", err(&output));
}

#[test]
fn pages_and_every_export_are_written_where_one_says() {
    let place = Place::new();
    place.ok("investigate field-notes --offline");
    assert!(place.ok("report --out pages").contains("pages/index.html"));
    assert!(place.text("pages/map.html").contains("Content-Security-Policy"));
    assert!(place.ok("report --single-file --out one.html").contains("one.html"));
    assert!(place.text("one.html").contains("data-single"));
    place.ok("report --export md --out md");
    assert!(place.text("md/ja/index.md").starts_with("---\ntitle: ") && place.text("md/en/index.md").contains("## "));
    place.ok("report --export json --out all.json");
    let all = schema_check::answer(PROGRAM, place.text("all.json").as_bytes());
    assert!(all["observations"].as_array().is_some_and(|rows| rows.len() > 10) && all["ledger"]["problem"].is_null());
    // Another program's folder is not changed.
    fs::create_dir(place.path("thesis")).unwrap();
    fs::write(place.path("thesis/mine.txt"), "mine").unwrap();
    assert!(place.fails("report --out thesis", 2).contains("no whichkernel report"));
    assert!(place.fails("report --export pdf", 2).contains("parquet"), "what there is, is named");
}

#[test]
fn a_lake_is_written_proved_and_found_out() {
    let place = Place::new();
    assert!(place.fails("report --export parquet --out lake", 2).contains("nothing to export"));
    assert!(place.fails("ledger verify --parquet lake", 2).contains("lake"));
    let mut ledger = Ledger::open(&place.path("ledger")).unwrap();
    ledger
        .append(&[launched("BLAS", "2026-11-02T10:00:00.000Z"), launched("MMQ", "2026-11-03T10:00:00.000Z")])
        .unwrap();
    drop(ledger);
    place.ok("report --export parquet --out lake --host alpha");
    let said = place.ok("ledger verify --parquet lake");
    assert!(said.contains("intact, 2 rows") && said.contains("Proved: ") && said.contains("Not proved: "), "{said}");
    assert!(said.contains("2 rows in the lake, identical row by row; 0 newer rows"), "{said}");
    let japanese = place.ok("--lang ja ledger verify --parquet lake");
    assert!(japanese.contains("改変なし（2 行"), "{japanese}");
    let verdict = schema_check::answer(PROGRAM, &place.run("ledger verify --parquet lake --format json").stdout);
    let head = verdict["ledgers"][0]["head"].as_str().unwrap().to_owned();
    assert!(place.ok(&format!("ledger verify --parquet lake --expect {head}")).contains("row 2"));
    let other = "ab".repeat(32);
    let gone = place.run(&format!("ledger verify --parquet lake --expect {other}"));
    assert!(
        gone.status.code() == Some(1)
            && String::from_utf8_lossy(&gone.stdout).contains("not in any ledger of this lake")
    );
    // One byte of the tables.
    let mut file = place.path("lake/launches");
    while file.is_dir() {
        file = fs::read_dir(file).unwrap().next().unwrap().unwrap().path();
    }
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(4).position(|four| four == b"BLAS").unwrap();
    bytes[at] = b'G';
    fs::write(&file, bytes).unwrap();
    let altered = place.run("ledger verify --parquet lake");
    let said = String::from_utf8_lossy(&altered.stdout).into_owned();
    assert!(altered.status.code() == Some(1) && said.contains("'path' does not match its rows"), "{said}");
}

/// Two concurrent exports while a third process writes rows: the lake always contains one complete export.
#[test]
fn exports_at_one_time_leave_a_whole_lake() {
    let place = Place::new();
    let mut ledger = Ledger::open(&place.path("ledger")).unwrap();
    ledger.append(&[launched("BLAS", "2026-11-02T10:00:00.000Z")]).unwrap();
    for round in 0..24 {
        let export = || {
            let mut command = place.command("report --export parquet --out lake --host alpha");
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let running = [export(), export()];
        ledger.append(&[launched("MMQ", &format!("2026-11-03T10:00:{round:02}.000Z"))]).unwrap();
        for running in running {
            let output = running.wait_with_output().unwrap();
            assert!(output.status.success(), "round {round}: {}", err(&output));
        }
        let verdict = place.run("ledger verify --parquet lake");
        assert!(verdict.status.success(), "round {round}: {}", String::from_utf8_lossy(&verdict.stdout));
        for table in ["observations", "launches", "claims", "manifests"] {
            assert_eq!(fs::read_dir(place.path("lake").join(table)).unwrap().count(), 1, "round {round}: {table}");
        }
    }
    place.ok("report --export parquet --out lake --host alpha");
    assert!(place.ok("ledger verify --parquet lake").contains("intact, 25 rows"));
}

#[test]
fn launches_become_a_trace_and_what_is_none_is_refused() {
    let place = Place::new();
    let line = r#"{"seq":0,"pid":7,"thread":8,"stream":1,"time_ns":200,"api":"hipLaunchKernel","kernel":"k","grid":[1,1,1],"block":[32,1,1],"shmem":0,"graph":0,"ne11":290,"file":"x","bundle":1,"args":""}"#;
    fs::write(place.path("t.jsonl"), format!("{line}\n")).unwrap();
    place.ok("report --export perfetto --launches t.jsonl");
    assert!(!fs::read(place.path("launches.perfetto-trace")).unwrap().is_empty());
    place.ok("report --export profiler --launches t.jsonl --out p.json");
    assert!(place.text("p.json").contains("hipLaunchKernel"));
    assert!(place.fails("report --export perfetto", 2).contains("--launches FILE"));
    fs::write(place.path("rubbish"), "no trace").unwrap();
    assert!(place.fails("report --export perfetto --launches rubbish", 2).contains("not a launch trace"));
    assert!(place.fails("report --export profiler --launches /dev/zero", 2).contains("/dev/zero"));
    // A truncated line is skipped and counted.
    fs::write(place.path("cut.jsonl"), format!("{line}\n{}", &line[..40])).unwrap();
    let output = place.run("report --export perfetto --launches cut.jsonl --out cut");
    assert!(output.status.success() && err(&output).contains("One launch is left out"), "{}", err(&output));
}

#[test]
fn a_bundle_says_nothing_of_persons_and_machines_and_can_be_imported() {
    let place = Place::new();
    assert!(place.fails("report bundle", 2).contains("nothing to bundle"));
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let planted = [
        "/home/zaphod/heart-of-gold/model.gguf".to_owned(),
        "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789".to_owned(),
        format!("connected from zaphod@{machine}"),
    ];
    let mut ledger = Ledger::open(&place.path("ledger")).unwrap();
    let mut all = vec![launched("MMQ", "2026-11-02T10:00:00.000Z")];
    for (at, text) in planted.iter().enumerate() {
        let raw = ledger.keep("text/plain", format!("line {at}: {text}\n").as_bytes()).unwrap();
        let fact = Fact::new("server.log", About::new([("name", format!("line-{at}"))]), text.as_str());
        let (id, coverage) = (ObserverId::new("claims", "0.1.0"), Coverage::complete("lines", 1));
        let time = "2026-11-02T10:00:00.000Z";
        let seen = Observation::on::<Loaded>(id, Subject::host(&machine), Finding::Saw(fact), coverage, time).unwrap();
        all.push(seen.evidence(raw));
    }
    ledger.append(&all).unwrap();
    ledger.note("zaphod says: the prompt was about improbability").unwrap();
    drop(ledger);
    let output = place.command("report bundle --out b.json").env("USER", "zaphod").output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    let bundle = place.text("b.json");
    for word in ["zaphod", "heart-of-gold", "AbCdEfGhIjKl", "improbability"] {
        assert!(!bundle.contains(word), "{word} is in the bundle: {bundle}");
    }
    assert!(machine == "localhost" || machine.len() < 3 || !bundle.contains(&format!("\"{machine}\"")), "{bundle}");
    assert!(bundle.contains("matmul.path"), "what matters is in it: {bundle}");
    let yours = Place::new();
    let said = yours.ok(&format!("ledger import {}", place.path("b.json").display()));
    assert!(said.contains("rows added"), "{said}");
    yours.ok("ledger verify");
    assert!(yours.ok("ledger list").contains("MMQ"));
    // Half of an archive is refused, and leaves nothing behind.
    fs::write(place.path("half.json"), &bundle[..bundle.len() / 2]).unwrap();
    let other = Place::new();
    other.fails(&format!("ledger import {}", place.path("half.json").display()), 2);
    assert!(
        other.ok("ledger list").contains("No ledger")
            || other.ok("ledger list").is_empty()
            || !other.ok("ledger list").contains("MMQ")
    );
}

struct Served(std::process::Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

#[test]
fn the_pages_are_served_live_to_who_has_the_address() {
    let place = Place::new();
    place.ok("ledger note the-first");
    let mut child = Served(place.command("report --serve").stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().last().unwrap().to_owned();
    assert!(url.starts_with("http://127.0.0.1:"), "{line}");
    let root = url.strip_suffix("index.html").unwrap();
    let page = get(&url);
    assert!(page.contains("200 OK") && page.contains("name=\"live\"") && page.contains("connect-src 'self'"), "{page}");
    let version = get(&format!("{root}version"));
    place.ok("ledger note the-second");
    // Repeats until the page has changed: the server checks the ledger twice a second.
    let changed = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        get(&format!("{root}version")) != version
    });
    assert!(changed && get(&format!("{root}worklog.html")).contains("the-second"));
    // The activity of a watch is shown, but is not part of the ledger.
    let working = || get(&format!("{root}under-way.json"));
    assert!(working().ends_with("\r\n\r\n[]"), "{}", working());
    let teller = serve::activity::Teller::begin(&place.path("ledger"), "watch").unwrap();
    teller.say("538 launches");
    assert!(working().contains(r#""verb":"watch""#) && working().contains("538 launches"), "{}", working());
    drop(teller);
    assert!(working().ends_with("[]"));
    let without = url.split('/').take(3).collect::<Vec<_>>().join("/");
    assert!(get(&format!("{without}/index.html")).contains("404 Not Found"));
    assert!(get(&format!("{root}../ledger.sqlite")).contains("404 Not Found"));
}

/// A real `watch` and a real `investigate` while the pages are served: the pages show their progress and their records
/// while they run.
#[test]
fn pages_that_are_served_change_while_a_watch_and_an_investigation_run() {
    let place = Place::new();
    place.ok("ledger note begun");
    let mut served = Served(place.command("report --serve").stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().last().unwrap().to_owned();
    let root = url.strip_suffix("index.html").unwrap();
    let token = root.trim_end_matches('/').rsplit('/').next().unwrap();
    assert!(url.starts_with("http://127.0.0.1:") && token.len() >= 32, "{line}");
    let other = root.replace(token, &"0".repeat(token.len()));
    assert!(get(&format!("{other}under-way.json")).contains("404 Not Found"), "another's token opens nothing");
    let under_way = |verb: &str| get(&format!("{root}under-way.json")).contains(&format!(r#""verb":"{verb}""#));
    let begin = |line: &str| Served(place.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
    // The watch observes a program that waits for input, so that it runs as long as the test needs.
    let mut command = place.command("watch --how preload -- cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut watch = Served(command.spawn().unwrap());
    let waits = watch.0.stdin.take();
    let told = (0..3000).any(|_| {
        pause();
        under_way("watch") || watch.0.try_wait().unwrap().is_some()
    });
    assert!(told && under_way("watch"), "{}", get(&format!("{root}under-way.json")));
    drop(waits);
    watch.0.wait().unwrap();
    assert!((0..3000).any(|_| {
        pause();
        !under_way("watch")
    }));
    let (version, before) = (get(&format!("{root}version")), get(&url));
    assert!(!before.contains("MMVQ up to 8 columns, MMQ from 9"), "{before}");
    let mut run = begin("investigate field-notes --offline");
    let (mut told, mut changed) = (false, false);
    while run.0.try_wait().unwrap().is_none() {
        told |= under_way("investigate");
        changed |= get(&format!("{root}version")) != version;
        pause();
    }
    assert!(run.0.wait().unwrap().success());
    assert!(told, "what runs is told");
    assert!(changed, "pages are new before it has ended");
    let whole = (0..3000).any(|_| {
        pause();
        get(&url).contains("MMVQ up to 8 columns, MMQ from 9")
    });
    assert!(whole, "{}", get(&url));
    assert!(get(&format!("{root}under-way.json")).ends_with("[]"));
}

/// Two investigations of one ledger, and two ledgers, in turn: each finds its own last run, and the grades stay the
/// same.
#[test]
fn investigations_in_turn_are_quick_and_right() {
    let place = Place::new();
    place.ok("investigate init mine.toml");
    fs::create_dir_all(place.path("runtime/lib")).unwrap();
    fs::copy("/bin/ls", place.path("runtime/lib/libggml-hip.so")).unwrap();
    let run = |ledger: &str, file: &str| {
        let line = format!("--ledger {ledger} investigate {file} --offline --path runtime --format json");
        let output = place.run(line.replace("  ", " ").as_str());
        assert!(output.status.success(), "{}", err(&output));
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let recorded: u64 =
            said["looked"].as_array().unwrap().iter().map(|one| one["recorded"].as_u64().unwrap()).sum();
        let grade = |claim: &serde_json::Value| (claim["id"].to_string(), claim["grade"].to_string());
        let grades: Vec<(String, String)> = said["claims"].as_array().unwrap().iter().map(grade).collect();
        (grades, recorded)
    };
    let first = [run("one", ""), run("one", "mine.toml"), run("two", "")];
    assert!(first.iter().all(|(_, recorded)| *recorded > 0), "{first:?}");
    for _ in 0..2 {
        for (at, (ledger, file)) in [("one", ""), ("one", "mine.toml"), ("two", "")].into_iter().enumerate() {
            let (claims, recorded) = run(ledger, file);
            assert_eq!(recorded, 0, "{ledger} {file}: nothing has changed");
            assert_eq!(claims, first[at].0, "{ledger} {file}");
        }
    }
    // A file kept beside one ledger does not apply to another, even if it is moved there.
    fs::rename(place.path("one/looked.json"), place.path("kept.json")).unwrap();
    fs::remove_dir_all(place.path("one")).unwrap();
    fs::create_dir(place.path("one")).unwrap();
    fs::rename(place.path("kept.json"), place.path("one/looked.json")).unwrap();
    assert_eq!(run("one", ""), first[0]);
}

#[test]
fn a_file_to_begin_with_loads_runs_and_is_never_written_over() {
    let place = Place::new();
    let said = place.ok("investigate init mine.toml");
    assert!(said.contains("whichkernel investigate mine.toml"), "{said}");
    let text = place.text("mine.toml");
    assert!(text.starts_with("# An investigation of this machine") && text.contains("[subject]"), "{text}");
    let run = place.ok("investigate --offline mine.toml");
    assert!(run.contains("Report: "), "{run}");
    let checked = place.run("check mine.toml --format json");
    let checked = schema_check::answer(PROGRAM, &checked.stdout);
    let declared = checked["claims"].as_array().unwrap().iter().find(|claim| claim["id"] == "declared-path");
    assert_eq!(declared.unwrap()["grade"], "confirmed", "what the tables say was looked up: {checked}");
    assert!(place.fails("investigate init mine.toml", 2).contains("was not changed"));
    assert_eq!(place.text("mine.toml"), text);
    fs::write(place.path("slip.toml"), text.replace("rung = \"shipped\"", "rugn = \"shipped\"")).unwrap();
    assert!(place.fails("check slip.toml", 2).contains("did you mean `rung`?"));
    fs::write(place.path("topic.toml"), text.replace("topic = \"file.target\"", "topic = \"file.tagret\"")).unwrap();
    assert!(place.fails("check topic.toml", 2).contains("did you mean 'file.target'?"));
}

#[test]
fn a_full_disk_a_broken_ledger_and_half_a_cache_are_said() {
    let place = Place::new();
    place.ok("investigate field-notes --offline");
    place.ok("report --out pages");
    let before = place.text("pages/index.html");
    assert!(place.fails("report --single-file --out /dev/full", 2).contains("/dev/full"));
    assert!(place.fails("report --export json --out /dev/full", 2).contains("/dev/full"));
    // No file may grow beyond 16 KiB, as on a disk with no more space.
    place.ok("ledger note something-new");
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" report --out pages", PROGRAM])
        .current_dir(place.dir.path())
        .env("WHICHKERNEL_LEDGER", place.path("ledger"))
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(2), "{}", err(&limited));
    assert!(err(&limited).contains("pages/") && !err(&limited).contains("panicked"), "{}", err(&limited));
    assert_eq!(place.text("pages/index.html"), before, "each page is whole or as it was");
    place.ok("report --out pages");
    // A damaged runtime in the cache: a truncated library.
    let library = place.path("half/usr/lib/ggml/libggml-hip.so");
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    fs::write(&library, &fs::read("/bin/ls").unwrap()[..5000]).unwrap();
    let output = place.run("investigate field-notes --offline --path half");
    assert!(output.status.success(), "{}", err(&output));
    // For an altered ledger, the pages report the problem.
    let path = place.path("ledger/ledger.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let len = bytes.len();
    bytes.truncate(len / 2);
    fs::write(&path, bytes).unwrap();
    let said = place.run("report --out broken");
    assert!(said.status.success() && err(&said).contains("Part of the ledger could not be read"), "{}", err(&said));
    assert!(place.text("broken/index.html").contains("ledger.sqlite"), "the first page says it");
}
