//! The options of `why`.

use crate::context::Format;
use std::path::PathBuf;

/// Find out whether a model runs slowly, why, and what helps
///
/// Compares a server's speed with the most that its hardware allows, and looks for every cause of a closed list: layers on the CPU, no GPU
/// backend, flash attention off, an old build, a narrow PCIe link and others. Sends three short requests; --passive sends none. Without a server,
/// --model and --gpu answer from the rules and the model's header.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// http://HOST:PORT or unix:/PATH [default: the server that runs on this machine]
    #[arg(value_name = "URL", conflicts_with_all = ["pid", "name", "model"])]
    pub url: Option<String>,

    /// The server with this process ID
    #[arg(long, value_name = "N", conflicts_with_all = ["name", "model"])]
    pub pid: Option<u32>,

    /// The server with this name: ollama, llama-server, vllm
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    pub name: Option<String>,

    /// Examine this model file instead of a server
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// The card for --model, or a card to assume instead of the one in this machine
    #[arg(long, value_name = "CARD")]
    pub gpu: Option<String>,

    #[command(flatten)]
    pub key: crate::api_key::KeyArgs,

    /// The server's log, if its process does not write to a file
    #[arg(long, value_name = "FILE")]
    pub log: Vec<PathBuf>,

    /// Send no requests and measure nothing
    #[arg(long)]
    pub passive: bool,

    /// Timeout for one response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = crate::number::number::<u64>(1..=3600))]
    pub timeout: u64,

    /// Show the plan of this fix; with --yes, measure it and keep it if it is faster
    #[arg(long, value_name = "N", conflicts_with = "model")]
    pub fix: Option<usize>,

    /// With --fix: compare the server with and without the fix
    #[arg(long, requires = "fix")]
    pub measure: bool,

    /// Show the plan that reverts fix N, which an earlier run kept; with --yes, restart the server as it was before
    #[arg(long, value_name = "N", conflicts_with_all = ["fix", "model", "url", "name", "pid"])]
    pub undo: Option<usize>,

    /// With --fix or --undo: run the plan. A fix is kept only if it makes the server faster. Without --yes, nothing is changed
    #[arg(long)]
    pub yes: bool,

    /// With --fix: number of server starts with and without the fix [default: enough to detect a difference of 10 %, 8 to 24]
    #[arg(long, value_name = "N", requires = "fix", value_parser = crate::number::number::<u64>(2..=100))]
    pub repeat: Option<u64>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
