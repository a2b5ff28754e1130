//! `ledger`, `check` and `investigate` from a user's view: good input, bad input, exit codes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(ledger: &Path, args: &[&OsStr]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel"))
        .env("WHICHKERNEL_LEDGER", ledger)
        // No runtimes: the developer's cache must not be used here.
        .env("WHICHKERNEL_CACHE", ledger.with_file_name("no-cache"))
        .env("LANG", "C.UTF-8")
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES")
        .env_remove("COLUMNS")
        .args(args)
        .output()
        .unwrap()
}

fn whichkernel(ledger: &Path, line: &str) -> Output {
    let args: Vec<&OsStr> = line.split(' ').map(OsStr::new).collect();
    run(ledger, &args)
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> serde_json::Value {
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    fn ledger(&self) -> PathBuf {
        self.dir.path().join("ledger")
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Runs the line with this place's ledger.
    fn run(&self, line: &str) -> Output {
        whichkernel(&self.ledger(), line)
    }
}

/// A claim about a kernel setting of this host, with this value and expectation.
fn investigation(value: &str, expect: &str) -> String {
    format!(
        r#"schema = "whichkernel.investigation/1"
title = {{ en = "This machine", ja = "このマシン" }}
[[phases]]
id = "F"
en = "live"
ja = "実行"
[[pages]]
id = "p"
en = "Page"
ja = "ページ"
[[claims]]
id = "setting"
phase = "F"
page = "p"
en = "perf_event_paranoid is {value}"
ja = "perf_event_paranoid は {value}"
rung = "loaded"
topic = "host.setting"
about = {{ name = "kernel.perf_event_paranoid" }}
expected = {{ equals = {value} }}
expect = "{expect}"
closes = "whichkernel investigate"
"#
    )
}

#[test]
fn check_on_an_empty_ledger_leaves_all_open_with_reason_and_command() {
    let place = Place::new();
    let output = place.run("check --format json");
    assert!(output.status.success(), "{}", err(&output));
    let check = json(&output);
    assert_eq!(check["schema"], "whichkernel.check/1");
    let claims = check["claims"].as_array().unwrap();
    assert!(claims.len() >= 100, "{}", claims.len());
    for claim in claims {
        assert_eq!(claim["grade"], "unresolved", "{claim}");
        assert!(matches!(claim["why"].as_str(), Some("never-tried" | "not-in-view" | "other-machine")), "{claim}");
        assert!(claim["closes"].as_str().is_none_or(|closes| closes.starts_with("whichkernel ")), "{claim}");
        assert!(!claim["reasons"].as_array().unwrap().is_empty());
        assert!(claim["page"]["en"].is_string() && claim["page"]["ja"].is_string());
    }
    assert!(check["questions"].as_array().unwrap().iter().all(|question| question["open"] == true));
    assert!(!place.ledger().exists(), "looking creates nothing");
}

#[test]
fn check_prints_in_both_languages_and_every_format() {
    let place = Place::new();
    let text = out(&place.run("check"));
    assert!(text.contains("Where the source branches") && text.contains("210 open"), "{text}");
    assert!(text.lines().count() <= 24 && !text.contains('\x1b'), "{text}");
    let all = out(&place.run("check --all"));
    assert!(all.contains("Phase A") && all.contains("unresolved") && all.contains("Unknown."), "{all}");
    let japanese = out(&place.run("--lang ja check --all"));
    assert!(japanese.contains("未確定") && japanese.contains("判定コマンド"), "{japanese}");
    let none = out(&place.run("check --only refuted"));
    assert!(none.starts_with("None of these 210 claims is refuted.\n") && none.contains("is empty"), "{none}");
    assert_eq!(out(&place.run("check --only open --format csv")).lines().count(), 211);
    assert!(
        out(&place.run("check --format csv")).starts_with("id,phase,page,rung,grade,why,expect,text,because,closes\n")
    );
    assert!(out(&place.run("check --format md")).starts_with("# RX 9070 XT"));
    let one = out(&place.run("check --claim mmvq-to-8"));
    assert!(one.contains("matmul.path") && one.contains("settled by: whichkernel "), "{one}");
    let slip = place.run("check --claim mmvq-to-9");
    assert!(slip.status.code() == Some(2) && err(&slip).contains("did you mean 'mmvq-to-8'?"), "{}", err(&slip));
}

#[test]
fn investigate_looks_records_and_grades() {
    let place = Place::new();
    let output = place.run("investigate field-notes --offline");
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!((12..=24).contains(&lines.len()), "{text}");
    // The source's declaration is not shown as an observation, and the screen shows no hash or topic.
    assert!(text.contains("1-8") && text.contains("MMVQ") && text.contains("not observed"), "{text}");
    assert!(text.contains("Next: whichkernel ") && !text.contains("matmul."), "{text}");
    let hash = |word: &str| word.len() >= 12 && word.chars().all(|c| c.is_ascii_hexdigit());
    assert!(!text.split(|c: char| !c.is_ascii_alphanumeric()).any(hash), "{text}");
    let verify = place.run("ledger verify");
    assert!(verify.status.success() && out(&verify).starts_with("Intact: "), "{}", out(&verify));
    let whole = json(&place.run("investigate field-notes --offline --format json"));
    assert_eq!(whole["schema"], "whichkernel.investigate/1");
    assert!(whole["looked"][0]["observations"].as_u64().unwrap() > 3);
    assert!(
        whole["claims"]
            .as_array()
            .unwrap()
            .iter()
            .all(|claim| claim["grade"] != "confirmed" || !claim["cites"].as_array().unwrap().is_empty())
    );
}

/// Without `--yes` and without a terminal, nothing is fetched.
#[test]
fn investigate_fetches_nothing_in_a_pipe() {
    let place = Place::new();
    let output = place.run("investigate field-notes");
    assert!(output.status.success(), "{}", err(&output));
    let cache = place.ledger().with_file_name("no-cache");
    assert!(!cache.join("runtimes").exists() && !cache.join("sources").exists(), "{}", err(&output));
    // Each item that could be fetched is listed with its size and the claims that it can decide.
    assert!(
        err(&output).contains("the source of rocBLAS") && err(&output).contains("it can settle one"),
        "{}",
        err(&output)
    );
    // If a runtime is already installed, there is nothing to offer.
    let found = json(&place.run("runtime find --format json"));
    let has = |start: &str| found.to_string().contains(start);
    if !has("libggml-hip") {
        assert!(err(&output).contains("whichkernel investigate --yes"), "{}", err(&output));
    }
}

#[test]
fn a_claim_expected_to_hold_decides_the_exit_code() {
    let place = Place::new();
    let any = place.file("any.toml", &investigation("77", "any"));
    place.run(&format!("investigate --offline {}", any.display()));
    let rows = json(&place.run("ledger list --topic host.setting --format json"));
    let row = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["saw"].as_str().unwrap().contains("perf_event_paranoid"));
    let row = row.expect("what the file asks for is recorded");
    let value = row["saw"].as_str().unwrap().rsplit(": ").next().unwrap().to_owned();
    if value == "nothing" {
        return test_artifacts::skip("perf_event_paranoid", "a kernel with perf events");
    }
    let right = place.file("right.toml", &investigation(&value, "holds"));
    let wrong = place.file("wrong.toml", &investigation("77", "holds"));
    let check = |file: &Path| place.run(&format!("check {}", file.display()));
    assert_eq!(check(&right).status.code(), Some(0), "{}", out(&check(&right)));
    assert!(out(&check(&right)).contains("confirmed"));
    assert_eq!(check(&wrong).status.code(), Some(1));
    let said = out(&check(&wrong));
    assert!(
        said.contains("Observed instead: ") && said.contains("actually hold? No: Not true for 1 of 1 claim."),
        "{said}"
    );
    // Claims that were not examined yet did not pass.
    let fresh = Place::new();
    let unseen = fresh.run(&format!("check {}", right.display()));
    assert!(
        unseen.status.code() == Some(1) && out(&unseen).contains("actually hold? Unknown: 1 without a result."),
        "{}",
        out(&unseen)
    );
    assert_eq!(check(&any).status.code(), Some(0));
    let investigate =
        |strict: &str| place.run(&format!("investigate --offline {strict}{}", wrong.display())).status.code();
    assert_eq!((investigate(""), investigate("--strict ")), (Some(0), Some(1)));
    let detail = out(&place.run(&format!("check --claim setting {}", right.display())));
    let id = detail.split('(').nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    let shown = out(&place.run(&format!("ledger show {id}")));
    assert!(shown.contains("host.setting") && shown.contains("hash: "), "{shown}");
    assert!(!place.run(&format!("ledger show {id} --raw")).stdout.is_empty());
}

#[test]
fn broken_investigation_files_are_named_with_their_place() {
    let place = Place::new();
    let good = investigation("1", "any");
    let bad: [(&str, String, &str); 4] = [
        ("broken.toml", good.replace("[[claims]]", "[[claims]"), "broken.toml:11:10: unclosed array table"),
        ("unknown.toml", good.replace("closes =", "clozes ="), "clozes"),
        ("page.toml", good.replace("page = \"p\"", "page = \"q\""), "page.toml:14:8: no page has the id 'q'"),
        ("rung.toml", good.replace("\"loaded\"", "\"dispatched\""), "dispatched"),
    ];
    for (name, content, wanted) in bad {
        let path = place.file(name, &content);
        for verb in ["check", "investigate --offline"] {
            let output = place.run(&format!("{verb} {}", path.display()));
            assert_eq!(output.status.code(), Some(2), "{name}");
            assert!(err(&output).contains(wanted) && err(&output).contains(&format!("{name}:")), "{}", err(&output));
            assert!(output.stdout.is_empty());
        }
    }
    let latin = place.dir.path().join("latin.toml");
    fs::write(&latin, b"title = \"caf\xe9\"").unwrap();
    let output = place.run(&format!("check {}", latin.display()));
    assert!(output.status.code() == Some(2) && err(&output).contains("byte 12 is not UTF-8"), "{}", err(&output));
    let output = place.run("check /nowhere/at/all.toml");
    assert!(output.status.code() == Some(2) && err(&output).contains("/nowhere/at/all.toml"), "{}", err(&output));
}

#[test]
fn a_ledger_goes_from_hand_to_hand() {
    let (mine, yours) = (Place::new(), Place::new());
    assert!(mine.run("ledger list").status.success());
    assert_eq!(run(&mine.ledger(), &["ledger", "note", "the fan was loud"].map(OsStr::new)).status.code(), Some(0));
    mine.run("investigate field-notes --offline");
    let archive = mine.dir.path().join("archive.json");
    assert!(mine.run(&format!("ledger export -o {}", archive.display())).status.success());
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&archive).unwrap()).unwrap();
    assert_eq!(document["schema"], "whichkernel.ledger/1");
    let rows = document["rows"].as_array().unwrap().len();
    let imported = out(&yours.run(&format!("ledger import {}", archive.display())));
    assert!(imported.contains(&format!("{rows} rows added, 0 already present")), "{imported}");
    let again = out(&yours.run(&format!("ledger import {}", mine.ledger().display())));
    assert!(again.contains(&format!("0 rows added, {rows} already present")), "{again}");
    assert!(out(&yours.run("ledger list")).contains("the fan was loud"));
    assert!(
        out(&yours.run("ledger export --format csv"))
            .starts_with("row,time,id,observer,rung,saw,subject,trust,origin\n")
    );
    assert!(out(&yours.run("ledger export --format md")).starts_with("| row |"));
    assert!(yours.run("ledger verify").status.success());
    let output = yours.run("ledger import /nowhere");
    assert!(output.status.code() == Some(2) && err(&output).contains("/nowhere"), "{}", err(&output));
}

