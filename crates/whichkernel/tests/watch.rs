//! The command itself: with and without root, armed and disarmed, killed in the middle.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// Probes in tracefs belong to the whole machine: one test at a time.
static TRACEFS: Mutex<()> = Mutex::new(());

fn root(test: &str) -> bool {
    test_artifacts::root(&format!("{test}: uprobes and BPF"))
}

const CALLER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { unsigned x, y, z; } dim3;
static char handle;
int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*launch)(const void *, dim3, dim3, void **, size_t, void *) = library ? dlsym(library, "hipLaunchKernel") : 0;
    if (!launch) return 3;
    printf("ready\n");
    fflush(stdout);
    char line[8];
    if (argc > 3 && !fgets(line, sizeof line, stdin)) return 2;
    for (long i = atol(argv[2]); i > 0; i--) launch(&handle, (dim3){6, 5, 4}, (dim3){64, 1, 1}, 0, 96, 0);
    return 0;
}
"#;

/// A directory that all users may read, with the caller, a stand-in runtime and a copy of the command.
struct Yard {
    dir: tempfile::TempDir,
    runtime: PathBuf,
    program: PathBuf,
    tool: PathBuf,
}

impl Yard {
    fn new() -> Option<Yard> {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("opened");
        let at = |name: &str| dir.path().join(name);
        let (runtime, program, tool) = (at("libamdhip64.so.6"), at("caller"), at("whichkernel"));
        std::fs::write(&runtime, embedded_shims::NULLGPU_6).expect("written");
        std::fs::write(at("caller.c"), CALLER).expect("written");
        let made = Command::new("cc").arg("-o").arg(&program).arg(at("caller.c")).arg("-ldl").output();
        let made = made.expect("a C compiler");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_whichkernel")).arg(&tool).status().expect("cp").success());
        Some(Yard { dir, runtime, program, tool })
    }

    fn tool(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.tool);
        command.args(words).env("LC_ALL", "C").current_dir(self.dir.path());
        // Accessible to all users, because without root the tests run as another user.
        command.env("HOME", self.dir.path()).env_remove("WHICHKERNEL_CACHE");
        command
    }

    /// The caller, after it printed `ready`; it launches on request.
    fn caller(&self, count: u64) -> Child {
        let mut command = Command::new(&self.program);
        command.arg(&self.runtime).arg(count.to_string()).arg("wait").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        child
    }
}

fn go(child: &mut Child) {
    child.stdin.take().expect("its input").write_all(b"go\n").expect("told");
}

fn json(text: &[u8]) -> serde_json::Value {
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), text)
}

/// Removes the probes at the end, whatever the result.
struct Disarm<'y>(&'y Yard);

impl Drop for Disarm<'_> {
    fn drop(&mut self) {
        let _ = self.0.tool(&["watch", "disarm"]).output();
    }
}

#[test]
fn one_privileged_step_and_the_rest_without_root() {
    const NOBODY: u32 = 65534;
    let (true, Some(yard)) = (root("watch arm"), Yard::new()) else { return };
    let _one = TRACEFS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let runtime = yard.runtime.display().to_string();
    let armed = yard.tool(&["watch", "arm", &runtime]).output().expect("armed");
    let said = String::from_utf8_lossy(&armed.stderr).into_owned();
    assert!(armed.status.success(), "{said}");
    let _disarm = Disarm(&yard);
    assert!(String::from_utf8_lossy(&armed.stdout).contains("hipLaunchKernel"), "{said}");

    let doctor = yard.tool(&["doctor", "--format", "json"]).output().expect("asked");
    let leftovers = json(&doctor.stdout)["host"]["tracing"]["leftovers"].as_array().map(Vec::len);
    assert!(leftovers.is_some_and(|count| count > 5), "doctor lists what arm made: {leftovers:?}");

    let program = yard.program.display().to_string();
    let words = ["watch", "--how", "perf", "--format", "json", "--", &program, &runtime, "40"];
    let mut nobody = yard.tool(&words);
    nobody.uid(NOBODY).gid(NOBODY);
    let seen = nobody.output().expect("watched");
    assert!(seen.status.success(), "{}", String::from_utf8_lossy(&seen.stderr));
    let report = json(&seen.stdout);
    assert_eq!((report["seen"].as_u64(), report["lost"].as_u64()), (Some(40), Some(0)), "{report:#}");
    let row = &report["rows"][0];
    assert_eq!((row["grids"][0].to_string(), row["shmem"].as_u64()), ("[6,5,4]".to_owned(), Some(96)), "{row:#}");

    let gone = yard.tool(&["watch", "disarm"]).output().expect("disarmed");
    assert!(gone.status.success(), "{}", String::from_utf8_lossy(&gone.stderr));
    let doctor = yard.tool(&["doctor", "--format", "json"]).output().expect("asked");
    let leftovers = json(&doctor.stdout)["host"]["tracing"]["leftovers"].as_array().map(Vec::len);
    assert_eq!(leftovers, Some(0));
    let mut refused = yard.tool(&words);
    let refused = refused.uid(NOBODY).gid(NOBODY).output().expect("refused");
    assert_eq!(refused.status.code(), Some(2), "nothing is armed any more");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("watch arm"), "the way out is said");
}

