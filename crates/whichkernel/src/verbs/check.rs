//! Grades the claims of an investigation from the ledger.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use crate::graded::{csv, detail, load, markdown, screen, text};
use investigate::{Checked, Graded, Places, Readings};
use observe::ObserveContext;
use say::bail;
use std::path::PathBuf;
use std::process::ExitCode;

/// Grade the claims of an investigation from the ledger; exits 1 if one expected to hold is refuted, or still open
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An investigation file (TOML) [default: the built-in RX 9070 XT field notes]
    file: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Show the details of one claim: evidence, reasons, and what it can and cannot show
    #[arg(long, value_name = "ID", conflicts_with_all = ["only", "all"])]
    claim: Option<String>,

    /// List the claims of this grade (open: unresolved; failed: should hold, but does not)
    #[arg(long, value_name = "GRADE", value_parser = ["confirmed", "inferred", "limited", "unresolved", "open", "refuted", "failed"])]
    only: Option<String>,

    /// List all claims and questions
    #[arg(long, conflicts_with = "only")]
    all: bool,

    /// Only the number of claims per grade, and the command that would settle most
    #[arg(long, conflicts_with_all = ["claim", "only", "all"])]
    brief: bool,

    /// This machine is the one called NAME in the file: grade the claims about it here
    #[arg(long, value_name = "NAME")]
    here: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let mut investigation = load(args.file.as_deref())?;
    if let Some(host) = &args.here {
        investigation.is_about_this_machine(host);
    }
    let reader = ledger::Reader::open(&context.ledger)?;
    // Of a long ledger only what the claims can use is kept; every row is held to the chain all the same.
    let observations = reader.observations_for(&investigation)?;
    let places = Places::of_this_machine(&ObserveContext::default(), crate::taken::takes);
    let mut graded = Graded::from_ledger(investigation, &observations, &super::names()).at(places);
    drop(observations);
    let failed = graded.failed();
    let total = graded.readings.len();
    if let Some(id) = &args.claim {
        let known: Vec<String> = graded.investigation.claims.iter().map(|stated| stated.claim.id.clone()).collect();
        graded.keep(|stated, _| stated.claim.id == *id);
        if graded.readings.is_empty() {
            let near = near::near(id, known.iter().map(String::as_str));
            match near {
                Some(near) => bail!("command-no-claim-near", id, near),
                None => bail!("command-no-claim", id),
            }
        }
    }
    if let Some(only) = &args.only {
        graded.keep(|stated, reading| match only.as_str() {
            "open" => reading.grade.is_unresolved(),
            "failed" => stated.must_hold && reading.grade.strength() == 0,
            grade => reading.grade.name() == grade,
        });
        graded.questions.clear();
    }
    let lang = &context.lang;
    let text = || match (&args.claim, &args.only) {
        (Some(_), _) => detail::render(&graded, context),
        (None, Some(only)) if graded.readings.is_empty() => {
            let only = lang.text(&format!("check-only-{only}"));
            format!("{}\n", lang.text_with("check-only-none", &[("count", total.into()), ("only", only.into())]))
        }
        _ if args.brief => screen::brief(&graded, context),
        (None, only) if only.is_some() || args.all => text::render(&graded, context),
        _ => screen::render(&graded, &[], true, context),
    };
    let plain = |plain| match plain {
        Plain::Csv => csv(&graded, lang),
        Plain::Md => markdown(&graded, lang),
        Plain::Text if reader.exists() => text(),
        Plain::Text => {
            let dir = context.ledger.to_string_lossy();
            format!("{}{}\n", text(), lang.text_with("check-empty-ledger", &[("dir", dir.into())]))
        }
    };
    context.emit_as(args.format, || Checked { readings: Readings::of(&graded) }, |format| Ok(plain(format)))?;
    Ok(if failed > 0 { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}
