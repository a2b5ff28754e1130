//! A real program on the dry-run device that waits at a gate until the observer is ready; and a small program of ours.

#![allow(dead_code, reason = "each test file uses its part")]

use dryrun::{Blas, Described, Request, RunRoot, Running, Streams, describe};
use gguf::{TensorType, known, skeleton};
use gpu::Profile;
use launch::trace::{Event, Trace};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Whether the test runs as root; otherwise it counts as skipped.
pub fn root(test: &str) -> bool {
    test_artifacts::root(&format!("{test}: uprobes and BPF"))
}

pub fn place() -> Option<RunRoot> {
    test_artifacts::need("debian-sid").map(|dir| RunRoot::Tree { name: "debian-sid".into(), root: dir.join("root") })
}

pub struct Stage {
    pub place: RunRoot,
    pub profile: Profile,
    pub described: Described,
    pub model: PathBuf,
    pub home: tempfile::TempDir,
}

impl Stage {
    pub fn new(place: RunRoot, kind: &str) -> Stage {
        let profile = gpu::find("gfx1100").expect("a card");
        let libraries = place.libraries(false, None).expect("libraries with device code");
        let target = profile.target().expect("a target");
        let described = describe(&libraries, &target, true, runtime::Cache::from_env().dir()).expect("a kernel table");
        let home = tempfile::tempdir().expect("a directory");
        let model = home.path().join("model.gguf");
        let shape = known("qwen2-7b").expect("a shape");
        let made = skeleton(&shape, TensorType::parse(kind).expect("a type"), 2, true).expect("a skeleton");
        std::fs::write(&model, &made.header).expect("a file");
        let file = std::fs::OpenOptions::new().write(true).open(&model).expect("the file");
        file.set_len(made.file_size).expect("a sparse file");
        let gate = home.path().join("gate");
        rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a gate");
        Stage { place, profile, described, model, home }
    }

    /// Starts the program. It stops before its `main`, with the runtime and `also` mapped, until the gate opens; None,
    /// with a note, if the gate cannot be compiled.
    pub fn start(&self, command: &[&str], also: &[&str]) -> Option<Running> {
        self.start_on(command, also, Blas::Recorded)
    }

    /// Like [`Self::start`], with a BLAS of the test's choice.
    pub fn start_on(&self, command: &[&str], also: &[&str], blas: Blas) -> Option<Running> {
        let library = self.home.path().join("gate.so");
        compile(GATE, &library, &["-shared", "-fPIC"])?;
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let show = [self.home.path().to_owned()];
        // By name: the stand-ins are found through the dry run's library path.
        let mut preload = vec!["libamdhip64.so.6", "libwhichkernel-sparse-read.so"];
        preload.extend(also);
        let preload = format!("{}:{}", preload.join(":"), library.display());
        let variables = [("LD_PRELOAD".to_owned(), preload), ("GATE".to_owned(), self.gate().display().to_string())];
        let request = Request {
            place: &self.place,
            profiles: std::slice::from_ref(&self.profile),
            described: &self.described,
            strict: true,
            command: &command,
            show: &show,
            blas,
            streams: Streams::Captured,
            preload: false,
            sparse_read: true,
            variables: &variables,
        };
        Some(request.spawn().expect("a program"))
    }

    pub fn bench(&self, words: &[&str]) -> Vec<String> {
        let model = self.model.display().to_string();
        let fixed = ["llama-bench", "-m", &model, "-r", "1", "--no-warmup", "-t", "1"];
        fixed.iter().chain(words).map(|word| (*word).to_owned()).collect()
    }

    fn gate(&self) -> PathBuf {
        self.home.path().join("gate")
    }

    pub fn open(&self) {
        let mut gate = std::fs::OpenOptions::new().write(true).open(self.gate()).expect("the gate");
        gate.write_all(b"go\n").expect("opened");
    }
}

/// Waits at a named pipe, once.
const GATE: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void gate(void) {
    const char *path = getenv("GATE");
    if (!path) return;
    char byte;
    int fd = open(path, O_RDONLY);
    if (fd >= 0) { while (read(fd, &byte, 1) < 0) {} close(fd); }
    unsetenv("GATE");
}
"#;

/// One launch in a form common to both sides: name, grid, block, shared memory, argument bytes, whether captured.
pub type Launch = (String, [u32; 3], [u32; 3], u32, Vec<u8>, bool);

/// Every launch that the stand-in recorded as accepted.
pub fn truth(trace: &Trace) -> Vec<Launch> {
    let of = |event: &Event| match event {
        Event::Launch(launch) if launch.head.status == 0 => {
            let name = trace.kernel(launch.head.kernel).map(|kernel| kernel.name.clone()).unwrap_or_default();
            let (grid, block, shared) = (launch.head.grid, launch.head.block, launch.head.shared);
            Some((name, grid, block, shared, trace.args(launch).to_vec(), launch.head.graph != 0))
        }
        _ => None,
    };
    trace.events.iter().filter_map(of).collect()
}

