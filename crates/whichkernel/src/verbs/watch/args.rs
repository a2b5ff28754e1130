//! The flags of `watch`.

use super::arm;
use crate::context::Format;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// See which kernels a process launches, without stopping, wrapping or restarting it
///
/// Follows child processes, and libraries that are opened later. Stops when the process ends, on Ctrl-C, or at the given limit. Exits with 2
/// if a program that `watch` started ended with a signal or a non-zero exit code; launches seen until then are still shown.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    pub step: Option<ArmCommand>,

    /// Watch this process and its children
    #[arg(long, value_name = "N", conflicts_with_all = ["read", "command"])]
    pub pid: Vec<u32>,

    /// Watch all processes of this name and their children
    #[arg(long, value_name = "NAME", conflicts_with_all = ["read", "command"])]
    pub name: Option<String>,

    /// Observation method
    #[arg(long, value_name = "HOW", default_value = "uprobe")]
    pub how: How,

    /// With `--how logs`: the log to enable and its level (ROCBLAS_LAYER=9); AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB, HIPBLASLT_LOG_MASK,
    /// HIPBLASLT_LOG_LEVEL, OLLAMA_DEBUG
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub log: Vec<String>,

    /// With `--how layer`: measure the device time of each dispatch with timestamps in its queue
    #[arg(long)]
    pub times: bool,

    /// Write every launch in order, with its argument bytes, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Stop after this time: 10s, 500ms, 2m
    #[arg(long = "for", value_name = "TIME", value_parser = crate::number::duration)]
    pub duration: Option<Duration>,

    /// Stop after this many decoded tokens
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,

    /// Stop after two seconds without a launch
    #[arg(long, value_name = "WHEN")]
    pub until: Option<Until>,

    /// The server's address: `watch` first sends a one-token request, and checks that it sees the target's launches
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,

    #[command(flatten)]
    pub key: crate::api_key::KeyArgs,

    /// The server's log (`journalctl -u ollama > FILE`), whose claims are compared with the launches. Log files that the server writes itself are
    /// found automatically
    #[arg(long, value_name = "FILE")]
    pub said: Vec<PathBuf>,

    /// Read a recording: a launch trace (from `--trace`, a dry run or the preload library), a log of AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB or
    /// HIPBLASLT_LOG_MASK, a profile of rocprofv3 (rocpd, csv, json) or Nsight Systems (SQLite)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["how", "log", "times", "trace", "duration", "tokens", "until", "url"])]
    pub read: Option<PathBuf>,

    /// Run the program unobserved, observed and unobserved again, and report differences; exits 1 if one is significant, or if the launches could not
    /// be compared
    #[arg(long, conflicts_with_all = ["read", "times", "trace", "duration", "tokens", "until", "said"])]
    pub certify: bool,

    /// With `--certify`: certify this observer, given as a command prefix ('rocprofv3 --kernel-trace --'), instead of whichkernel's own
    #[arg(long, value_name = "WRAPPER", requires = "certify")]
    pub with: Option<String>,

    /// Record the observations in the ledger
    #[arg(long)]
    pub record: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// A program to start and watch, with its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "read")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum How {
    /// Probes on the runtime's launch functions, read by BPF: needs root once, and no restart
    Uprobe,
    /// The same probes without BPF: no argument bytes; works without root after `watch arm`
    Perf,
    /// Starts the program with a preloaded whichkernel library: needs no root; follows child processes
    Preload,
    /// Starts the program with whichkernel's Vulkan layer: records compute dispatches and their completion; needs no root
    Layer,
    /// Starts the program with the GPU libraries' own logs enabled, and reads them
    Logs,
}

#[derive(Debug, Clone, clap::Subcommand)]
pub enum ArmCommand {
    /// Place probes, as root, that other users can then use on their own processes
    Arm(arm::Args),
    /// Remove all probes
    Disarm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Until {
    Idle,
}

/// The name of the window in the ledger.
pub fn window(args: &Args) -> String {
    let words: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let pids: Vec<String> = args.pid.iter().map(u32::to_string).collect();
    match (&args.name, words.is_empty()) {
        (_, false) => ledger::redact::line(&words),
        (Some(name), _) => name.clone(),
        _ => format!("process {}", pids.join(" ")),
    }
}
