//! The definition of the command line: global flags and commands.

use crate::context::Global;
use crate::verbs::{
    agent, atlas, check, completions, diff, doctor, dryrun, explain, fleet, history, inspect, investigate, isa, ledger,
    man, map, mcp, probe, report, runtime, schema, skeleton, source, watch, why,
};
use clap::{Parser, Subcommand};

/// Which GPU kernel actually ran, and how do we know?
#[derive(Debug, Parser)]
#[command(version = version(), max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Count the GPU kernel launches of every process of this machine, and serve them as metrics
    ///
    /// Runs until Ctrl-C or SIGTERM, with little overhead. Launches are counted in the Linux kernel all the time. Their order, and with it
    /// phases and fallbacks, is seen in samples, as many as fit into the given share of a core. No code enters a process. Needs CAP_BPF
    /// and CAP_PERFMON, and for processes of other users CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE.
    Agent(agent::Args),
    /// Evaluate every release of a clone, and write a static site, CSV files and decision tables; an interrupted run can be continued
    Atlas(atlas::Args),
    /// Grade the claims of an investigation from the ledger
    Check(check::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Compare two source trees, runtimes, GPUs or kernels, and show which choices differ and why
    Diff(diff::Args),
    /// Check which observers work on this machine, and how to fix those that do not
    Doctor(doctor::Args),
    /// Run the real program on a stand-in GPU, and show which kernels its host code selects
    Dryrun(dryrun::Args),
    /// Explain which kernel is chosen, why, and what would change the choice; works offline, from built-in tables
    Explain(explain::Args),
    /// Show which machines of a lake changed path, since when, and after which upgrade, through DuckDB or ClickHouse
    Fleet(fleet::Args),
    /// Find the commits that changed a choice: the kernel before and after, and the deciding lines
    History(history::Args),
    /// Show what a file contains: bundles, targets, kernels, and how much of it was read
    Inspect(inspect::Args),
    /// Run all available observers, record the results, and grade every claim and question
    Investigate(investigate::Args),
    /// Decode and count the instructions of every kernel
    Isa(isa::Args),
    /// Work with the recorded observations: list, show, export, import, annotate, verify
    Ledger(ledger::Args),
    /// Write manual pages for whichkernel and each of its commands
    Man(man::Args),
    /// Show paths as a table of types and columns: from the source, from a dry run, or both with differences marked
    Map(map::Args),
    /// Offer the read-only commands as tools of a Model Context Protocol server, on standard input and output
    Mcp(mcp::Args),
    /// Measure how many tokens a server evaluates for a prompt and how fast, and show the path that the source rules choose
    Probe(probe::Args),
    /// Write the investigation as HTML pages in English and Japanese, from the ledger
    Report(report::Args),
    /// Find, add, fetch and list runtimes: the GPU stacks that the other commands examine
    Runtime(runtime::Args),
    /// Write a model of any shape without weights, for dry runs of any program
    Skeleton(skeleton::Args),
    /// Show the JSON Schemas of the commands' output: a list, or one schema
    Schema(schema::Args),
    /// Evaluate the rules in a source tree: which kernel they choose for each GPU, type and column count, and why
    Source(source::Args),
    /// Show the kernels that a process launches: live, or from a recording
    Watch(watch::Args),
    /// Find out whether a model runs slowly, why, and what helps
    Why(why::Args),
}

/// Includes commit, date and target if `cargo xtask dist` built this program. A plain build lacks this variable, so it
/// needs no git.
fn version() -> String {
    let own = env!("CARGO_PKG_VERSION");
    option_env!("WHICHKERNEL_BUILD").map_or_else(|| own.to_owned(), |build| format!("{own} ({build})"))
}

/// The verbs of this build, for messages about verbs that it does not have.
pub fn verb_names() -> Vec<String> {
    let all = Verb::augment_subcommands(clap::Command::new("whichkernel"));
    all.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}
