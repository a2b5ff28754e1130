//! A hostile process of another user, for tests that run as root.

#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const NOBODY: u32 = 65534;

/// A runtime whose constructor leaves a file with the id of the user that runs it, in a world-writable directory.
const RUNTIME: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void ran(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", RAN, (int)geteuid());
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    if (fd >= 0) close(fd);
}
__attribute__((noinline)) static int refuse(const void *handle) { return handle ? 0 : 1; }
int hipLaunchKernel(const void *handle) { return refuse(handle) + 0; }
"#;

/// Opens its first argument, prints `ready`, and launches ten times for every line of input.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char line[8], handle;
    const char *path = getenv("LOADS");
    int (*launch)(const void *) = 0;
    if (path) {
        void *library = dlopen(path, RTLD_NOW);
        launch = library ? (int (*)(const void *))dlsym(library, "hipLaunchKernel") : 0;
        if (!launch) { puts(dlerror()); return 3; }
    }
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        for (int i = 0; launch && i < 10; i++) launch(&handle);
        printf("done\n");
        fflush(stdout);
    }
    return 0;
}
"#;

/// A directory that all users may read.
pub struct Yard {
    pub dir: tempfile::TempDir,
    pub runtime: PathBuf,
    pub program: PathBuf,
}

impl Yard {
    /// None, with a note, if this is not possible here.
    pub fn new(test: &str) -> Option<Yard> {
        if !test_artifacts::root(&format!("{test}: to be another user")) {
            return None;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let yard = Yard { runtime: dir.path().join("libamdhip64.so.6"), program: dir.path().join("llama-server"), dir };
        open_to_all(yard.dir.path(), 0o755);
        std::fs::create_dir(yard.at("ran")).expect("made");
        open_to_all(&yard.at("ran"), 0o777);
        let ran = format!("-DRAN=\"{}\"", yard.at("ran").display());
        let made =
            compile(RUNTIME, &yard.runtime, &["-shared", "-fPIC", &ran]) && compile(PROGRAM, &yard.program, &["-ldl"]);
        made.then_some(yard)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Whether the runtime's constructor was run by this user.
    pub fn was_run_by(&self, uid: u32) -> bool {
        self.at("ran").join(uid.to_string()).exists()
    }

    /// The program under another name (`llama-server`), run as the user nobody, with these arguments.
    pub fn command(&self, name: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(name).args(words).uid(NOBODY).gid(NOBODY).current_dir("/");
        command
    }

    /// The command under test, as root, with a separate home.
    pub fn tool(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.args(words).env("LC_ALL", "C").env("HOME", self.at("home")).env_remove("OLLAMA_HOST");
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

pub fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("opened");
}

fn compile(source: &str, out: &Path, words: &[&str]) -> bool {
    let file = out.with_extension("c");
    std::fs::write(&file, source).expect("written");
    let Ok(done) = Command::new("cc").arg("-O1").arg("-o").arg(out).arg(&file).args(words).output() else {
        test_artifacts::skip("cc", "apt-get install gcc");
        return false;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    true
}

/// The program, after it printed `ready`; it ends with this value.
pub struct Stranger {
    child: Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Stranger {
    pub fn start(mut command: Command) -> Stranger {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let (input, output) = (child.stdin.take().expect("its input"), child.stdout.take().expect("its output"));
        let mut stranger = Stranger { child, input, lines: BufReader::new(output) };
        assert_eq!(stranger.line(), "ready\n");
        stranger
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        line
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Launches under a watch that has started, and waits for its end; returns its output and its messages.
    pub fn launch_under(&mut self, tool: &mut Command) -> (Output, String) {
        let mut child = begin(tool);
        let said = until_watching(&mut child);
        self.launch();
        stop(&mut child);
        let output = child.wait_with_output().expect("an end");
        let said = said + &text(&output);
        (output, said)
    }

    /// Makes ten launches; they are done when this returns.
    pub fn launch(&mut self) {
        self.input.write_all(b"go\n").expect("told");
        assert_eq!(self.line(), "done\n");
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The arguments that watch a process until it is told to stop.
pub fn watching(pid: &str) -> [&str; 5] {
    ["watch", "--pid", pid, "--format", "json"]
}

/// Sends Ctrl-C as soon as it is handled; does nothing if the process has ended.
pub fn stop(child: &mut Child) {
    const INTERRUPT: u64 = 1 << 1;
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("a process");
    while child.try_wait().expect("a state").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        if caught.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|set| set & INTERRUPT != 0) {
            rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("told");
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn begin(tool: &mut Command) -> Child {
    tool.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
}

/// The messages on standard error until the watch begins or ends.
pub fn until_watching(child: &mut Child) -> String {
    let mut errors = child.stderr.take().expect("its errors");
    let (mut said, mut byte) = (String::new(), [0]);
    while !said.contains("Watching") && std::io::Read::read(&mut errors, &mut byte).expect("read") > 0 {
        said.push(char::from(byte[0]));
    }
    child.stderr = Some(errors);
    said
}

/// Runs to its end. A hanging process is killed after minutes, which is a failure.
pub fn ends(command: &mut Command) -> Output {
    const PATIENCE: Duration = Duration::from_secs(240);
    let mut child = command.spawn().expect("started");
    let start = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("killed");
            let said = child.wait_with_output().expect("an end");
            panic!("it hung: {command:?}\n{}", text(&said));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("an end")
}

pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
