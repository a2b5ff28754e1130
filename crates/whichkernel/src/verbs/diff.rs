//! `whichkernel diff A B`: two of a kind, and what is chosen differently between them.

pub mod source;

use crate::context::{Context, Format};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first: a source tree (directory, REPO@REV, archive)
    pub a: String,

    /// The second, of the same kind
    pub b: String,

    /// GPUs: cards (rx-9070-xt) or targets (gfx1201, sm_90), comma-separated [default: thirteen of both vendors]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub gpu: Vec<String>,

    #[command(flatten)]
    pub ask: super::source::rules::Ask,

    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Exit status 1 when anything differs.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let (a, b) = (::source::Tree::open(&args.a)?, ::source::Tree::open(&args.b)?);
    source::compare(&a, &b, &args.gpu, &args.ask, args.format, context)
}
