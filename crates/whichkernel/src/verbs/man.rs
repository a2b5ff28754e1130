//! `whichkernel man`: a manual page for the command and one for every verb, from the command line's own definition.

use crate::context::Context;
use anyhow::Context as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the pages go; made if it is not there
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let failed = || format!("cannot write {}", args.dir.display());
    std::fs::create_dir_all(&args.dir).with_context(failed)?;
    clap_mangen::generate_to(crate::help::definition(&context.lang), &args.dir).with_context(failed)?;
    let dir = args.dir.to_string_lossy();
    context.note(&context.lang.text_with("man-written", &[("dir", dir.into())]));
    Ok(ExitCode::SUCCESS)
}
