//! `runtime remove`: takes a runtime out of the cache.

use crate::context::Context;
use anyhow::bail;
use report::bytes;
use runtime::{Cache, index};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name as shown by `runtime list`
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let cache = Cache::from_env();
    let known: Vec<String> = index::list(&cache).into_iter().map(|(name, _)| name).collect();
    if !known.contains(&args.name) {
        let hint = near::near(&args.name, known.iter().map(String::as_str));
        let hint = hint.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        bail!("no runtime named {} is in the cache{hint}", args.name);
    }
    let freed = cache.remove(&args.name)?;
    let said = [("name", args.name.as_str().into()), ("size", bytes(freed).into())];
    context.print(&format!("{}\n", context.lang.text_with("runtime-removed", &said)))?;
    Ok(ExitCode::SUCCESS)
}
