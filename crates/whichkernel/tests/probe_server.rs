//! `probe` on real servers: Debian's llama-server, computing on the CPU or on the stand-in GPU, and an Ollama; compares
//! their own counters, or a recorder's, with the reported counts. Loopback only; everything that is started is ended by
//! its process id.

#[path = "probe_server/locked.rs"]
mod locked;
#[path = "probe_server/ollama.rs"]
mod ollama;
#[path = "probe_server/service.rs"]
mod service;
#[path = "probe_server/why.rs"]
mod why;

use serde_json::Value;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::http::{self, Address};

const SOON: Duration = Duration::from_secs(60);

fn tool(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(words).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command
}

/// A model of two layers with a tokenizer, small enough for any CPU.
fn model(home: &Path) -> PathBuf {
    made(home, 8, 32)
}

/// A model like [`model`], with heads that have flash attention kernels.
fn wide_model(home: &Path) -> PathBuf {
    made(home, 4, 64)
}

fn made(home: &Path, heads: u32, head: u32) -> PathBuf {
    let known = gguf::known("qwen2-0.5b").expect("a shape");
    let shape =
        gguf::Shape { width: 256, heads, kv_heads: heads / 2, head, feed_forward: 512, vocabulary: 600, ..known };
    let kind = gguf::TensorType::parse("Q4_0").expect("a type");
    let made = gguf::skeleton(&shape, kind, 2, true).expect("a skeleton");
    let path = home.join("model.gguf");
    std::fs::write(&path, &made.header).expect("written");
    std::fs::OpenOptions::new().write(true).open(&path).expect("the file").set_len(made.file_size).expect("sparse");
    path
}

struct Server {
    dryrun: Child,
    at: Address,
    home: tempfile::TempDir,
}

impl Server {
    fn start(words: &[&str]) -> Server {
        Server::start_with(model, words)
    }

