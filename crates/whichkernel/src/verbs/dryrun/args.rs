//! The flags of `dryrun`, and the runtime that they choose.

use crate::asked::dry::{Ask, DEFAULT_RUNTIME};
use dryrun::RunRoot;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run the real program on a stand-in GPU, and show which kernels its host code selects
///
/// With a command after `--` that program is run. Without one, skeleton models are made and llama-bench of the runtime
/// fills the map of types and column counts. Nothing is executed on any GPU: everything here is Selected, not Launched.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub ask: Ask,

    /// Run the program once for each card and show the cards side by side, instead of one machine with all of them
    #[arg(long, requires = "command", conflicts_with_all = ["trace", "write_graph", "bench_lines", "record"])]
    pub each: bool,

    /// Write every launch in order, one JSON object per line; needs a command
    #[arg(long, value_name = "FILE", requires = "command")]
    pub trace: Option<PathBuf>,

    /// Write the graphs that the program computes with ggml, node by node, for `source --graph`; needs a command
    #[arg(long, value_name = "FILE", requires = "command")]
    pub write_graph: Option<PathBuf>,

    /// Print the BLAS calls as rocblas-bench lines instead of the table
    #[arg(long)]
    pub bench_lines: bool,

    /// Record the selections in the ledger
    #[arg(long)]
    pub record: bool,

    /// List the known cards and their targets
    #[arg(long)]
    pub list_gpus: bool,

    /// Write a profile of this machine's GPU, read through its HIP runtime
    #[arg(long)]
    pub profile_from_host: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl Args {
    /// One program on each of several cards.
    pub fn of_program(ask: Ask, command: Vec<OsString>) -> Args {
        Args {
            ask,
            each: true,
            trace: None,
            write_graph: None,
            bench_lines: false,
            record: false,
            list_gpus: false,
            profile_from_host: false,
            command,
        }
    }
}

/// The root to run in: the named one; this machine for a program that is installed here; otherwise the default.
pub fn place(args: &Args) -> say::Result<RunRoot> {
    if let Some(name) = &args.ask.runtime {
        return Ok(RunRoot::find(name)?);
    }
    let installed = args.command.first().is_some_and(|program| sys::on_path(program).is_some());
    Ok(if installed { RunRoot::Host } else { RunRoot::find(DEFAULT_RUNTIME)? })
}
