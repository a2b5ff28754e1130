//! Tests a dry run that is interrupted or killed: the program ends with it, its results are reported, and nothing is
//! left behind.
//!
//! This test is alone in its process, because signals affect the whole process.

use dryrun::{Blas, Described, Ending, Outcome, Request, RunRoot, Streams};
use rustix::process::{Signal, getpid, kill_process};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const PART: &str = "DRYRUN_SIGNALS_PART";

/// A program and its child: both print their process ids and launch until they are stopped.
fn run(home: &Path) -> Outcome {
    let profile = gpu::find("gfx1100").expect("a card");
    let table = launch::table::Builder::default().finish();
    let described = Described { table, ships: true, ..Described::default() };
    let text = r#"sh -c 'echo $$ > "$0/inner"; exec sleep 1000' "$1" & echo $$ > "$1/outer"; "$0" until 2000 > "$1/said"; true"#;
    let program = home.join("launcher");
    let command: Vec<OsString> = vec!["sh".into(), "-c".into(), text.into(), program.into(), home.into()];
    let request = Request {
        place: &RunRoot::Host,
        profiles: std::slice::from_ref(&profile),
        described: &described,
        strict: false,
        command: &command,
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &[],
    };
    request.run().expect("a run")
}

fn wait_for(what: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !what() {
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "it never came");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn gone(file: PathBuf) -> bool {
    let text = std::fs::read_to_string(file).expect("a number");
    // A zombie process has ended, even if no one has waited for it.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", text.trim())).unwrap_or_default();
    stat.is_empty() || stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn ready(home: &Path) -> bool {
    let said = |name: &str| std::fs::read_to_string(home.join(name)).unwrap_or_default();
    said("said").contains("ready") && !said("inner").is_empty() && !said("outer").is_empty()
}

fn nests(home: &Path) -> usize {
    let names = std::fs::read_dir(home).expect("listed").flatten();
    names.filter(|entry| entry.file_name().to_string_lossy().starts_with("whichkernel-dryrun-")).count()
}

#[test]
fn a_signal_is_passed_on_and_what_was_seen_is_told_and_a_killed_run_leaves_no_program() {
    if let Some(home) = std::env::var_os(PART) {
        run(Path::new(&home));
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let home = directory.path();
    std::fs::write(home.join("libamdhip64.so.6"), embedded_shims::NULLGPU_6).expect("written");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../watch/tests/data/launcher.c");
    let mut cc = Command::new("cc");
    cc.arg("-o").arg(home.join("launcher")).arg(source).arg("-L").arg(home);
    cc.args(["-l:libamdhip64.so.6", "-lpthread", "-ldl", "-Wl,--allow-shlib-undefined"]);
    assert!(cc.status().expect("a C compiler").success());
    // Kill a run in a separate process: the program and its children end, and its directory remains.
    let own = std::env::current_exe().expect("this program");
    let mut part = Command::new(own);
    // The process is killed before it can report its test result.
    let mut part =
        part.env(PART, home).env("TMPDIR", home).stdout(std::process::Stdio::null()).spawn().expect("started");
    wait_for(|| ready(home));
    part.kill().expect("killed");
    part.wait().expect("ended");
    wait_for(|| gone(home.join("inner")) && gone(home.join("outer")));
    assert_eq!(nests(home), 1, "nobody was there to clear it away");
    for name in ["inner", "outer", "said"] {
        std::fs::remove_file(home.join(name)).expect("removed");
    }
    // The next run removes the directory, once the kernel has closed the files of the killed processes.
    wait_for(|| {
        sys::private_dir::sweep(home);
        nests(home) == 0
    });
    // A run that is told to stop reports what it saw until then.
    sys::interrupt::catch();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(|| ready(home));
            kill_process(getpid(), Signal::TERM).expect("told");
        });
        run(home)
    });
    assert_eq!((outcome.interrupted, outcome.ending), (Some(15), Ending::Signal(15)));
    assert!(outcome.traces.iter().any(|trace| trace.events.len() > 2000), "what was launched before is told");
    wait_for(|| gone(home.join("inner")) && gone(home.join("outer")));
}
