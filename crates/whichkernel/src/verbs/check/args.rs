//! The flags of `check`.

use crate::context::Format;
use std::path::PathBuf;

/// Grade the claims of an investigation from the ledger; exits 1 if one expected to hold is refuted, or still open
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An investigation file (TOML), or field-notes for the built-in RX 9070 XT notes [default: the file that
    /// `investigate` wrote for this machine, if any]
    pub file: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// Show the details of one claim: evidence, reasons, and what it can and cannot show
    #[arg(long, value_name = "ID", conflicts_with_all = ["only", "all"])]
    pub claim: Option<String>,

    /// List the claims of this grade (open: unresolved; failed: should hold, but does not)
    #[arg(long, value_name = "GRADE", value_parser = ["confirmed", "inferred", "limited", "unresolved", "open", "refuted", "failed"])]
    pub only: Option<String>,

    /// List all claims and questions
    #[arg(long, conflicts_with = "only")]
    pub all: bool,

    /// Show only the number of claims per grade, and the command that would settle the most claims
    #[arg(long, conflicts_with_all = ["claim", "only", "all"])]
    pub brief: bool,

    /// Treat this machine as the one called NAME in the file, and grade the claims about it
    #[arg(long, value_name = "NAME")]
    pub here: Option<String>,
}
