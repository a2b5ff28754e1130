//! `verify --parquet`: the result of verifying a lake, for users and programs.

use crate::context::{CHECK_FAILED, Context, Format};
use export::{ExpectedHash, LakeVerdict, OwnLedger};
use ledger::{Hash, Reader};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub fn run(dir: &Path, expect: Option<Hash>, format: Format, context: &Context) -> say::Result<ExitCode> {
    let ledgers = export::prove(dir)?;
    let expected = expect.map(|hash| ExpectedHash::find(hash.to_string(), &ledgers));
    let held = expected.as_ref().is_none_or(|expected| expected.is_there());
    // A machine that only verifies has no ledger.
    let own = OwnLedger::compare(&Reader::open(&context.ledger)?, &ledgers)?;
    let same = own.as_ref().is_none_or(|own| own.differs_at.is_none());
    let whole = same && ledgers.iter().all(|one| one.problems.is_empty());
    // Always in English, like all JSON.
    let english = report::Lang::new("en");
    let verdict = LakeVerdict {
        proved: whole.then(|| english.text("lake-proved")),
        not_proved: english.text("lake-unproved"),
        ledgers,
        own,
        expected,
    };
    let shown = || text(&verdict, context);
    context.emit_as(format, || &verdict, |_| Ok(shown()))?;
    Ok(if whole && held { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn text(verdict: &LakeVerdict, context: &Context) -> String {
    let lang = &context.lang;
    let alarm = |text: &str| if context.color { format!("\x1b[1;31m{text}\x1b[0m") } else { text.to_owned() };
    let mut out = String::new();
    for one in &verdict.ledgers {
        let id = one.ledger.get(..8).unwrap_or(&one.ledger);
        for problem in &one.problems {
            let _ = writeln!(out, "{}", alarm(&format!("{id}: {}", problem.in_words(lang))));
        }
        let args = [
            ("file", one.file.to_string_lossy().into()),
            ("rows", one.rows.into()),
            ("problems", one.problems.len().into()),
            ("head", one.head.clone().unwrap_or_default().into()),
            ("seal", one.seal.clone().unwrap_or_default().into()),
        ];
        let key = if one.problems.is_empty() { "lake-whole" } else { "lake-not-whole" };
        let _ = writeln!(out, "{}", lang.text_with(key, &args));
    }
    if let Some(own) = &verdict.own {
        let args = [
            ("rows", own.rows.into()),
            ("exported", own.exported.into()),
            ("left", own.rows.saturating_sub(own.exported).into()),
            ("row", own.differs_at.unwrap_or(0).into()),
        ];
        let _ = match own.differs_at {
            Some(_) => writeln!(out, "{}", alarm(&lang.text_with("lake-own-differs", &args))),
            None => writeln!(out, "{}", lang.text_with("lake-own-same", &args)),
        };
    }
    if let Some(expected) = &verdict.expected {
        let args = [
            ("hash", expected.hash.as_str().into()),
            ("ledger", expected.ledger.clone().unwrap_or_default().into()),
            ("row", expected.row.unwrap_or(0).into()),
        ];
        let key = match (expected.is_there(), expected.row) {
            (false, _) => "lake-expected-gone",
            (true, Some(_)) => "lake-expected-held",
            (true, None) => "lake-expected-sealed",
        };
        let said = lang.text_with(key, &args);
        let _ = writeln!(out, "{}", if expected.is_there() { said } else { alarm(&said) });
    }
    if verdict.proved.is_some() {
        let _ = writeln!(out, "{}\n{}", lang.text("lake-proved"), lang.text("lake-unproved"));
    }
    out
}
