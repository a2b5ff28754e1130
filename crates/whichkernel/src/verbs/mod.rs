//! What a user types. A verb parses its arguments, calls the rooms, and prints what they say.

use crate::context::Context;
use clap::Subcommand;
use std::process::ExitCode;

mod runtime;
mod summary;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find, add, fetch and list runtimes: the GPU stacks that everything else looks at
    Runtime(runtime::Args),
}

pub fn run(verb: Option<Verb>, context: &Context) -> anyhow::Result<ExitCode> {
    match verb {
        None => summary::run(context),
        Some(Verb::Runtime(args)) => runtime::run(&args, context),
    }
}
