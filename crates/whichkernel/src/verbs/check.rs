//! Grades the claims of an investigation from the ledger.

mod args;

pub use args::Args;

use crate::context::{CHECK_FAILED, Context};
use crate::emit::Plain;
use crate::graded::{chosen, csv, detail, markdown, screen, text};
use investigate::{Checked, Graded, Places, Readings};
use observe::ObserveContext;
use say::bail;
use std::process::ExitCode;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let mut investigation = chosen(args.file.as_deref(), context)?;
    if let Some(host) = &args.here {
        investigation.is_about_this_machine(host);
    }
    let reader = ledger::Reader::open(&context.ledger)?;
    // Only observations that the claims can use are kept, but the chain of every row is checked.
    let observations = reader.observations_for(&investigation)?;
    let places = Places::of_this_machine(&ObserveContext::default(), crate::command_check::takes);
    let mut graded = Graded::from_ledger(investigation, &observations, &crate::command_line::verb_names()).at(places);
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
