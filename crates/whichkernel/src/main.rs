//! The command line: one file per verb, each thin.
#![forbid(unsafe_code)]
// Both panic where the reader went away; `Context::print` and `context::tell` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[cfg(test)]
mod advice_tests;
mod answers;
mod bytes;
mod context;
mod emit;
mod labelled;
mod near;
mod status;
mod taken;
mod verbs;

use clap::Parser;
use context::Context;
use report::Lang;
use std::process::ExitCode;

/// Which GPU kernel actually ran, and how do we know?
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: context::Global,
    #[command(subcommand)]
    verb: Option<verbs::Verb>,
}

fn main() -> ExitCode {
    let json = emit::json_asked(std::env::args_os());
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return context::misunderstood(&error, json),
    };
    let context = Context::new(&cli.global);
    let ran = verbs::run(cli.verb, &context);
    let json = json && !context.has_printed();
    drop(context);
    ran.unwrap_or_else(|error| context::fail(&error, json, &Lang::choose(cli.global.lang.as_deref())))
}
