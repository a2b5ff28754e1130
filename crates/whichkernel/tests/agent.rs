//! The agent against the real thing: processes of another user, Debian's Prometheus, OpenTelemetry's own decoder, least
//! rights, and hostile conditions.

mod stranger;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stranger::{Stranger, Yard, ends, text};

const PATIENCE: Duration = Duration::from_secs(120);
/// The rights of the unit and of the DaemonSet, as setpriv(1) writes them.
const NEEDED: [&str; 2] = ["bpf", "perfmon"];
const WANTED: [&str; 3] = ["sys_ptrace", "dac_read_search", "checkpoint_restore"];

/// A machine has one agent at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Agent {
    child: Child,
    address: String,
    _alone: MutexGuard<'static, ()>,
}

/// The agent with all rights, or only with some.
fn tool(yard: &Yard, rights: Option<&[&str]>, words: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_whichkernel");
    let mut command = match rights {
        None => Command::new(program),
        Some(rights) => {
            let set: Vec<String> = rights.iter().map(|right| format!(",+{right}")).collect();
            let mut command = Command::new("setpriv");
            command.arg(format!("--bounding-set=-all{}", set.concat())).arg(program);
            command
        }
    };
    command.args(["agent", "--listen", "127.0.0.1:0", "--interval", "500ms"]).args(words);
    command.env("LC_ALL", "C").env("HOME", yard.dir.path()).env("WHICHKERNEL_CACHE", yard.at("cache"));
    // As in the units.
    command.env("MALLOC_ARENA_MAX", "1").env("MALLOC_TRIM_THRESHOLD_", "131072");
    command.env_remove("STATE_DIRECTORY").current_dir("/").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Agent {
    fn start(command: &mut Command) -> Result<Agent, String> {
        let alone = alone();
        let until = Instant::now() + PATIENCE;
        loop {
            let mut child = command.spawn().expect("started");
            let mut lines = BufReader::new(child.stderr.take().expect("its messages"));
            let mut said = String::new();
            while !said.contains("Metrics: ") && lines.read_line(&mut said).expect("a line") > 0 {}
            if let Some((_, rest)) = said.split_once("Metrics: http://") {
                let address = rest.split('/').next().unwrap_or_default().to_owned();
                // The pipe must not fill.
                std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
                return Ok(Agent { child, address, _alone: alone });
            }
            child.wait().expect("an end");
            // Another checkout may be tested on this machine.
            if !said.contains("another agent") || Instant::now() > until {
                return Err(said);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn metrics(&self) -> String {
        get(&self.address, "/metrics")
    }

    /// The sum of a metric over its labels.
    fn value(&self, name: &str) -> f64 {
        let text = self.metrics();
        let of = |line: &str| {
            let rest = line.strip_prefix(name)?;
            let value = if rest.starts_with('{') { rest.rsplit_once("} ")?.1 } else { rest.strip_prefix(' ')? };
            value.trim().parse::<f64>().ok()
        };
        text.lines().filter_map(of).sum()
    }

    fn until(&self, name: &str, wanted: impl Fn(f64) -> bool) -> f64 {
        let until = Instant::now() + PATIENCE;
        loop {
            let value = self.value(name);
            if wanted(value) {
                return value;
            }
            assert!(Instant::now() < until, "{name} is {value}\n{}", self.metrics());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Asks it to end, and returns whether it ended well.
    fn stop(mut self) -> bool {
        let pid = rustix::process::Pid::from_raw(self.child.id().cast_signed()).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("told");
        self.child.wait().expect("an end").success()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("asked");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

fn target(yard: &Yard) -> Stranger {
    let mut command = yard.command("llama-server", &[]);
    command.env("LOADS", &yard.runtime);
    Stranger::start(command)
}

fn prometheus() -> Option<PathBuf> {
    test_artifacts::need("prometheus-sid").map(|dir| dir.join("usr/bin"))
}

#[test]
fn launches_of_processes_that_come_and_go_are_counted() {
    let Some(yard) = Yard::new("an agent") else { return };
    let mut before = target(&yard);
    let state = yard.at("state");
    let words = ["--state", state.to_str().expect("a path")];
    let agent = Agent::start(&mut tool(&yard, None, &words)).unwrap_or_else(|said| panic!("{said}"));
    agent.until("whichkernel_canary", |value| value == 1.0);
    before.launch();
    agent.until("whichkernel_launches_total", |value| value >= 10.0);
    // The probes are on the file, so a process that starts later is counted from its first launch.
    let mut after = target(&yard);
    after.launch();
    agent.until("whichkernel_launches_total", |value| value >= 20.0);
    let text = agent.metrics();
    assert!(text.contains("backend=\"hip\",library=\"libamdhip64.so.6\""), "{text}");
    assert!(!text.contains("hipLaunchKernel"), "no names of functions or kernels: {text}");
    assert!(text.ends_with("# EOF\n") && text.contains("whichkernel_launches_lost_total 0.0"), "{text}");
    let identity = std::fs::read_to_string(state.join("machine.json"));
    assert_eq!(identity.is_ok(), !text.contains("machine=\"unknown\""), "{text}");
    agent.until("whichkernel_processes", |value| value >= 2.0);
    drop((before, after));
    assert!(agent.stop(), "it ends well");
}

/// Every child launches once through a runtime that its parent has opened, and ends.
const FORKS: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char handle, line[8];
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*launch)(const void *) = (int (*)(const void *))dlsym(library, "hipLaunchKernel");
    puts("ready"); fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        pid_t pid = fork();
        if (!pid) { launch(&handle); _exit(0); }
        waitpid(pid, 0, 0);
    }
    puts("done"); fflush(stdout);
    return fgets(line, sizeof line, stdin) ? 0 : 0;
}
"#;

#[test]
fn ten_thousand_short_processes_are_counted_in_bounded_memory() {
    const FORKED: f64 = 10_000.0;
    let Some(yard) = Yard::new("many processes") else { return };
    let (source, program) = (yard.at("forks.c"), yard.at("forks"));
    std::fs::write(&source, FORKS).expect("written");
    let built = Command::new("cc").arg("-o").arg(&program).arg(&source).arg("-ldl").status().expect("a C compiler");
    assert!(built.success());
    let mut command = Command::new(&program);
    command.arg(&yard.runtime).arg(FORKED.to_string()).current_dir("/");
    let mut forks = Stranger::start(command);
    let agent = Agent::start(&mut tool(&yard, None, &[])).unwrap_or_else(|said| panic!("{said}"));
    agent.until("whichkernel_canary", |value| value == 1.0);
    let before = agent.value("whichkernel_launches_total");
    let memory = agent.value("whichkernel_agent_resident_bytes");
    forks.launch();
    // Launches of a child that is gone are still in the kernel's table, or reported as lost.
    let until = Instant::now() + PATIENCE;
    let seen = || agent.value("whichkernel_launches_total") + agent.value("whichkernel_launches_lost_total") - before;
    while seen() < FORKED {
        assert!(Instant::now() < until, "{} of {FORKED}\n{}", seen(), agent.metrics());
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(forks);
    // More than may be followed at once: each made room when it ended.
    assert_eq!(agent.value("whichkernel_processes_not_followed_total"), 0.0, "{}", agent.metrics());
    // Other programs of this machine may bring libraries meanwhile, so only the growth is compared.
    let grown = agent.value("whichkernel_agent_resident_bytes") - memory;
    assert!(memory > 0.0 && grown < 40e6, "{memory} bytes before, {grown} more");
}

#[test]
fn debians_prometheus_scrapes_it() {
    let (Some(yard), Some(bin)) = (Yard::new("a scraped agent"), prometheus()) else { return };
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let agent = Agent::start(&mut tool(&yard, None, &[])).unwrap_or_else(|said| panic!("{said}"));
    let mut target = target(&yard);
    let config = format!(
        "global: {{scrape_interval: 1s}}\nscrape_configs: [{{job_name: scraped, static_configs: [{{targets: ['{}']}}]}}]\n",
        agent.address
    );
    std::fs::write(yard.at("prometheus.yml"), config).expect("written");
    let mut server = Command::new(bin.join("prometheus"));
    server.arg(format!("--config.file={}", yard.at("prometheus.yml").display()));
    server.arg(format!("--storage.tsdb.path={}", yard.at("tsdb").display()));
    server.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let mut server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("prometheus");
    agent.until("whichkernel_canary", |value| value == 1.0);
    target.launch();
    let address = format!("127.0.0.1:{port}");
    let until = Instant::now() + PATIENCE;
    let query = "/api/v1/query?query=sum(whichkernel_launches_total)%3E=10";
    let came = loop {
        let answer = TcpStream::connect(&address).map(|_| get(&address, query)).unwrap_or_default();
        if answer.contains("\"value\":[") || Instant::now() > until {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(300));
    };
    let up = get(&address, "/api/v1/query?query=up%7Bjob=%22scraped%22%7D");
    let _ = server.kill();
    let _ = server.wait();
    assert!(came.contains("\"value\":["), "{came}\n{up}\n{}", agent.metrics());
    assert!(up.contains(",\"1\"]"), "{up}");
}

/// OpenTelemetry's own classes read what the agent sends.
const DECODE: &str = r#"
import sys
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
request = ExportMetricsServiceRequest()
request.ParseFromString(sys.stdin.buffer.read())
[resource] = request.resource_metrics
attributes = {a.key: a.value.string_value for a in resource.resource.attributes}
[scope] = resource.scope_metrics
metrics = {m.name: m for m in scope.metrics}
assert attributes["service.name"] == "whichkernel", attributes
launches = metrics["whichkernel.launches_lost"]
assert launches.sum.is_monotonic and launches.sum.aggregation_temporality == 2, launches
[point] = launches.sum.data_points
assert 0 < point.start_time_unix_nano <= point.time_unix_nano, point
[machine] = metrics["whichkernel.machine_info"].gauge.data_points
assert machine.as_double == 1 and {a.key for a in machine.attributes} == {"machine", "boot"}, machine
from google.protobuf.unknown_fields import UnknownFieldSet
assert len(UnknownFieldSet(request)) == 0
print(len(metrics))
"#;

#[test]
fn opentelemetrys_own_classes_read_a_push() {
    let Some(yard) = Yard::new("a pushing agent") else { return };
    let paths = ["opentelemetry-proto-1.45.2", "protobuf-7.36.2"].map(test_artifacts::need);
    let [Some(messages), Some(protobuf)] = paths else { return };
    let receiver = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let url = format!("http://{}", receiver.local_addr().expect("bound"));
    let _agent = Agent::start(&mut tool(&yard, None, &["--otlp", &url])).unwrap_or_else(|said| panic!("{said}"));
    let (mut stream, _) = receiver.accept().expect("a push");
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let body = loop {
        let read = stream.read(&mut piece).expect("bytes");
        assert!(read > 0, "{}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
        if bytes.len() >= end + 4 + length.parse::<usize>().expect("a number") {
            assert!(head.starts_with("POST /v1/metrics ") && head.contains("application/x-protobuf"), "{head}");
            break bytes[end + 4..].to_vec();
        }
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("answered");
    let path = std::env::join_paths([messages, protobuf]).expect("a path");
    let mut python = Command::new("python3");
    python.args(["-c", DECODE]).env("PYTHONPATH", path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.stderr(Stdio::piped()).spawn().expect("python3");
    python.stdin.take().expect("its input").write_all(&body).expect("passed on");
    let output = python.wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn the_rules_are_valid_and_ask_only_for_metrics_that_exist() {
    let known: Vec<String> = agent::METRICS
        .iter()
        .map(|metric| {
            format!("whichkernel_{}{}", metric.name, if metric.kind == agent::Kind::Counter { "_total" } else { "" })
        })
        .collect();
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agent.md")).expect("the page");
    for name in &known {
        assert!(page.contains(&format!("`{name}`")), "docs/agent.md does not list {name}");
    }
    for printed in [agent::Printed::Alerts, agent::Printed::Grafana] {
        let asked = printed.text().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in asked.filter(|word| word.starts_with("whichkernel_")) {
            assert!(known.iter().any(|known| known == name), "{} asks for {name}", printed.key());
        }
    }
    let dashboard: serde_json::Value = serde_json::from_str(agent::Printed::Grafana.text()).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 5));
    let Some(bin) = prometheus() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let rules = dir.path().join("rules.yaml");
    std::fs::write(&rules, agent::Printed::Alerts.text()).expect("written");
    let checked = Command::new(bin.join("promtool")).args(["check", "rules"]).arg(&rules).output().expect("promtool");
    assert!(checked.status.success(), "{}", text(&checked));
}

/// Removes one right at a time: the unit and the DaemonSet name exactly those with which it works.
#[test]
fn the_least_rights_of_an_agent_found_by_taking_each_away() {
    let Some(yard) = Yard::new("an agent's rights") else { return };
    let all: Vec<&str> = NEEDED.into_iter().chain(WANTED).collect();
    for without in std::iter::once("").chain(all.iter().copied()) {
        let rest: Vec<&str> = all.iter().copied().filter(|right| *right != without).collect();
        let mut target = target(&yard);
        match Agent::start(&mut tool(&yard, Some(&rest), &[])) {
            Ok(agent) => {
                assert!(!NEEDED.contains(&without), "an agent without {without}");
                agent.until("whichkernel_up", |value| value == 1.0);
                target.launch();
                let until = Instant::now() + Duration::from_secs(if without.is_empty() { 120 } else { 5 });
                while agent.value("whichkernel_launches_total") < 10.0 && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(100));
                }
                if agent.value("whichkernel_launches_total") < 10.0 {
                    // Fewer launches are seen, but not without saying so.
                    assert!(
                        !without.is_empty() && agent.value("whichkernel_gaps") > 0.0,
                        "without {without}: {}",
                        agent.metrics()
                    );
                }
                drop(target);
                assert!(agent.stop());
            }
            Err(said) => {
                assert!(NEEDED.contains(&without), "no agent without {without}: {said}");
                assert!(said.contains("CAP_PERFMON"), "it names what is missing: {said}");
            }
        }
    }
    for right in &all {
        let unit = format!("CAP_{}", right.to_ascii_uppercase());
        let pod = format!("\"{}\"", right.to_ascii_uppercase());
        assert!(agent::Printed::Systemd.text().matches(&unit).count() >= 2, "{unit}");
        assert!(agent::Printed::Kubernetes.text().contains(&pod), "{pod}");
    }
}

#[test]
fn what_stands_in_the_way_is_named() {
    let Some(yard) = Yard::new("an agent that cannot start") else { return };
    let agent = Agent::start(&mut tool(&yard, None, &[])).unwrap_or_else(|said| panic!("{said}"));
    let second = text(&ends(&mut tool(&yard, None, &[])));
    assert!(second.contains("another agent runs on this machine"), "{second}");
    let open = text(&ends(&mut yard.tool(&["agent", "--listen", "0.0.0.0:0"])));
    assert!(open.contains("--anywhere"), "{open}");
    // Clients that never finish keep nobody out.
    let mut silent: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(&agent.address).expect("a connection")).collect();
    silent.iter_mut().take(5).for_each(|stream| stream.write_all(b"GET /metr").expect("half a request"));
    assert!(agent.metrics().ends_with("# EOF\n"));
    assert_eq!(get(&agent.address, "/etc/passwd"), "404 Not Found\n");
    drop(silent);
    let taken = agent.address.clone();
    assert!(agent.stop());
    let _alone = alone();
    let _holder = TcpListener::bind(&taken).expect("the port is free again");
    let mut words = yard.tool(&["agent", "--listen", &taken]);
    let until = Instant::now() + PATIENCE;
    let said = loop {
        let said = text(&ends(&mut words));
        if !said.contains("another agent") || Instant::now() > until {
            break said;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    assert!(said.contains(&taken) && said.contains("--listen"), "{said}");
}