    fn start_with(model: fn(&Path) -> PathBuf, words: &[&str]) -> Server {
        let home = tempfile::tempdir().expect("a directory");
        let model = model(home.path()).display().to_string();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let port_text = port.to_string();
        let mut line =
            vec!["dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--", "llama-server", "-m", &model];
        line.extend(["--host", "127.0.0.1", "--port", &port_text, "-c", "2048", "-t", "1", "--metrics", "--no-warmup"]);
        // The test's own words come last, so they take precedence.
        line.extend(["-np", "1", "-ngl", "0"].iter().chain(words));
        let log = std::fs::File::create(home.path().join("server.log")).expect("a log");
        let mut command = tool(&line);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log);
        let mut dryrun = command.spawn().expect("started");
        let at = Address::tcp("127.0.0.1", port);
        let start = Instant::now();
        while !http::get(&at, "/health", SOON).is_ok_and(|answer| answer.status == 200) {
            let said = || std::fs::read_to_string(home.path().join("server.log")).unwrap_or_default();
            assert!(dryrun.try_wait().expect("asked").is_none(), "{}", said());
            assert!(start.elapsed() < Duration::from_secs(120), "it never came: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        Server { dryrun, at, home }
    }

    /// Prompt tokens that the server counted as processed since it was started.
    fn processed(&self) -> u64 {
        let text = http::get(&self.at, "/metrics", SOON).expect("metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix("llamacpp:prompt_tokens_total "));
        line.and_then(|count| count.trim().parse::<f64>().ok()).expect("a counter") as u64
    }

    fn probe(&self, words: &[&str]) -> Value {
        let url = format!("http://{}", self.at);
        let line: Vec<&str> = ["probe", &url, "--format", "json"].into_iter().chain(words.iter().copied()).collect();
        let output = tool(&line).output().expect("run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The dry run passes the signal on to its program.
        if let Some(pid) = i32::try_from(self.dryrun.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.dryrun.wait();
    }
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().filter_map(Value::as_u64).collect()
}

#[test]
fn every_length_is_evaluated_exactly() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let server = Server::start(&["-ub", "128"]);
    let before = server.processed();
    let saved = server.home.path().join("saved");
    let ledger = server.home.path().join("ledger");
    let (saved_text, ledger_text) = (saved.display().to_string(), ledger.display().to_string());
    let words = ["--tokens", "1,8,9,129,290,600", "--repeat", "2", "--gpu", "rx-9070-xt", "--save", &saved_text];
    let answer = server.probe(&[&words[..], &["--record", "--ledger", &ledger_text]].concat());
    assert_eq!(answer["schema"], "whichkernel.probe/1");
    assert_eq!(answer["server"]["kind"], "llama-server");
    let probes = answer["probes"].as_array().expect("probes");
    let lengths: Vec<u64> = probes.iter().map(|probe| probe["evaluated"].as_u64().expect("a count")).collect();
    assert_eq!(lengths, [1, 8, 9, 129, 290, 600]);
    assert_eq!(numbers(&probes[4]["ne11"]), [128, 128, 34]);
    assert_eq!(numbers(&probes[5]["ne11"]), [128, 128, 128, 128, 88]);
    // The server's own counter agrees: every prompt was sent twice, and the warm-up has four tokens.
    assert_eq!(server.processed() - before, 2 * lengths.iter().sum::<u64>() + 4);
    for zone in probes.iter().flat_map(|probe| probe["zones"].as_array().expect("zones")) {
        assert_eq!((&zone["type"], &zone["grade"]), (&Value::from("Q4_0"), &Value::from("inferred")), "{zone}");
    }
    assert_eq!(probes[0]["zones"][0]["path"], "MMVQ");
    // The saved exchanges give the same result.
    let output =
        tool(&["probe", "--replay", &saved_text, "--gpu", "rx-9070-xt", "--format", "json"]).output().expect("run");
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (one, other) in probes.iter().zip(again["probes"].as_array().expect("probes")) {
        for key in ["asked", "reported", "evaluated", "ne11", "prompt_ms"] {
            assert_eq!(one[key], other[key], "{key}");
        }
    }
    let verified = tool(&["ledger", "verify", "--ledger", &ledger_text]).output().expect("run");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

/// Ctrl-C in the middle of a long sweep: the answers so far are printed, the ledger is intact, and the exit code says
/// that the sweep ended early.
#[test]
fn an_interrupted_run_leaves_what_it_has() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let server = Server::start(&[]);
    let (url, ledger) = (format!("http://{}", server.at), server.home.path().join("ledger").display().to_string());
    let words =
        ["probe", &url, "--sweep", "1..1800", "--repeat", "50", "--record", "--ledger", &ledger, "--format", "json"];
    let child = tool(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let start = Instant::now();
    while server.processed() < 100 {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing is asked");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["ended"], "stopped by a signal");
    assert!(!answer["probes"].as_array().expect("probes").is_empty());
    let verified = tool(&["ledger", "verify", "--ledger", &ledger]).output().expect("run");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

/// One run with every feature: a sweep, its plot, parallel requests, a named log, and a cold start, which this server
/// does not support. The ledger records a server without an observed GPU, whatever card the rules were for.
#[test]
fn a_sweep_with_everything_else() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let server = Server::start(&["-np", "4", "-c", "4096", "-lv", "4"]);
    let place = |name: &str| server.home.path().join(name).display().to_string();
    let (picture, ledger, log) = (place("times.svg"), place("ledger"), place("server.log"));
    let words = ["--sweep", "1..64:2", "--repeat", "2", "--parallel", "4", "--cold", "--log", &log, "--svg", &picture];
    let answer = server.probe(&[&words[..], &["--gpu", "rx-9070-xt", "--record", "--ledger", &ledger]].concat());
    assert_eq!(answer["speed"].as_array().map(Vec::len), Some(32));
    let svg = std::fs::read_to_string(&picture).expect("a picture");
    assert!(svg.starts_with("<svg ") && svg.matches("<circle").count() == 32, "{svg}");
    let left: Vec<&str> =
        answer["left_out"].as_array().expect("a list").iter().filter_map(|one| one["what"].as_str()).collect();
    assert_eq!(left, ["--cold"], "{answer:#}");
    let probes = answer["probes"].as_array().expect("probes");
    let beside: Vec<&Value> = probes
        .iter()
        .filter(|probe| probe["name"].as_str().is_some_and(|name| name.starts_with("parallel4")))
        .collect();
    assert_eq!(beside.len(), 4);
    for probe in beside {
        assert!(probe["marks"].as_array().expect("marks").iter().any(|mark| mark == "shared"), "{probe:#}");
        let zones = probe["zones"].as_array().expect("zones");
        assert!(zones.iter().any(|zone| zone["place"] == "parallel" && zone["columns"] == 4), "{probe:#}");
    }
    let facts = answer["server"]["facts"].as_array().expect("facts");
    let from_log = |field: &str| {
        let said =
            |fact: &&Value| fact["field"] == field && fact["where"].as_str().is_some_and(|at| at.contains(".log:"));
        facts.iter().any(|fact| said(&fact))
    };
    assert!(from_log("layers") && from_log("micro-batch"), "{facts:#?}");
    assert_eq!(probes[0]["batching"]["known"], "log");
    // The server did not run on the card whose rules were used.
    let checked = tool(&["check", "--ledger", &ledger, "--format", "json"]).output().expect("run");
    let graded = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &checked.stdout);
    let claims = graded["claims"].as_array().expect("claims").iter();
    let ours: Vec<&Value> =
        claims.filter(|claim| claim["id"].as_str().is_some_and(|id| id.starts_with("probe-"))).collect();
    assert_eq!(ours.len(), 9);
    for claim in ours {
        assert_eq!(claim["grade"], "unresolved", "{claim:#}");
    }
}

/// The same server under two settings: with a quarter of the columns at a time, and with its default. The run starts
/// and ends both.
#[test]
fn two_lanes_of_one_server() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let model = model(home.path()).display().to_string();
    let (own, runtime) = (env!("CARGO_BIN_EXE_whichkernel"), "debian-sid");
    let run = |lanes: &[&str], command: &[&str]| {
        let mut line = vec!["probe", "--tokens", "64,300", "--repeat", "3", "--gpu", "rx-9070-xt", "--format", "json"];
        lanes.iter().for_each(|lane| line.extend(["--lane", lane]));
        line.push("--");
        line.extend(command);
        tool(&line).output().expect("run")
    };
    let serve = [own, "dryrun", "--gpu", "gfx1100", "--runtime", runtime, "--", "llama-server", "-m", &model];
    let serve = [&serve[..], &["-c", "1024", "-np", "1", "-t", "1", "-ngl", "0", "--no-warmup", "-lv", "4"]].concat();
    let words = ["--host", "127.0.0.1", "--port", "{port}", "-ub", "{COLUMNS_AT_ONCE}"];
    let output = run(&["A=COLUMNS_AT_ONCE=512", "B=COLUMNS_AT_ONCE=128"], &[&serve[..], &words].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let answer = schema_check::answer(own, &output.stdout);
    assert_eq!(answer["schema"], "whichkernel.probe-lanes/1");
    let columns = |lane: usize| -> Vec<u64> { numbers(&answer["lanes"][lane]["answer"]["probes"][1]["ne11"]) };
    assert_eq!((columns(0), columns(1)), (vec![300], vec![128, 128, 44]));
    let lengths = answer["lengths"].as_array().expect("lengths");
    assert_eq!(lengths.len(), 2);
    for one in lengths {
        assert_eq!((&one["first_ms"]["runs"], &one["other_ms"]["runs"]), (&3.into(), &3.into()), "{one:#}");
        // With three runs against three, p is never below 0.1, however large the difference.
        assert_eq!(one["verdict"], "undecided", "{one:#}");
        assert!(one["low"].as_f64() <= one["ratio"].as_f64() && one["ratio"].as_f64() <= one["high"].as_f64());
    }
    assert_eq!(lengths[0]["paths"], Value::Array(vec![]), "64 columns go the same way in both");
    let widths = |key: &str| -> Vec<u64> {
        let pairs = lengths[1]["paths"].as_array().expect("pairs").iter();
        pairs.filter(|pair| !pair[key].is_null()).filter_map(|pair| pair["columns"].as_u64()).collect()
    };
    assert_eq!((widths("first"), widths("other")), (vec![300], vec![44, 128]), "{:#}", lengths[1]);
    for lane in answer["lanes"].as_array().expect("lanes") {
        let url = lane["answer"]["server"]["url"].as_str().expect("an address");
        let at = Address::parse(url, None).expect("an address");
        assert!(http::get(&at, "/health", SOON).is_err(), "it was ended with the run");
    }

    // A command that ends at once, a variable that a lane does not set, a single lane, and a fixed port.
    let broken =
        run(&["A=WORD=-ngl", "B=WORD=--no-such-option"], &[&serve[..], &["--port", "{port}", "{WORD}", "0"]].concat());
    assert_eq!(broken.status.code(), Some(2));
    let answer = schema_check::answer(own, &broken.stdout);
    let why = answer["ended"].as_str().expect("why");
    assert!(why.starts_with("B: the server ended before it answered") && why.contains("no-such-option"), "{why}");
    assert!(answer["lanes"][1]["answer"].is_null() && answer["lengths"] == Value::Array(vec![]));
    for (lanes, command, word) in [
        (&["A=X=1", "B="][..], &["x", "{X}"][..], "does not set X"),
        (&["A="][..], &["x"][..], "specify --lane at least twice"),
        (&["A=", "B="][..], &["x", "--port", "8080"][..], "{port}"),
    ] {
        let output = run(lanes, command);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(2) && text.contains(word), "{text}");
    }
}

/// The launches of each prompt on the stand-in are shown beside the declared rules: as selected, never as launched.
#[test]
fn launches_stand_beside_the_zones() {
    if test_artifacts::need("debian-sid").is_none() || !test_artifacts::root("probe --watch: uprobes and BPF") {
        return;
    }
    let server = Server::start(&["-ngl", "99", "-ub", "256"]);
    let ledger = server.home.path().join("ledger").display().to_string();
    let words =
        ["--tokens", "1,8,9,300", "--repeat", "1", "--gpu", "gfx1100", "--watch", "--record", "--ledger", &ledger];
    let answer = server.probe(&words);
    assert_eq!(answer["left_out"], Value::Array(vec![]));
    assert_eq!((&answer["watch"]["observer"], &answer["watch"]["rung"]), (&"uprobe".into(), &"selected".into()));
    let probes = answer["probes"].as_array().expect("probes");
    assert_eq!(probes.len(), 4);
    for probe in probes {
        let launches = probe["launches"].as_array().expect("launches");
        assert!(!launches.is_empty() && launches.iter().all(|launch| launch["rung"] == "selected"), "{probe:#}");
        // Every width that is reported as evaluated was seen in the products with weights, and no larger one.
        let seen: std::collections::BTreeSet<u64> = launches
            .iter()
            .filter(|launch| launch["type"] == "Q4_0")
            .filter_map(|launch| launch["columns"].as_u64())
            .collect();
        let said = numbers(&probe["ne11"]);
        assert!(said.iter().all(|columns| seen.contains(columns)), "{said:?} {seen:?}");
        assert_eq!(seen.last(), said.iter().max(), "{said:?} {seen:?}");
        for zone in probe["zones"].as_array().expect("zones") {
            assert_eq!((&zone["rung"], &zone["rule"]), (&"selected".into(), &"seen".into()), "{zone:#}");
            assert_eq!(zone["path"], zone["declared"], "what was seen is what the rules declare: {zone:#}");
            assert!(!zone["kernels"].as_array().expect("kernels").is_empty());
        }
    }
    let kept = tool(&["ledger", "list", "--ledger", &ledger, "--format", "json"]).output().expect("listed");
    let kept: Value = serde_json::from_slice(&kept.stdout).expect("JSON");
    let rungs: Vec<&str> =
        kept["rows"].as_array().expect("rows").iter().filter_map(|row| row["rung"].as_str()).collect();
    assert!(rungs.contains(&"selected") && rungs.contains(&"loaded") && !rungs.contains(&"launched"), "{rungs:?}");
}

/// No server: the same sentence on standard error and, for programs, as JSON.
#[test]
fn an_error_is_an_answer_too() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
    let output = tool(&["probe", &format!("http://127.0.0.1:{port}"), "--format", "json"]).output().expect("run");
    assert_eq!(output.status.code(), Some(2));
    let answer = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
    assert_eq!(answer["schema"], "whichkernel.error/1");
    assert!(String::from_utf8_lossy(&output.stderr).contains(answer["error"].as_str().expect("why")));
}
