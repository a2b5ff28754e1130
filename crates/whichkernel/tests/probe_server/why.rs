//! `why` on real servers: Debian's llama-server on the CPU and on the stand-in GPU, and an Ollama. It names a planted
//! cause first, does not call a run without a cause slow, and leaves the server running after a fix.

use super::{SOON, Server, model, tool};
use serde_json::Value;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use sys::http::{self, Address};

/// Debian's llama-server on the CPU without a sandbox, started by its own loader under the server's name.
struct Cpu {
    child: Child,
    at: Address,
    home: tempfile::TempDir,
    /// The server that a fix started instead.
    second: Option<i32>,
}

fn no_gpu() -> bool {
    !Path::new("/dev/kfd").exists() && !Path::new("/dev/nvidiactl").exists()
}

impl Cpu {
    fn start(words: &[&str]) -> Option<Cpu> {
        test_artifacts::need("debian-sid")?;
        let root = test_artifacts::cache().join("runtimes/debian-sid/root/usr");
        let lib = root.join("lib/x86_64-linux-gnu");
        let home = tempfile::tempdir().expect("a directory");
        let model = model(home.path());
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let at = Address::tcp("127.0.0.1", port);
        let log = std::fs::File::create(home.path().join("server.log")).expect("a log");
        let mut command = Command::new(lib.join("ld-linux-x86-64.so.2"));
        command.arg0("llama-server").arg("--library-path");
        command.arg(format!("{}:{}", lib.display(), lib.join("llama").display())).arg(root.join("bin/llama-server"));
        command.arg("-m").arg(&model).args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "-c",
            "2048",
            "-t",
            "1",
        ]);
        command.args(["-np", "1", "--metrics", "--no-warmup", "-lv", "4"]).args(words);
        command.env("GGML_BACKEND_PATH", lib.join("ggml/backends0/libggml-cpu-x64.so"));
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log).process_group(0);
        let server = Cpu { child: command.spawn().expect("started"), at, home, second: None };
        let begun = Instant::now();
        while !http::get(&server.at, "/health", SOON).is_ok_and(|answer| answer.status == 200) {
            assert!(begun.elapsed() < Duration::from_secs(120), "it never came: {}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("server.log")).unwrap_or_default()
    }

    fn why(&self, words: &[&str]) -> Value {
        let (value, code) = asked(&self.at, words);
        assert_eq!(code, Some(0), "{value:#}\n{}", self.log());
        value
    }
}

