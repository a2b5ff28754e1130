//! `probe` on Debian's real llama-server, computing on the CPU: what it evaluates by its own counter, held against what is said.
//! Loopback only; everything that is started is ended by its number.

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
    let known = gguf::known("qwen2-0.5b").expect("a shape");
    let shape =
        gguf::Shape { width: 256, heads: 8, kv_heads: 4, head: 32, feed_forward: 512, vocabulary: 600, ..known };
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
        let home = tempfile::tempdir().expect("a directory");
        let model = model(home.path()).display().to_string();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let port_text = port.to_string();
        let mut line =
            vec!["dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--", "llama-server", "-m", &model];
        line.extend(["--host", "127.0.0.1", "--port", &port_text, "-c", "2048", "-np", "1", "-t", "1", "-ngl", "0"]);
        line.extend(["--metrics", "--no-warmup"].iter().chain(words));
        let log = std::fs::File::create(home.path().join("server.log")).expect("a log");
        let mut command = tool(&line);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log);
        let mut dryrun = command.spawn().expect("started");
        let at = Address { host: "127.0.0.1".into(), port };
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
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The dry run passes it on to its program.
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
    // Twice each, and four tokens to warm up: the server's own counter agrees.
    assert_eq!(server.processed() - before, 2 * lengths.iter().sum::<u64>() + 4);
    for zone in probes.iter().flat_map(|probe| probe["zones"].as_array().expect("zones")) {
        assert_eq!((&zone["type"], &zone["grade"]), (&Value::from("Q4_0"), &Value::from("inferred")), "{zone}");
    }
    assert_eq!(probes[0]["zones"][0]["path"], "MMVQ");
    // What was kept gives the same.
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

/// Ctrl-C in the middle of a long sweep: what was answered is there, the ledger is whole, and the exit code says that it ended early.
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
