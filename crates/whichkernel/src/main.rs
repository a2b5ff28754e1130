//! The command line. Each verb is one file or folder with little code of its own.
#![forbid(unsafe_code)]
// The print macros panic if the reader closed the pipe; `Context::print` and `context::tell` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[cfg(test)]
mod advice_tests;
mod answers;
mod api_key;
mod asked;
mod backends;
mod bundle_progress;
mod command_check;
mod command_line;
mod context;
mod emit;
mod fetching;
mod fit;
mod graded;
mod help;
mod labelled;
mod launched_at;
mod links;
mod number;
mod pages;
mod platform;
mod status;
mod verbs;
mod web_module;

use clap::FromArgMatches as _;
use command_line::Cli;
use context::Context;
use report::Lang;
use std::process::ExitCode;

fn understood(mut command: clap::Command) -> Result<Cli, clap::Error> {
    let found = command.try_get_matches_from_mut(std::env::args_os())?;
    help::check_needs(&found, &mut command)?;
    Cli::from_arg_matches(&found).map_err(|error| error.format(&mut command))
}

fn main() -> ExitCode {
    let json = emit::json_asked(std::env::args_os());
    let asked = Lang::choose(help::lang_asked(std::env::args_os()).as_deref());
    // Building the translated help takes longer than parsing most command lines, so it is done only if help is shown.
    let parsed = understood(<Cli as clap::CommandFactory>::command()).or_else(|_| understood(help::command(&asked)));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return context::misunderstood(&error, json, &asked),
    };
    let context = Context::new(&cli.global);
    let ran = verbs::run(cli.verb, &context);
    let json = json && !context.has_printed();
    drop(context);
    ran.unwrap_or_else(|error| context::fail(&error, json, &Lang::choose(cli.global.lang.as_deref())))
}
