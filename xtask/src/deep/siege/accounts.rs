//! `cargo xtask deep siege accounts`: runs every constructed case and prints a table by observer. Its column "wrong
//! without warning" must be 0.

use super::Options;
use super::cases::{self, CASES, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts: runs, correct, gap reported, wrong without warning, refused, skipped.
type Row = [u64; 6];

/// True if no case was wrong without warning.
pub fn run(options: &Options) -> anyhow::Result<bool> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let (mut list, mut last) = (String::new(), "");
    let mut held = true;
    for case in CASES.iter().flat_map(|list| list.iter()).filter(|case| options.wants(case.name)) {
        eprintln!("{}: {}", case.observer, case.name);
        let outcome = cases::run(&options.tool, case)?;
        let (column, result, truth, details) = match &outcome {
            Outcome::Equal { truth } => (1, "correct", truth.as_str(), ""),
            Outcome::Said { truth, said } => (2, "gap reported", truth.as_str(), said.as_str()),
            Outcome::Silent { truth, said } => (3, "**wrong without warning**", truth.as_str(), said.as_str()),
            Outcome::Refused { why } => {
                let truth = if case.observer == "paths" { "refused" } else { "" };
                (4, "refused", truth, why.trim_start_matches("whichkernel: "))
            }
            Outcome::Skipped { why } => (5, "skipped", "", why.as_str()),
        };
        held &= column != 3;
        let row = rows.entry(case.observer).or_default();
        row[0] += 1;
        row[column] += 1;
        if last != case.observer {
            let head = "| case | every test run | expected | result | details |\n|---|---|---|---|---|";
            writeln!(list, "\n### {}\n\n{head}", case.observer)?;
            last = case.observer;
        }
        let kind = if case.quick { "yes" } else { "" };
        let one_line = |text: &str| text.replace('\n', " ").replace('|', "\\|");
        let name = case.name.strip_prefix(case.observer).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(case.name);
        writeln!(list, "| {name} | {kind} | {} | {result} | {} |", one_line(truth), one_line(details))?;
    }
    let mut table = String::from(
        "| observer | cases | correct | gap reported | **wrong without warning** | refused | skipped |\n|---|---|---|---|---|---|---|\n",
    );
    for (observer, [cases, equal, said, silent, refused, skipped]) in rows {
        writeln!(table, "| {observer} | {cases} | {equal} | {said} | {silent} | {refused} | {skipped} |")?;
    }
    let text = format!("{table}\n{list}");
    std::fs::write(options.out.join("accounts.md"), &text)?;
    print!("{text}");
    Ok(held)
}
