//! No verb: one sentence in about a second.

use crate::context::Context;
use std::process::ExitCode;

pub fn run(context: &Context) -> anyhow::Result<ExitCode> {
    context.print("whichkernel --help\n")?;
    Ok(ExitCode::SUCCESS)
}
