//! `cargo xtask deep siege accounts`: runs every constructed case and prints a table by observer. Its column "different
//! and silent" must be 0.

use super::Options;
use super::cases::{self, CASES, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts: runs, equal, said, silent, refused, skipped.
type Row = [u64; 6];

/// True if no case was different and silent.
pub fn run(options: &Options) -> anyhow::Result<bool> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut list = String::from("| observer | case | in tests | truth | outcome |\n|---|---|---|---|---|\n");
    let mut held = true;
    for case in CASES.iter().flat_map(|list| list.iter()).filter(|case| options.wants(case.name)) {
        eprintln!("{}: {}", case.observer, case.name);
        let outcome = cases::run(&options.tool, case)?;
        let (column, truth, text) = match &outcome {
            Outcome::Equal { truth } => (1, truth.as_str(), "equal".to_owned()),
            Outcome::Said { truth, said } => (2, truth.as_str(), format!("said: {said}")),
            Outcome::Silent { truth, said } => (3, truth.as_str(), format!("**different and silent**: {said}")),
            Outcome::Refused { why } => (4, "", format!("refused: {why}")),
            Outcome::Skipped { why } => (5, "", format!("skipped: {why}")),
        };
        held &= column != 3;
        let row = rows.entry(case.observer).or_default();
        row[0] += 1;
        row[column] += 1;
        let kind = if case.quick { "quick" } else { "" };
        let one_line = |text: &str| text.replace('\n', " ").replace('|', "\\|");
        writeln!(list, "| {} | {} | {kind} | {} | {} |", case.observer, case.name, one_line(truth), one_line(&text))?;
    }
    let mut table = String::from(
        "| observer | cases | equal | said | **different and silent** | refused | skipped |\n|---|---|---|---|---|---|---|\n",
    );
    for (observer, [cases, equal, said, silent, refused, skipped]) in rows {
        writeln!(table, "| {observer} | {cases} | {equal} | {said} | {silent} | {refused} | {skipped} |")?;
    }
    let text = format!("{table}\n{list}");
    std::fs::write(options.out.join("accounts.md"), &text)?;
    print!("{text}");
    Ok(held)
}
