//! Builds the shim libraries with the compiler of this build and a linker.
//!
//! Cargo cannot build them: `--version-script` has no effect on a Rust cdylib with the default linker, a std cdylib
//! needs a new glibc, and a nested cargo would wait for its own lock. So this script compiles each `no_std` crate to
//! one object, and `cc -shared` links it with the version script of the real library.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

type Failure = Box<dyn std::error::Error>;

fn main() {
    if let Err(failure) = build() {
        eprintln!("{failure}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), Failure> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?);
    // `shims` is a symlink in the repository and a directory in the package. So are the files in `shims/shared`, which
    // belong to other crates.
    println!("cargo::rerun-if-changed={}", root.join("shims").display());
    let target = (env::var("CARGO_CFG_TARGET_OS")?, env::var("CARGO_CFG_TARGET_ARCH")?);
    if target != ("linux".to_owned(), "x86_64".to_owned()) {
        return none(&out);
    }
    nullgpu(&root, &out)?;
    nullcuda(&root, &out)?;
    let blas = object(&root.join("shims/nullblas/src/lib.rs"), &out.join("nullblas.o"), 1, false, &[])?;
    // One object becomes two libraries. The stand-in for hipBLAS defines no other names of rocBLAS, so that a real
    // hipBLAS behind it finds the real rocBLAS.
    let early = ["rocblas_initialize", "rocblas_get_version_string", "rocblas_get_version_string_size"];
    let (rocblas, mut hipblas): (BTreeSet<String>, BTreeSet<String>) =
        defined(&blas)?.into_iter().partition(|name| name.starts_with("rocblas_"));
    hipblas.extend(rocblas.iter().filter(|name| early.contains(&name.as_str())).cloned());
    for (names, file, soname) in
        [(&hipblas, "libnullblas.so", "libhipblas.so.2"), (&rocblas, "libnullrocblas.so", "librocblas.so.4")]
    {
        let unresolved = ["-Wl,--unresolved-symbols=ignore-all"];
        link(&blas, &out.join(file), soname, &plain_script(names), &unresolved)?;
    }
    let solver = object(&root.join("shims/nullsolver/src/lib.rs"), &out.join("nullsolver.o"), 1, false, &[])?;
    link(&solver, &out.join("libnullsolver.so"), "librocsolver.so.0", &plain_script(&defined(&solver)?), &[])?;
    let sparse_read = object(&root.join("shims/sparse_read/src/lib.rs"), &out.join("sparse_read.o"), 1, false, &[])?;
    link(
        &sparse_read,
        &out.join("libsparse_read.so"),
        "libwhichkernel-sparse-read.so",
        &plain_script(&defined(&sparse_read)?),
        &[],
    )?;
    let graph = object(&root.join("shims/graph/src/lib.rs"), &out.join("graph.o"), 1, false, &[])?;
    let script = plain_script(&defined(&graph)?);
    link(&graph, &out.join("libgraph.so"), "libwhichkernel-graph.so", &script, &[])?;
    let preload = object(&root.join("shims/preload/src/lib.rs"), &out.join("preload.o"), 2, true, &[])?;
    let script = plain_script(&defined(&preload)?);
    link(&preload, &out.join("libpreload.so"), "libwhichkernel-preload.so", &script, &[])?;
    let layer = object(&root.join("shims/vklayer/src/lib.rs"), &out.join("vklayer.o"), 2, false, &[])?;
    let script = plain_script(&["vkNegotiateLoaderLayerInterfaceVersion".to_owned()].into());
    link(&layer, &out.join("libvklayer.so"), "libVkLayer_whichkernel.so", &script, &[])?;
    let stub = object(&root.join("shims/stub/src/lib.rs"), &out.join("stub.o"), 1, false, &[])?;
    link(&stub, &out.join("libstub.so"), "libwhichkernel-stub.so", &plain_script(&defined(&stub)?), &[])?;
    let canary = object(&root.join("shims/canary/src/lib.rs"), &out.join("canary.o"), 1, false, &[])?;
    program(&canary, &out.join("canary"))
}

/// For other systems, the files are empty. Commands that need them report this before they begin.
fn none(out: &Path) -> Result<(), Failure> {
    let nullgpu = ["libnullgpu.so.5", "libnullgpu.so.6", "libnullgpu.so.7"];
    let blas = ["libnullblas.so", "libnullrocblas.so", "libnullsolver.so", "libsparse_read.so"];
    let others = ["libgraph.so", "libpreload.so", "libvklayer.so", "libstub.so", "canary"];
    for name in nullgpu.iter().chain(&blas).chain(&others).chain(&["libnullcuda.so"]) {
        fs::write(out.join(name), [])?;
    }
    Ok(fs::write(out.join("carriers.rs"), "&[]")?)
}

fn nullgpu(root: &Path, out: &Path) -> Result<(), Failure> {
    let shim = root.join("shims/nullgpu");
    let done = exports(&shim.join("src"))?;
    let mut missing = BTreeSet::new();
    let mut maps = Vec::new();
    // The version that hipRuntimeGetVersion reports is that of Debian's library of this name: 5.7, 6.4 and 7.2.
    let lists = [
        ("libamdhip64.so.5", "hip5.symbols", 50_731_921),
        ("libamdhip64.so.6", "hip6.symbols", 60_443_484),
        ("libamdhip64.so.7", "hip7.symbols", 70_253_211),
    ];
    for (soname, list, version) in lists {
        let text = fs::read_to_string(shim.join(list))?;
        let symbols: Vec<(String, String)> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .collect();
        missing.extend(symbols.iter().map(|(name, _)| name.clone()).filter(|name| !done.contains(name)));
        maps.push((soname, symbols, version));
    }
    let stubs = out.join("stubs.rs");
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    fs::write(&stubs, format!("stubs! {{\n{}\n}}\n", names.join("\n")))?;
    let object = object(&shim.join("src/lib.rs"), &out.join("nullgpu.o"), 1, false, &[("WHICHKERNEL_STUBS", &stubs)])?;
    for (soname, symbols, version) in maps {
        let file = out.join(soname.replace("libamdhip64", "libnullgpu"));
        let release = release(out, soname, version)?;
        link(&object, &file, soname, &versioned(&symbols), &[&release, "-ldl"])?;
    }
    Ok(())
}

/// An object with the version of a library: the code is the same for all of its names.
fn release(out: &Path, soname: &str, version: u32) -> Result<String, Failure> {
    let (source, object) = (out.join(format!("{soname}.c")), out.join(format!("{soname}.release.o")));
    let text = "__attribute__((visibility(\"hidden\"))) const unsigned whichkernel_release = ";
    fs::write(&source, format!("{text}{version};\n"))?;
    let mut cc = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    run(cc.args(["-c", "-O1", "-fPIC", "-o"]).arg(&object).arg(&source))?;
    Ok(object.display().to_string())
}

/// The libraries that the CUDA stand-in replaces.
const CUDA_SONAMES: &[&str] = &[
    "libcudart.so.12",
    "libcudart.so.13",
    "libcuda.so.1",
    "libcublas.so.12",
    "libcublas.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so.13",
    "libcudnn.so.9",
    "libcufft.so.11",
    "libcufft.so.12",
    "libcusparse.so.12",
    "libcusolver.so.11",
    "libcusolver.so.12",
    "libcusparseLt.so.0",
    "libcurand.so.10",
    "libcupti.so.12",
    "libcupti.so.13",
    "libnccl.so.2",
    "libcufile.so.0",
    "libnvshmem_host.so.3",
];

/// One library has all functions. For each name that programs ask for, an empty library with that name leads to it. It
/// has the version that the real library gives to its symbols, because the loader checks the version.
fn nullcuda(root: &Path, out: &Path) -> Result<(), Failure> {
    const LIBRARY: &str = "libwhichkernel-cuda.so";
    let shim = root.join("shims/nullcuda");
    let (source, file) = (shim.join("src/lib.rs"), out.join("cuda_stubs.rs"));
    let compile =
        |object_file: &str| object(&source, &out.join(object_file), 1, false, &[("WHICHKERNEL_STUBS", &file)]);
    // Without stubs first: macros and assembly define functions too, and the object lists them all.
    fs::write(&file, "stubs! {}")?;
    let ours = |name: &String| name.starts_with("cu") || name.starts_with("__cuda");
    let done: BTreeSet<String> = defined(&compile("nullcuda-bare.o")?)?.into_iter().filter(ours).collect();
    let list = fs::read_to_string(shim.join("functions.txt"))?;
    let (mut stubs, mut names) = (String::from("stubs! {\n"), BTreeSet::new());
    let mut open = false;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[') {
            let status = head.trim_end_matches(']').split(' ').nth(1).ok_or("no status in functions.txt")?;
            let _ = writeln!(stubs, "{} {status} {{", if open { "}" } else { "" });
            open = true;
        } else if names.insert(line.to_owned()) && !done.contains(line) {
            let _ = writeln!(stubs, "{line}");
        }
    }
    stubs.push_str("} }\n");
    fs::write(&file, stubs)?;
    let object = compile("nullcuda.o")?;
    names.extend(done);
    let library = out.join("libnullcuda.so");
    link(&object, &library, LIBRARY, &plain_script(&names), &["-ldl"])?;
    // The carriers need a library of this name to be linked to.
    fs::copy(&library, out.join(LIBRARY))?;
    let mut carriers = String::from("&[\n");
    for soname in CUDA_SONAMES {
        let (file, map) = (out.join(soname), out.join(format!("{soname}.map")));
        let version = match *soname {
            "libcuda.so.1" | "libcusparseLt.so.0" | "libnccl.so.2" | "libcufile.so.0" => "",
            "libnvshmem_host.so.3" => "NVSHMEM",
            own => own,
        };
        fs::write(&map, format!("{version} {{ }};\n"))?;
        let mut cc = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.args(["-shared", "-nostdlib", "-o"]).arg(&file).arg(format!("-Wl,-soname,{soname}"));
        cc.args(["-Wl,--no-as-needed", "-Wl,-z,noseparate-code", "-Wl,--strip-all", "-Wl,--build-id=none"]);
        cc.arg(format!("-Wl,--version-script={}", map.display())).arg("-L").arg(out).arg(format!("-l:{LIBRARY}"));
        run(&mut cc)?;
        let _ = writeln!(carriers, "({soname:?}, include_bytes!({:?})),", file.display().to_string());
    }
    carriers.push_str("]\n");
    Ok(fs::write(out.join("carriers.rs"), carriers)?)
}

/// A version script with one node per version, each the child of the one before, in numeric order, as in the real
/// library.
fn versioned(symbols: &[(String, String)]) -> String {
    let mut versions: Vec<&str> = symbols.iter().map(|(_, version)| version.as_str()).collect();
    let number = |version: &str| {
        let mut parts = version.trim_start_matches("hip_").split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next(), parts.next())
    };
    versions.sort_by_key(|version| number(version));
    versions.dedup();
    let mut script = String::new();
    for (i, version) in versions.iter().enumerate() {
        let _ = writeln!(script, "{version} {{ global:");
        for (name, _) in symbols.iter().filter(|(_, of)| of == version) {
            let _ = writeln!(script, "  {name};");
        }
        let parent = i.checked_sub(1).map(|before| versions[before]).unwrap_or_default();
        let _ = writeln!(script, "{}}} {parent};", if i == 0 { "local: *;\n" } else { "" });
    }
    let _ = writeln!(script, "WHICHKERNEL_1 {{ global: whichkernel_blas; whichkernel_unsupported; }};");
    script
}

