//! One row in full: the observation, its chain, its raw evidence.

use crate::context::{Context, Format};
use crate::emit::Show;
use evidence::{Canary, Contamination, saw};
use ledger::{Measured, Reader, Row, Shown};
use report::{Lang, Table};
use say::{Message, bail, say};
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A row number, or the first six or more digits of an observation ID
    #[arg(value_name = "ROW|ID")]
    which: String,
    /// text or json
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Write the raw evidence to standard output
    #[arg(long)]
    raw: bool,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    let Some(row) = find(&reader, &args.which)? else {
        bail!("ledger-not-found", which = args.which);
    };
    if args.raw {
        let recorded = row.observation()?;
        let evidence = recorded.iter().flat_map(|recorded| recorded.raw_evidence());
        for evidence in evidence {
            let mut out = context.stdout();
            match reader.blobs().read(evidence, |piece| out.write_all(piece))? {
                Measured::Same => {}
                Measured::Missing => bail!("ledger-raw-missing", sha256 = evidence.sha256),
                Measured::Other(_) => bail!("ledger-raw-altered", sha256 = evidence.sha256),
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    context.emit(args.format, &Shown::of(&row)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The minimum number of digits of an id; fewer may match many rows.
const ENOUGH: usize = 6;

/// A number is a row if it exists; anything else is the prefix of an id, which must match only one row.
fn find(reader: &Reader, which: &str) -> say::Result<Option<Row>> {
    let row = match which.parse() {
        Ok(number) => reader.row(number)?,
        Err(_) => None,
    };
    if row.is_some() || which.len() < ENOUGH {
        return Ok(row);
    }
    let mut found: Vec<Row> = Vec::new();
    reader.rows(0, |row| {
        let id = row.observation().ok().flatten().map(|recorded| recorded.id().clone());
        if id.is_some_and(|id| id.as_str().starts_with(which)) {
            found.push(row);
        }
        Ok(if found.len() > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if let [one, other, ..] = found.as_slice() {
        bail!("ledger-several", which, one = one.seq, other = other.seq);
    }
    Ok(found.pop())
}

impl Show for Shown {
    fn table(&self, _: &Lang) -> Option<Table> {
        None
    }

    fn text(&self, context: &Context) -> String {
        text(self, &context.lang)
    }
}

fn text(row: &Shown, lang: &Lang) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: &str| {
        if !value.is_empty() {
            let label = lang.text(&format!("ledger-title-{key}"));
            let _ = writeln!(out, "{label}: {value}");
        }
    };
    line("row", &row.row.to_string());
    line("time", &row.time);
    line("origin", row.origin.as_deref().unwrap_or(""));
    if let Some(note) = &row.note {
        line("note", note);
    }
    if let Some(id) = &row.id {
        line("id", id.as_str());
    }
    if let Some(recorded) = &row.observation {
        line("observer", &format!("{} {}", recorded.observer().name, recorded.observer().version));
        line("rung", &report::rung_text(lang, recorded.rung()));
        line("subject", &recorded.subject().to_string());
        line("saw", &saw(recorded).in_words(lang));
        let view = recorded.field_of_view();
        let views: Vec<String> = view.views.iter().map(|view| format!("{} {}", view.topic, view.about)).collect();
        line("view", views.join(", ").trim());
        line("reach", &view.reach_in(lang));
        line("blind", &view.blind_in(lang).join(lang.text("check-list-comma").trim_matches('"')));
        let coverage = recorded.coverage();
        let total = coverage.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
        line("coverage", &format!("{} / {total} {}", coverage.seen, lang.say(&coverage.counted())));
        for gap in &coverage.missing {
            line("missing", &gap.whole().in_words(lang));
        }
        if coverage.lost > 0 {
            line("lost", &coverage.lost.to_string());
        }
        line("contamination", &lang.say(&contamination(recorded.contamination_state())));
        line("canary", &lang.say(&canary(recorded.canary_seen())));
        for evidence in recorded.raw_evidence() {
            line("evidence", &format!("{} ({}, {} bytes)", evidence.sha256, evidence.kind, evidence.size));
        }
    }
    line("prev", &row.prev);
    line("hash", &row.hash);
    out
}

fn contamination(state: &Contamination) -> Message {
    match state {
        Contamination::Untouched => say!("ledger-untouched"),
        Contamination::Certified { certificate } => say!("ledger-certified", certificate),
        Contamination::Unchecked => say!("ledger-unchecked"),
        Contamination::Contaminated { differences } => {
            say!("ledger-contaminated", differences)
        }
    }
}

fn canary(canary: &Canary) -> Message {
    let what = canary.what().map(|seen| seen.said.unwrap_or_else(|| Message::verbatim(seen.english)));
    match (canary, what) {
        (Canary::InTarget(_), Some(what)) => say!("ledger-canary-target", what),
        (Canary::InChild(_), Some(what)) => say!("ledger-canary-child", what),
        _ => say!("ledger-canary-none"),
    }
}
