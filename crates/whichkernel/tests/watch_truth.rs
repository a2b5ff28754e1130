//! The limits of watch's claims: no device that was not seen, no success for a failed program, nothing about this host
//! from another host's file.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WHICHKERNEL: &str = env!("CARGO_BIN_EXE_whichkernel");

/// A foreign runtime without a device.
const RUNTIME: &str = r#"
#include <stddef.h>
typedef struct { unsigned x, y, z; } dim3;
int hipLaunchKernel(const void *f, dim3 g, dim3 b, void **a, size_t s, void *t) { return 0; }
"#;

const PROGRAM: &str = r#"
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
typedef struct { unsigned x, y, z; } dim3;
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
static char handle;
int main(int count, char **words) {
    for (int i = 0; i < 30; i++) hipLaunchKernel(&handle, (dim3){6, 5, 4}, (dim3){64, 1, 1}, 0, 96, 0);
    int how = count > 1 ? atoi(words[1]) : 0;
    if (how < 0) { signal(-how, SIG_DFL); raise(-how); }
    return how;
}
"#;

fn compile(dir: &Path, name: &str, source: &str, more: &[&str]) -> PathBuf {
    let (text, made) = (dir.join(format!("{name}.c")), dir.join(name));
    std::fs::write(&text, source).expect("written");
    let output = Command::new("cc").arg("-o").arg(&made).arg(&text).args(more).output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    made
}

/// The program, linked to the runtime beside it.
fn program(dir: &Path) -> PathBuf {
    compile(dir, "libamdhip64.so.6", RUNTIME, &["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"]);
    let place = dir.display().to_string();
    compile(dir, "program", PROGRAM, &["-L", &place, "-l:libamdhip64.so.6", &format!("-Wl,-rpath,{place}")])
}

