//! Rows of a ledger as columns: the chain itself, the content of each observation, and its launches.
//!
//! The same functions create the columns when a lake is written and when it is verified.

use crate::manifest::State;
use crate::parquet::{Column, ParquetTable, Values};
use evidence::{Artifact, Finding, Recorded, Rung, Window};
use ledger::Row;

/// The ledger and machine of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whose {
    pub ledger: String,
    /// The value of the partition `machine`.
    pub machine: String,
    /// The name of the ledger's own machine.
    pub host: String,
}

type Texts = Vec<Option<String>>;

/// Builds a table column by column, row by row.
#[derive(Default)]
struct Sheet {
    columns: Vec<Column>,
    at: usize,
}

impl Sheet {
    fn put<T>(&mut self, name: &str, value: T, empty: fn(Vec<T>) -> Values, push: fn(&mut Values, T)) {
        if self.columns.len() == self.at {
            self.columns.push(Column { name: name.to_owned(), values: empty(Vec::new()) });
        }
        if let Some(column) = self.columns.get_mut(self.at) {
            push(&mut column.values, value);
        }
        self.at += 1;
    }

    fn text(&mut self, name: &str, value: Option<String>) {
        self.put(name, value, Values::Text, |values, value| {
            if let Values::Text(values) = values {
                values.push(value);
            }
        });
    }

    fn bytes(&mut self, name: &str, value: Option<Vec<u8>>) {
        self.put(name, value, Values::Bytes, |values, value| {
            if let Values::Bytes(values) = values {
                values.push(value);
            }
        });
    }

    fn number(&mut self, name: &str, value: Option<i64>) {
        self.put(name, value, Values::Number, |values, value| {
            if let Values::Number(values) = values {
                values.push(value);
            }
        });
    }

    fn bool(&mut self, name: &str, value: Option<bool>) {
        self.put(name, value, Values::Bool, |values, value| {
            if let Values::Bool(values) = values {
                values.push(value);
            }
        });
    }

    fn end_row(&mut self) {
        self.at = 0;
    }

    fn table(self) -> ParquetTable {
        ParquetTable { columns: self.columns, about: Vec::new() }
    }
}

/// Every row, with its position in the chain. If this version cannot read a row as an observation, its columns after
/// the chain are empty.
pub fn observations(whose: &Whose, rows: &[Row]) -> ParquetTable {
    let mut sheet = Sheet::default();
    for row in rows {
        let recorded = row.observation().ok().flatten();
        sheet.text("ledger", Some(whose.ledger.clone()));
        sheet.number("row", i64::try_from(row.seq).ok());
        sheet.text("kind", Some(row.kind.name().to_owned()));
        sheet.text("origin", row.origin.clone());
        sheet.text("recorded", Some(row.time.clone()));
        sheet.bytes("body", Some(row.body.clone()));
        sheet.text("prev", Some(row.prev.to_string()));
        sheet.text("hash", Some(row.hash.to_string()));
        let of = recorded.as_ref();
        sheet.text("id", of.map(|seen| seen.id().to_string()));
        sheet.text("observer", of.map(|seen| seen.observer().name.clone()));
        sheet.text("observer_version", of.map(|seen| seen.observer().version.clone()));
        sheet.text("time", of.map(|seen| seen.time().to_owned()));
        sheet.text("rung", of.map(|seen| seen.rung().name().to_owned()));
        sheet.text("finding", of.map(|seen| finding(seen).to_owned()));
        let fact = of.and_then(|seen| seen.fact());
        sheet.text("topic", fact.map(|fact| fact.topic.clone()));
        sheet.text("about", fact.map(|fact| fact.about.to_string()));
        sheet.text("value", fact.map(|fact| fact.value.to_string()));
        subject(&mut sheet, whose, row.origin.as_deref(), of);
        sheet.bool("complete", of.map(|seen| seen.coverage().is_complete()));
        sheet.number("lost", of.and_then(|seen| i64::try_from(seen.coverage().lost).ok()));
        sheet.bool("contaminated", of.map(|seen| seen.contaminated().is_some()));
        sheet.end_row();
    }
    sheet.table()
}

