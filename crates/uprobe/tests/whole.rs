//! Compared with the runtime's own count: every launch is seen, or the missing ones are reported.

mod stage;

use stage::{Stage, compile, place, root};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use uprobe::{Options, Started, Watcher};
use watch::{Ended, ObserverReport, Open, Source, State, Tally};

const COUNTING: &str = include_str!("data/counting.c");

/// How often each kernel was launched; the width of the grid identifies the kernel.
type Launches = BTreeMap<u32, u64>;

/// A runtime that keeps its own count, and the program that uses it.
struct Ours {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Ours {
    fn new(runtime: &str, words: &[&str]) -> Option<Ours> {
        let dir = tempfile::tempdir().expect("a directory");
        let here = dir.path().display().to_string();
        let soname = format!("-Wl,-soname,{runtime}");
        compile(
            COUNTING,
            &dir.path().join(runtime),
            &[&["-shared", "-fPIC", "-DRUNTIME", &soname][..], words].concat(),
        )?;
        let program = dir.path().join("program");
        let linked = ["-L", &here, &format!("-l:{runtime}"), &format!("-Wl,-rpath,{here}")];
        compile(COUNTING, &program, &[&linked[..], words].concat())?;
        Some(Ours { dir, program })
    }

    fn hip() -> Option<Ours> {
        Ours::new("libamdhip64.so.6", &[])
    }
}

fn launches(tally: &Tally) -> Launches {
    let mut out = Launches::new();
    for row in tally.rows() {
        *out.entry(row.grids[0][0]).or_default() += row.launches;
    }
    out
}

fn truth(text: &str) -> Launches {
    let of = |line: &str| {
        let (kernel, count) = line.strip_prefix("kernel ")?.split_once(' ')?;
        Some((kernel.parse().ok()?, count.parse().ok()?))
    };
    text.lines().filter_map(of).collect()
}

/// Attaches to a program that waits after `ready`, and lets it continue. Returns the observation and the program's own
/// count.
fn attached(program: &Path, words: &[&str]) -> (Tally, ObserverReport, Launches) {
    let mut command = Command::new(program);
    let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let mut out = BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    let mut watcher = Watcher::attach(&[child.id()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    child.stdin.take().expect("its input").write_all(b"go\n").expect("told");
    until_gone(&mut watcher, &mut tally);
    let mut text = String::new();
    out.read_to_string(&mut text).expect("its words");
    assert!(child.wait().expect("an end").success());
    let account = watcher.finish(&mut tally).expect("an account");
    (tally, account, truth(&text))
}

fn until_gone(watcher: &mut Watcher, tally: &mut Tally) {
    while watcher.poll(tally, Duration::from_millis(50)).expect("polled") != State::Ended(Ended::TargetGone) {}
}

/// Starts a command and watches it from start to end.
fn started(command: &[&Path]) -> (Tally, ObserverReport) {
    let command: Vec<std::ffi::OsString> = command.iter().map(|word| word.as_os_str().to_owned()).collect();
    let mut started = Started::new(&command, Options::default()).expect("started");
    let mut tally = Tally::default();
    let ended = loop {
        if let State::Ended(how) = started.poll(&mut tally, Duration::from_millis(50)).expect("polled") {
            break how;
        }
    };
    let account = started.finish(&mut tally).expect("an account");
    assert_eq!(ended, Ended::Code(0), "{account:?}");
    (tally, account)
}

fn has(account: &ObserverReport, start: &str) -> bool {
    account.gaps.iter().any(|unseen| unseen.what().to_string().starts_with(start))
}

#[test]
fn every_way_to_make_change_and_launch_a_graph() {
    if !root("uprobe on graphs of every kind") {
        return;
    }
    for (runtime, words) in [("libamdhip64.so.6", &[][..]), ("libcuda.so.1", &["-DCUDA"])] {
        let Some(ours) = Ours::new(runtime, words) else { return };
        let (tally, account, truth) = attached(&ours.program, &["everything", "wait"]);
        assert!(truth.len() > 12, "{truth:?}");
        assert_eq!(launches(&tally), truth, "{runtime}: {account:?}");
        assert_eq!((tally.lost, tally.unknown_replays), (0, 0), "{runtime}: {account:?}");
        assert!(!account.gaps.iter().any(|unseen| unseen.gap.open() == Open::Graphs), "{account:?}");
    }
}

#[test]
fn graphs_of_a_program_that_we_start_are_counted_from_the_first() {
    let (true, Some(ours)) = (root("uprobe on graphs from the first moment"), Ours::hip()) else { return };
    let told = Command::new(&ours.program).output().expect("it runs");
    let truth = truth(&String::from_utf8_lossy(&told.stdout));
    let (tally, account) = started(&[&ours.program]);
    assert_eq!((launches(&tally), tally.lost, tally.unknown_replays), (truth, 0, 0), "{account:?}");
    let other: Vec<_> = account.gaps.iter().filter(|unseen| !unseen.what().to_string().contains("device")).collect();
    assert!(other.is_empty(), "nothing is missing: {other:?}");
}

/// Unknown exports: one that launches, and one that adds to a graph.
#[test]
fn a_launch_function_that_nobody_knows_is_a_gap_with_a_number() {
    let (true, Some(ours)) = (root("uprobe on unknown exports"), Ours::hip()) else { return };
    let (tally, account, truth) = attached(&ours.program, &["news", "wait"]);
    assert_eq!(truth, Launches::from([(1, 1), (2, 3), (3, 2), (4, 2)]));
    assert_eq!((launches(&tally), tally.lost), (Launches::from([(1, 1), (3, 2)]), 3), "{account:?}");
    assert!(has(&account, "launches through 3 calls of hipLaunchKernelOnTuesdays (libamdhip64.so.6)"), "{account:?}");
    assert!(has(&account, "launches through graphs that 1 call of hipGraphAddQuietly"), "{account:?}");
    let (_, account, _) = attached(&ours.program, &["everything", "wait"]);
    assert!(!has(&account, "launches through"), "it is there, and known not to have been called: {account:?}");
}

#[test]
fn what_the_device_decides_is_an_unknown_replay_or_a_gap_with_a_name() {
    let (true, Some(ours)) = (root("uprobe on conditional graphs"), Ours::hip()) else { return };
    let (tally, account, _) = attached(&ours.program, &["elsewhere", "wait"]);
    assert_eq!((launches(&tally), tally.unknown_replays), (Launches::from([(1, 2), (2, 1)]), 2), "{account:?}");
    assert!(has(&account, "launches through 1 graph that kernels can launch"), "{account:?}");
}

/// A graph and a capture that began before the attach.
#[test]
fn what_was_made_before_the_attach_is_not_taken_for_known() {
    let (true, Some(ours)) = (root("uprobe on early graphs"), Ours::hip()) else { return };
    let (tally, account, truth) = attached(&ours.program, &["early", "wait"]);
    assert_eq!(truth, Launches::from([(1, 3), (2, 3), (3, 12), (4, 1)]));
    assert_eq!(tally.unknown_replays, 4 + 3, "{account:?}");
    assert!(
        has(&account, "launches through a graph capture that was in progress: 2 are counted as launched"),
        "{account:?}"
    );
    assert_eq!(launches(&tally).get(&4), Some(&1), "{account:?}");
}

/// Opens a library by a path from a file, and calls it at once; optionally in its own mount namespace.
const OPENS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
typedef struct { unsigned x, y, z; } dim3;
static char handle;
static void call(const char *path, int times) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); _exit(3); }
    int (*launch)(const void *, dim3, dim3, void **, size_t, void *) = dlsym(library, "hipLaunchKernel");
    int (*gemm)(void *, int, int, int, int, int) = dlsym(library, "rocblas_sgemm");
    for (int i = 0; i < times; i++) {
        if (launch) launch(&handle, (dim3){7, 1, 1}, (dim3){64, 1, 1}, 0, 0, 0);
        if (gemm) gemm(0, 0, 0, 32, 16, 8);
    }
}
int main(int argc, char **argv) {
    char path[512] = "", line[8];
    FILE *file = fopen(argv[1], "r");
    if (!file || !fgets(path, sizeof path, file)) return 4;
    path[strcspn(path, "\n")] = 0;
    if (argc > 3) {
        printf("ready\n");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) return 2;
    }
    if (!strcmp(argv[2], "namespace")) {
        char to[600], command[1400], *slash = strrchr(path, '/');
        if (unshare(CLONE_NEWNS) || mount("none", "/", 0, MS_REC | MS_PRIVATE, 0)) return 5;
        snprintf(to, sizeof to, "%.*s/inside", (int)(slash - path), path);
        if (mount("none", to, "tmpfs", 0, 0)) return 6;
        snprintf(command, sizeof command, "cp %s %s/", path, to);
        if (system(command)) return 7;
        strcat(to, slash);
        call(to, 20);
    } else if (!strcmp(argv[2], "child")) {
        pid_t child = fork();
        if (!child) { call(path, 20); _exit(0); }
        waitpid(child, 0, 0);
    } else {
        call(path, 20);
    }
    return 0;
}
"#;

