//! Real processes and servers: an unrelated listener, and Debian's llama-server with its own counters.

use super::{Bench, Outcome, asked, says_less};
use anyhow::Context;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills the started process, by its id.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Listens on the loopback, and writes a line for every connection.
const LISTENER: &str = r#"
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0), c;
    if (bind(s, (struct sockaddr *)&at, sizeof at) || listen(s, 8)) return 1;
    for (puts("listens"), fflush(stdout); (c = accept(s, 0, 0)) >= 0; close(c)) puts("asked"), fflush(stdout);
    return 0;
}
"#;

fn as_user(id: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", id, "--regid", id, "--clear-groups"]).current_dir("/").env("HOME", "/nonexistent");
    command
}

/// A process named llama-server without a listening socket, of a user who has another listener. The command runs as a
/// user who cannot read the process's descriptors. It must not contact the listener.
pub fn bystander(bench: &Bench) -> anyhow::Result<Outcome> {
    if !std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0) {
        return Ok(Outcome::Skipped { why: "needs root to be two users".into() });
    }
    let (name, tool) = (bench.dir.join("llama-server"), bench.dir.join("tool"));
    symlink("/bin/sleep", &name)?;
    std::fs::copy(&bench.tool, &tool)?;
    let program = bench.compile("listener", LISTENER, &[])?;
    for place in [&bench.dir, &tool] {
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755))?;
    }
    let mut listener = Running(as_user("65533").arg(&program).stdout(Stdio::piped()).spawn()?);
    let mut lines = BufReader::new(listener.0.stdout.take().context("its lines")?).lines();
    lines.next().context("it does not listen")??;
    let _named = Running(as_user("65533").arg(&name).arg("60").spawn()?);
    // Waits until the process has its name.
    std::thread::sleep(Duration::from_millis(300));
    let output = as_user("65534").arg(&tool).args(["probe", "--timeout", "2"]).output()?;
    drop(listener);
    let requests = lines.count();
    let truth = "no request to a listener that is not a server".to_owned();
    let said = format!("{requests} requests: {}", String::from_utf8_lossy(&output.stderr));
    let refused = output.status.code() == Some(2);
    Ok(if requests == 0 && refused { Outcome::Equal { truth } } else { Outcome::Silent { truth, said } })
}

/// Debian's llama-server on the CPU, started by the dry run, with its counters.
struct Real {
    server: Child,
    port: u16,
}

impl Drop for Real {
    fn drop(&mut self) {
        // The dry run passes the signal on to its program.
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

    /// Prompt tokens that it has processed since its start.
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
    // The warm-up evaluates four tokens.
    let (truth, said) = (real.processed()? - before, sum(&answer) + 4);
    let whole = !says_less(&answer);
    Ok(match truth == said && whole {
        true => Outcome::Equal { truth: format!("{truth} tokens processed") },
        false if !whole => Outcome::Said { truth: truth.to_string(), said: answer["counted"].to_string() },
        false => Outcome::Silent { truth: truth.to_string(), said: said.to_string() },
    })
}

/// Another client sends requests meanwhile, so the counters exceed the answers.
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
    let truth = format!("{} tokens processed for two clients", real.processed()? - before);
    let said = format!("the conclusion is {}", answer["counted"]["says"]);
    Ok(if says_less(&answer) { Outcome::Said { truth, said } } else { Outcome::Silent { truth, said } })
}
