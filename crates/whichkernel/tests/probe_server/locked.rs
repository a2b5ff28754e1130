//! A real llama-server with an API key on a Unix socket: `probe` and `doctor` reach it, and none of their files
//! contains the key.

use super::{SOON, model, tool};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use sys::http::{self, Address};

const KEY: &str = "sk-K3yThatNobodyMayKeep";

struct Locked {
    child: Child,
    home: tempfile::TempDir,
}

impl Locked {
    /// Debian's own loader and libraries, under the server's own name.
    fn start() -> Option<Locked> {
        let root = test_artifacts::need("debian-sid")?.join("root");
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        std::fs::write(at("key"), format!("{KEY}\n")).expect("written");
        std::fs::set_permissions(at("key"), std::fs::Permissions::from_mode(0o600)).expect("private");
        let libraries =
            ["", "/llama", "/ggml/backends0"].map(|dir| format!("{}/usr/lib/x86_64-linux-gnu{dir}", root.display()));
        let log = std::fs::File::create(at("server.log")).expect("a log");
        let mut command = Command::new(root.join("usr/lib64/ld-linux-x86-64.so.2"));
        command
            .arg0("llama-server")
            .arg("--library-path")
            .arg(libraries.join(":"))
            .arg(root.join("usr/bin/llama-server"));
        command
            .arg("-m")
            .arg(model(home.path()))
            .arg("--host")
            .arg(at("llama.sock"))
            .arg("--api-key-file")
            .arg(at("key"));
        command.args(["-c", "512", "-t", "1", "-np", "1", "-ngl", "0", "--metrics", "--no-warmup"]);
        // The server looks for its backends in the directory it was built for, and in the current directory.
        command.current_dir(&libraries[2]);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log);
        let mut server = Locked { child: command.spawn().expect("started"), home };
        let (address, start) = (Address::Unix(server.at("llama.sock").into()), Instant::now());
        while !http::get(&address, "/health", SOON).is_ok_and(|answer| answer.status == 200) {
            let said = std::fs::read_to_string(server.at("server.log")).unwrap_or_default();
            assert!(server.child.try_wait().expect("asked").is_none(), "{said}");
            assert!(start.elapsed() < Duration::from_secs(120), "it never came: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn at(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    fn probe(&self, words: &[&str]) -> Output {
        let url = format!("unix:{}", self.at("llama.sock"));
        let line: Vec<&str> =
            ["probe", &url, "--tokens", "3,9", "--repeat", "1"].iter().chain(words).copied().collect();
        tool(&line).env("PROBE_KEY", KEY).output().expect("run")
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether any file below the directory contains the key.
fn holds_key(dir: &Path) -> bool {
    std::fs::read_dir(dir).expect("a directory").flatten().any(|entry| match entry.path() {
        path if path.is_dir() => holds_key(&path),
        path => std::fs::read(&path).expect("read").windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()),
    })
}

#[test]
fn a_key_reaches_its_server_and_is_kept_nowhere() {
    let Some(server) = Locked::start() else { return };
    let (left, key) = (server.at("left"), server.at("key"));
    let (saved, ledger) = (format!("{left}/saved"), format!("{left}/ledger"));
    let keep = ["--save", &saved, "--record", "--ledger", &ledger, "--format", "json"];
    for how in [["--key-file", key.as_str()], ["--key-env", "PROBE_KEY"]] {
        let output = server.probe(&[&how[..], &keep].concat());
        let (said, answer) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{said}");
        assert!(!said.contains(KEY) && !answer.contains(KEY), "{said}{answer}");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["server"]["kind"], "llama-server");
        assert_eq!(answer["server"]["url"], format!("unix:{}", server.at("llama.sock")));
        let evaluated: Vec<&Value> =
            answer["probes"].as_array().expect("probes").iter().map(|one| &one["evaluated"]).collect();
        assert_eq!(evaluated, [3, 9]);
        assert!(Path::new(&saved).join("index.json").is_file() && !holds_key(Path::new(&left)));
    }
    // Found through the process's descriptors, without a key.
    let output = tool(&["doctor", "--format", "json"]).output().expect("run");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let url = format!("unix:{}", server.at("llama.sock"));
    let found =
        report["trials"]["answers"].as_array().expect("answers").iter().find(|answer| answer["url"] == url.as_str());
    let why = found.and_then(|answer| answer["error"].as_str());
    assert_eq!(why, Some("the server asks for an API key"), "{}", report["trials"]["answers"]);
}

#[test]
fn a_key_that_is_missing_wrong_open_or_for_nobody_is_refused() {
    let Some(server) = Locked::start() else { return };
    let refused = |output: Output, words: &str| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    };
    refused(server.probe(&[]), "asks for an API key; see --key-file and --key-env");
    refused(server.probe(&["--key-env", "NO_SUCH_KEY"]), "the environment variable NO_SUCH_KEY is not set");
    let (key, wrong) = (server.at("key"), server.at("wrong"));
    std::fs::write(&wrong, "another").expect("written");
    refused(server.probe(&["--key-file", &wrong]), "run `chmod 600` on it");
    std::fs::set_permissions(&wrong, std::fs::Permissions::from_mode(0o600)).expect("private");
    refused(server.probe(&["--key-file", &wrong]), "rejected the API key");
    refused(tool(&["probe", "--key-file", &key]).output().expect("run"), "the URL of the server that the key is for");
    refused(
        tool(&["watch", "--pid", "1", "--key-file", &key]).output().expect("run"),
        "the URL of the server that the key is for",
    );
}