/// Compiles a C program or library with the system's compiler; None, with a note, if there is none.
pub fn compile(source: &str, out: &Path, words: &[&str]) -> Option<()> {
    let file = out.with_extension("c");
    std::fs::write(&file, source).expect("written");
    let done = std::process::Command::new("cc").arg("-O1").arg("-o").arg(out).arg(&file).args(words).output();
    match done {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            Some(())
        }
        Err(error) => {
            test_artifacts::skip("a C compiler", &error.to_string());
            None
        }
    }
}

/// A HIP program of ours: opens a runtime, prints `ready`, waits for a line, launches, and prints the number of
/// launches. Modes: plain threads, `fork` (each round in a child), `exec` (each round in a new program), `reopen`
/// (closes and opens the runtime each round).
pub const CALLER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
typedef struct { unsigned x, y, z; } dim3;
typedef int (*launch_t)(const void *, dim3, dim3, void **, size_t, void *);
static char handle;
static launch_t launch;
static long each;
static int last;
static void *run(void *unused) {
    int value = 7;
    void *args[] = { &value };
    for (long i = 0; i < each; i++)
        last = launch(&handle, (dim3){3, 4, 5}, (dim3){32, 2, 1}, args, 1024, (void *)0);
    return unused;
}
static void many(long threads) {
    if (threads == 1) { run(0); return; }
    pthread_t *list = calloc(threads, sizeof *list);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (long i = 0; i < threads; i++) while (pthread_create(&list[i], &small, run, 0)) usleep(100);
    for (long i = 0; i < threads; i++) pthread_join(list[i], 0);
    free(list);
}
static void *open_it(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); exit(3); }
    launch = (launch_t)dlsym(library, "hipLaunchKernel");
    if (!launch) exit(4);
    return library;
}
int main(int argc, char **argv) {
    const char *mode = argv[2];
    long rounds = atol(argv[3]), threads = atol(argv[4]);
    each = atol(argv[5]);
    void *library = open_it(argv[1]);
    if (argc > 6) { many(threads); return 0; }
    printf("ready %p\n", (void *)launch);
    fflush(stdout);
    char line[16];
    if (!fgets(line, sizeof line, stdin)) return 2;
    for (long i = 0; i < rounds; i++) {
        if (!strcmp(mode, "fork") || !strcmp(mode, "exec")) {
            pid_t pid = fork();
            if (!pid) {
                if (!strcmp(mode, "exec")) execl("/proc/self/exe", argv[0], argv[1], "plain", "1", argv[4], argv[5], "go", (char *)0);
                many(threads);
                _exit(0);
            }
            waitpid(pid, 0, 0);
        } else {
            if (!strcmp(mode, "reopen")) { dlclose(library); library = open_it(argv[1]); }
            many(threads);
        }
    }
    printf("done %d\n", last);
    return 0;
}
"#;

/// The running caller, after it printed `ready`.
pub struct Caller {
    pub child: std::process::Child,
    lines: std::io::BufReader<std::process::ChildStdout>,
    /// The address of the launch function in the process.
    pub function: u64,
}

impl Caller {
    /// Takes a child started by the test: on this machine, or inside a tree.
    pub fn start(child: std::process::Child) -> Caller {
        use std::io::BufRead;
        let mut child = child;
        let mut lines = std::io::BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("ready 0x").expect("ready");
        Caller { child, lines, function: u64::from_str_radix(address, 16).expect("an address") }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn go(&mut self) {
        self.child.stdin.as_mut().expect("its input").write_all(b"go\n").expect("told");
    }

    /// Waits for the end; returns the status of the last launch.
    pub fn done(mut self) -> i32 {
        use std::io::BufRead;
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        assert!(self.child.wait().expect("an end").success());
        line.trim().strip_prefix("done ").and_then(|code| code.parse().ok()).expect("done")
    }
}

/// A directory with the caller and a stand-in runtime.
pub struct Yard {
    pub dir: tempfile::TempDir,
    pub runtime: PathBuf,
    pub program: PathBuf,
}

impl Yard {
    pub fn new() -> Option<Yard> {
        let dir = tempfile::tempdir().expect("a directory");
        let (runtime, program) = (dir.path().join("libamdhip64.so.6"), dir.path().join("caller"));
        std::fs::write(&runtime, embedded_shims::NULLGPU_6).expect("written");
        compile(CALLER, &program, &["-ldl", "-lpthread"])?;
        Some(Yard { dir, runtime, program })
    }

    pub fn command(&self, mode: &str, rounds: u64, threads: u64, each: u64) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.arg(&self.runtime).arg(mode).args([rounds, threads, each].map(|n| n.to_string()));
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        command
    }

    pub fn start(&self, mode: &str, rounds: u64, threads: u64, each: u64) -> Caller {
        Caller::start(self.command(mode, rounds, threads, each).spawn().expect("started"))
    }
}