fn watch(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(WHICHKERNEL);
    command.arg("watch").args(words).env("LC_ALL", "C").env("HOME", dir).env("TMPDIR", dir).output().expect("a run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_runtime_that_is_not_ours_is_no_real_device() {
    let home = tempfile::tempdir().expect("a directory");
    let program = program(home.path()).display().to_string();
    let mut hows = vec!["preload"];
    if rustix::process::geteuid().is_root() {
        hows.push("uprobe");
    }
    for how in hows {
        let output = watch(home.path(), &["--how", how, "--format", "json", "--", &program]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{how}: {said}");
        let report = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
        assert_eq!(report["seen"], 30, "{how}: {report:#}");
        assert_eq!((&report["device"], &report["rung"]), (&"unknown".into(), &"selected".into()), "{how}: {report:#}");
        assert_eq!(report["rows"][0]["rung"], "selected", "{how}: {report:#}");
        let known = report["devices"][0]["known"].as_str();
        assert!(matches!(known, Some("none-seen" | "unlooked")), "{how}: {report:#}");
        let output = watch(home.path(), &["--how", how, "--", &program]);
        let said = text(&output.stdout);
        assert!(said.contains("Rung: Selected (device unknown: "), "{how}: {said}");
    }
}

#[test]
fn a_program_that_crashes_is_told_first_and_is_no_success() {
    let home = tempfile::tempdir().expect("a directory");
    let program = program(home.path()).display().to_string();
    for (how, signal) in [("preload", "-11"), ("preload", "3"), ("logs", "-6"), ("logs", "1")] {
        let output = watch(home.path(), &["--how", how, "--", &program, signal]);
        let said = text(&output.stdout);
        let first = match signal {
            "-11" => "Signal 11 (segmentation fault) ended the program",
            "-6" => "Signal 6 (aborted) ended the program",
            "3" => "The program ended with exit code 3",
            _ => "The program ended with exit code 1",
        };
        let lines: Vec<&str> = said.lines().filter(|line| !line.contains(" s: ")).collect();
        assert_eq!(lines.first().copied(), Some(first), "{how} {signal}: {said}");
        assert_eq!(output.status.code(), Some(2), "{how} {signal}: {said}");
    }
    let output = watch(home.path(), &["--how", "preload", "--format", "json", "--", &program, "-11"]);
    let report = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
    assert_eq!((&report["ended"]["signal"], &report["ended"]["name"]), (&11.into(), &"SIGSEGV".into()), "{report:#}");
    assert_eq!(report["seen"], 30, "what was seen before is told: {report:#}");
    let output = watch(home.path(), &["--how", "preload", "--format", "json", "--", &program]);
    let report = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
    assert_eq!((output.status.code(), &report["ended"]["code"]), (Some(0), &0.into()), "{report:#}");
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let home = tempfile::tempdir().expect("a directory");
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let huge = home.path().join("huge.log");
    std::fs::File::create(&huge).and_then(|file| file.set_len(100 << 30)).expect("a sparse file");
    let name = |path: &Path| path.display().to_string();
    for (path, word) in [
        (name(&pipe), "pipe"),
        (name(home.path()), "directory"),
        ("/dev/zero".to_owned(), "character device"),
        (name(&huge), "1073741824"),
    ] {
        let output = watch(home.path(), &["--read", &path]);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(word), "{path}: {said}");
    }
}

#[test]
fn a_file_speaks_for_another_host() {
    let home = tempfile::tempdir().expect("a directory");
    let csv = home.path().join("run_kernel_trace.csv");
    let rows = "Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n\
        k,1,2,64,1,1,64,1,1\nk,3,4,64,1,1,64,1,1\n";
    std::fs::write(&csv, rows).expect("written");
    let (csv, ledger) = (csv.display().to_string(), home.path().join("ledger").display().to_string());
    let output = watch(home.path(), &["--read", &csv]);
    let said = text(&output.stdout);
    assert!(said.contains("Source: run_kernel_trace.csv, written by rocprofv3 on host ?"), "{said}");
    assert!(said.contains("Rung: Selected (device unknown: the file does not name a device)"), "{said}");
    let agents = "Agent_Type,Name\nGPU,gfx1201\n";
    std::fs::write(home.path().join("run_agent_info.csv"), agents).expect("written");
    let output = watch(home.path(), &["--read", &csv, "--record", "--ledger", &ledger]);
    let said = text(&output.stdout);
    assert!(said.contains("Rung: Completed, according to the file (device: gfx1201)"), "{said}");
    // An imported profile does not answer a claim about this machine, but it answers a claim about any machine.
    for (host, open) in [("", true), ("scope = { host = \"*\" }\n", false)] {
        let file = home.path().join("claims.toml");
        let claims = format!(
            "schema = \"whichkernel.investigation/1\"\ntitle = {{ en = \"t\", ja = \"t\" }}\n[[phases]]\nid = \"F\"\nen = \"p\"\nja = \"p\"\n\
             [[pages]]\nid = \"p\"\nen = \"p\"\nja = \"p\"\n[[claims]]\nid = \"c\"\nphase = \"F\"\npage = \"p\"\nen = \"c\"\nja = \"c\"\n\
             rung = \"completed\"\ntopic = \"kernel\"\nabout = {{ name = \"k\" }}\nexpected = {{ present = true }}\nexpect = \"any\"\n\
             closes = \"whichkernel watch\"\n{host}"
        );
        std::fs::write(&file, claims).expect("written");
        let mut check = Command::new(WHICHKERNEL);
        check.args(["check", "--format", "json", "--ledger", &ledger]).arg(&file).env("HOME", home.path());
        let output = check.output().expect("checked");
        let report: Value = schema_check::answer(WHICHKERNEL, &output.stdout);
        let grade = &report["claims"][0]["grade"];
        assert_eq!(grade == "unresolved", open, "{host}: {report:#}");
    }
}

/// Sends every client a byte every 50 ms, for minutes.
fn dripper() -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
                for _ in 0..6000 {
                    if stream.write_all(b"y").is_err() {
                        return;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
            });
        }
    });
    address
}

#[test]
fn a_server_that_drips_holds_nobody_up() {
    let (home, server) = (tempfile::tempdir().expect("a directory"), dripper());
    let mut doctor = Command::new(WHICHKERNEL);
    doctor.args(["doctor", "--format", "json"]).env("HOME", home.path()).env("OLLAMA_HOST", &server);
    let output = doctor.output().expect("a run");
    assert!(text(&output.stdout).contains("did not send a complete response within 2 s"), "{}", text(&output.stdout));
    if !test_artifacts::root("watch --pid of another process") {
        return;
    }
    let mut sleeper = Command::new("sleep").arg("600").spawn().expect("started");
    let pid = sleeper.id().to_string();
    let output = watch(home.path(), &["--pid", &pid, "--url", &format!("http://{server}")]);
    sleeper.kill().and_then(|()| sleeper.wait()).expect("its end");
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("did not send a complete response within 5 s"), "{said}");
}
