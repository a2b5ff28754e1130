//! The investigation as pages: HTML in a folder, or one file, from the ledger alone.

use crate::context::Context;
use crate::graded::load;
use crate::pages::{Gathered, browse};
use say::{Context as _, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};

mod bundle;
mod export;
mod serve;

/// The investigation as pages that open from disk: both languages, light and dark, every table as CSV
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,

    /// An investigation file (TOML) [default: the built-in RX 9070 XT field notes]
    file: Option<PathBuf>,

    /// The folder to write; an earlier report in it is replaced [default: report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write one self-contained HTML file instead of a folder, named by `--out` [default: report.html]
    #[arg(long)]
    single_file: bool,

    /// Write data for other tools instead of pages; `--out` names the folder or file
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["single_file", "open"])]
    export: Option<export::Export>,

    #[command(flatten)]
    given: export::Given,

    /// Serve the pages on loopback until interrupted, updated with every new record; only the printed address gives access
    #[arg(long, conflicts_with_all = ["single_file", "export", "out"])]
    serve: bool,

    /// With --serve: the port [default: any free port]
    #[arg(long, value_name = "PORT", requires = "serve", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Open it in a browser
    #[arg(long)]
    open: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Bundle(bundle::Args),
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if let Some(What::Bundle(args)) = &args.what {
        return bundle::run(args, context);
    }
    if args.serve {
        return serve::run(load(args.file.as_deref())?, args.port, args.open, context);
    }
    let gathered = Gathered::from_ledger(load(args.file.as_deref())?, &context.ledger);
    if let Some(problem) = &gathered.problem {
        context.note(&context.lang.text_with("report-problem", &[("what", problem.as_str().into())]));
    }
    if let Some(what) = args.export {
        let path = export::write(&gathered, what, &args.given, args.out.as_deref(), context)?;
        context
            .print(&format!("{}\n", context.lang.text_with("report-at", &[("path", path.to_string_lossy().into())])))?;
        return Ok(ExitCode::SUCCESS);
    }
    let site = gathered.site(args.single_file);
    let path = if args.single_file {
        let path = args.out.clone().unwrap_or_else(|| PathBuf::from("report.html"));
        files::replace(&path, Access::Public, site.single_file())
            .with_context(|| say!("command-cannot-write", path))?;
        path
    } else {
        write(&site, args.out.as_deref())?
    };
    say(&path, site.size(), context)?;
    if args.open {
        browse(&path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the folder; gives back the page to open.
pub fn write(site: &site::Site, out: Option<&Path>) -> say::Result<PathBuf> {
    Ok(site.write(out.unwrap_or(Path::new("report")))?)
}

fn say(path: &Path, size: usize, context: &Context) -> say::Result<()> {
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let size = format!("{:.1} MB", size as f64 / 1e6);
    let args = [("path", shown.to_string_lossy().into()), ("size", size.into())];
    context.print(&format!("{}\n", context.lang.text_with("report-written", &args)))
}
