//! A real Ollama 0.9.3 that computes on the CPU, with a preload library in its runner that records the evaluated
//! tokens.

use serde_json::Value;
use std::fmt::Write;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::http::{self, Address};

const SOON: Duration = Duration::from_secs(30);

/// Runs a compiler, and shows its output if it failed.
fn cc(words: &[&str], file: &Path, out: &Path, after: &[&str]) {
    let output = Command::new("cc").args(words).arg("-o").arg(out).arg(file).args(after).output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The build for Intel GPUs inside bigdl-core-cpp. Stub libraries without any GPU replace SYCL's, so that it computes
/// on the CPU. The Intel compiler's runtime libraries are in separate wheels.
fn installed(home: &Path) -> Option<PathBuf> {
    let server = test_artifacts::file("bigdl-core-cpp-2.7.0b20260110", "bigdl/cpp/libs/ollama")?;
    let compiler = test_artifacts::file("icc-rt-2020.0.133", "icc_rt-2020.0.133.data/data/lib")?;
    let threads = test_artifacts::file("intel-openmp-2021.4.0", "intel_openmp-2021.4.0.data/data/lib")?;
    let bin = home.join("bin");
    std::fs::create_dir(&bin).expect("made");
    for entry in std::fs::read_dir(&server).expect("listed").flatten() {
        let name = entry.file_name();
        if !["libggml-sycl.so", "ollama", "ollama-lib"].iter().any(|other| name == *other) {
            symlink(entry.path(), bin.join(name)).expect("linked");
        }
    }
    for name in ["libimf.so", "libsvml.so", "libirng.so", "libintlc.so.5"] {
        symlink(compiler.join(name), bin.join(name)).expect("linked");
    }
    symlink(threads.join("libiomp5.so"), bin.join("libiomp5.so")).expect("linked");
    std::fs::copy(server.join("ollama-lib"), bin.join("ollama-lib")).expect("copied");
    std::fs::set_permissions(bin.join("ollama-lib"), std::fs::Permissions::from_mode(0o755)).expect("executable");
    let none = home.join("nosycl.c");
    let text = "int ggml_backend_sycl_get_device_count(void){return 0;}\n\
        void *ggml_backend_sycl_init(int d){(void)d;return 0;}\nvoid *ggml_backend_sycl_buffer_type(int d){(void)d;return 0;}\n";
    std::fs::write(&none, text).expect("written");
    cc(&["-shared", "-fPIC", "-O1", "-Wl,-soname,libggml-sycl.so"], &none, &bin.join("libggml-sycl.so"), &[]);
    let names = home.join("libsycl.s");
    std::fs::write(&names, imported(&server)).expect("written");
    cc(&["-shared", "-nostdlib", "-Wl,-soname,libsycl.so.8"], &names, &bin.join("libsycl.so.8"), &[]);
    let counter = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe_server/decodes.c");
    cc(&["-shared", "-fPIC", "-O1"], &counter, &home.join("decodes.so"), &["-ldl"]);
    Some(bin)
}

/// A trap for every name imported from SYCL's library; none is called without such a GPU.
fn imported(server: &Path) -> String {
    let (mut text, mut data) = (String::from(".text\n"), String::from(".data\n"));
    let mut seen = std::collections::BTreeSet::new();
    for library in ["libllama.so", "libmtmd_shared.so", "libllava_shared.so"] {
        let nm = Command::new("nm").args(["-D", "--undefined-only"]).arg(server.join(library)).output().expect("nm");
        for name in String::from_utf8_lossy(&nm.stdout).split_whitespace().filter(|name| name.contains("4sycl")) {
            if !seen.insert(name.to_owned()) {
                continue;
            }
            let _ = match name.starts_with("_ZTI") {
                true => writeln!(data, ".globl {name}\n.type {name},@object\n.size {name},32\n{name}: .quad 0,0,0,0"),
                false => writeln!(text, ".globl {name}\n.type {name},@function\n{name}:"),
            };
        }
    }
    format!("{text} ud2\n{data}.section .note.GNU-stack,\"\",@progbits\n")
}

pub struct Ollama {
    child: Child,
    at: Address,
    home: tempfile::TempDir,
}

impl Ollama {
    pub fn start() -> Option<Ollama> {
        let home = tempfile::tempdir().expect("a directory");
        let bin = installed(home.path())?;
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let at = Address::tcp("127.0.0.1", port);
        let log = std::fs::File::create(home.path().join("server.log")).expect("a log");
        let mut command = Command::new(bin.join("ollama-lib"));
        command.arg("serve").env("LD_LIBRARY_PATH", &bin).env("LD_PRELOAD", home.path().join("decodes.so"));
        command.env("HOME", home.path()).env("OLLAMA_HOST", at.to_string());
        command.env("OLLAMA_MODELS", home.path().join("models"));
        command.env("OLLAMA_DEBUG", "1").env("OLLAMA_NUM_PARALLEL", "1");
        // Waiting threads yield, because this machine may be busy.
        command.env("KMP_BLOCKTIME", "0").env("OMP_WAIT_POLICY", "passive");
        // Ollama's runners are its children, so they end with its process group.
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log).process_group(0);
        let child = command.spawn().expect("started");
        let server = Ollama { child, at, home };
        let start = Instant::now();
        while !http::get(&server.at, "/api/version", SOON).is_ok_and(|answer| answer.status == 200) {
            assert!(start.elapsed() < Duration::from_secs(120), "it never came: {}", server.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    pub fn address(&self) -> &Address {
        &self.at
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    pub fn log_file(&self) -> PathBuf {
        self.home.path().join("server.log")
    }

    pub fn place(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    /// By request, in order: the tokens of every evaluating call, as recorded by the preload library in the runner.
    /// Calls before the first request are the runner's warm-up.
    pub fn evaluated(&self, after: usize) -> Vec<Vec<u64>> {
        let mut requests: Vec<Vec<u64>> = Vec::new();
        for line in self.log().get(after..).unwrap_or_default().lines() {
            if line.contains("msg=\"loading cache slot\"") {
                requests.push(Vec::new());
            }
            let call = line.split_once("decodes: ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
            if let (Some(call), Some(last)) = (call, requests.last_mut()) {
                last.push(call);
            }
        }
        requests
    }

    /// A model of two layers whose vocabulary knows letters and pairs of letters.
    pub fn create(&self, name: &str, begins: bool) {
        let known = gguf::known("llama-2-7b").expect("a shape");
        // Heads of size 32: for other sizes, this build adds an operation for its GPU to the graph.
        let shape = gguf::Shape { width: 256, heads: 8, kv_heads: 4, head: 32, feed_forward: 512, ..known };
        let made = gguf::speaking(&shape, gguf::TensorType::F16, 2, begins).expect("a model");
        let (file, recipe) = (self.place(&format!("{name}.gguf")), self.place(&format!("{name}.modelfile")));
        std::fs::write(&file, &made.header).expect("written");
        std::fs::OpenOptions::new().write(true).open(&file).expect("the file").set_len(made.file_size).expect("sparse");
        std::fs::write(&recipe, format!("FROM {file}\n")).expect("written");
        let bin = self.home.path().join("bin");
        let mut command = Command::new(bin.join("ollama-lib"));
        command.args(["create", name, "-f"]).arg(&recipe).env("LD_LIBRARY_PATH", &bin);
        command.env("HOME", self.home.path()).env("OLLAMA_HOST", self.at.to_string());
        let output = command.output().expect("run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn probe(&self, words: &[&str]) -> Value {
        let url = format!("http://{}", self.at);
        let output = crate::tool(&["probe", &url, "--format", "json"]).args(words).output().expect("run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{}\n{}", String::from_utf8_lossy(&output.stdout), self.log());
        schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
    }
}

impl Drop for Ollama {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Compares every question of a run that evaluated something, in order, with the recorded calls.
fn held_against_the_recorder(server: &Ollama, before: usize, saved: &str, probes: &[Value]) {
    let text = std::fs::read_to_string(Path::new(saved).join("index.json")).expect("kept");
    let kept: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let evaluating = |one: &&Value| {
        let answer: Value = serde_json::from_str(one["answer"].as_str().unwrap_or_default()).unwrap_or_default();
        one["request"] == "POST /api/generate" && answer.get("eval_count").is_some()
    };
    let asked: Vec<&Value> = kept.iter().filter(evaluating).collect();
    let seen = server.evaluated(before);
    assert_eq!(asked.len(), seen.len(), "one group of calls for every question\n{}", server.log());
    for probe in probes {
        let place = asked.iter().position(|one| one["name"] == probe["name"]).expect("it was asked");
        let (calls, columns) = (&seen[place], super::numbers(&probe["ne11"]));
        assert_eq!(calls.get(..columns.len()), Some(columns.as_slice()), "{probe:#}\n{calls:?}");
        assert_eq!(probe["evaluated"].as_u64(), Some(columns.iter().sum()), "{probe:#}");
        let steps = usize::try_from(probe["eval_count"].as_u64().expect("tokens") - 1).expect("few");
        assert_eq!(calls.get(columns.len()..columns.len() + steps), Some(vec![1; steps].as_slice()), "{probe:#}");
    }
}

/// With and without a begin-of-text token, which is counted in every prompt but evaluated only in the first.
#[test]
fn what_a_real_ollama_evaluates_is_what_is_said() {
    let Some(server) = Ollama::start() else { return };
    let lengths = [1, 3, 9, 290, 513, 600];
    for (name, begins) in [("plain", false), ("begins", true)] {
        server.create(name, begins);
        for logged in [false, true] {
            let (before, saved) = (server.log().len(), server.place(&format!("{name}-{logged}")));
            let log = server.log_file().display().to_string();
            let mut words = vec!["--model", name, "--tokens", "1,3,9,290,513,600", "--repeat", "1", "--save", &saved];
            if logged {
                words.extend(["--log", &log]);
            }
            let answer = server.probe(&words);
            assert_eq!((&answer["server"]["kind"], &answer["server"]["version"]), (&"ollama".into(), &"0.9.3".into()));
            let probes = answer["probes"].as_array().expect("probes");
            let count = |key: &str| probes.iter().map(|probe| probe[key].as_u64().unwrap_or(0)).collect::<Vec<u64>>();
            assert_eq!(count("evaluated"), lengths, "{name}");
            assert_eq!(count("reported"), lengths.map(|tokens| tokens + u64::from(begins)), "{name}");
            let basis = if logged { "log" } else { "own-prompts" };
            assert!(probes.iter().all(|probe| probe["basis"] == basis), "{answer:#}");
            held_against_the_recorder(&server, before, &saved, probes);
        }
    }
}

/// The field notes' baseline, and parallel requests: cold and resident starts, with each count compared with the
/// evaluated tokens.
#[test]
fn a_real_ollama_loads_cold_and_stays_resident() {
    let Some(server) = Ollama::start() else { return };
    server.create("plain", false);
    let (before, saved, log) = (server.log().len(), server.place("saved"), server.log_file().display().to_string());
    let words = ["--model", "plain", "--tokens", "3", "--repeat", "2", "--cold", "--log", &log, "--save", &saved];
    let answer = server.probe(&words);
    let starts = answer["load"].as_array().expect("starts");
    let named: Vec<&str> = starts.iter().filter_map(|load| load["run"].as_str()).collect();
    assert_eq!(named, ["cold", "hot"], "{answer:#}");
    let runs: Vec<Option<u64>> = starts.iter().map(|load| load["load_ms"]["runs"].as_u64()).collect();
    assert_eq!(runs, [Some(2), Some(2)]);
    assert_eq!(server.log().matches("msg=\"starting go runner\"").count(), 3, "a runner at first, and two cold starts");
    held_against_the_recorder(&server, before, &saved, answer["probes"].as_array().expect("probes"));
    assert_eq!(answer["server"]["backend"], "cpu", "{:#}", answer["server"]);
    let facts = answer["server"]["facts"].as_array().expect("facts");
    assert!(facts.iter().any(|fact| fact["field"] == "layers"), "{facts:#?}");
    assert_eq!(answer["server"]["quantization"], "F16");
    let answer =
        server.probe(&["--model", "plain", "--tokens", "3", "--repeat", "1", "--parallel", "3", "--log", &log]);
    let shared = answer["probes"].as_array().expect("probes").iter().filter(|probe| {
        let marks = probe["marks"].as_array().expect("marks");
        marks.iter().any(|mark| mark == "shared") && super::numbers(&probe["ne11"]).is_empty()
    });
    assert_eq!(shared.count(), 3, "{answer:#}");
}
