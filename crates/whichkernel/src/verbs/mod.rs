//! What a user types. A verb parses its arguments, calls the rooms, and prints what they say.

use crate::context::Context;
use clap::Subcommand;
use std::process::ExitCode;

mod summary;

#[derive(Debug, Subcommand)]
pub enum Verb {}

pub fn run(verb: Option<Verb>, context: &Context) -> anyhow::Result<ExitCode> {
    match verb {
        None => summary::run(context),
        Some(verb) => match verb {},
    }
}
