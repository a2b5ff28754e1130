//! `whichkernel runtime`: the GPU stacks at hand, and how to bring one into the cache.

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
    /// Look for Ollama, llama.cpp, ROCm and CUDA on this machine
    Find(find::Args),
    /// Take a directory where it is, or archives (Ollama release, .deb, .tar.*, .zip), into the cache
    Add(add::Args),
    /// Bring a distribution's real packages into the cache, without root and without touching the system
    Fetch(fetch::Args),
    /// Build ggml's HIP backend for a target that nobody ships, with this machine's clang and no GPU
    Build(build::Args),
    /// Show the runtimes in the cache
    List(list::Args),
    /// Take a runtime out of the cache; a directory that was added where it is stays there
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
