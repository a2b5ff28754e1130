//! The rows as a table.

use crate::context::{Context, Format};
use evidence::{Glance, Observation, Rung, saw};
use ledger::{Reader, Row, RowKind, WorklogNote};
use report::{Column, Lang, Table};
use std::ops::ControlFlow;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    filter: Filter,
}

#[derive(Debug, Default, clap::Args)]
pub struct Filter {
    /// Only observations of this observer
    #[arg(long, value_name = "NAME")]
    observer: Option<String>,
    /// Only observations on this rung: declared, shipped, loaded, selected, launched, completed
    #[arg(long, value_name = "RUNG", value_parser = rung)]
    rung: Option<Rung>,
    /// Only observations whose topic starts so
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only this: notes, a rung, or an observer's name
    #[arg(long, value_name = "WHAT")]
    only: Option<String>,
    /// Only the last N rows that fit
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

fn rung(name: &str) -> Result<Rung, String> {
    let all = Rung::ALL.map(Rung::name);
    let found = Rung::ALL.into_iter().find(|rung| rung.name() == name);
    found.ok_or_else(|| format!("one of {}", all.join(", ")))
}

impl Filter {
    fn takes(&self, row: &Row) -> anyhow::Result<bool> {
        let only = self.only.as_deref();
        if self.observer.is_none() && self.rung.is_none() && self.topic.is_none() && only.is_none() {
            return Ok(true);
        }
        let others = self.observer.is_some() || self.rung.is_some() || self.topic.is_some();
        if row.kind == RowKind::Note {
            return Ok(only == Some("notes") && !others);
        }
        let glance = Glance::at(&row.body)?;
        Ok(only.is_none_or(|only| glance.rung == only || glance.observer.name == only)
            && self.observer.as_ref().is_none_or(|name| glance.observer.name == *name)
            && self.rung.is_none_or(|rung| glance.rung == rung.name())
            && self.topic.as_ref().is_none_or(|wanted| glance.topic().starts_with(wanted.as_str())))
    }
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    if !reader.exists() && args.format == Format::Text {
        let dir = context.ledger.to_string_lossy();
        context.print(&format!("{}\n", context.lang.text_with("ledger-empty", &[("dir", dir.into())])))?;
        return Ok(ExitCode::SUCCESS);
    }
    let table = table(&reader, &args.filter, &context.lang)?;
    if table.is_empty()
        && let Some(only) = args.filter.only.as_deref()
    {
        check_only(&reader, only)?;
    }
    let out = match args.format {
        Format::Text => table.text(context.width),
        Format::Csv => table.csv(),
        Format::Md => table.markdown(),
        Format::Json => {
            let json = serde_json::json!({
                "schema": "whichkernel.ledger-list/1",
                "ledger": reader.id()?,
                "rows": table.json(),
            });
            format!("{}\n", serde_json::to_string_pretty(&json)?)
        }
    };
    context.print(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Nothing fits: a name that nobody has is a slip of the pen, and is told from an observer that saw nothing.
fn check_only(reader: &Reader, only: &str) -> anyhow::Result<()> {
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
    let rungs = Rung::ALL.map(Rung::name).join(", ");
    anyhow::bail!("no row is of '{only}'; there are: notes, the rungs {rungs}, and the observers {}", names.join(", "))
}

pub fn table(reader: &Reader, filter: &Filter, lang: &Lang) -> anyhow::Result<Table> {
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
    let mut rows: Vec<[String; 9]> = Vec::new();
    let mut unreadable = None;
    let enough = |rows: &[[String; 9]]| filter.last.is_some_and(|last| rows.len() >= last);
    let take = |row: Row| {
        if enough(&rows) {
            return Ok(ControlFlow::Break(()));
        }
        match filter.takes(&row).and_then(|takes| takes.then(|| cells(&row, lang)).transpose()) {
            Ok(cells) => {
                rows.extend(cells);
                Ok(if enough(&rows) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            }
            Err(error) => {
                unreadable = Some(error.context(format!("row {}", row.seq)));
                Ok(ControlFlow::Break(()))
            }
        }
    };
    // The last ones are found from the end: a long ledger need not be read for them.
    if filter.last.is_some() {
        reader.rows_back(take)?;
        rows.reverse();
    } else {
        reader.rows(0, take)?;
    }
    if let Some(error) = unreadable {
        return Err(error);
    }
    for cells in rows {
        table.row(cells);
    }
    Ok(table)
}

fn cells(row: &Row, lang: &Lang) -> anyhow::Result<[String; 9]> {
    let origin = row.origin.as_deref().map(short_origin).unwrap_or_default();
    let seq = row.seq.to_string();
    let time = row.time.get(..19).unwrap_or(&row.time).replace('T', " ");
    let Some(recorded) = row.observation()? else {
        let note = WorklogNote::parse(&row.note().unwrap_or_default());
        let about = [note.phase.map(|phase| format!("[{phase}]")), note.about.map(|about| format!("[{about}]"))];
        let note: Vec<String> = about.into_iter().flatten().chain([note.text]).collect();
        let note = note.join(" ");
        let kind = lang.text("ledger-note");
        return Ok([seq, time, String::new(), kind, String::new(), note, String::new(), String::new(), origin]);
    };
    let observer = format!("{} {}", recorded.observer().name, recorded.observer().version);
    let rung = report::rung_text(lang, recorded.rung());
    Ok([
        seq,
        time,
        recorded.id().short().to_owned(),
        observer,
        rung,
        saw(&recorded),
        recorded.subject().to_string(),
        trust(&recorded, lang),
        origin,
    ])
}

/// What limits it, if anything does.
fn trust(observation: &Observation, lang: &Lang) -> String {
    let mut words = Vec::new();
    if observation.contaminated().is_some() {
        words.push(lang.text("ledger-trust-contaminated"));
    }
    if observation.coverage().lost > 0 {
        words.push(lang.text_with("ledger-trust-lost", &[("count", observation.coverage().lost.into())]));
    } else if !observation.coverage().is_complete() {
        words.push(lang.text("ledger-trust-partial"));
    }
    words.join(", ")
}

/// The other ledger's id and row, without the hash; and the hands through which it came.
fn short_origin(origin: &str) -> String {
    let mut hands = origin.split(" via ");
    let (ledger, rest) = hands.next().and_then(|first| first.split_once('#')).unwrap_or((origin, ""));
    let row = rest.split('@').next().unwrap_or("");
    let short = |id: &str| id.get(..8).unwrap_or(id).to_owned();
    hands.fold(format!("{}#{row}", short(ledger)), |text, hand| format!("{text} via {}", short(hand)))
}
