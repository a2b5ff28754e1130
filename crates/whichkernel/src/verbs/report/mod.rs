//! The investigation as pages: HTML in a folder, or one file, from the ledger alone.

use super::check::load;
use crate::context::Context;
use anyhow::Context as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod gather;

pub use gather::Gathered;

/// The investigation as pages that open from disk: both languages, light and dark, every table as CSV
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An investigation file (TOML) [default: the embedded one, the RX 9070 XT field notes]
    file: Option<PathBuf>,

    /// The folder to write; a former report in it is written anew [default: report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// One HTML file with everything in it, instead of a folder: `--out` names it [default: report.html]
    #[arg(long)]
    single_file: bool,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let gathered = Gathered::from_ledger(load(args.file.as_deref())?, context);
    if let Some(problem) = &gathered.problem {
        context.note(&context.lang.text_with("report-problem", &[("what", problem.as_str().into())]));
    }
    let site = gathered.site(context, args.single_file);
    let path = if args.single_file {
        let path = args.out.clone().unwrap_or_else(|| PathBuf::from("report.html"));
        std::fs::write(&path, site.single_file()).with_context(|| format!("cannot write {}", path.display()))?;
        path
    } else {
        write(&site, args.out.as_deref())?
    };
    say(&path, site.size(), context)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the folder; gives back the page to open.
pub fn write(site: &site::Site, out: Option<&Path>) -> anyhow::Result<PathBuf> {
    Ok(site.write(out.unwrap_or(Path::new("report")))?)
}

fn say(path: &Path, size: usize, context: &Context) -> anyhow::Result<()> {
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let size = format!("{:.1} MB", size as f64 / 1e6);
    let args = [("path", shown.to_string_lossy().into()), ("size", size.into())];
    context.print(&format!("{}\n", context.lang.text_with("report-written", &args)))
}
