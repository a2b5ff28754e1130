//! `watch --how preload`: a program that launches 7 times the usual way and 5 times in a way that may bypass the shim.

use super::{Bench, Case, Outcome};
use anyhow::Context;
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const AROUND: &str = include_str!("../fixtures/around.c");
const THROWS: &str = include_str!("../fixtures/throws.cpp");

/// A launch API: its number in the fixture, its function and the runtime's file.
#[derive(Clone, Copy)]
enum Api {
    Hip = 1,
    Cuda,
    Driver,
}

impl Api {
    fn function(self) -> &'static str {
        match self {
            Api::Hip => "hipLaunchKernel",
            Api::Cuda => "cudaLaunchKernel",
            Api::Driver => "cuLaunchKernel",
        }
    }

    fn runtime(self) -> &'static str {
        match self {
            Api::Hip => "libamdhip64.so.6",
            Api::Cuda => "libcudart.so.12",
            Api::Driver => "libcuda.so.1",
        }
    }
}

/// How the program makes the unusual launches.
#[derive(Clone, Copy)]
enum Means {
    /// A mode of the program itself.
    Itself(&'static str),
    /// A mode of the program with a library that launches.
    Plugin(&'static str),
    /// A mode with the runtime, or with a second library that has the same functions.
    Runtime(&'static str),
    Other(&'static str),
    /// A library that is linked to the other runtime.
    OtherPlugin,
    /// A mode with the function's name instead of the function.
    Hand,
    /// A mode with the hash of the name instead of the name.
    Hash(&'static str),
    /// A child program with an empty environment, or with a given one.
    Child(&'static str, Child),
    Daemon(&'static str, &'static str),
}

#[derive(Clone, Copy)]
enum Child {
    Same,
    Static,
    Stripped,
    SetUser,
    Musl,
}

struct Built<'b> {
    bench: &'b Bench,
    api: Api,
}

impl Built<'_> {
    fn cc(&self, program: &str, name: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
        let (to, source) = (self.bench.dir.join(name), self.bench.dir.join("around.c"));
        std::fs::write(&source, AROUND)?;
        let mut cc = Command::new(program);
        cc.arg(format!("-DAPI={}", self.api as u32)).arg("-o").arg(&to).arg(&source).args(flags);
        cc.arg(format!("-Wl,-rpath,{}", self.bench.dir.display())).current_dir(&self.bench.dir);
        let made = cc.output()?;
        anyhow::ensure!(made.status.success(), "{program} {name}: {}", String::from_utf8_lossy(&made.stderr));
        Ok(to)
    }

    fn runtime(&self, file: &str) -> anyhow::Result<PathBuf> {
        self.cc("cc", file, &["-DRUNTIME", "-shared", "-fPIC", &format!("-Wl,-soname,{file}")])
    }

    fn linked(&self, name: &str, runtime: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
        let library = format!("-l:{runtime}");
        self.cc("cc", name, &[flags, &["-L.", &library, "-ldl", "-lpthread"]].concat())
    }

    fn child(&self, kind: Child, program: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let five = PathBuf::from("five");
        Ok(match kind {
            Child::Same => vec![program.to_owned(), five],
            Child::Static => vec![self.cc("cc", "inside", &["-DINSIDE", "-static"])?],
            Child::Stripped => vec![self.cc("cc", "inside", &["-DINSIDE", "-static", "-s"])?],
            Child::Musl => vec![self.cc("musl-gcc", "musl", &["-DINSIDE"])?],
            Child::SetUser => {
                const NOBODY: u32 = 65534;
                let copy = self.bench.dir.join("rights");
                std::fs::copy(program, &copy)?;
                std::os::unix::fs::chown(&copy, Some(NOBODY), Some(NOBODY))?;
                std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o4755))?;
                std::fs::set_permissions(&self.bench.dir, std::fs::Permissions::from_mode(0o755))?;
                vec![copy, five]
            }
        })
    }

    /// The arguments of the program.
    fn words(&self, means: Means, program: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let (file, other) = (self.api.runtime(), "libgpgpu.so.3");
        let plain = |mode: &str, path: PathBuf| vec![PathBuf::from(mode), path];
        Ok(match means {
            Means::Itself(mode) => vec![mode.into()],
            Means::Plugin(mode) => plain(mode, self.linked("libplugin.so", file, &["-DPLUGIN", "-shared", "-fPIC"])?),
            Means::Hand => plain("hand", self.bench.dir.join(file)),
            Means::Runtime(mode) => plain(mode, self.bench.dir.join(file)),
            Means::Other(mode) => plain(mode, self.runtime(other)?),
            Means::OtherPlugin => {
                self.runtime(other)?;
                plain("plugin", self.linked("libplugin.so", other, &["-DPLUGIN", "-shared", "-fPIC"])?)
            }
            Means::Hash(mode) => {
                let hash = |sum: u32, byte: u8| sum.wrapping_mul(33).wrapping_add(byte.into());
                let hash = self.api.function().bytes().fold(5381, hash);
                vec![mode.into(), file.into(), hash.to_string().into()]
            }
            Means::Child(mode, kind) => [vec![mode.into()], self.child(kind, program)?].concat(),
            Means::Daemon(mode, milliseconds) => vec![mode.into(), milliseconds.into()],
        })
    }
}

/// `truth`: launches that the program makes by its own arithmetic. `whole`: nothing bypasses the shim, and the answer
/// must say so. With CUDA it cannot: the fixture's kernels have no code, and a kernel whose code is unknown may launch
/// others.
fn case(bench: &Bench, api: Api, means: Means, truth: u64, whole: bool) -> anyhow::Result<Outcome> {
    let built = Built { bench, api };
    if matches!(means, Means::Child(_, Child::Musl)) && Command::new("musl-gcc").arg("--version").output().is_err() {
        return Ok(Outcome::Skipped { why: "no musl-gcc".into() });
    }
    if matches!(means, Means::Child(_, Child::SetUser)) && std::fs::metadata("/proc/self")?.uid() != 0 {
        return Ok(Outcome::Skipped { why: "only root can give a file to another user".into() });
    }
    built.runtime(api.runtime())?;
    let flags: &[&str] = match means {
        Means::Runtime(_) | Means::Other(_) => &["-DNAMED"],
        Means::Hand => &["-DNAMED", "-DHAND"],
        Means::Hash(_) => &["-DHAND"],
        _ => &[],
    };
    let program = built.linked("program", api.runtime(), flags)?;
    let words = built.words(means, &program)?;
    let answer = watch(bench, &program, &words)?;
    judged(&answer, truth, whole)
}

fn watch(bench: &Bench, program: &Path, words: &[PathBuf]) -> anyhow::Result<Value> {
    let mut command = bench.command(["watch", "--how", "preload", "--format", "json", "--"]);
    let output = command.arg(program).args(words).output()?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("no answer: {}", String::from_utf8_lossy(&output.stderr)))
}

fn judged(answer: &Value, truth: u64, whole: bool) -> anyhow::Result<Outcome> {
    let seen = answer.pointer("/seen").and_then(Value::as_u64).unwrap_or(0);
    let reach = answer.pointer("/conclusion/reach").and_then(Value::as_str).unwrap_or_default();
    let list = |at: &str| answer.pointer(at).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let left: Vec<String> = list("/conclusion/left_out").iter().map(|left| text(left, "what")).collect();
    let blind: Vec<String> = list("/conclusion/cannot_see").iter().map(|blind| text(blind, "kind")).collect();
    let gap = match (left.first(), blind.first()) {
        (Some(what), _) => format!("{what} are left out"),
        (None, Some(kind)) => format!("{kind} are a blind spot"),
        (None, None) => format!("reach {reach}"),
    };
    let said = format!("{seen} launches seen; {gap}");
    let truth_said = format!("{truth} launches");
    anyhow::ensure!(!whole || (seen == truth && reach == "whole"), "all {truth} go through the shim: {said}");
    Ok(match (seen == truth, reach) {
        (true, _) => Outcome::Equal { truth: truth_said },
        (false, "whole") => Outcome::Silent { truth: truth_said, said },
        (false, "alone") if blind.is_empty() => Outcome::Silent { truth: truth_said, said },
        (false, "alone") => Outcome::Said { truth: truth_said, said },
        (false, _) if left.is_empty() => Outcome::Silent { truth: truth_said, said },
        (false, _) => Outcome::Said { truth: truth_said, said },
    })
}

/// The program exits with 7 if an exception did not arrive, and is killed if one terminated it.
fn throws(bench: &Bench, kind: u32, launches: bool) -> anyhow::Result<Outcome> {
    let source = bench.dir.join("throws.cpp");
    std::fs::write(&source, THROWS)?;
    let cxx = |name: &str, flags: &[&str]| -> anyhow::Result<PathBuf> {
        let to = bench.dir.join(name);
        let mut cxx = Command::new("g++");
        cxx.args(["-O1", "-o"]).arg(&to).arg(&source).args(flags).current_dir(&bench.dir);
        let made = cxx.arg(format!("-Wl,-rpath,{}", bench.dir.display())).output()?;
        anyhow::ensure!(made.status.success(), "g++ {name}: {}", String::from_utf8_lossy(&made.stderr));
        Ok(to)
    };
    cxx("libamdhip64.so.6", &["-DRUNTIME", "-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"])?;
    let program = cxx("program", &[&format!("-DKIND={kind}"), "-L.", "-l:libamdhip64.so.6"])?;
    let answer = watch(bench, &program, &[])?;
    let ended = answer["ended"]["code"].as_i64();
    anyhow::ensure!(ended == Some(0), "the program alone ends with 0; watched: {}", answer["ended"]);
    let threw = answer["gaps"].as_array().into_iter().flatten().find(|gap| gap["key"] == "threw");
    anyhow::ensure!(threw.is_some_and(|gap| gap["count"] == 10), "10 calls threw: {}", answer["gaps"]);
    if launches { judged(&answer, 100, false) } else { Ok(Outcome::Equal { truth: "10 exceptions caught".into() }) }
}

macro_rules! cases {
    ($($quick:literal $name:literal: $api:ident $means:expr, $truth:literal, $whole:literal;)*
     throws: $($thrown:literal: $kind:literal $launches:literal;)*) => {
        pub const CASES: &[Case] = &[
            $(Case {
                observer: "preload", name: $name, quick: $quick,
                run: |bench| case(bench, Api::$api, $means, $truth, $whole),
            },)*
            $(Case { observer: "preload", name: $thrown, quick: $kind == 1, run: |bench| throws(bench, $kind, $launches) },)*
        ];
    };
}

cases! {
    true "HIP launches in the program itself": Hip Means::Itself("usual"), 7, true;
    false "CUDA runtime launches in the program itself": Cuda Means::Itself("usual"), 7, false;
    false "CUDA driver launches in the program itself": Driver Means::Itself("usual"), 7, false;
    false "launches from a library": Hip Means::Plugin("plugin"), 12, true;
    false "launches from a library that is then closed": Hip Means::Plugin("plugin-closed"), 12, true;
    false "launches from several threads": Hip Means::Itself("threads"), 12, true;
    false "a forked child that exits": Hip Means::Itself("forked"), 12, true;
    false "a forked child that calls _exit": Hip Means::Itself("forked-end"), 12, true;
    false "a child started with exec": Hip Means::Child("kept", Child::Same), 12, true;
    false "a child started with posix_spawn": Cuda Means::Itself("spawned"), 12, false;
    false "a child started with raw system calls": Hip Means::Itself("raw"), 12, true;
    false "a program that calls _exit": Hip Means::Itself("end"), 12, true;
    false "a daemon that ends early": Hip Means::Daemon("daemon", "50"), 12, true;
    false "a program that is killed": Hip Means::Itself("killed"), 12, false;
    false "HIP functions found with dlsym": Hip Means::Runtime("dlsym"), 12, false;
    false "CUDA driver functions found with dlsym": Driver Means::Runtime("dlsym"), 12, false;
    true "HIP with RTLD_DEEPBIND": Hip Means::Plugin("deepbind"), 12, false;
    false "CUDA runtime with RTLD_DEEPBIND": Cuda Means::Plugin("deepbind"), 12, false;
    false "CUDA driver with RTLD_DEEPBIND": Driver Means::Plugin("deepbind"), 12, false;
    false "RTLD_DEEPBIND with lazy binding, closed again": Hip Means::Plugin("deepbind-lazy-closed"), 12, false;
    true "HIP with dlmopen": Hip Means::Plugin("dlmopen"), 12, false;
    false "CUDA runtime with dlmopen": Cuda Means::Plugin("dlmopen"), 12, false;
    false "the runtime itself opened with dlmopen": Driver Means::Runtime("dlmopen-runtime"), 12, false;
    true "HIP functions looked up without dlsym, by name": Hip Means::Hand, 12, false;
    false "CUDA driver functions looked up without dlsym, by name": Driver Means::Hand, 12, false;
    false "HIP functions looked up without dlsym, by hash": Hip Means::Hash("hash"), 12, false;
    false "CUDA runtime functions looked up without dlsym, by hash": Cuda Means::Hash("hash"), 12, false;
    true "HIP functions looked up by hash, with the address not stored": Hip Means::Hash("hash-unkept"), 12, false;
    false "CUDA driver functions looked up by hash, with the address not stored": Driver Means::Hash("hash-unkept"), 12, false;
    true "a child with an empty environment": Hip Means::Child("bare", Child::Same), 12, false;
    false "a child with an empty environment, CUDA driver": Driver Means::Child("bare", Child::Same), 12, false;
    false "a child started with posix_spawn and an empty environment": Cuda Means::Itself("spawned-bare"), 12, false;
    false "a child that has the preload library but not its directory": Hip Means::Itself("no-directory"), 12, false;
    true "a static child": Hip Means::Child("kept", Child::Static), 12, false;
    false "a static child without symbols": Driver Means::Child("kept", Child::Stripped), 12, false;
    true "a set-user-ID child": Hip Means::Child("kept", Child::SetUser), 12, false;
    false "a musl child that does not start": Hip Means::Child("kept", Child::Musl), 12, false;
    false "a musl child with an empty environment": Hip Means::Child("bare", Child::Musl), 12, false;
    true "a daemon that launches later": Hip Means::Daemon("daemon", "2500"), 12, false;
    false "a daemon with an empty environment": Hip Means::Daemon("daemon-bare", "50"), 12, false;
    true "a second runtime with another name": Hip Means::Other("dlsym"), 12, false;
    false "a second CUDA driver with another name": Driver Means::Other("dlsym"), 12, false;
    false "a library that uses a second runtime": Hip Means::OtherPlugin, 12, false;
    throws:
    "an exception through hipLaunchKernel": 1 true;
    "an exception through hipModuleLaunchKernel": 2 true;
    "an exception through hipMemcpy": 3 false;
    "an exception through hipGraphLaunch": 4 false;
    "an exception through cudaLaunchKernel": 5 true;
    "an exception through cuLaunchKernel": 6 true;
    "an exception through rocblas_sgemm": 7 false;
}
