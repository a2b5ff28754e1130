//! `investigate init`: creates a starting file from the facts of this machine.

use crate::context::Context;
use investigate::Machine;
use observe::ObserveContext;
use say::{Context as _, bail, say};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use sys::files::{self, Access};

/// Write a commented investigation file about this machine's GPU, server and model
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write; existing files are not overwritten
    #[arg(default_value = "investigation.toml")]
    file: PathBuf,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    context.progress(&context.lang.text("summary-looking"));
    let text = Machine::this(&ObserveContext::default()).investigation();
    let shown = args.file.display();
    let mut file = match files::create_new(&args.file, Access::Public) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("command-exists-file", path = args.file)
        }
        opened => opened.with_context(|| say!("command-cannot-write", path = args.file))?,
    };
    file.write_all(text.as_bytes()).with_context(|| say!("command-cannot-write", path = args.file))?;
    context
        .print(&format!("{}\n", context.lang.text_with("investigate-begun", &[("path", shown.to_string().into())])))?;
    Ok(ExitCode::SUCCESS)
}
