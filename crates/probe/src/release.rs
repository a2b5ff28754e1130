//! Which of the built-in decision tables speak for a server: its own build, or those before and after it.

use crate::server::{Identity, Kind, build_number, release};
use source::table::{self, Table};

const VENDORS: &str = include_str!("../data/ollama-vendors.tsv");

/// The llama.cpp inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    pub number: u64,
    /// Where the number comes from, in the field's words.
    pub from: String,
    /// The server is newer than what is known here: it has this build or a later one inside.
    pub or_later: bool,
}

/// The build of llama.cpp that a server is made of, as far as its version tells.
pub fn build(identity: &Identity, logged: Option<u64>) -> Option<Build> {
    let version = identity.version.as_deref();
    match identity.kind {
        Kind::Ollama => {
            let wanted = release(version?)?;
            let rows = VENDORS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
                let mut cells = line.split('\t');
                Some((release(cells.next()?)?, cells.next()?.parse().ok()?, cells.next()?))
            });
            let rows: Vec<([u64; 3], u64, &str)> = rows.collect();
            let (first, number, commit) = *rows.iter().rfind(|(first, ..)| *first <= wanted)?;
            // What comes after the last release of the list may have anything newer inside.
            let or_later = rows.last().is_some_and(|(last, ..)| wanted > *last);
            let [a, b, c] = first;
            let from = match or_later {
                true => format!("Ollama {a}.{b}.{c}, the last that is known here, has llama.cpp {commit} inside"),
                false => format!("Ollama {} has llama.cpp {commit} inside", version?),
            };
            Some(Build { number, from, or_later })
        }
        _ => {
            let number = version.and_then(build_number).or(logged)?;
            Some(Build { number, from: format!("the server says build {number}"), or_later: false })
        }
    }
}

/// The tables to ask: one where it is exactly that build, else those on both sides of it. `exact` says which.
#[derive(Debug, Clone)]
pub struct Tables {
    pub list: Vec<&'static Table>,
    pub exact: bool,
    /// The server is newer than every table: what changed since is not known here.
    pub beyond: bool,
}

pub fn tables(identity: &Identity, build: &Build) -> Tables {
    // Ollama's own tree has defines of its own: its table goes first where it vendors the same llama.cpp.
    if identity.kind == Kind::Ollama && build.number == OLLAMA_TABLE && !build.or_later {
        let own = table::all().iter().filter(|table| table.source == "ollama").collect();
        return Tables { list: own, exact: false, beyond: false };
    }
    let mut numbered: Vec<(u64, &'static Table)> =
        table::all().iter().filter_map(|table| Some((build_number(&table.version)?, table))).collect();
    numbered.sort_by_key(|(number, _)| *number);
    if let (true, Some((_, newest))) = (build.or_later, numbered.last()) {
        return Tables { list: vec![newest], exact: false, beyond: true };
    }
    let before = numbered.iter().rev().find(|(number, _)| *number <= build.number);
    let after = numbered.iter().find(|(number, _)| *number >= build.number);
    let exact = before.is_some_and(|(number, _)| *number == build.number);
    let list = match (before, after) {
        (Some(before), _) if exact => vec![before.1],
        (before, after) => before.into_iter().chain(after).map(|(_, table)| *table).collect(),
    };
    Tables { list, exact, beyond: after.is_none() }
}

/// The build that the tree of the table `ollama` vendors.
const OLLAMA_TABLE: u64 = 7437;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, version: &str) -> (u64, Vec<&'static str>, bool, bool) {
        let identity = Identity { kind, version: Some(version.to_owned()), ..Identity::default() };
        let build = build(&identity, None).unwrap();
        let tables = tables(&identity, &build);
        let names = tables.list.iter().map(|table| table.version.as_str()).collect();
        (build.number, names, tables.exact, tables.beyond)
    }

    #[test]
    fn tables_on_both_sides_of_a_build() {
        assert_eq!(of(Kind::Ollama, "0.9.3"), (5359, vec!["b5200", "b5664"], false, false));
        assert_eq!(of(Kind::LlamaServer, "b5664-3cb203c8"), (5664, vec!["b5664"], true, false));
        assert_eq!(of(Kind::LlamaServer, "b11669-Debian"), (11669, vec!["b10586"], false, true));
        assert_eq!(of(Kind::Ollama, "0.13.5").1, ["4fda6980"]);
        // Newer than every release that is listed: it is not said to have the last one's build.
        assert_eq!(of(Kind::Ollama, "7.0.0"), (10488, vec!["b10586"], false, true));
        let identity = Identity { kind: Kind::Ollama, version: Some("7.0.0".into()), ..Identity::default() };
        let from = build(&identity, None).unwrap().from;
        assert!(!from.contains("7.0.0") && from.contains("the last that is known here"), "{from}");
    }
}