/// A directory with an unguessable name, with a runtime and a BLAS library; the program, and files that name them.
struct Hidden {
    dir: tempfile::TempDir,
    program: PathBuf,
    runtime: PathBuf,
    blas: PathBuf,
}

impl Hidden {
    fn new() -> Option<Hidden> {
        const BLAS: &str =
            "int rocblas_sgemm(void *h, int a, int b, int m, int n, int k) { (void)h; return a + b + m + n + k < 0; }";
        let dir = tempfile::tempdir().expect("a directory");
        let deep = dir.path().join("deep/down");
        std::fs::create_dir_all(deep.join("inside")).expect("made");
        let program = dir.path().join("opens");
        compile(OPENS, &program, &["-ldl"])?;
        compile(COUNTING, &deep.join("libamdhip64.so.6"), &["-shared", "-fPIC", "-DRUNTIME"])?;
        compile(BLAS, &deep.join("librocblas.so.4"), &["-shared", "-fPIC"])?;
        let named = |file: &str, library: &str| {
            let at = dir.path().join(file);
            std::fs::write(&at, deep.join(library).display().to_string()).expect("written");
            at
        };
        let (runtime, blas) = (named("runtime", "libamdhip64.so.6"), named("blas", "librocblas.so.4"));
        Some(Hidden { dir, program, runtime, blas })
    }
}

