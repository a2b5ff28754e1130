//! The kinds of programs: how each is built, the location of its runtime, its actions.

use super::yard::Yard;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    Hip,
    Cudart,
    Driver,
    /// Linked to the runtime.
    LinkedHip,
    LinkedCudart,
    LinkedDriver,
    /// Launches before `main`.
    Early,
    Jemalloc,
    Musl,
    Go,
}

/// The path of the runtime that the program opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lies {
    /// A directory that is named only on the command line.
    Told,
    /// The runtime is in LD_LIBRARY_PATH and is opened by its name.
    ByName,
    /// In a directory and under a file name that cannot be guessed; its SONAME is right. The program computes the copy's path
    /// from a part that its command line does not contain.
    Unguessable,
    Chroot,
    MountNamespace,
    /// A release with one more launch function.
    Future,
    /// Every launch returns an error.
    Rejects,
    /// A BLAS library that loads its own runtime: file, and the function for a product.
    Blas(&'static str, &'static str),
}

#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub build: Build,
    pub lies: Lies,
    pub mode: &'static str,
    /// Whether the runtime's log contains these launches too.
    pub logs: bool,
}

const fn kind(name: &'static str, build: Build, lies: Lies, mode: &'static str) -> Kind {
    Kind { name, build, lies, mode, logs: false }
}

const fn logged(name: &'static str, build: Build, lies: Lies, mode: &'static str) -> Kind {
    Kind { name, build, lies, mode, logs: true }
}

macro_rules! graphs {
    ($($mode:literal)*) => {
        &[$(
            kind(concat!("hip graph ", $mode), Build::LinkedHip, Lies::Told, $mode),
            kind(concat!("cuda graph ", $mode), Build::LinkedCudart, Lies::Told, $mode),
            kind(concat!("driver graph ", $mode), Build::LinkedDriver, Lies::Told, $mode),
        )*]
    };
}

const GRAPHS: &[Kind] = graphs!(
    "captured" "by-hand" "any-node" "clones" "children" "changed-before" "changed-after" "child-changed" "disabled" "dropped" "left-alone"
    "into-a-graph" "captured-again" "instantiated" "replayed-in-capture" "two-streams" "zoo"
);

const OTHERS: &[Kind] = &[
    logged("linked hip", Build::LinkedHip, Lies::Told, "plain"),
    kind("linked cudart", Build::LinkedCudart, Lies::Told, "plain"),
    kind("linked driver", Build::LinkedDriver, Lies::Told, "plain"),
    kind("before main", Build::Early, Lies::Told, "plain"),
    logged("dlopen, path on the command line", Build::Hip, Lies::Told, "plain"),
    kind("dlopen, cudart", Build::Cudart, Lies::Told, "plain"),
    kind("dlopen, driver", Build::Driver, Lies::Told, "plain"),
    kind("dlopen, by name", Build::Hip, Lies::ByName, "plain"),
    kind("dlopen, unpredictable path", Build::Hip, Lies::Unguessable, "plain"),
    kind("chroot", Build::Hip, Lies::Chroot, "chroot"),
    kind("mount namespace", Build::Hip, Lies::MountNamespace, "mountns"),
    kind("threads", Build::LinkedHip, Lies::Told, "threads"),
    kind("threads, dlopen", Build::Hip, Lies::Told, "threads"),
    kind("forks", Build::Hip, Lies::Told, "forks"),
    kind("exec", Build::Hip, Lies::Told, "exec"),
    kind("spawn", Build::Hip, Lies::Told, "spawn"),
    kind("replaces itself with another program", Build::Hip, Lies::Told, "becomes"),
    kind("outlives its parent", Build::Hip, Lies::Told, "daemon"),
    kind("dlclose and dlopen again", Build::Hip, Lies::Told, "reopen"),
    kind("go with cgo", Build::Go, Lies::Told, "plain"),
    kind("musl", Build::Musl, Lies::Told, "plain"),
    kind("jemalloc", Build::Jemalloc, Lies::Told, "threads"),
    kind("seccomp", Build::LinkedHip, Lies::Told, "sealed"),
    kind("seccomp before the first launch", Build::LinkedHip, Lies::Told, "sealed-first"),
    kind("a new launch function", Build::Hip, Lies::Future, "future"),
    kind("rejected launches", Build::Hip, Lies::Rejects, "rejected"),
    kind("rocblas after dlopen", Build::Hip, Lies::Blas("librocblas.so.4", "rocblas_gemm_ex"), "gemms"),
    kind("hipblas after dlopen", Build::Hip, Lies::Blas("libhipblas.so.2", "hipblasGemmEx"), "gemms"),
    kind("hipblaslt after dlopen", Build::Hip, Lies::Blas("libhipblaslt.so.0", "hipblasLtMatmul"), "gemms"),
    kind("cublas after dlopen", Build::Driver, Lies::Blas("libcublas.so.13", "cublasGemmEx"), "gemms"),
    kind(
        "rocblas with the runtime already open",
        Build::Hip,
        Lies::Blas("librocblas.so.4", "rocblas_gemm_ex"),
        "gemms-opened",
    ),
];

pub const KINDS: [&[Kind]; 2] = [OTHERS, GRAPHS];

/// How a kind is started.
#[derive(Debug)]
pub struct Start {
    pub words: Vec<OsString>,
    pub variables: Vec<(&'static str, OsString)>,
    /// A directory that is another root for the program.
    pub root: Option<PathBuf>,
}

impl Kind {
    /// None, with a note, if something needed to build it is missing.
    pub fn start(&self, yard: &Yard) -> anyhow::Result<Option<Start>> {
        let Some(program) = yard.program(self.build)? else { return Ok(None) };
        let runtimes = match self.build {
            Build::Musl => "musl",
            Build::Cudart | Build::Driver | Build::LinkedCudart | Build::LinkedDriver => "cuda",
            _ => "hip",
        };
        let file = match self.build {
            Build::Cudart | Build::LinkedCudart => "libcudart.so.13",
            Build::Driver | Build::LinkedDriver => "libcuda.so.1",
            _ => "libamdhip64.so.6",
        };
        let told = yard.path(runtimes).join(file);
        let mut start = Start { words: vec![program.into(), self.mode.into()], variables: Vec::new(), root: None };
        match self.lies {
            Lies::Told => start.words.push(told.into()),
            Lies::Future => start.words.push(yard.path("future").join(file).into()),
            Lies::Rejects => start.words.push(yard.path("rejects").join(file).into()),
            Lies::ByName => {
                start.words.push(file.into());
                start.variables.push(("LD_LIBRARY_PATH", yard.path(runtimes).into()));
            }
            Lies::Unguessable => {
                let copy = yard.hidden(&told)?;
                start.words.push("hidden".into());
                start.variables.push(("SIEGE_HIDDEN", copy.into()));
            }
            Lies::Chroot => {
                let root = yard.path("root");
                std::fs::create_dir_all(root.join("opt"))?;
                std::fs::copy(&told, root.join("opt").join(file))?;
                start.words.extend([format!("/opt/{file}").into(), root.clone().into()]);
                start.root = Some(root);
            }
            Lies::MountNamespace => {
                let mount = yard.path("mount");
                std::fs::create_dir_all(&mount)?;
                start.words.extend([mount.join(file).into(), mount.into(), told.into()]);
            }
            Lies::Blas(library, symbol) => {
                start.words.extend([told.into(), yard.path(runtimes).join(library).into(), symbol.into()]);
            }
        }
        Ok(Some(start))
    }
}
