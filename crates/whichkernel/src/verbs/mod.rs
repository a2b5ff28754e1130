//! What a user types. A verb parses its arguments, calls the rooms, and prints what they say.

use crate::context::Context;
use clap::Subcommand;
use std::process::ExitCode;

mod atlas;
mod check;
mod completions;
mod diff;
mod doctor;
mod dryrun;
mod explain;
mod history;
mod inspect;
mod investigate;
mod isa;
mod ledger;
mod man;
pub mod many;
mod map;
mod mcp;
mod probe;
mod report;
mod runtime;
pub mod schema;
mod skeleton;
mod source;
mod summary;
mod watch;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// What every release of a clone chooses: a static site, CSV, and decision tables, added to run by run
    Atlas(atlas::Args),
    /// Grade the claims of an investigation from the ledger
    Check(check::Args),
    /// Print what a shell needs to complete this command line
    Completions(completions::Args),
    /// Two source trees, runtimes, GPUs or kernels: what is chosen differently, and why
    Diff(diff::Args),
    /// Which observers work here, which do not, why, and the exact fix
    Doctor(doctor::Args),
    /// Run the real program on a GPU that is not there, and see which kernels its host code selects
    Dryrun(dryrun::Args),
    /// Why this kernel: the rule with its values, and what it would be otherwise; offline, from built-in tables
    Explain(explain::Args),
    /// Every commit of a clone at which what is chosen changed: which kernel before and after, and the lines that decided
    History(history::Args),
    /// What is shipped in a file: bundles, targets, kernels, and how much of it was looked at
    Inspect(inspect::Args),
    /// Look with every observer there is, record, and grade every claim and question
    Investigate(investigate::Args),
    /// The instruction census: every instruction of every kernel, decoded and counted
    Isa(isa::Args),
    /// What was observed: list, show, export, import, annotate, verify
    Ledger(ledger::Args),
    /// Write a manual page for the command and one for every verb
    Man(man::Args),
    /// Type x columns as a table: from source, from the dry run, or both with disagreements marked
    Map(map::Args),
    /// Offer the verbs that only look as tools of a Model Context Protocol server, on standard input and output
    Mcp(mcp::Args),
    /// What a server really evaluates for a prompt, how fast, and which path the source rules declare for it
    Probe(probe::Args),
    /// The investigation as pages: HTML in both languages, from the ledger alone
    Report(report::Args),
    /// Find, add, fetch and list runtimes: the GPU stacks that everything else looks at
    Runtime(runtime::Args),
    /// Write a model of any shape without weights, for a dry run of any program
    Skeleton(skeleton::Args),
    /// What the JSON of every verb looks like: the list, or one JSON Schema
    Schema(schema::Args),
    /// The rules that a source tree declares, evaluated: which kernel for which GPU, type and column count, and why
    Source(source::Args),
    /// Which kernels a process launches: live, or from what somebody recorded
    Watch(watch::Args),
}

pub fn run(verb: Option<Verb>, context: &Context) -> say::Result<ExitCode> {
    match verb {
        None => summary::run(context),
        Some(Verb::Atlas(args)) => atlas::run(&args, context),
        Some(Verb::Check(args)) => check::run(&args, context),
        Some(Verb::Completions(args)) => completions::run(&args, context),
        Some(Verb::Diff(args)) => diff::run(&args, context),
        Some(Verb::Doctor(args)) => doctor::run(&args, context),
        Some(Verb::Dryrun(args)) => dryrun::run(&args, context),
        Some(Verb::Explain(args)) => explain::run(&args, context),
        Some(Verb::History(args)) => history::run(&args, context),
        Some(Verb::Inspect(args)) => inspect::run(&args, context),
        Some(Verb::Investigate(args)) => investigate::run(&args, context),
        Some(Verb::Isa(args)) => isa::run(&args, context),
        Some(Verb::Ledger(args)) => ledger::run(&args, context),
        Some(Verb::Man(args)) => man::run(&args, context),
        Some(Verb::Map(args)) => map::run(&args, context),
        Some(Verb::Mcp(args)) => mcp::run(&args, context),
        Some(Verb::Probe(args)) => probe::run(&args, context),
        Some(Verb::Report(args)) => report::run(&args, context),
        Some(Verb::Runtime(args)) => runtime::run(&args, context),
        Some(Verb::Skeleton(args)) => skeleton::run(&args, context),
        Some(Verb::Schema(args)) => schema::run(&args, context),
        Some(Verb::Source(args)) => source::run(&args, context),
        Some(Verb::Watch(args)) => watch::run(&args, context),
    }
}

/// The verbs that this build offers, so that others can say what it cannot do yet.
pub fn names() -> Vec<String> {
    let all = Verb::augment_subcommands(clap::Command::new("whichkernel"));
    all.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}