/// The first call is seen, for any path of the library and for any process of the program that opens it.
#[test]
fn a_program_that_we_start_stands_still_until_what_it_opens_is_probed() {
    let (true, Some(hidden)) = (root("uprobe holds what it starts"), Hidden::new()) else { return };
    let modes = [
        (&hidden.runtime, "plain"),
        (&hidden.runtime, "child"),
        (&hidden.runtime, "namespace"),
        (&hidden.blas, "plain"),
    ];
    for (library, mode) in modes {
        let (tally, account) = started(&[&hidden.program, library, Path::new(mode)]);
        let seen = tally.launches() + tally.calls();
        assert_eq!((seen, tally.lost), (20, 0), "{mode} of {library:?}: {account:?}");
        assert!(!has(&account, "the first") && !has(&account, "launches through"), "{mode}: {account:?}");
    }
    drop(hidden.dir);
}

/// A foreign process is never stopped: libraries that it opens are probed a moment later, which is reported for every
/// kind of library.
#[test]
fn a_library_that_a_stranger_opens_later_is_a_gap_with_its_name() {
    let (true, Some(hidden)) = (root("uprobe on what is opened later"), Hidden::new()) else { return };
    for (library, what) in [(&hidden.runtime, "libamdhip64.so.6"), (&hidden.blas, "librocblas.so.4")] {
        let words = [library.to_str().expect("a path"), "plain", "wait"];
        let (tally, account, _) = attached(&hidden.program, &words);
        let told = account
            .gaps
            .iter()
            .map(|unseen| unseen.what().to_string())
            .any(|gap| (gap.starts_with("the first") || gap.starts_with("launches through")) && gap.contains(what));
        assert!(told, "{} of 20 calls: {account:?}", tally.launches() + tally.calls());
    }
}

