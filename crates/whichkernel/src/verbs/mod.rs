//! What a user types. A verb parses its arguments, calls the rooms, and prints what they say.

use crate::context::Context;
use clap::Subcommand;
use std::process::ExitCode;

mod runtime;
mod source;
mod summary;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find, add, fetch and list runtimes: the GPU stacks that everything else looks at
    Runtime(runtime::Args),
    /// What a source tree declares: call chains, and how rocBLAS tells GPUs apart
    Source(source::Args),
}

pub fn run(verb: Option<Verb>, context: &Context) -> anyhow::Result<ExitCode> {
    match verb {
        None => summary::run(context),
        Some(Verb::Runtime(args)) => runtime::run(&args, context),
        Some(Verb::Source(args)) => source::run(&args, context),
    }
}