fn plain_script(exports: &BTreeSet<String>) -> String {
    let mut script = String::from("{ global:\n");
    for name in exports {
        let _ = writeln!(script, "  {name};");
    }
    script.push_str("local: *; };\n");
    script
}

/// The C functions that an object defines. Names of Rust functions are mangled and left out.
fn defined(path: &Path) -> Result<BTreeSet<String>, Failure> {
    use object::{Object, ObjectSymbol};
    let bytes = fs::read(path)?;
    let file = object::File::parse(bytes.as_slice())?;
    let ours = |name: &&str| !name.starts_with("_R") && !name.starts_with("_ZN") && !name.starts_with("rust_");
    let symbols = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    Ok(symbols.filter_map(|symbol| symbol.name().ok()).filter(ours).map(str::to_owned).collect())
}

/// The entry points that a shim's sources define: every `extern "C" fn` after a `no_mangle`.
fn exports(directory: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(directory)? {
        let text = fs::read_to_string(entry?.path())?;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let name = match line.trim() {
                "#[unsafe(no_mangle)]" => {
                    lines.next().and_then(|line| line.split_once("extern \"C\" fn ")).map(|(_, name)| name)
                }
                line => line.strip_prefix("extern fn "),
            };
            let Some(name) = name else { continue };
            if let Some((name, _)) = name.split_once(['(', '<']).filter(|(name, _)| !name.starts_with('$')) {
                names.insert(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// At `level` 2 and above, LLVM merges functions with equal bodies into one address, and a probe on one would fire for
/// all.
///
/// If `unwinds` is set, every frame gets unwind tables, because exceptions of the program may pass through a shim that
/// wraps functions of its runtime.
fn object(
    source: &Path,
    object: &Path,
    level: u32,
    unwinds: bool,
    variables: &[(&str, &Path)],
) -> Result<PathBuf, Failure> {
    let mut rustc = Command::new(env::var_os("RUSTC").ok_or("RUSTC is not set")?);
    rustc.args(["--edition", "2024", "--crate-type", "lib", "--emit", "obj"]);
    let (panic, tables) =
        if unwinds { ("panic=unwind", "force-unwind-tables=yes") } else { ("panic=abort", "force-unwind-tables=no") };
    rustc.args(["-C", panic, "-C", tables, "-C", "codegen-units=1", "-C", "relocation-model=pic"]);
    rustc.args(["-C", "overflow-checks=off", "-C", "embed-bitcode=no", "-D", "warnings"]);
    rustc.args(["--crate-name", "shim", "--target", "x86_64-unknown-linux-gnu"]);
    rustc.arg("-C").arg(format!("opt-level={level}")).arg("-o").arg(object).arg(source);
    // Panic locations are stored in the library. Remove the builder's directories from them, so that every directory
    // builds the same bytes.
    for (variable, name) in [("CARGO_MANIFEST_DIR", "embedded-shims"), ("OUT_DIR", "out")] {
        let place = env::var(variable)?;
        rustc.arg(format!("--remap-path-prefix={place}={name}"));
    }
    // Flags for the whole build (sanitizers, native CPUs) must not reach a library that is loaded into foreign
    // processes.
    rustc.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    rustc.envs(variables.iter().map(|(name, value)| (*name, value.as_os_str())));
    run(&mut rustc)?;
    Ok(object.to_owned())
}

/// The compiler's own `core` provides what the object still refers to (panic paths of slices, memory functions).
fn core_libraries() -> Result<Vec<PathBuf>, Failure> {
    let mut rustc = Command::new(env::var_os("RUSTC").ok_or("RUSTC is not set")?);
    rustc.args(["--print", "target-libdir", "--target", "x86_64-unknown-linux-gnu"]);
    let directory = String::from_utf8(rustc.output()?.stdout)?;
    let mut found = Vec::new();
    for entry in fs::read_dir(directory.trim())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".rlib") && (name.starts_with("libcore-") || name.starts_with("libcompiler_builtins-")) {
            found.push(path);
        }
    }
    found.sort_by_key(|path| path.to_string_lossy().contains("compiler_builtins"));
    Ok(found)
}

fn link(object: &Path, library: &Path, soname: &str, script: &str, more: &[&str]) -> Result<(), Failure> {
    let map = library.with_extension("map");
    fs::write(&map, script)?;
    let mut cc = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-shared", "-nostartfiles", "-o"]).arg(library).arg(object).args(core_libraries()?);
    cc.arg(format!("-Wl,-soname,{soname}")).arg(format!("-Wl,--version-script={}", map.display()));
    cc.args([
        "-Wl,--gc-sections",
        "-Wl,-z,now",
        "-Wl,-z,relro",
        "-Wl,-z,nodelete",
        "-Wl,--strip-all",
        "-Wl,--build-id=sha1",
    ]);
    cc.args(more).args(["-nodefaultlibs", "-lc"]);
    run(&mut cc)
}

/// Links a program with the start code of the C library.
fn program(object: &Path, to: &Path) -> Result<(), Failure> {
    let mut cc = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.arg("-o").arg(to).arg(object).args(core_libraries()?);
    cc.args(["-Wl,--gc-sections", "-Wl,--strip-all", "-pie", "-ldl"]);
    run(&mut cc)
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| {
        format!("{program} could not be started: {e}. The shim libraries need a C linker: install gcc or clang, or name one in CC")
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} failed on a shim library:\n{}", String::from_utf8_lossy(&output.stderr)).into())
}
