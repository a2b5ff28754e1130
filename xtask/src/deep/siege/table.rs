//! The results so far, line by line, and the tables made from them.

use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// One JSON object per line; the first names the build.
pub struct Memory {
    file: File,
    lines: Vec<Value>,
}

impl Memory {
    pub fn open(path: &Path, build: &str) -> anyhow::Result<Memory> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // A line that a kill truncated is ignored.
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let same = lines.first().is_some_and(|line| line["build"] == build);
        let mut file = OpenOptions::new().create(true).write(true).truncate(!same).append(same).open(path);
        let file = file.as_mut().map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        let mut memory = Memory { file: file.try_clone().context("the file")?, lines: Vec::new() };
        if same {
            memory.lines = lines.into_iter().skip(1).collect();
        } else {
            writeln!(memory.file, "{}", json!({"build": build}))?;
        }
        Ok(memory)
    }

    pub fn lines(&self) -> &[Value] {
        &self.lines
    }

    pub fn count(&self, name: &str) -> u64 {
        self.lines.iter().filter(|line| line["name"] == name).count() as u64
    }

    pub fn add(&mut self, line: &Value) -> anyhow::Result<()> {
        writeln!(self.file, "{line}")?;
        self.lines.push(line.clone());
        Ok(())
    }
}

/// The runs of one kind under one observer.
#[derive(Debug, Default)]
pub struct Tally {
    runs: u64,
    verdicts: BTreeMap<String, u64>,
    harmed: u64,
    too_high: u64,
    truth: u64,
    /// The first result that was not equal.
    word: String,
}

impl Tally {
    pub fn held(&self) -> bool {
        self.of("silent") + self.of("broken") + self.harmed + self.too_high == 0
    }

    fn of(&self, verdict: &str) -> u64 {
        self.verdicts.get(verdict).copied().unwrap_or(0)
    }

    /// The verdicts with their counts.
    fn cell(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (name, count) in &self.verdicts {
            let strong = if matches!(name.as_str(), "silent" | "broken") { "**" } else { "" };
            parts.push(format!("{strong}{} {count}{strong}", shown(name)));
        }
        if self.harmed > 0 {
            parts.push(format!("**harmed {}**", self.harmed));
        }
        parts.join(", ")
    }

    /// A Markdown table with a row per kind and a column per observer, the sums, and one example for each result that
    /// was not equal.
    pub fn table(rows: &[(String, Tally)]) -> String {
        let split = |name: &str| name.split_once(" | ").map(|(kind, observer)| (kind.to_owned(), observer.to_owned()));
        let (mut kinds, mut observers): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for (kind, observer) in rows.iter().filter_map(|(name, _)| split(name)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            if !observers.contains(&observer) {
                observers.push(observer);
            }
        }
        let mut out = format!("| kind | launches | {} |\n", observers.join(" | "));
        out.push_str(&format!("|---|---|{}\n", "---|".repeat(observers.len())));
        for kind in &kinds {
            let of = |observer: &String| rows.iter().find(|(name, _)| *name == format!("{kind} | {observer}"));
            let launches = observers.iter().filter_map(of).map(|(_, row)| row.truth).max().unwrap_or(0);
            let cells: Vec<String> =
                observers.iter().map(|observer| of(observer).map(|(_, row)| row.cell()).unwrap_or_default()).collect();
            out.push_str(&format!("| {kind} | {launches} | {} |\n", cells.join(" | ")));
        }
        out.push_str("\n| observer | runs | correct | gap reported | **wrong without warning** | refused | broken | harmed | rung too high |\n|---|---|---|---|---|---|---|---|---|\n");
        for observer in &observers {
            let mine = || {
                rows.iter().filter(|(name, _)| split(name).is_some_and(|(_, of)| of == *observer)).map(|(_, row)| row)
            };
            let verdict = |name: &str| mine().map(|row| row.of(name)).sum::<u64>();
            let figures = [
                mine().map(|row| row.runs).sum(),
                verdict("equal"),
                verdict("said"),
                verdict("silent"),
                verdict("refused"),
                verdict("broken"),
                mine().map(|row| row.harmed).sum(),
                mine().map(|row| row.too_high).sum(),
            ];
            out.push_str(&format!("| {observer} | {} |\n", join(&figures)));
        }
        out.push('\n');
        // One example each; examples with the same text are grouped.
        let mut examples: Vec<(String, Vec<String>)> = Vec::new();
        for (name, row) in rows.iter().filter(|(_, row)| row.of("silent") + row.of("broken") + row.harmed > 0) {
            let word: String = row.word.chars().take(140).collect();
            let name = name.replace(" | ", ", ");
            match examples.iter_mut().find(|(known, _)| *known == word) {
                Some((_, names)) => names.push(name),
                None => examples.push((word, vec![name])),
            }
        }
        for (word, names) in examples {
            out.push_str(&format!("- {word} ({})\n", names.join("; ")));
        }
        out
    }
}

/// The verdict as the page names it.
fn shown(verdict: &str) -> &str {
    match verdict {
        "equal" => "correct",
        "said" => "gap reported",
        "silent" => "wrong without warning",
        other => other,
    }
}

fn join(figures: &[u64]) -> String {
    figures.iter().map(u64::to_string).collect::<Vec<_>>().join(" | ")
}

/// The tallies in order of first occurrence.
pub fn tallies(lines: &[Value]) -> Vec<(String, Tally)> {
    let mut rows: Vec<(String, Tally)> = Vec::new();
    for line in lines {
        let name = line["name"].as_str().unwrap_or_default();
        let place = rows.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            rows.push((name.to_owned(), Tally::default()));
            rows.len() - 1
        });
        let row = &mut rows[place].1;
        let verdict = line["verdict"].as_str().unwrap_or_default();
        row.runs += 1;
        *row.verdicts.entry(verdict.to_owned()).or_default() += 1;
        row.harmed += u64::from(!line["harmed"].is_null());
        row.too_high += u64::from(!line["rung"].is_null());
        row.truth = line["truth"].as_u64().unwrap_or(0);
        let word =
            [&line["word"], &line["harmed"]].into_iter().find_map(|word| word.as_str().filter(|word| !word.is_empty()));
        if row.word.is_empty() || verdict == "silent" {
            row.word = word.unwrap_or_default().to_owned();
        }
    }
    rows
}
