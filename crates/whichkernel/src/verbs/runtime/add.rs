//! `runtime add`: adds a directory or archives to the cache.

use crate::context::Context;
use report::bytes;
use runtime::{Cache, add};
use say::{Context as _, say};
use std::{cell::Cell, path::PathBuf, process::ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A directory, which is used in place, or archives: Debian packages, tar (plain, gz, xz, zst), zip
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Name in the cache [default: derived from the path]
    #[arg(long)]
    name: Option<String>,
    /// Unpack only these targets' kernel libraries, e.g. gfx1100,gfx900 [default: all]
    #[arg(long, value_delimiter = ',', value_name = "GFX,...")]
    targets: Vec<String>,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let cache = Cache::from_env();
    let first = args.paths.first().context(say!("command-no-path"))?;
    let name = args.name.clone().unwrap_or_else(|| add::default_name(first));
    let done = Cell::new(0_u64);
    let step = |n: u64| {
        done.set(done.get() + n);
        context.progress(&context.lang.text_with("runtime-progress-add", &[("done", bytes(done.get()).into())]));
    };
    let index = add::add(&cache, &name, &args.paths, &args.targets, &step)?;
    let place = cache.runtime(&name).display().to_string();
    let said = context.lang.text_with(
        "runtime-added",
        &[
            ("name", name.as_str().into()),
            ("files", index.files.into()),
            ("size", bytes(index.bytes).into()),
            ("path", place.into()),
        ],
    );
    context.print(&format!("{said}\n"))?;
    super::fetch::refused(&index, context)?;
    Ok(ExitCode::SUCCESS)
}
