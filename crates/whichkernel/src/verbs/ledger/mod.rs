//! The verb `ledger`: listing, showing, exporting, merging, verifying.

use crate::context::Context;
use crate::emit::Show as _;
use ledger::{Reader, WorklogNote};
use say::{Context as _, bail, say};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use sys::files::{self, Access};

mod lake;
mod list;
mod place;
mod show;
mod sign;
mod verify;

/// Work with the recorded observations: list, show, export, import, annotate and verify
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
    /// Export everything; json is an archive for `import`, including raw evidence
    Export(ExportArgs),
    /// Merge another archive or ledger directory; the origin of each row is kept
    Import {
        /// A file that `ledger export --format json` wrote, or another ledger's directory
        path: PathBuf,
    },
    /// Add a dated note to the worklog; it never affects a grade
    Note {
        /// The phase of the investigation: A to F
        #[arg(long, value_name = "PHASE", value_parser = ["A", "B", "C", "D", "E", "F"])]
        phase: Option<String>,
        /// ID of the claim or question that the note is about
        #[arg(long, value_name = "ID")]
        about: Option<String>,
        /// The note
        text: String,
    },
    /// Check every row, all raw evidence and the head against their hashes; exits 1 if anything was changed, lost or moved
    Verify(verify::Args),
    /// Show where the ledger and the cache are, and their sizes
    Where,
    /// Sign the current head of the ledger with your key; keep the checkpoint elsewhere for `verify --checkpoint`
    Sign(sign::SignArgs),
    /// Create a signing key
    Key {
        #[command(subcommand)]
        what: sign::KeyArgs,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Json,
    Csv,
    Md,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// json: everything, for `import`; csv and md: the rows only
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    match &args.what {
        What::List(args) => list::run(args, context),
        What::Show(args) => show::run(args, context),
        What::Export(args) => export(args, context),
        What::Import { path } => import(path, context),
        What::Note { phase, about, text } => note(phase.as_deref(), about.as_deref(), text, context),
        What::Where => place::run(context),
        What::Verify(args) => verify::run(args, context),
        What::Sign(args) => sign::run(args, context),
        What::Key { what } => sign::key(what, context),
    }
}

fn export(args: &ExportArgs, context: &Context) -> say::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    let mut out: Box<dyn Write> = match &args.output {
        Some(path) => {
            // Observations are private to their owner, so exports are too.
            let file = files::create(path, Access::Private).with_context(|| say!("command-cannot-write", path))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(BufWriter::new(context.stdout())),
    };
    let rows =
        || say::Result::<_>::Ok(reader.list(&ledger::Filter::default())?.table(&context.lang).unwrap_or_default());
    match args.format {
        ExportFormat::Json => reader.export(&mut out)?,
        ExportFormat::Csv => out.write_all(rows()?.csv().as_bytes())?,
        ExportFormat::Md => out.write_all(rows()?.markdown().as_bytes())?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn import(path: &std::path::Path, context: &Context) -> say::Result<ExitCode> {
    let imported = context.open_ledger()?.import(path)?;
    let args = [
        ("from", imported.from.as_str().into()),
        ("added", imported.added.into()),
        ("known", imported.known.into()),
        ("passed", imported.passed_on.into()),
    ];
    if imported.passed_on > 0 {
        context.note(&context.lang.text_with("ledger-passed-on", &args));
    }
    context.print(&format!("{}\n", context.lang.text_with("ledger-imported", &args)))?;
    Ok(ExitCode::SUCCESS)
}

fn note(phase: Option<&str>, about: Option<&str>, text: &str, context: &Context) -> say::Result<ExitCode> {
    if text.trim().is_empty() {
        bail!("ledger-note-empty");
    }
    let (phase, about) = (phase.map(str::to_owned), about.map(str::to_owned));
    let note = WorklogNote { phase, about, text: text.to_owned() };
    let receipt = context.open_ledger()?.note(&note.body())?;
    context.print(&format!("{}\n", context.lang.text_with("ledger-noted", &[("row", receipt.seq.into())])))?;
    Ok(ExitCode::SUCCESS)
}