/// A child of the target ends, and a foreign process gets its id.
#[test]
fn a_stranger_with_the_number_of_one_of_ours_is_not_counted() {
    const STRANGER: &str = r#"
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
typedef struct { unsigned x, y, z; } dim3;
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
static char handle;
static void launch(int times) { for (int i = 0; i < times; i++) hipLaunchKernel(&handle, (dim3){7, 1, 1}, (dim3){64, 1, 1}, 0, 0, 0); }
int main(int argc, char **argv) {
    char line[8];
    if (argc > 1) {
        int wanted = atoi(argv[1]);
        struct clone_args how = {.exit_signal = SIGCHLD, .set_tid = (unsigned long)&wanted, .set_tid_size = 1};
        launch(30);
        long pid = syscall(SYS_clone3, &how, sizeof how);
        if (pid < 0) { perror("clone3"); return 3; }
        if (!pid) { launch(50); _exit(0); }
        int status;
        waitpid((int)pid, &status, 0);
        return pid == wanted && status == 0 ? 0 : 4;
    }
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 2;
    pid_t child = fork();
    if (!child) { launch(5); _exit(0); }
    waitpid(child, 0, 0);
    printf("%d\n", child);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 2;
    launch(5);
    return 0;
}
"#;
    let (true, Some(ours)) = (root("uprobe and numbers that are given out again"), Ours::hip()) else { return };
    let here = ours.dir.path().display().to_string();
    let program = ours.dir.path().join("target");
    let linked = ["-L", &here, "-l:libamdhip64.so.6", &format!("-Wl,-rpath,{here}")];
    if compile(STRANGER, &program, &linked).is_none() {
        return;
    }
    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let mut input = child.stdin.take().expect("its input");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let mut watcher = Watcher::attach(&[child.id()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    input.write_all(b"go\n").expect("told");
    let number = lines.next().expect("the child's number");
    let stranger = Command::new(&program).arg(&number).status().expect("started");
    assert!(stranger.success(), "the number {number} could not be given out again");
    watcher.poll(&mut tally, Duration::from_millis(20)).expect("polled");
    input.write_all(b"go\n").expect("told");
    until_gone(&mut watcher, &mut tally);
    child.wait().expect("an end");
    let account = watcher.finish(&mut tally).expect("an account");
    assert_eq!((tally.launches(), tally.lost), (10, 0), "{account:?}");
    let acceptance = account.gaps.iter().find(|unseen| unseen.key() == "unchecked");
    assert!(acceptance.is_none_or(|unseen| unseen.what().to_string().contains("of 10 launches")), "{account:?}");
}

fn state(pid: &str) -> Option<char> {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?.rsplit_once(") ")?.1.chars().next()
}

/// Waits until a condition holds; fails after a minute.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The watcher is stopped, so that the program stops at the next library it opens; then the watcher is killed.
#[test]
fn a_program_goes_on_when_whoever_holds_it_is_killed() {
    const RESTLESS: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    for (long i = 0; argc > 3 && access(argv[3], F_OK); i++) {
        void *library = dlopen(argv[2], RTLD_NOW);
        if (!library) return 3;
        dlclose(library);
    }
    return 0;
}
"#;
    const WATCHES: &str = "WHICHKERNEL_TEST_WATCHES";
    if let Some(command) = std::env::var_os(WATCHES) {
        let command: Vec<std::ffi::OsString> = command.to_string_lossy().split(' ').map(Into::into).collect();
        let mut started = Started::new(&command, Options::default()).expect("started");
        let mut tally = Tally::default();
        while !matches!(started.poll(&mut tally, Duration::from_millis(50)), Ok(State::Ended(_))) {}
        return;
    }
    if !root("uprobe's guard") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name).display().to_string();
    let empty = dir.path().join("libempty.so");
    let (Some(()), Some(())) = (
        compile(RESTLESS, &dir.path().join("restless"), &["-ldl"]),
        compile("int nothing;", &empty, &["-shared", "-fPIC"]),
    ) else {
        return;
    };
    let words = [at("restless"), at("number"), at("libempty.so"), at("enough")].join(" ");
    let mut watching: Child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "a_program_goes_on_when_whoever_holds_it_is_killed"])
        .env(WATCHES, words)
        .stdout(Stdio::null())
        .spawn()
        .expect("started");
    let number = || std::fs::read_to_string(at("number")).ok().filter(|text| text.ends_with('\n'));
    wait_for("the program has a number", || number().is_some());
    let pid = number().expect("a number").trim().to_owned();
    let signal = |signal| {
        let watching = rustix::process::Pid::from_child(&watching);
        rustix::process::kill_process(watching, signal).expect("told");
    };
    signal(rustix::process::Signal::STOP);
    wait_for("it stands still", || state(&pid) == Some('T'));
    signal(rustix::process::Signal::KILL);
    watching.wait().expect("an end");
    wait_for("it goes on", || state(&pid).is_some_and(|state| state != 'T'));
    std::fs::write(at("enough"), "").expect("written");
    wait_for("it ends", || matches!(state(&pid), None | Some('Z')));
}

/// llama-bench with its graphs on the stand-in, watched from the start. This test program itself runs under the watch,
/// starts llama-bench, and writes the stand-in's counts to a file.
#[test]
fn a_real_program_with_graphs_that_is_started_under_the_watch() {
    const RUNS: &str = "WHICHKERNEL_TEST_RUNS_BENCH";
    const NAME: &str = "a_real_program_with_graphs_that_is_started_under_the_watch";
    let (true, Some(place)) = (root("uprobe on a program that we start"), place()) else { return };
    if let Some(file) = std::env::var_os(RUNS) {
        let stage = Stage::new(place, "Q4_K");
        let command = stage.bench(&["-p", "16", "-n", "16"]);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let Some(running) = stage.start(&command, &[]) else { return };
        stage.open();
        let outcome = running.finish().expect("a run");
        let mut tally = Tally::default();
        outcome.traces.iter().for_each(|trace| watch::add_trace(&mut tally, trace, outcome.tables.first()));
        return std::fs::write(file, format!("{} {}", tally.launches(), tally.tokens())).expect("written");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("recorded");
    let program = std::env::current_exe().expect("this program");
    let variable = format!("{RUNS}={}", file.display());
    let words = [Path::new("/usr/bin/env"), Path::new(&variable), &program, Path::new("--exact"), Path::new(NAME)];
    let (tally, account) = started(&words);
    let recorded = std::fs::read_to_string(&file).expect("what was recorded");
    assert_eq!(format!("{} {}", tally.launches(), tally.tokens()), recorded, "{account:?}");
    assert_eq!((tally.lost, tally.unknown_replays, tally.unnamed()), (0, 0, 0), "{account:?}");
    assert!(!has(&account, "the first") && !has(&account, "launches through"), "{account:?}");
}
