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
    /// Libraries, executables, code objects, offload bundles, CCOBs, kpack archives; static libraries and packages (.a,
    /// .whl, .zip, .deb, .tar); directories; ids of processes. Patterns (lib*.so) may be quoted
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// List the kernels with their registers, memory and workgroup limits
    #[arg(long)]
    pub kernels: bool,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (features that are not named may be either), sm_90a
    #[arg(long = "target", value_name = "GFX")]
    pub gpu_target: Option<String>,

    /// With --kernels or --launch-map: only kernels of this name (mangled, demangled or as this program prints it), or
    /// those that match this regular expression
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// List every kernel that the file's constructors register: host handle (address at load bias 0), name, bundle.
    /// With --target also whether the bundle's code object for it has the kernel, live or as a stub
    #[arg(long, conflicts_with = "kernels")]
    pub launch_map: bool,

    /// Tell what each bundle is for: kernel families, types, template ranges, live kernels and stubs, neighbours. With
    /// --target for that one, else over all targets (live: has code on at least one of them)
    #[arg(long, conflicts_with_all = ["kernels", "launch_map"])]
    pub bundles: bool,

    /// List every SPIR-V module, which a Vulkan driver compiles: offset, hash without float controls, what it asks of the
    /// GPU, entry points, constants, instructions
    #[arg(long, conflicts_with_all = ["kernels", "launch_map", "bundles", "extract", "has_target", "needed", "fingerprint"])]
    pub modules: bool,

    /// Write every code object to DIR as bundle_0096.gfx1201.hsaco; existing files are never overwritten
    #[arg(long, value_name = "DIR", conflicts_with = "kernels")]
    pub extract: Option<PathBuf>,

    /// Answer one question: would a GPU of this target find kernels in the file (its own, or generic ones)? Exits with
    /// 1 if not, with 2 if the file could not be read completely and the answer is not known
    #[arg(long, value_name = "GFX", conflicts_with_all = ["kernels", "extract"])]
    pub has_target: Option<String>,

    /// The chain of libraries that a file, or the files of a directory, would bring along: as ldd, but nothing is run
    #[arg(long, conflicts_with_all = ["kernels", "extract", "has_target"])]
    pub needed: bool,

    /// What build is this: ROCm release, compilers, and the window of llama.cpp builds that declare its kernels
    #[arg(long, conflicts_with_all = ["kernels", "extract", "has_target", "needed"])]
    pub fingerprint: bool,

    /// With --fingerprint: can this source have built it? A build of llama.cpp (b6841) or a source (DIR,
    /// REPO@REV, archive); exits with 1 if it cannot, with 2 if nobody can say
    #[arg(long, value_name = "PIN", requires = "fingerprint")]
    pub against: Option<String>,

    /// A directory: would its libraries and kernel catalogs serve this card or target (rx-9070-xt, gfx1201)? A file: as
    /// --target, also by the card's name
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,

    /// With --gpu: exit with 1 if something in the directory does not serve it
    #[arg(long, requires = "gpu")]
    pub strict: bool,

    /// The file's SHA-256 in the overview, which takes longer than the overview itself; JSON and the ledger always have it
    #[arg(long)]
    pub hash: bool,

    /// Write what was seen to the ledger; for a file with --target its kernels too, one by one
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