#[test]
fn verify_after_a_byte_of_the_database_was_flipped() {
    let place = Place::new();
    place.run("ledger note one");
    place.run("ledger note the-note-that-is-changed");
    let path = place.ledger().join("ledger.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let needle = b"the-note-that-is-changed";
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let output = place.run("ledger verify");
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).starts_with("row 2 was altered"), "{}", out(&output));
    let output = place.run("ledger verify --format json");
    assert_eq!(json(&output)["problems"].as_array().unwrap().len(), 1);
}

#[test]
fn a_newer_or_broken_database_is_said_and_left_alone() {
    let place = Place::new();
    place.run("ledger note one");
    let path = place.ledger().join("ledger.sqlite");
    let good = fs::read(&path).unwrap();
    let mut newer = good.clone();
    newer[63] = 9;
    let mut cut = good.clone();
    cut.truncate(good.len() / 2);
    let page = good.len() / 2;
    let mut damaged = good.clone();
    damaged[4096..page].fill(0xa5);
    let cases: [(&[u8], &str); 4] = [
        (&newer, "format 9"),
        (b"not a database at all", "not a ledger of whichkernel"),
        (&cut, "ledger.sqlite"),
        (&damaged, "ledger.sqlite"),
    ];
    for (bytes, wanted) in cases {
        fs::write(&path, bytes).unwrap();
        for line in ["ledger list", "check", "ledger note two", "investigate field-notes --offline"] {
            let output = place.run(line);
            assert_eq!(output.status.code(), Some(2), "{line}: {}{}", out(&output), err(&output));
            assert!(err(&output).contains(wanted) && !err(&output).contains("panicked"), "{line}: {}", err(&output));
            assert_eq!(fs::read(&path).unwrap(), bytes, "{line}");
        }
        let verify = place.run("ledger verify");
        assert_ne!(verify.status.code(), Some(0), "{}", out(&verify));
    }
    fs::write(&path, good).unwrap();
    assert!(place.run("ledger verify").status.success());
}

