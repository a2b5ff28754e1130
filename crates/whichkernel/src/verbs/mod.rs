//! What a user types. A verb parses its arguments, calls the rooms, and prints what they say.

use crate::context::Context;
use clap::Subcommand;
use std::process::ExitCode;

mod source;
mod summary;

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// What a source tree declares: call chains, and how rocBLAS tells GPUs apart
    Source(source::Args),
}

pub fn run(verb: Option<Verb>, context: &Context) -> anyhow::Result<ExitCode> {
    match verb {
        None => summary::run(context),
        Some(Verb::Source(args)) => source::run(&args, context),
    }
}
