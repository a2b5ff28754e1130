//! The gfx1201 device code that no available package ships: ggml's Q4_K multiplication kernels, compiled from the
//! registry's source, and a census of the tiles with code and the stubs.
//!
//! Headers and device libraries come from Debian packages through a private apt root; the compiler is the machine's own
//! clang (21 or 22). Compiled objects stay in the cache, so a second run only counts.

use anyhow::{Context, bail};
use codeobject::{Bundle, CodeObject, Piece, Range, ReadAt, ccob, walk};
use runtime::fetch::apt::{Apt, DEFAULT_KEYRING};
use runtime::fetch::sources::system_mirror;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "gfx1201";
const SOURCE: &str = "llama-cpp-sys-4-0.11.0";
const UNITS: [&str; 2] = ["template-instances/mmq-instance-q4_k.cu", "mmvq.cu"];
/// HIP 7 headers are for clang 22, which also reads the device libraries, because they are plain bitcode.
const PACKAGES: [&str; 5] = [
    "libamdhip64-dev/experimental",
    "rocm-device-libs-21/sid",
    "libhipblas-dev/sid",
    "libhipblas-common-dev/sid",
    "librocblas-dev/sid",
];
const PAGE: &str = "docs/measurements/gfx1201-census.md";

pub fn run() -> anyhow::Result<bool> {
    let Some(source) = test_artifacts::need(SOURCE) else { return Ok(true) };
    let ggml = source.join("llama.cpp/ggml");
    let home = test_artifacts::cache().join("gfx1201");
    let root = toolchain(&home)?;
    let mut page = format!(
        "# Which gfx1201 kernels have code?\n\n`cargo xtask deep gfx1201` compiled these kernels for {TARGET} from the ggml sources in {SOURCE}. A stub is a kernel \
         that only aborts (\"no device code\").\n"
    );
    let mut proved = true;
    for unit in UNITS {
        let object = home.join(Path::new(unit).with_extension("co").file_name().context("a unit has a name")?);
        if !object.is_file() {
            compile(&root, &ggml, unit, &object)?;
        }
        let kernels = census(&object)?;
        proved &= !kernels.is_empty();
        report(&mut page, unit, &kernels);
    }
    fs::write(PAGE, page).context(PAGE)?;
    eprintln!("{PAGE} written");
    Ok(proved)
}

/// The directory of headers and device libraries, which are unpacked once.
pub fn toolchain(home: &Path) -> anyhow::Result<PathBuf> {
    let root = home.join("root");
    if root.join("usr/include/hip/hip_runtime.h").is_file() {
        return Ok(root);
    }
    let mirror =
        system_mirror(Path::new("/etc/apt")).context("no Debian mirror stands in this system's apt sources")?;
    let keyring = mirror.keyring.unwrap_or_else(|| PathBuf::from(DEFAULT_KEYRING));
    let apt = Apt::new(&home.join("apt"), &mirror.uri, &keyring, &["sid", "experimental"])?;
    apt.update()?;
    apt.download(&PACKAGES.map(str::to_owned))?;
    for entry in fs::read_dir(apt.archives())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            let status = Command::new("dpkg-deb").arg("-x").arg(&path).arg(&root).status().context("dpkg-deb")?;
            anyhow::ensure!(status.success(), "dpkg-deb could not unpack {}", path.display());
        }
    }
    Ok(root)
}

fn compile(root: &Path, ggml: &Path, unit: &str, object: &Path) -> anyhow::Result<()> {
    let compilers = ["clang++-22", "clang++-21"];
    let found = compilers.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(compiler) = found else { bail!("no clang++-22 or clang++-21 here: apt-get install clang-22 lld-22") };
    eprintln!("{unit}: compiling for {TARGET}");
    let bitcode = root.join("usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode");
    let mut command = Command::new(compiler);
    command.args(["-x", "hip", "--cuda-device-only", "-O3", "-std=gnu++17", "-c", "-w"]);
    command.arg(format!("--offload-arch={TARGET}")).arg(format!("--rocm-path={}", root.join("usr").display()));
    command.arg(format!("--rocm-device-lib-path={}", bitcode.display()));
    for define in ["__HIP_PLATFORM_AMD__", "GGML_USE_HIP", "GGML_HIP_NO_VMM", "NDEBUG", "__AMDGCN_WAVEFRONT_SIZE=32"] {
        command.arg(format!("-D{define}"));
    }
    for include in ["include", "src", "src/ggml-cuda"] {
        command.arg("-I").arg(ggml.join(include));
    }
    command.arg("-I").arg(root.join("usr/include"));
    command.arg(ggml.join("src/ggml-cuda").join(unit)).arg("-o").arg(object);
    let output = command.output().context(*compiler)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| line.contains("error")).unwrap_or("it said nothing").to_owned();
        bail!("{compiler} could not compile {unit}: {error}");
    }
    Ok(())
}

struct Counted {
    name: String,
    stub: bool,
    vgprs: u32,
    code: u64,
}

fn census(path: &Path) -> anyhow::Result<Vec<Counted>> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let source: &dyn ReadAt = &bytes;
    let mut list = Vec::new();
    for piece in walk(source, Range { start: 0, end: bytes.len() as u64 }, 0) {
        let Piece::Bundle(bundle) = piece else { continue };
        add(&bundle, source, &mut list)?;
    }
    Ok(list)
}

fn add(bundle: &Bundle, source: &dyn ReadAt, list: &mut Vec<Counted>) -> anyhow::Result<()> {
    let opened = bundle.open(source, ccob::DEFAULT_LIMIT)?;
    for entry in opened.table.entries.iter().filter(|entry| !entry.id.is_host()) {
        let contents = opened.contents(entry)?;
        let object = CodeObject::parse(&contents)?;
        for kernel in object.kernels() {
            let kernel = kernel?;
            list.push(Counted {
                name: kernel.name(),
                stub: kernel.stub.is_stub(),
                vgprs: kernel.metadata.vgpr_count.unwrap_or(0),
                code: kernel.code.map_or(0, |code| code.size),
            });
        }
    }
    Ok(())
}

fn report(page: &mut String, unit: &str, kernels: &[Counted]) {
    let stubs = kernels.iter().filter(|kernel| kernel.stub).count();
    let _ = writeln!(
        page,
        "\n## {unit}\n\nThis unit has {} kernels: {} live kernels and {stubs} stubs.\n",
        kernels.len(),
        kernels.len() - stubs
    );
    let _ = writeln!(page, "| kernel | code | VGPRs | bytes |\n|---|---|---:|---:|");
    // Lists only the vector kernels of the requested type.
    for kernel in kernels.iter().filter(|k| k.name.contains("(ggml_type)12,") && !k.name.contains("fixup")) {
        let name = kernel.name.split(">(").next().unwrap_or(&kernel.name).trim_start_matches("void ");
        let what = if kernel.stub { "stub" } else { "live" };
        let _ = writeln!(page, "| `{name}>` | {what} | {} | {} |", kernel.vgprs, kernel.code);
    }
}
