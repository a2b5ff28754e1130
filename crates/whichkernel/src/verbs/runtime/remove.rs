//! `runtime remove`: removes a runtime from the cache.

use crate::context::Context;
use report::bytes;
use runtime::{Cache, index};
use say::{bail, say};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name as shown by `runtime list`
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let cache = Cache::from_env();
    let known: Vec<String> = index::list(&cache).into_iter().map(|(name, _)| name).collect();
    if !known.contains(&args.name) {
        let near = near::near(&args.name, known.iter().map(String::as_str));
        let hint = near.map(|near| say!("command-hint-near", near));
        bail!("command-no-runtime-named", name = args.name, hint);
    }
    let freed = cache.remove(&args.name)?;
    let said = [("name", args.name.as_str().into()), ("size", bytes(freed).into())];
    context.print(&format!("{}\n", context.lang.text_with("runtime-removed", &said)))?;
    Ok(ExitCode::SUCCESS)
}
