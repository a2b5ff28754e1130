//! `whichkernel inspect TARGET`: what is shipped, what is loaded.

mod bundle_table;
mod directory;
mod extract;
mod file;
mod fingerprint;
mod has_target;
mod kernels;
mod launch_map;
mod modules;
mod needed;
mod nvidia;
mod process;
mod record;
mod select;
mod text;

use super::many;
use crate::context::{Context, Format};
use ::runtime::inputs;
use inventory::{File, Pack};
use say::bail;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Libraries, executables, code objects, offload bundles, CCOBs, kpack archives; static libraries and packages (.a, .whl, .zip, .deb, .tar);
    /// directories; process IDs. Patterns (lib*.so) may be quoted
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// List the kernels with their registers, memory and workgroup limits
    #[arg(long)]
    pub kernels: bool,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (unnamed features match either way), sm_90a
    #[arg(long = "target", value_name = "GFX")]
    pub gpu_target: Option<String>,

    /// With --kernels or --launch-map: only kernels of this name (mangled, demangled or as displayed), or that match this regular expression
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// List the kernels that the file's constructors register: host handle (address at load bias 0), name, bundle. With --target: whether the code
    /// object has the kernel, with code or as a stub
    #[arg(long, conflicts_with = "kernels")]
    pub launch_map: bool,

    /// Describe each bundle: kernel families, types, template ranges, kernels with code and stubs, neighbours. With --target for that target,
    /// otherwise for all (with code: on at least one target)
    #[arg(long, conflicts_with_all = ["kernels", "launch_map"])]
    pub bundles: bool,

    /// List the SPIR-V modules for Vulkan drivers: offset, hash without float controls, required GPU features, entry points, constants, instructions
    #[arg(long, conflicts_with_all = ["kernels", "launch_map", "bundles", "extract", "has_target", "needed", "fingerprint"])]
    pub modules: bool,

    /// Write every code object to DIR, as bundle_0096.gfx1201.hsaco; existing files are not overwritten
    #[arg(long, value_name = "DIR", conflicts_with = "kernels")]
    pub extract: Option<PathBuf>,

    /// Check whether the file has kernels that a GPU of this target can use (specific or generic). Exits 1 if not, 2 if unknown because the file
    /// could not be read completely
    #[arg(long, value_name = "GFX", conflicts_with_all = ["kernels", "extract"])]
    pub has_target: Option<String>,

    /// Show the libraries that a file, or the files of a directory, would load; like ldd, but runs nothing
    #[arg(long, conflicts_with_all = ["kernels", "extract", "has_target"])]
    pub needed: bool,

    /// Identify the build: ROCm release, compilers, and the llama.cpp builds whose kernels match
    #[arg(long, conflicts_with_all = ["kernels", "extract", "has_target", "needed"])]
    pub fingerprint: bool,

    /// With --fingerprint: can the file be built from this llama.cpp build (b6841) or source (DIR, REPO@REV, archive)? Exits 1 if not, 2 if unknown
    #[arg(long, value_name = "PIN", requires = "fingerprint")]
    pub against: Option<String>,

    /// A directory: do its libraries and kernel catalogs support this card or target (rx-9070-xt, gfx1201)? A file: like --target, but also takes
    /// card names
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,

    /// With --gpu: exit 1 if anything in the directory does not support it
    #[arg(long, requires = "gpu")]
    pub strict: bool,

    /// Show the file's SHA-256 in the overview, which takes extra time; JSON and the ledger always have it
    #[arg(long)]
    pub hash: bool,

    /// Record the observations in the ledger; for a file with --target, each kernel too
    #[arg(long)]
    pub record: bool,
}

/// What TARGET is, decided by looking at it.
enum Target<'a> {
    File(&'a Path),
    /// A static library.
    Members(&'a Path),
    /// A package, which is unpacked for the time of the answer.
    Package(&'a Path, Pack),
    Directory(&'a Path),
    Fingerprint(&'a Path),
    Needed(&'a Path),
    Process(u32),
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    many::run(&args.targets, args.format == Format::Json, context, |path| one(path, args, context))
}

fn one(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    match target(path, args) {
        Target::File(path) => file::run(&File::open(path)?, args, context),
        Target::Members(path) => members(path, args, context),
        Target::Package(path, pack) => {
            let unpacked = inputs::unpack(path, pack)?;
            let package = directory::Package { path, refused: &unpacked.refused };
            directory::run(unpacked.root(), Some(&package), args, context)
        }
        Target::Directory(path) => directory::run(path, None, args, context),
        Target::Fingerprint(path) => fingerprint::run(path, args, context),
        Target::Needed(path) => needed::run(path, args, context),
        Target::Process(pid) => process::run(pid, args, context),
    }
}

/// Each member with GPU code by itself, and how many others there are.
fn members(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let archive = File::open(path)?;
    let (found, all) = inputs::members(&archive)?;
    let words = [
        ("path", path.display().to_string().into()),
        ("found", found.len().into()),
        ("others", (all - found.len()).into()),
    ];
    context.note(&context.lang.text_with("inspect-members", &words));
    let names: Vec<PathBuf> = found.iter().map(|file| file.path().to_owned()).collect();
    // Members of no known kind are not looked into: it cannot be said that nothing lies in them.
    if names.is_empty() {
        bail!("command-inspect-nothing", path);
    }
    many::over(&names, args.format == Format::Json, context, |at, _| match found.get(at) {
        Some(file) => file::run(file, args, context),
        None => Ok(ExitCode::SUCCESS),
    })
}

/// A number that names no file is a process.
fn target<'a>(path: &'a Path, args: &Args) -> Target<'a> {
    if !path.exists()
        && let Some(pid) = path.to_str().and_then(|text| text.parse().ok())
    {
        return Target::Process(pid);
    }
    if args.needed {
        return Target::Needed(path);
    }
    if args.fingerprint {
        return Target::Fingerprint(path);
    }
    if path.is_dir() {
        return Target::Directory(path);
    }
    match inputs::pack(path) {
        Some(Pack::Ar) => Target::Members(path),
        Some(pack) => Target::Package(path, pack),
        None => Target::File(path),
    }
}
