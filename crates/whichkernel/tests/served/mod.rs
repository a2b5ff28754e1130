//! Debian's real llama-server on the stand-in GPU. Loopback only; everything that is started is ended by its process id.
#![allow(dead_code, reason = "each test program uses a part")]

use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const LAYERS: u32 = 4;

pub fn tool(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(words).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    command
}

/// Requires root for the probes and the runtime's files; otherwise the test counts as skipped.
pub fn ready(test: &str) -> bool {
    test_artifacts::root(&format!("{test}: uprobes and BPF")) && test_artifacts::need("debian-sid").is_some()
}

/// Waits until a condition holds; fails after two minutes.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}: it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn ask(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    Ok((head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0), body.to_owned()))
}

/// llama-server on the stand-in, ready to answer, with its output in a file.
pub struct Server {
    dryrun: Child,
    pub pid: u32,
    pub port: u16,
    pub home: tempfile::TempDir,
}

impl Server {
    pub fn start(kind: &str, words: &[&str]) -> Server {
        Server::with_model("model", kind, words)
    }

    /// The model's header has this name.
    pub fn with_model(name: &str, kind: &str, words: &[&str]) -> Server {
        let home = tempfile::tempdir().expect("a directory");
        let model = model(home.path(), name, kind).display().to_string();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let port_text = port.to_string();
        let mut line =
            vec!["dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--", "llama-server", "-m", &model];
        line.extend(["--host", "127.0.0.1", "--port", &port_text, "-c", "1024", "-np", "1", "-t", "1"]);
        line.extend(["--metrics", "--no-warmup", "-lv", "4"].iter().chain(words));
        let log = std::fs::File::create(home.path().join("server.log")).expect("a log");
        let mut command = tool(&line);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log);
        let mut dryrun = command.spawn().expect("started");
        let healthy = || matches!(ask(port, "GET", "/health", ""), Ok((200, _)));
        let log = home.path().join("server.log");
        wait_for("llama-server", || {
            let ended = dryrun.try_wait().expect("asked");
            assert!(ended.is_none(), "{}", std::fs::read_to_string(&log).unwrap_or_default());
            healthy()
        });
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", dryrun.id())).expect("children");
        // The dry run also has a guard process beside the program.
        let is_server = |pid: &u32| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == "llama-server")
        };
        let mut children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        let pid = children.find(is_server).expect("llama-server");
        Server { dryrun, pid, port, home }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sends a prompt of this many tokens, and requests this many.
    pub fn complete(&self, prompt: usize, predict: u64) {
        let tokens: Vec<usize> = (0..prompt).map(|i| 300 + i % 97).collect();
        let body = json!({"prompt": tokens, "n_predict": predict, "temperature": 0, "ignore_eos": true, "cache_prompt": false});
        let (status, answer) = ask(self.port, "POST", "/completion", &body.to_string()).expect("an answer");
        assert_eq!(status, 200, "{answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        stop(self.pid, rustix::process::Signal::TERM);
        let _ = self.dryrun.wait();
    }
}

pub fn stop(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Four layers with every kind of matrix, small enough for a CPU to compute some of them.
pub fn model(home: &Path, name: &str, kind: &str) -> PathBuf {
    let shape = gguf::Shape {
        width: 512,
        heads: 8,
        kv_heads: 4,
        head: 64,
        feed_forward: 1024,
        ..gguf::known("qwen2-0.5b").expect("a shape")
    };
    let kind = gguf::TensorType::parse(kind).expect("a type");
    let made = gguf::skeleton(&shape, kind, LAYERS, true).expect("a skeleton");
    let path = home.join("model.gguf");
    // The name that the skeleton has, replaced by one of the same length.
    const OWN: &[u8] = b"skeleton of qwen2-0.5b";
    let mut header = made.header.clone();
    let at = header.windows(OWN.len()).position(|bytes| bytes == OWN).expect("a name");
    header[at..at + OWN.len()].copy_from_slice(format!("{name:<22}").as_bytes());
    std::fs::write(&path, &header).expect("written");
    std::fs::OpenOptions::new().write(true).open(&path).expect("the file").set_len(made.file_size).expect("sparse");
    path
}
