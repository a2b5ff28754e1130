//! Launches of live processes, as they happen; or as somebody else recorded them.

use crate::context::{Context, Format};
use std::path::PathBuf;
use std::process::ExitCode;

mod read;
mod record;
mod summary;
mod table;

/// See which kernels a process launches
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Read what somebody recorded: a launch trace of the dry run or of the preload shim
    #[arg(long, value_name = "FILE")]
    pub read: Option<PathBuf>,

    /// Write what was seen to the ledger
    #[arg(long)]
    pub record: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.read {
        return read::run(path, args, context);
    }
    anyhow::bail!("nothing to watch: give --read FILE")
}
