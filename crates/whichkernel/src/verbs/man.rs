//! `whichkernel man`: manual pages for the command and every verb, generated from the definition of the command line.

use crate::context::Context;
use say::{Context as _, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Output directory; created if missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub fn run(args: &Args, definition: clap::Command, context: &Context) -> say::Result<ExitCode> {
    let failed = || say!("command-cannot-write", path = args.dir);
    files::create_dir_all(&args.dir, Access::Public).with_context(failed)?;
    let mut whole = definition.disable_help_subcommand(true);
    whole.build();
    write(whole, &args.dir).with_context(failed)?;
    let dir = args.dir.to_string_lossy();
    context.note(&context.lang.text_with("man-written", &[("dir", dir.into())]));
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for a command and for each of its subcommands.
fn write(command: clap::Command, dir: &Path) -> std::io::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned() {
        write(inner, dir)?;
    }
    let man = clap_mangen::Man::new(command);
    let mut page = Vec::new();
    man.render(&mut page)?;
    files::replace(&dir.join(man.get_filename()), Access::Public, page)
}