impl Drop for Cpu {
    fn drop(&mut self) {
        let own = i32::try_from(self.child.id()).ok();
        for pid in own.into_iter().chain(self.second).filter_map(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn asked(at: &Address, words: &[&str]) -> (Value, Option<i32>) {
    let url = format!("http://{at}");
    let output = tool(&["why", &url, "--format", "json"]).args(words).output().expect("run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{said}");
    (schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout), output.status.code())
}

fn causes(answer: &Value) -> Vec<&str> {
    answer["causes"].as_array().expect("causes").iter().filter_map(|cause| cause["id"].as_str()).collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_server_on_the_cpu_is_called_so_and_measured() {
    let Some(server) = Cpu::start(&[]) else { return };
    let answer = server.why(&[]);
    assert_eq!(answer["schema"], "whichkernel.why/1");
    for speed in answer["speed"].as_array().expect("speeds") {
        assert!(speed["now"]["median"].as_f64().is_some_and(|rate| rate > 0.0), "{speed:#}");
        assert_eq!(speed["now"]["runs"], 3);
    }
    if no_gpu() {
        assert_eq!(answer["verdict"]["says"], "on-cpu", "{answer:#}");
        assert!(causes(&answer).is_empty(), "{answer:#}");
    }
    // An unused card is the first cause, with a computed cost if both memories are known.
    let answer = server.why(&["--gpu", "rx-9070-xt", "--passive"]);
    assert_eq!(causes(&answer).first(), Some(&"cpu-only"), "{answer:#}");
    assert_eq!(answer["unmeasured"], "--passive sends no request.");
}

#[test]
fn what_was_planted_on_the_command_line_is_named_first() {
    for (words, cause) in [(&["-ub", "32"][..], "micro-batch"), (&["-fa", "on", "-ctk", "q8_0"], "kv-type")] {
        let Some(server) = Cpu::start(words) else { return };
        let answer = server.why(&["--passive"]);
        assert_eq!(causes(&answer), [cause], "{answer:#}");
        assert_ne!(answer["verdict"]["says"], "nothing-wrong-found");
    }
}

/// Runs on the stand-in: one of three layers on the GPU, flash attention off, and no cause.
#[test]
fn a_split_model_and_attention_on_the_stand_in_are_named() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    for (words, wanted) in [
        (&["-ngl", "1", "-fa", "on"][..], Some("partial-offload")),
        (&["-ngl", "99", "-fa", "off"], Some("flash-attention")),
        (&["-ngl", "99", "-fa", "on"], None),
    ] {
        let server = Server::start_with(super::wide_model, &[words, &["-lv", "4"]].concat());
        let log = server.home.path().join("server.log").display().to_string();
        let (answer, code) = asked(&server.at, &["--passive", "--gpu", "rx-7900-xtx", "--log", &log]);
        assert_eq!(code, Some(0));
        assert_eq!(causes(&answer).first().copied(), wanted, "{words:?}: {answer:#}");
    }
}

#[test]
fn a_real_ollama_on_the_cpu_is_measured() {
    let Some(server) = super::ollama::Ollama::start() else { return };
    server.create("plain", false);
    let (answer, code) = asked(server.address(), &[]);
    assert_eq!(code, Some(0), "{answer:#}");
    assert_eq!(
        (&answer["subject"]["server"]["name"], &answer["subject"]["server"]["version"]),
        (&"ollama".into(), &"0.9.3".into())
    );
    assert!(answer["speed"][0]["now"]["median"].as_f64().is_some_and(|rate| rate > 0.0), "{answer:#}");
    if no_gpu() {
        assert_eq!(answer["verdict"]["says"], "on-cpu", "{answer:#}");
        assert!(causes(&answer).is_empty(), "{answer:#}");
    }
}

/// Two servers at once: the error names both and chooses neither.
#[test]
fn of_two_servers_neither_is_guessed() {
    let (Some(one), Some(other)) = (Cpu::start(&[]), Cpu::start(&[])) else { return };
    let output = tool(&["why", "--passive"]).output().expect("run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for pid in [one.child.id(), other.child.id()] {
        assert!(said.contains(&format!("whichkernel why --pid {pid}")), "{said}");
    }
    let pid = one.child.id().to_string();
    let output = tool(&["why", "--passive", "--pid", &pid, "--format", "json"]).output().expect("run");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["subject"]["server"]["pid"].as_u64(), Some(u64::from(one.child.id())), "{answer:#}");
}

#[test]
fn a_fix_changes_nothing_without_yes_and_leaves_the_server_running_with_it() {
    let Some(mut server) = Cpu::start(&["-ub", "32"]) else { return };
    let own = server.child.id();
    let planned = server.why(&["--fix", "1", "--measure"]);
    assert_eq!(
        (&planned["fix_run"]["outcome"], &planned["fix_run"]["state"]),
        (&"planned".into(), &"unchanged".into())
    );
    assert!(http::get(&server.at, "/health", SOON).is_ok(), "it still runs");
    let url = format!("http://{}", server.at);
    let plan = tool(&["why", &url, "--fix", "1", "--measure"]).output().expect("run");
    assert!(text(&plan).contains("nothing changed") && text(&plan).contains("--yes"), "{}", text(&plan));
    let (done, code) = asked(&server.at, &["--fix", "1", "--measure", "--yes", "--repeat", "2"]);
    let run = &done["fix_run"];
    server.second = run["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
    assert_eq!(code, Some(0), "{run:#}\n{}", server.log());
    assert_ne!(run["pid"].as_u64(), Some(u64::from(own)), "{run:#}");
    assert!(!run["compared"].as_array().expect("lanes").is_empty(), "{run:#}");
    assert!(http::get(&server.at, "/health", SOON).is_ok_and(|answer| answer.status == 200), "{run:#}");
    // Two runs against two are not enough to decide, so the old setting is restored.
    assert_eq!((&run["outcome"], &run["state"]), (&"unclear".into(), &"restored".into()), "{run:#}");
}

/// A fix that an earlier run kept is undone: first the plan, then the server as it was. A second time, there is nothing
/// to undo.
#[test]
fn a_kept_fix_is_taken_back() {
    let Some(mut server) = Cpu::start(&["-ub", "64"]) else { return };
    let (pid, url) = (server.child.id(), format!("http://{}", server.at));
    let ledger = server.home.path().join("ledger");
    std::fs::create_dir(&ledger).expect("a directory");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("its state");
    let started: u64 =
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok()).expect("a time");
    let kept = serde_json::json!([{
        "n": 1, "pid": pid, "started": started, "url": url, "time": "2026-11-17T12:00:00Z",
        "names": ["-ub", "--ubatch-size"], "variable": false, "old": null, "new": "64",
    }]);
    std::fs::write(ledger.join("fixes.json"), kept.to_string()).expect("written");
    let why = |words: &[&str]| tool(&["why"]).args(words).env("WHICHKERNEL_LEDGER", &ledger).output().expect("run");
    let other = why(&["--undo", "2"]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
    let plan = why(&["--undo", "1"]);
    assert!(
        plan.status.success() && text(&plan).contains("--undo 1 --yes"),
        "{}{}",
        text(&plan),
        String::from_utf8_lossy(&plan.stderr)
    );
    let words =
        |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    assert!(words(&pid.to_string()).contains("-ub 64"), "it still runs");
    let done = why(&["--undo", "1", "--yes", "--format", "json"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}\n{}", server.log());
    let answer = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &done.stdout);
    let run = &answer["fix_run"];
    server.second = run["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
    assert_eq!((&run["outcome"], &run["state"]), (&"undone".into(), &"restored".into()), "{run:#}");
    let now = words(&run["pid"].to_string());
    assert!(now.contains("-np 1") && !now.contains("-ub"), "{now}");
    assert!(http::get(&server.at, "/health", SOON).is_ok_and(|answer| answer.status == 200));
    let again = why(&["--undo", "1", "--yes"]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
}

/// The model file is missing: neither the test servers nor the old setting can start, and the output says so first.
#[test]
fn a_server_that_cannot_start_again_is_said_so() {
    let Some(server) = Cpu::start(&["-ub", "32"]) else { return };
    std::fs::remove_file(server.home.path().join("model.gguf")).expect("removed");
    let url = format!("http://{}", server.at);
    let output = tool(&["why", &url, "--fix", "1", "--measure", "--yes", "--repeat", "2"]).output().expect("run");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("llama-server is NOT running"),
        "{}\n{}",
        text(&output),
        String::from_utf8_lossy(&output.stderr)
    );
    let wrong = tool(&["why", &url]).output().expect("run");
    assert_eq!(wrong.status.code(), Some(2), "nobody answers there");
}