#[test]
fn a_trace_a_record_and_the_table_come_from_one_watch() {
    let (true, Some(yard)) = (root("watch"), Yard::new()) else { return };
    let mut caller = yard.caller(3000);
    let pid = caller.id().to_string();
    let trace = yard.dir.path().join("trace.jsonl");
    let (trace_text, ledger) = (trace.display().to_string(), yard.dir.path().join("ledger").display().to_string());
    let words = ["watch", "--pid", &pid, "--trace", &trace_text, "--record", "--ledger", &ledger, "--format", "json"];
    let mut watch = yard.tool(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut messages = BufReader::new(watch.stderr.take().expect("its messages"));
    let mut line = String::new();
    messages.read_line(&mut line).expect("a line");
    assert!(line.starts_with("Watching"), "{line}");
    go(&mut caller);
    assert!(caller.wait().expect("an end").success());
    let mut rest = String::new();
    messages.read_to_string(&mut rest).expect("the rest");
    let seen = watch.wait_with_output().expect("an end");
    assert!(seen.status.success(), "{rest}");
    let report = json(&seen.stdout);
    let rejected: u64 = report["rejected"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    let all = report["seen"].as_u64().unwrap_or(0) + rejected;
    assert_eq!((all, report["lost"].as_u64()), (3000, Some(0)), "{report:#}");
    assert_eq!((report["rung"].as_str(), report["device"].as_str()), (Some("selected"), Some("stand-in")));
    let lines = std::fs::read_to_string(&trace).expect("a trace");
    // Every launch, a line for each refusal reported at the return of a call, and the end.
    assert_eq!(lines.lines().count() as u64, all + rejected + 1);
    let line: serde_json::Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!((line["api"].as_str(), line["grid"].to_string()), (Some("hipLaunchKernel"), "[6,5,4]".to_owned()));
    let again = yard.tool(&["watch", "--read", &trace_text, "--format", "json"]).output().expect("read");
    let again = json(&again.stdout);
    assert_eq!(
        (&again["seen"], &again["lost"]),
        (&report["seen"], &report["lost"]),
        "what was traced can be read again"
    );
    let refused: u64 = again["rejected"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    assert_eq!(refused, rejected, "what was refused is none by being read");
    let verified = yard.tool(&["ledger", "verify", "--ledger", &ledger]).output().expect("verified");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn killing_the_observer_leaves_the_target_alone() {
    let (true, Some(yard)) = (root("watch and kill -9"), Yard::new()) else { return };
    let mut caller = yard.caller(100_000);
    let pid = caller.id().to_string();
    let mut watch = yard.tool(&["watch", "--pid", &pid, "--format", "json"]);
    let mut watch = watch.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("started");
    let mut line = String::new();
    BufReader::new(watch.stderr.take().expect("its messages")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("Watching"), "{line}");
    go(&mut caller);
    watch.kill().expect("killed");
    watch.wait().expect("reaped");
    assert!(caller.wait().expect("an end").success());
    assert!(!Path::new("/run/whichkernel/armed.json").exists() || TRACEFS.try_lock().is_err());
}

#[test]
fn what_is_not_there_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let tool = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.args(words).env("LC_ALL", "C").env("HOME", dir.path()).output().expect("run")
    };
    for (words, part) in [
        (&["watch"][..], "nothing to watch"),
        (&["watch", "--pid", "4194304"][..], "no process 4194304"),
        (&["watch", "--name", "no-such-program-here"][..], "no process has the name"),
        (&["watch", "--read", "/nonexistent"][..], "/nonexistent"),
        (&["watch", "--pid", "1", "--url", "nowhere"][..], "nowhere is not an address"),
        // Options that a recorded file cannot serve are refused, not ignored.
        (&["watch", "--read", "x", "--trace", "y"][..], "cannot be used with"),
        (&["watch", "--read", "x", "--tokens", "3"][..], "cannot be used with"),
        (&["watch", "--certify", "--trace", "y", "--", "true"][..], "cannot be used with"),
    ] {
        let out = tool(words);
        assert_eq!(out.status.code(), Some(2), "{words:?}");
        assert!(
            String::from_utf8_lossy(&out.stderr).contains(part),
            "{words:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

/// Not a GPU program, and several with one name: the output says which processes are watched, and that no launch could
/// be observed.
#[test]
fn a_process_without_a_gpu_runtime_is_no_answer() {
    if !root("watch") {
        return;
    }
    let mut sleepers: Vec<Child> = Vec::new();
    let dir = tempfile::tempdir().expect("a directory");
    let program = dir.path().join("wk-sleeper");
    // Copied by another process: a file that one thread has open for writing while another forks cannot be executed.
    assert!(Command::new("cp").arg("/bin/sleep").arg(&program).status().expect("cp").success());
    for _ in 0..2 {
        sleepers.push(Command::new(&program).arg("600").spawn().expect("started"));
    }
    let tool = |lang: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.args(["watch", "--name", "wk-sleeper", "--for", "100ms", "--lang", lang]).env("HOME", dir.path());
        command.output().expect("run")
    };
    let (english, japanese) = (tool("en"), tool("ja"));
    // A port without a server is reported at once.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port");
    let words = ["watch", "--name", "wk-sleeper", "--url", &format!("http://{nobody}")];
    let refused = Command::new(env!("CARGO_BIN_EXE_whichkernel")).args(words).env("LC_ALL", "C").output().expect("run");
    for mut sleeper in sleepers.drain(..) {
        sleeper.kill().expect("killed");
        sleeper.wait().expect("reaped");
    }
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("Is it running, with a model loaded"), "{said}");
    let said = String::from_utf8_lossy(&english.stderr).into_owned();
    assert_eq!(english.status.code(), Some(2), "{said}");
    assert_eq!(said.matches("wk-sleeper (").count(), 2, "both are named: {said}");
    assert!(said.contains("has no GPU runtime open") && said.contains("nothing could be observed"), "{said}");
    assert!(String::from_utf8_lossy(&japanese.stderr).contains("GPU ランタイム"), "Japanese");
}
