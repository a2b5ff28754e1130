//! A directory with the fixtures, compiled on demand.

use super::kinds::Build;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! fixtures {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../fixtures/", $name)))),*] };
}

const SOURCES: &[(&str, &str)] =
    fixtures!("count.h" "graph.h" "hip.c" "cuda.c" "cudart.c" "blas.c" "api.h" "zoo.h" "program.c" "gopher.go");

#[derive(Debug)]
pub struct Yard {
    dir: tempfile::TempDir,
    /// The command under test.
    pub tool: PathBuf,
    numbers: AtomicU64,
}

impl Yard {
    pub fn new(tool: &Path) -> anyhow::Result<Yard> {
        let dir = tempfile::Builder::new().prefix("siege-").tempdir()?;
        let yard = Yard { dir, tool: tool.to_owned(), numbers: AtomicU64::new(0) };
        std::fs::set_permissions(yard.path(""), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        for name in ["src", "hip", "cuda", "musl", "future", "rejects", "home"] {
            std::fs::create_dir_all(yard.path(name))?;
        }
        for (name, text) in SOURCES {
            std::fs::write(yard.path("src").join(name), text)?;
        }
        for (place, define) in [("hip", "-DHIP"), ("future", "-DFUTURE"), ("rejects", "-DREJECTS")] {
            yard.library("cc", "hip.c", place, "libamdhip64.so.6", &[define])?;
        }
        yard.library("cc", "cuda.c", "cuda", "libcuda.so.1", &["-ldl"])?;
        for (source, define, place, name, runtime) in [
            ("cudart.c", "-DCUDART", "cuda", "libcudart.so.13", "libcuda.so.1"),
            ("blas.c", "-DROCBLAS", "hip", "librocblas.so.4", "libamdhip64.so.6"),
            ("blas.c", "-DHIPBLAS", "hip", "libhipblas.so.2", "libamdhip64.so.6"),
            ("blas.c", "-DHIPBLASLT", "hip", "libhipblaslt.so.0", "libamdhip64.so.6"),
            ("blas.c", "-DCUBLAS", "cuda", "libcublas.so.13", "libcuda.so.1"),
        ] {
            let (there, runtime) = (format!("-L{}", yard.path(place).display()), format!("-l:{runtime}"));
            yard.library("cc", source, place, name, &[define, &there, &runtime, "-Wl,-rpath,$ORIGIN"])?;
        }
        Ok(yard)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A number that is unique in this yard.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn library(&self, compiler: &str, source: &str, place: &str, name: &str, more: &[&str]) -> anyhow::Result<()> {
        let soname = format!("-Wl,-soname,{name}");
        let words = [&["-shared", "-fPIC", &soname], more].concat();
        self.compile(compiler, source, &self.path(place).join(name), &words)
    }

    fn compile(&self, compiler: &str, source: &str, to: &Path, more: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(compiler);
        command.arg("-O1").arg("-o").arg(to).arg(self.path("src").join(source)).args(more).arg("-lpthread");
        let done = command.output().with_context(|| compiler.to_owned())?;
        ensure!(done.status.success(), "{compiler} {source}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }

    /// The program in one of its builds; None, with a note, if its compiler or library is missing.
    pub fn program(&self, build: Build) -> anyhow::Result<Option<PathBuf>> {
        let to = self.path(&format!("program-{build:?}"));
        if to.exists() {
            return Ok(Some(to));
        }
        let missing = |what: &str, package: &str| {
            eprintln!("skipped: {build:?} needs {what} (apt-get install {package})");
            Ok(None)
        };
        let linked = |place: &str, file: &str| {
            let dir = self.path(place).display().to_string();
            vec!["-DLINKED".to_owned(), format!("-L{dir}"), format!("-l:{file}"), format!("-Wl,-rpath,{dir}")]
        };
        let (compiler, define, mut more) = match build {
            Build::Hip => ("cc", "-DHIP", vec![]),
            Build::Cudart => ("cc", "-DCUDART", vec![]),
            Build::Driver => ("cc", "-DDRIVER", vec![]),
            Build::LinkedHip => ("cc", "-DHIP", linked("hip", "libamdhip64.so.6")),
            Build::Early => ("cc", "-DHIP", [linked("hip", "libamdhip64.so.6"), vec!["-DEARLY".to_owned()]].concat()),
            Build::LinkedCudart => ("cc", "-DCUDART", linked("cuda", "libcudart.so.13")),
            Build::LinkedDriver => ("cc", "-DDRIVER", linked("cuda", "libcuda.so.1")),
            Build::Jemalloc => {
                let library = Path::new("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
                if !library.exists() {
                    return missing("jemalloc", "libjemalloc2");
                }
                ("cc", "-DHIP", vec!["-Wl,--no-as-needed".to_owned(), library.display().to_string()])
            }
            Build::Musl => {
                if !installed("musl-gcc") {
                    return missing("musl", "musl-tools");
                }
                self.library("musl-gcc", "hip.c", "musl", "libamdhip64.so.6", &[])?;
                // musl's headers do not include the kernel's.
                (
                    "musl-gcc",
                    "-DHIP",
                    vec![
                        "-idirafter".into(),
                        "/usr/include".into(),
                        "-idirafter".into(),
                        "/usr/include/x86_64-linux-gnu".into(),
                    ],
                )
            }
            Build::Go => return if installed("go") { self.go(&to).map(Some) } else { missing("go", "golang-go") },
        };
        more.extend(["-Wno-unused-function", "-ldl"].map(str::to_owned));
        more.push(define.to_owned());
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        self.compile(compiler, "program.c", &to, &more)?;
        Ok(Some(to))
    }

    fn go(&self, to: &Path) -> anyhow::Result<PathBuf> {
        let place = self.path("gopher");
        std::fs::create_dir_all(&place)?;
        for name in ["gopher.go", "count.h"] {
            std::fs::copy(self.path("src").join(name), place.join(name))?;
        }
        let mut command = Command::new("go");
        command.args(["build", "-o"]).arg(to).arg("gopher.go").current_dir(&place);
        command
            .env("GOCACHE", self.path("go-cache"))
            .env("GOFLAGS", "")
            .env("GO111MODULE", "off")
            .env("HOME", self.path("home"));
        let done = command.output().context("go")?;
        ensure!(done.status.success(), "go: {}", String::from_utf8_lossy(&done.stderr));
        Ok(to.to_owned())
    }

    /// A copy of a library at an unguessable path.
    pub fn hidden(&self, library: &Path) -> anyhow::Result<PathBuf> {
        let place = tempfile::Builder::new().prefix("").rand_bytes(12).tempdir_in(self.path("home"))?.keep();
        let file = tempfile::Builder::new().prefix("").rand_bytes(12).tempfile_in(&place)?.into_temp_path();
        let path = file.to_path_buf();
        drop(file);
        std::fs::copy(library, &path)?;
        Ok(path)
    }
}

pub fn installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(program).is_file())
}
