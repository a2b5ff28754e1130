//! `whichkernel inspect TARGET`: what is shipped, what is loaded.

mod extract;
mod file;
mod json;
mod kernels;
mod select;
mod text;

use crate::context::{Context, Format};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A library, executable, code object, offload bundle or CCOB
    pub target: PathBuf,

    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// List the kernels with their registers, memory and workgroup limits
    #[arg(long)]
    pub kernels: bool,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (features that are not named may be either)
    #[arg(long = "target", value_name = "GFX")]
    pub gpu_target: Option<String>,

    /// With --kernels: only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX", requires = "kernels")]
    pub kernel: Option<String>,

    /// Write every code object to DIR as bundle_0096.gfx1201.hsaco; existing files are never overwritten
    #[arg(long, value_name = "DIR", conflicts_with = "kernels")]
    pub extract: Option<PathBuf>,

    /// Answer one question: does the file ship code for this target? Exits with 1 if not, with 2 if the file could not
    /// be read completely and the answer is not known
    #[arg(long, value_name = "GFX", conflicts_with_all = ["kernels", "extract"])]
    pub has_target: Option<String>,
}

/// What TARGET is, decided by looking at it.
enum Target<'a> {
    File(&'a Path),
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    match target(&args.target) {
        Target::File(path) => file::run(path, args, context),
    }
}

fn target(path: &Path) -> Target<'_> {
    Target::File(path)
}