#[test]
fn paths_need_not_be_utf8() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"odd\xff\x80");
    let ledger = place.dir.path().join(name);
    assert!(whichkernel(&ledger, "ledger note one").status.success());
    assert!(whichkernel(&ledger, "ledger verify").status.success());
    let file = place.dir.path().join(OsStr::from_bytes(b"claims\xff.toml"));
    fs::write(&file, investigation("1", "any")).unwrap();
    let output = run(&ledger, &[OsStr::new("check"), file.as_os_str()]);
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn verify_says_what_it_proves_and_holds_the_ledger_to_a_head_kept_elsewhere() {
    let place = Place::new();
    place.run("ledger note first");
    let first = json(&place.run("ledger verify --format json"));
    let head = first["head"].as_str().unwrap().to_owned();
    assert!(first["not_proved"].as_str().unwrap().contains("removed from the end"), "{first}");
    let key = place.dir.path().join("key");
    let public = place.dir.path().join("key.pub");
    let checkpoint = place.dir.path().join("checkpoint");
    let line = |verb: &str| format!("ledger {verb}");
    assert!(place.run(&line(&format!("key new {} --name me", key.display()))).status.success());
    assert_eq!(place.run(&line(&format!("key new {}", key.display()))).status.code(), Some(2), "never over another");
    let signed = place.run(&line(&format!("sign --key {} -o {}", key.display(), checkpoint.display())));
    assert!(signed.status.success(), "{}", err(&signed));
    place.run("ledger note second");
    let held = place.run(&format!(
        "ledger verify --expect {head} --checkpoint {} --key {}",
        checkpoint.display(),
        public.display()
    ));
    let text = out(&held);
    assert!(held.status.success(), "{text}{}", err(&held));
    assert!(text.contains("is row 1") && text.contains("signed by me") && text.contains("Not proved"), "{text}");
    let gone = place.run(&format!("ledger verify --expect {}", "0".repeat(64)));
    assert_eq!(gone.status.code(), Some(1));
    assert!(out(&gone).contains("not in this ledger"), "{}", out(&gone));
    assert_eq!(place.run("ledger verify --expect abc").status.code(), Some(2));
    fs::write(&checkpoint, fs::read_to_string(&checkpoint).unwrap().replace("\n1\n", "\n2\n")).unwrap();
    let forged = place.run(&format!("ledger verify --checkpoint {} --key {}", checkpoint.display(), public.display()));
    assert_eq!(forged.status.code(), Some(2), "{}", err(&forged));
}

#[test]
fn the_last_rows_are_listed_from_the_end() {
    let place = Place::new();
    for n in 0..4 {
        place.run(&format!("ledger note note-{n}"));
    }
    let text = out(&place.run("ledger list --last 2"));
    let at = |word: &str| text.find(word);
    assert!(at("note-1").is_none() && at("note-2") < at("note-3") && at("note-2").is_some(), "{text}");
    assert!(!out(&place.run("ledger list --last 0")).contains("note-3"));
}

/// No observer writes an unknown topic, so it could never be graded: the typo is reported with its position.
#[test]
fn a_topic_that_nobody_knows_is_an_error_with_the_nearest_one() {
    let place = Place::new();
    let file = place.file("slip.toml", &investigation("1", "holds").replace("host.setting", "host.seting"));
    let output = place.run(&format!("check {}", file.display()));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("slip.toml:") && err(&output).contains("did you mean 'host.setting'?"),
        "{}",
        err(&output)
    );
}
