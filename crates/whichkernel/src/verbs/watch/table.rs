//! The table of launches: kernel, family, type, columns, launches, share, phase.

use crate::context::Context;
use report::{Column, Table};
use watch::{Row, Tally, Took};

const MOST: usize = 72;

/// The columns of `--format csv`.
const KEYS: [&str; 15] = [
    "phase", "kernel", "mangled", "family", "path", "type", "columns", "grid", "block", "file", "bundle", "launches",
    "timed", "total_ns", "mean_ns",
];

pub fn of(tally: &Tally, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(&format!("watch-{key}"));
    let rows = tally.rows();
    let timed = rows.iter().any(|row| row.took.is_some());
    let mut titles = vec![
        Column::left("phase", title("phase")),
        Column::left("kernel", title("kernel")),
        Column::left("family", title("family")),
        Column::left("type", title("type")),
        Column::right("columns", title("columns")),
        Column::right("launches", title("launches")),
        Column::right("share", title("share")),
    ];
    if timed {
        titles.extend([Column::right("total_ns", title("total-time")), Column::right("mean_ns", title("mean-time"))]);
    }
    let mut table = Table::new(titles);
    for row in &rows {
        let share = if row.share > 0.0 { format!("{:.1}%", row.share * 100.0) } else { String::new() };
        let mut cells = vec![
            context.lang.text(&format!("watch-phase-{}", row.phase.key())),
            shortened(&row.kernel, MOST),
            row.family.key().to_owned(),
            row.weights.clone().unwrap_or_default(),
            number(row.ne11),
            row.launches.to_string(),
            share,
        ];
        if timed {
            let told = |ns: fn(Took) -> u64| row.took.map(|took| microseconds(ns(took))).unwrap_or_default();
            cells.extend([told(|took| took.total_ns), told(Took::mean_ns)]);
        }
        table.row(cells);
    }
    table
}

/// All columns, for programs.
pub fn full(tally: &Tally) -> Table {
    let mut table = Table::new(KEYS.iter().map(|key| Column::left(key, *key)).collect());
    for row in tally.rows() {
        table.row([
            row.phase.key().to_owned(),
            row.kernel.clone(),
            row.name.text(),
            row.family.key().to_owned(),
            row.path.map(|path| path.to_string()).unwrap_or_default(),
            row.weights.clone().unwrap_or_default(),
            number(row.ne11),
            grids(&row),
            dims(row.block),
            row.file.clone(),
            number(row.bundle.map(u64::from)),
            row.launches.to_string(),
            number(row.took.map(|took| took.launches)),
            number(row.took.map(|took| took.total_ns)),
            number(row.took.map(Took::mean_ns)),
        ]);
    }
    table
}

fn microseconds(ns: u64) -> String {
    format!("{}.{:01} us", ns / 1000, ns % 1000 / 100)
}

fn number(value: Option<u64>) -> String {
    value.map(|n| n.to_string()).unwrap_or_default()
}

pub fn grids(row: &Row) -> String {
    let list: Vec<String> = row.grids.iter().map(|grid| dims(*grid)).collect();
    list.join(" ")
}

fn dims([x, y, z]: [u32; 3]) -> String {
    if x == 0 { String::new() } else { format!("{x}x{y}x{z}") }
}

/// Shortens a name: template instances of some libraries have a thousand characters. The machine formats have them in
/// full.
fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let start: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{start}…")
}
