//! The flags of `investigate`.

use crate::context::Format;
use std::path::PathBuf;

/// Run all available observers, record the results, and grade every claim and question
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    pub what: Option<What>,

    /// An investigation file (TOML), or field-notes for the built-in RX 9070 XT notes [default: this machine, if it has a GPU or a server]
    pub file: Option<PathBuf>,

    /// Output format: text fits one screen, md and json contain everything, and csv contains the claims
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// Also examine this runtime, library or source tree (repeatable)
    #[arg(long, value_name = "PATH")]
    pub path: Vec<PathBuf>,

    /// Treat this machine as the one called NAME in the file, and grade the claims about it
    #[arg(long, value_name = "NAME")]
    pub here: Option<String>,

    /// Exit 1 if a claim that should hold is refuted or open
    #[arg(long)]
    pub strict: bool,

    /// Fetch everything that can settle claims, without asking; sizes are shown. By default, whichkernel asks on a
    /// terminal and fetches nothing in a pipe
    #[arg(long)]
    pub yes: bool,

    /// Fetch nothing
    #[arg(long)]
    pub offline: bool,

    /// Include slow checks
    #[arg(long)]
    pub deep: bool,

    /// Open the finished report in a browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum What {
    Init(super::init::Args),
}
