//! The flags of `dryrun`.

use crate::asked::dry::Ask;
use crate::asked::dry::program::Program;
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
    pub fn program(&self) -> Program<'_> {
        Program { ask: &self.ask, command: &self.command, graphs: self.write_graph.is_some() }
    }
}
