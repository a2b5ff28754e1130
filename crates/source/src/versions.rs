//! Matches versions that users have (`0.12.6`, `b9999`, `ollama@0.12.6`) with the releases that have a table.
//!
//! An Ollama release is identified by its llama.cpp ([`crate::pins`]). Ollama's own patches are not in those tables. A
//! commit with its own table is exact.

use crate::decision_table::{DecisionTable, all, find};
use crate::pins::{Pin, built_in, number};
use std::sync::OnceLock;

fn pins() -> &'static [Pin] {
    static PINS: OnceLock<Vec<Pin>> = OnceLock::new();
    PINS.get_or_init(built_in)
}

/// The tables that apply to a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// There is a table for exactly this version.
    Exact(&'static DecisionTable),
    /// It is between two versions with a table (or after the last): both are evaluated.
    Between {
        /// The interpreted version: `ollama 0.12.6 (llama.cpp b6752)`.
        what: String,
        below: Option<&'static DecisionTable>,
        above: Option<&'static DecisionTable>,
    },
}

/// None if the version is not recognised.
pub fn resolve(wanted: &str) -> Option<Known> {
    let (source, version) = match wanted.split_once(['@', ' ']) {
        Some((source, version)) => (source, version),
        None => ("", wanted),
    };
    let release = version.strip_prefix('v').unwrap_or(version);
    if source != "llama.cpp"
        && let Some(pin) = pin(release)
    {
        return Some(around(&format!("ollama {release} (llama.cpp {})", pin.build), number(&pin.build)?));
    }
    if let Some(table) = find(wanted).or_else(|| find(version)) {
        return Some(Known::Exact(table));
    }
    let build = number(version)?;
    Some(around(&format!("llama.cpp b{build}"), build))
}

fn pin(release: &str) -> Option<&'static Pin> {
    pins().iter().find(|pin| pin.release == release)
}

/// Every Ollama release whose llama.cpp is known, oldest first.
pub fn ollama_releases() -> impl Iterator<Item = &'static str> {
    pins().iter().map(|pin| pin.release.as_str())
}

fn around(what: &str, build: u64) -> Known {
    let numbered = || all().iter().filter_map(|table| Some((number(&table.version)?, table)));
    if let Some((_, table)) = numbered().find(|(known, _)| *known == build) {
        return Known::Exact(table);
    }
    let below = numbered().filter(|(known, _)| *known < build).max_by_key(|(known, _)| *known).map(|(_, table)| table);
    let above = numbered().filter(|(known, _)| *known > build).min_by_key(|(known, _)| *known).map(|(_, table)| table);
    Known::Between { what: what.to_owned(), below, above }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &str) -> (String, Option<&'static str>, Option<&'static str>) {
        match resolve(wanted) {
            Some(Known::Exact(table)) => (table.version.clone(), None, None),
            Some(Known::Between { what, below, above }) => {
                (what, below.map(|it| it.version.as_str()), above.map(|it| it.version.as_str()))
            }
            None => (String::new(), None, None),
        }
    }

    #[test]
    fn versions_that_people_have_find_their_neighbours() {
        let ollama = ("ollama 0.12.6 (llama.cpp b6752)".to_owned(), Some("b6201"), Some("b6841"));
        assert_eq!(names("0.12.6"), ollama);
        assert_eq!(names("v0.12.6"), ollama);
        assert_eq!(names("ollama@0.12.6"), ollama);
        assert_eq!(names("b9999"), ("llama.cpp b9999".to_owned(), Some("b9000"), Some("b10000")));
        assert_eq!(names("b99999"), ("llama.cpp b99999".to_owned(), Some("b10586"), None));
        assert_eq!(names("b10586").0, "b10586");
        assert_eq!(names("4fda6980").0, "4fda6980");
        assert_eq!(names("ollama@4fda6980").0, "4fda6980");
        assert_eq!(resolve("nonsense"), None);
    }
}
