//! A real program on the dry-run device that waits at a gate until the observer is there.

use gguf::{TensorType, known, skeleton};
use gpu::Profile;
use launch::trace::{Event, Trace};
use observe::dryrun::{Blas, Described, Place, Request, Running, Streams, describe};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Root, or a note why the test did not run.
pub fn root(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root (uprobes and BPF)");
    }
    root
}

pub fn place() -> Option<Place> {
    artifacts::need("debian-sid").map(|dir| Place::Tree { name: "debian-sid".into(), root: dir.join("root") })
}

pub struct Stage {
    pub place: Place,
    pub profile: Profile,
    pub described: Described,
    pub model: PathBuf,
    pub home: tempfile::TempDir,
}

impl Stage {
    pub fn new(place: Place, kind: &str) -> Stage {
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

    /// Starts the program. It stops before its `main`, with the runtime and `also` mapped, until the gate opens; None, with a
    /// note, where nothing could compile the gate.
    pub fn start(&self, command: &[&str], also: &[&str]) -> Option<Running> {
        let library = self.home.path().join("gate.so");
        compile(GATE, &library, &["-shared", "-fPIC"])?;
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let show = [self.home.path().to_owned()];
        // By name: the stand-ins are found through the library path that the dry run sets.
        let mut preload = vec!["libamdhip64.so.6", "libwhichkernel-lean.so"];
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
            blas: Blas::Recorded,
            streams: Streams::Captured,
            preload: false,
            lean: true,
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

/// One launch as both sides write it: name, grid, block, shared memory, argument bytes, captured or not.
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

/// Compiles a C program or library of ours with the system's compiler; None, with a note, where there is none.
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
            eprintln!("skipped: no C compiler ({error})");
            None
        }
    }
}
