//! The rows as a table.

use crate::context::{Context, Format};
use crate::emit::Show;
use evidence::Rung;
use ledger::{Line, Listing, ObservationLine, Reader};
use report::{Column, Lang, Table};
use say::bail;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    filter: Filter,
}

#[derive(Debug, Clone, clap::Args)]
struct Filter {
    /// Only observations by this observer
    #[arg(long, value_name = "NAME")]
    observer: Option<String>,
    /// Only observations on this rung: declared, shipped, loaded, selected, launched, completed
    #[arg(long, value_name = "RUNG", value_parser = rung)]
    rung: Option<Rung>,
    /// Only observations whose topic starts with this text
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only these rows: notes, a rung, or an observer's name
    #[arg(long, value_name = "WHAT")]
    only: Option<String>,
    /// Only the last N matching rows
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

fn rung(name: &str) -> Result<Rung, say::Message> {
    let all = Rung::ALL.map(Rung::name);
    let found = Rung::ALL.into_iter().find(|rung| rung.name() == name);
    found.ok_or_else(|| say::say!("command-one-of", names = all))
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    if !reader.exists() && args.format == Format::Text {
        let dir = context.ledger.to_string_lossy();
        context.print(&format!("{}\n", context.lang.text_with("ledger-empty", &[("dir", dir.into())])))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Filter { observer, rung, topic, only, last } = args.filter.clone();
    let filter = ledger::Filter { observer, rung, topic, only, last };
    let listing = reader.list(&filter)?;
    if listing.rows.is_empty()
        && let Some(only) = filter.only.as_deref()
    {
        check_only(&reader, only)?;
    }
    context.emit(args.format, &listing)?;
    Ok(ExitCode::SUCCESS)
}

/// If nothing matches, an unknown name is reported as a typo; it differs from an observer without observations.
fn check_only(reader: &Reader, only: &str) -> say::Result<()> {
    if only == "notes" || Rung::ALL.iter().any(|rung| rung.name() == only) {
        return Ok(());
    }
    let mut names: Vec<String> = Vec::new();
    for recorded in reader.observations()? {
        let name = &recorded.observer().name;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let rungs = Rung::ALL.map(Rung::name);
    bail!("command-ledger-no-row", only, rungs, observers = names)
}

impl Show for Listing {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::right("row", lang.text("ledger-title-row")),
            Column::left("time", lang.text("ledger-title-time")),
            Column::left("id", lang.text("ledger-title-id")),
            Column::left("observer", lang.text("ledger-title-observer")),
            Column::left("rung", lang.text("ledger-title-rung")),
            Column::left("saw", lang.text("ledger-title-saw")),
            Column::left("subject", lang.text("ledger-title-subject")),
            Column::left("trust", lang.text("ledger-title-trust")),
            Column::left("origin", lang.text("ledger-title-origin")),
        ]);
        for line in &self.rows {
            table.row(cells(line, lang));
        }
        Some(table)
    }
}

fn cells(line: &Line, lang: &Lang) -> [String; 9] {
    let origin = line.origin.as_deref().map(short_origin).unwrap_or_default();
    let row = line.row.to_string();
    let time = line.time.get(..19).unwrap_or(&line.time).replace('T', " ");
    let Some(seen) = &line.seen else {
        let about = [&line.phase, &line.about].into_iter().flatten().map(|about| format!("[{about}]"));
        let note = about.chain(line.note.clone()).collect::<Vec<_>>().join(" ");
        let kind = lang.text("ledger-note");
        return [row, time, String::new(), kind, String::new(), note, String::new(), String::new(), origin];
    };
    let observer = format!("{} {}", seen.observer, seen.version);
    let rung = report::rung_text(lang, seen.rung);
    let (saw, subject) = (seen.saw.in_words(lang), seen.subject.clone());
    [row, time, seen.id.short().to_owned(), observer, rung, saw, subject, trust(seen, lang), origin]
}

/// The limits of the observation, if there are any.
fn trust(seen: &ObservationLine, lang: &Lang) -> String {
    let mut words = Vec::new();
    if seen.contaminated {
        words.push(lang.text("ledger-trust-contaminated"));
    }
    if seen.lost > 0 {
        words.push(lang.text_with("ledger-trust-lost", &[("count", seen.lost.into())]));
    } else if !seen.complete {
        words.push(lang.text("ledger-trust-partial"));
    }
    words.join(", ")
}

/// The other ledger's id and row, without the hash, and the ledgers that passed it on.
fn short_origin(origin: &str) -> String {
    let mut hands = origin.split(" via ");
    let (ledger, rest) = hands.next().and_then(|first| first.split_once('#')).unwrap_or((origin, ""));
    let row = rest.split('@').next().unwrap_or("");
    let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
    hands.fold(format!("{}#{row}", short(ledger)), |text, hand| format!("{text} via {}", short(hand)))
}
