//! Grades the claims of an investigation from the ledger.

use crate::context::{CHECK_FAILED, Context, Format};
use investigate::Graded;
use std::path::PathBuf;
use std::process::ExitCode;

mod detail;
mod export;
mod text;
mod words;

pub use export::{csv, json, markdown};
pub use text::{answers, bold, hanging};
pub use words::{because, load, summary};

/// Grade the claims of an investigation from the ledger; exits 1 if one expected to hold is refuted
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An investigation file (TOML) [default: the embedded one, the RX 9070 XT field notes]
    file: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Tell everything about one claim: evidence, reasons, what it can show and what it cannot
    #[arg(long, value_name = "ID")]
    claim: Option<String>,

    /// Only claims of this grade: confirmed, inferred, limited, unresolved, refuted
    #[arg(long, value_name = "GRADE", value_parser = ["confirmed", "inferred", "limited", "unresolved", "refuted"])]
    only: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let investigation = load(args.file.as_deref())?;
    let reader = ledger::Reader::open(&context.ledger)?;
    // Of a long ledger only what the claims can use is kept; every row is held to the chain all the same.
    let observations = reader.observations_for(&investigation)?;
    let mut graded = Graded::from_ledger(investigation, &observations, &super::names());
    drop(observations);
    let failed = graded.failed();
    if let Some(id) = &args.claim {
        graded.keep(|stated, _| stated.claim.id == *id);
        if graded.readings.is_empty() {
            anyhow::bail!("no claim has the id '{id}'; `whichkernel check` lists them");
        }
    }
    if let Some(only) = &args.only {
        graded.keep(|_, reading| reading.grade.name() == only);
        graded.questions.clear();
    }
    let out = match (args.format, &args.claim) {
        (Format::Text, Some(_)) => detail::render(&graded, context),
        (Format::Text, None) => text::render(&graded, context, reader.exists()),
        (Format::Json, _) => format!("{}\n", serde_json::to_string_pretty(&json(&graded, "whichkernel.check/1"))?),
        (Format::Csv, _) => export::csv(&graded, &context.lang),
        (Format::Md, _) => markdown(&graded, &context.lang),
    };
    context.print(&out)?;
    Ok(if failed > 0 { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}
