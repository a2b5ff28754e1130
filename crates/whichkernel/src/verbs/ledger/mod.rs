//! What was observed: listing, showing, exporting, merging, proving.

use crate::context::Context;
use anyhow::Context as _;
use ledger::{Ledger, Reader};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

mod list;
mod show;
mod verify;

/// What was observed: list, show, export, import, annotate and verify it
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the rows: observations and notes, oldest first
    List(list::Args),
    /// Show one row in full
    Show(show::Args),
    /// Write everything out: json is an archive that `import` takes, raw evidence included
    Export(ExportArgs),
    /// Merge somebody else's archive or ledger directory; where each row comes from is kept
    Import {
        /// A file that `ledger export --format json` wrote, or another ledger's directory
        path: PathBuf,
    },
    /// Add a dated note to the worklog; it never affects a grade
    Note {
        /// The note
        text: String,
    },
    /// Prove that no row, raw evidence or tail was altered, lost or moved; exits 1 if one was
    Verify(verify::Args),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Json,
    Csv,
    Md,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// json: the whole, for `import`; csv and md: the rows, for people and spreadsheets
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::List(args) => list::run(args, context),
        What::Show(args) => show::run(args, context),
        What::Export(args) => export(args, context),
        What::Import { path } => import(path, context),
        What::Note { text } => note(text, context),
        What::Verify(args) => verify::run(args, context),
    }
}

fn export(args: &ExportArgs, context: &Context) -> anyhow::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    let mut out: Box<dyn Write> = match &args.output {
        Some(path) => {
            Box::new(BufWriter::new(File::create(path).with_context(|| format!("cannot write {}", path.display()))?))
        }
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    match args.format {
        ExportFormat::Json => reader.export(&mut out)?,
        ExportFormat::Csv => {
            out.write_all(list::table(&reader, &list::Filter::default(), &context.lang)?.csv().as_bytes())?
        }
        ExportFormat::Md => {
            out.write_all(list::table(&reader, &list::Filter::default(), &context.lang)?.markdown().as_bytes())?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn import(path: &std::path::Path, context: &Context) -> anyhow::Result<ExitCode> {
    let imported = Ledger::open(&context.ledger)?.import(path)?;
    let args =
        [("from", imported.from.as_str().into()), ("added", imported.added.into()), ("known", imported.known.into())];
    context.print(&format!("{}\n", context.lang.text_with("ledger-imported", &args)))?;
    Ok(ExitCode::SUCCESS)
}

fn note(text: &str, context: &Context) -> anyhow::Result<ExitCode> {
    if text.trim().is_empty() {
        anyhow::bail!(context.lang.text("ledger-note-empty"));
    }
    let receipt = Ledger::open(&context.ledger)?.note(text)?;
    context.print(&format!("{}\n", context.lang.text_with("ledger-noted", &[("row", receipt.seq.into())])))?;
    Ok(ExitCode::SUCCESS)
}
