//! `whichkernel runtime`: the available GPU stacks, and how to add one to the cache.

mod add;
mod build;
pub mod fetch;
mod find;
mod list;
mod remove;

use crate::context::Context;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find Ollama, llama.cpp, ROCm and CUDA on this machine
    Find(find::Args),
    /// Add a directory (in place) or archives (Ollama release, .deb, .tar.*, .zip) to the cache
    Add(add::Args),
    /// Fetch a distribution's packages into the cache, without root privileges and without changing the system
    Fetch(fetch::Args),
    /// Build ggml's HIP backend for any target with this machine's clang; needs no GPU
    Build(build::Args),
    /// Show the runtimes in the cache
    List(list::Args),
    /// Remove a runtime from the cache; directories added in place are not deleted
    Remove(remove::Args),
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    match &args.command {
        Command::Find(args) => find::run(args, context),
        Command::Add(args) => add::run(args, context),
        Command::Fetch(args) => fetch::run(args, context),
        Command::Build(args) => build::run(args, context),
        Command::List(args) => list::run(args, context),
        Command::Remove(args) => remove::run(args, context),
    }
}
