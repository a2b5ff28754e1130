//! Processes and servers that are real: a listener that nobody asked about, and Debian's llama-server with its own counters.

use super::server::{Kind, Manner, Mock};
use super::{Bench, Outcome, asked, says_less};
use anyhow::Context;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills what was started, by its number.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that is called llama-server and listens nowhere, of a user that listens elsewhere; looked at by a user who may not read its
/// descriptors. The listener must not be asked.
pub fn bystander(bench: &Bench) -> anyhow::Result<Outcome> {
    if !rustix_is_root() {
        return Ok(Outcome::Skipped { why: "needs root to be two users".into() });
    }
    let mock = Mock::start(Manner::of(Kind::Llama), |_, _| json!({}))?;
    let name = bench.dir.join("llama-server");
    symlink("/bin/sleep", &name)?;
    let _named = Running(Command::new(&name).arg("60").spawn()?);
    let tool = bench.dir.join("tool");
    std::fs::copy(&bench.tool, &tool)?;
    for place in [&bench.dir, &tool] {
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755))?;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&tool).args([
        "probe",
        "--timeout",
        "2",
    ]);
    let output = command.current_dir("/").env("HOME", "/nonexistent").output()?;
    let requests = mock.seen.lock().map_or(0, |seen| seen.requests);
    let (truth, said) =
        ("0 requests to a listener that is no server".to_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    Ok(if requests == 0 && output.status.code() == Some(2) {
        Outcome::Equal { truth }
    } else {
        Outcome::Silent { truth, said: format!("{requests} requests: {said}") }
    })
}

fn rustix_is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}

/// Debian's llama-server on the CPU, by the dry run, with its counters.
struct Real {
    server: Child,
    port: u16,
}

impl Drop for Real {
    fn drop(&mut self) {
        // The dry run passes it on to its program.
        let _ = Command::new("kill").args(["-TERM", &self.server.id().to_string()]).status();
        let _ = self.server.wait();
    }
}

impl Real {
    fn start(bench: &Bench) -> anyhow::Result<Option<Real>> {
        let Some(tree) = test_artifacts::need("debian-sid") else { return Ok(None) };
        let model = bench.dir.join("m.gguf");
        let made =
            bench.command(["skeleton", "qwen2-0.5b", "--type", "Q4_0", "--layers", "1", "-o"]).arg(&model).output()?;
        anyhow::ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = bench.command(["dryrun", "--gpu", "gfx1100", "--runtime"]);
        command.arg(tree.join("root")).args(["--", "llama-server", "-m"]).arg(&model);
        command.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
            "-c",
            "2048",
            "-np",
            "1",
            "-t",
            "1",
            "-ngl",
            "0",
        ]);
        command.args(["--metrics", "--no-warmup"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let real = Real { server: command.spawn()?, port };
        let until = Instant::now() + Duration::from_secs(180);
        while real.get("/health").is_err() {
            anyhow::ensure!(Instant::now() < until, "llama-server never answered");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(Some(real))
    }

    fn get(&self, path: &str) -> anyhow::Result<String> {
        self.curl(&[path])
    }

    fn curl(&self, words: &[&str]) -> anyhow::Result<String> {
        let (path, rest) = words.split_first().context("a path")?;
        let output = Command::new("curl")
            .args(["-sf", "-m", "60"])
            .args(rest)
            .arg(format!("http://127.0.0.1:{}{path}", self.port))
            .output()?;
        anyhow::ensure!(output.status.success(), "no answer");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Prompt tokens that it processed since it was started.
    fn processed(&self) -> anyhow::Result<u64> {
        let text = self.get("/metrics")?;
        let line =
            text.lines().find_map(|line| line.strip_prefix("llamacpp:prompt_tokens_total ")).context("a counter")?;
        Ok(line.trim().parse::<f64>()? as u64)
    }
}

fn sum(answer: &Value) -> u64 {
    answer["probes"].as_array().into_iter().flatten().filter_map(|probe| probe["evaluated"].as_u64()).sum()
}

/// The same lengths in two runs: the second evaluates everything again, by the server's own counter.
pub fn twice(bench: &Bench) -> anyhow::Result<Outcome> {
    let Some(real) = Real::start(bench)? else {
        return Ok(Outcome::Skipped { why: "debian-sid is not fetched".into() });
    };
    let (url, words) = (format!("http://127.0.0.1:{}", real.port), ["--tokens", "9,64,290", "--repeat", "1"]);
    asked(bench, &url, &words)?;
    let before = real.processed()?;
    let answer = asked(bench, &url, &words)?;
    // Four tokens warm it up.
    let (truth, said) = (real.processed()? - before, sum(&answer) + 4);
    let whole = !says_less(&answer);
    Ok(match truth == said && whole {
        true => Outcome::Equal { truth: format!("{truth} tokens processed") },
        false if !whole => Outcome::Said { truth: truth.to_string(), said: answer["counted"].to_string() },
        false => Outcome::Silent { truth: truth.to_string(), said: said.to_string() },
    })
}

/// Somebody else asks meanwhile: the counters hold more than the answers.
pub fn neighbour(bench: &Bench) -> anyhow::Result<Outcome> {
    let Some(real) = Real::start(bench)? else {
        return Ok(Outcome::Skipped { why: "debian-sid is not fetched".into() });
    };
    let url = format!("http://127.0.0.1:{}", real.port);
    let before = real.processed()?;
    let mut tool = bench
        .command(["probe", &url, "--tokens", "64,290", "--repeat", "4", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()?;
    while real.processed()? == before && tool.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    real.curl(&["/completion", "-d", r#"{"prompt": "somebody else asks something", "n_predict": 1}"#])?;
    let output = tool.wait_with_output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let truth = format!("{} tokens processed, of two clients", real.processed()? - before);
    let said = answer["counted"].to_string();
    Ok(if says_less(&answer) { Outcome::Said { truth, said } } else { Outcome::Silent { truth, said } })
}