/// Kernels and paths that were selected, launched or completed: one row for each observation on those rungs.
pub fn launches(whose: &Whose, rows: &[Row]) -> ParquetTable {
    let mut sheet = Sheet::default();
    for row in rows {
        let Some(recorded) = row.observation().ok().flatten().filter(|seen| seen.rung() >= Rung::Selected) else {
            continue;
        };
        let Some(fact) = recorded.fact() else { continue };
        let about = |key: &str| fact.about.get(key).map(str::to_owned);
        let (kernel, path, launches) = match fact.topic.as_str() {
            "kernel" => (about("name"), None, fact.value.number().map(|count| count as i64)),
            "matmul.path" | "vulkan.path" => (None, Some(fact.value.to_string()), None),
            "matmul.kernel" | "vulkan.pipeline" => (Some(fact.value.to_string()), None, None),
            "blas.call" => (None, Some("BLAS".to_owned()), fact.value.number().map(|count| count as i64)),
            _ => continue,
        };
        sheet.text("ledger", Some(whose.ledger.clone()));
        sheet.number("row", i64::try_from(row.seq).ok());
        sheet.text("hash", Some(row.hash.to_string()));
        sheet.text("time", Some(recorded.time().to_owned()));
        sheet.text("observer", Some(recorded.observer().name.clone()));
        sheet.text("rung", Some(recorded.rung().name().to_owned()));
        sheet.text("topic", Some(fact.topic.clone()));
        sheet.text("kernel", kernel);
        sheet.text("path", path);
        sheet.text("type", about("type"));
        sheet.text("columns", about("columns"));
        sheet.text("phase", about("phase"));
        sheet.number("launches", launches);
        subject(&mut sheet, whose, row.origin.as_deref(), Some(&recorded));
        sheet.number("lost", i64::try_from(recorded.coverage().lost).ok());
        sheet.bool("contaminated", Some(recorded.contaminated().is_some()));
        sheet.end_row();
    }
    sheet.table()
}

/// The columns about the subject, which both tables have.
fn subject(sheet: &mut Sheet, whose: &Whose, origin: Option<&str>, of: Option<&Recorded>) {
    let subject = of.map(|seen| seen.subject());
    let text = |part: fn(&evidence::Subject) -> Option<String>| subject.and_then(part);
    // An imported observation is about its own machine, of which only the ledger's id is known.
    let imported = origin.and_then(|origin| origin.split('#').next()).map(str::to_owned);
    let other = text(|subject| subject.host.clone()).or(imported);
    sheet.bool("own", Some(other.is_none()));
    sheet.text("host", Some(other.unwrap_or_else(|| whose.host.clone())));
    sheet.text("runtime", text(|subject| subject.runtime.clone()));
    sheet.text("artifact", text(|subject| artifact(subject).0));
    sheet.text("artifact_hash", text(|subject| artifact(subject).1));
    sheet.text("target", text(|subject| subject.target.clone()));
    sheet.text("card", text(|subject| subject.gpu.clone()));
    sheet.text("device", text(|subject| Some(subject.device.name().to_owned())));
    sheet.text("model", text(|subject| subject.model.clone()));
    sheet.text(
        "window",
        text(|subject| match &subject.window {
            Window::Whole => None,
            Window::Named(name) => Some(name.clone()),
        }),
    );
}

fn artifact(subject: &evidence::Subject) -> (Option<String>, Option<String>) {
    match &subject.artifact {
        Artifact::File { name, sha256 } => (Some(name.clone()), Some(sha256.clone())),
        Artifact::Source { name, commit, .. } => (Some(name.clone()), Some(commit.clone())),
        Artifact::Host { name } => (Some(name.clone()), None),
        Artifact::None => (None, None),
    }
}

fn finding(seen: &Recorded) -> &'static str {
    match seen.finding() {
        Finding::Saw(_) => "saw",
        Finding::Swept => "swept",
        Finding::Blocked { .. } => "blocked",
    }
}

/// The claims of an investigation with their grades, for the chain up to the last row.
pub fn claims(
    whose: &Whose,
    state: &State<'_>,
    graded: &[(&evidence::Stated, &evidence::Reading)],
    title: &str,
) -> ParquetTable {
    let mut sheet = Sheet::default();
    for (stated, reading) in graded {
        sheet.text("ledger", Some(whose.ledger.clone()));
        sheet.number("row", i64::try_from(state.rows).ok());
        sheet.text("head", Some(state.head.to_string()));
        sheet.text("host", Some(whose.host.clone()));
        sheet.text("investigation", Some(title.to_owned()));
        sheet.text("claim", Some(stated.claim.id.clone()));
        sheet.text("phase", Some(format!("{:?}", stated.phase)));
        sheet.text("rung", Some(reading.rung.name().to_owned()));
        sheet.text("topic", Some(stated.claim.topic.clone()));
        sheet.text("grade", Some(reading.grade.name().to_owned()));
        sheet.text("why", reading.grade.why().map(|why| why.name().to_owned()));
        sheet.text("text_en", Some(stated.words.en.clone()));
        sheet.text("text_ja", Some(stated.words.ja.clone()));
        let cites: Vec<&str> = reading.cites.iter().map(|cited| cited.observation.as_str()).collect();
        sheet.text("cites", Some(cites.join(" ")));
        sheet.end_row();
    }
    sheet.table()
}

/// A column of texts, row by row.
pub fn texts<'a>(table: &'a ParquetTable, name: &str) -> Option<&'a Texts> {
    match table.column(name)? {
        Values::Text(values) => Some(values),
        _ => None,
    }
}
