//! The deciding lines of an answer, with the values that the question gave them and their address in the repository.

use crate::decision_table::{DecisionTable, Found, Rule};
use schemars::JsonSchema;
use serde::Serialize;

/// A condition that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecidingLine {
    pub file: String,
    pub line: usize,
    pub condition: String,
    pub outcome: String,
    /// The values behind the condition, by name; the question's own (`cc`, `type`, `ne11`) come last.
    pub values: Vec<(String, String)>,
    /// The line on the web; null if the commit is unknown.
    pub url: Option<String>,
}

impl DecidingLine {
    pub fn new(rule: &Rule, table: &DecisionTable, (target, kind, columns): (&str, &str, i64)) -> DecidingLine {
        let cc = table.targets.get(target).and_then(|target| target.cc);
        let mut values = rule.values.clone();
        let word = |wanted: &str| {
            rule.condition.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == wanted)
        };
        if let Some(cc) = cc.filter(|_| word("cc")) {
            let cc = if cc >= 0x100_0000 { format!("{cc:#x}") } else { cc.to_string() };
            values.push(("cc".to_owned(), cc));
        }
        if word("type") {
            values.push(("type".to_owned(), kind.to_owned()));
        }
        if word("ne11") {
            values.push(("ne11".to_owned(), columns.to_string()));
        }
        DecidingLine {
            file: rule.file.clone(),
            line: rule.line,
            condition: rule.condition.clone(),
            outcome: rule.outcome.clone(),
            values,
            url: in_repository(&table.source, &table.commit, &rule.file, rule.line),
        }
    }

    pub fn all(found: &Found<'_>, table: &DecisionTable, asked: (&str, &str, i64)) -> Vec<DecidingLine> {
        found.rule.iter().map(|rule| DecidingLine::new(rule, table, asked)).collect()
    }

    /// The file name without directories, and the line: `mmq.cu:472`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file.rsplit('/').next().unwrap_or(&self.file), self.line)
    }

    /// Formats the condition: `mmq.cu:472  amd_wmma_available(cc) -> true  [cc = 0x1001201]`.
    pub fn text(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let values = if values.is_empty() { String::new() } else { format!("  [{}]", values.join(", ")) };
        format!("{}  {} -> {}{values}", self.place(), self.condition, self.outcome)
    }

    /// A function's return statement adds nothing to its condition.
    pub fn is_plain_return(&self) -> bool {
        self.condition.starts_with("return true")
    }
}

/// The address of a line on GitHub; None for other trees, or if the commit is unknown.
pub fn in_repository(source: &str, commit: &str, file: &str, line: usize) -> Option<String> {
    let repository = repository(source)?;
    let whole = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| format!("https://github.com/{repository}/blob/{commit}/{file}#L{line}"))
}

fn repository(source: &str) -> Option<&'static str> {
    match source {
        "llama.cpp" => Some("ggml-org/llama.cpp"),
        "ollama" => Some("ollama/ollama"),
        _ => None,
    }
}
