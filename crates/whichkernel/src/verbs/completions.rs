//! `whichkernel completions`: shell completions, generated from the definition of the command line.

use crate::context::Context;
use clap_complete::Shell;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: &Args, mut definition: clap::Command, context: &Context) -> say::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "whichkernel", &mut script);
    context.print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
