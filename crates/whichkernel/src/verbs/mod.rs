//! The verbs. A verb parses its arguments, calls the other crates, and prints the results.

use crate::command_line::{Cli, Verb, verb_names};
use crate::context::Context;
use crate::help;
use clap::CommandFactory as _;
use std::process::ExitCode;

pub mod agent;
pub mod atlas;
pub mod check;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod dryrun;
pub mod explain;
pub mod fleet;
pub mod history;
pub mod inspect;
pub mod investigate;
pub mod isa;
pub mod ledger;
pub mod man;
pub mod map;
pub mod mcp;
pub mod probe;
pub mod report;
pub mod runtime;
pub mod schema;
pub mod several_inputs;
pub mod skeleton;
pub mod source;
pub mod summary;
pub mod watch;
pub mod why;

pub fn run(verb: Option<Verb>, context: &Context) -> say::Result<ExitCode> {
    crate::platform::check(verb.as_ref())?;
    match verb {
        None => summary::run(context),
        Some(Verb::Agent(args)) => agent::run(&args, context),
        Some(Verb::Atlas(args)) => atlas::run(&args, context),
        Some(Verb::Check(args)) => check::run(&args, context),
        Some(Verb::Completions(args)) => completions::run(&args, help::definition(&context.lang), context),
        Some(Verb::Diff(args)) => diff::run(&args, context),
        Some(Verb::Doctor(args)) => doctor::run(&args, &verb_names(), context),
        Some(Verb::Dryrun(args)) => dryrun::run(&args, context),
        Some(Verb::Explain(args)) => explain::run(&args, context),
        Some(Verb::Fleet(args)) => fleet::run(&args, context),
        Some(Verb::History(args)) => history::run(&args, context),
        Some(Verb::Inspect(args)) => inspect::run(&args, context),
        Some(Verb::Investigate(args)) => investigate::run(&args, context),
        Some(Verb::Isa(args)) => isa::run(&args, context),
        Some(Verb::Ledger(args)) => ledger::run(&args, context),
        Some(Verb::Man(args)) => man::run(&args, help::definition(&context.lang), context),
        Some(Verb::Map(args)) => map::run(&args, context),
        Some(Verb::Mcp(args)) => mcp::run(&args, Cli::command(), context),
        Some(Verb::Probe(args)) => probe::run(&args, context),
        Some(Verb::Report(args)) => report::run(&args, context),
        Some(Verb::Runtime(args)) => runtime::run(&args, context),
        Some(Verb::Skeleton(args)) => skeleton::run(&args, context),
        Some(Verb::Schema(args)) => schema::run(&args, context),
        Some(Verb::Source(args)) => source::run(&args, context),
        Some(Verb::Watch(args)) => watch::run(&args, context),
        Some(Verb::Why(args)) => why::run(&args, context),
    }
}
