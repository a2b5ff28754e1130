//! `whichkernel inspect TARGET`: what is shipped, what is loaded.

mod bundle_table;
mod directory;
mod extract;
mod file;
mod fingerprint;
mod json;
mod kernels;
mod launch_map;
mod needed;
mod nvidia;
mod process;
mod record;
mod select;
pub(crate) mod text;

use crate::context::{Context, Format};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A library, executable, code object, offload bundle or CCOB; a directory; or the id of a process
    pub target: PathBuf,

    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// List the kernels with their registers, memory and workgroup limits
    #[arg(long)]
    pub kernels: bool,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (features that are not named may be either)
    #[arg(long = "target", value_name = "GFX")]
    pub gpu_target: Option<String>,

    /// With --kernels or --launch-map: only kernels whose mangled or demangled name matches
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

    /// Write every code object to DIR as bundle_0096.gfx1201.hsaco; existing files are never overwritten
    #[arg(long, value_name = "DIR", conflicts_with = "kernels")]
    pub extract: Option<PathBuf>,

    /// Answer one question: does the file ship code for this target? Exits with 1 if not, with 2 if the file could not
    /// be read completely and the answer is not known
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

    /// Write what was seen to the ledger; for a file with --target its kernels too, one by one
    #[arg(long)]
    pub record: bool,
}

/// What TARGET is, decided by looking at it.
enum Target<'a> {
    File(&'a Path),
    Directory(&'a Path),
    Fingerprint(&'a Path),
    Needed(&'a Path),
    Process(u32),
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    match target(args) {
        Target::File(path) => file::run(path, args, context),
        Target::Directory(path) => directory::run(path, args, context),
        Target::Fingerprint(path) => fingerprint::run(path, args, context),
        Target::Needed(path) => needed::run(path, args, context),
        Target::Process(pid) => process::run(pid, args, context),
    }
}

/// A number that names no file is a process.
fn target(args: &Args) -> Target<'_> {
    let path = args.target.as_path();
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
    Target::File(path)
}
