//! The built-in decision tables that apply to a server: its own build, or those before and after it.

use server::identity::build_number;
use server::{Build, Identity, Kind};
use source::decision_table::{self, DecisionTable};

/// The tables to use: one if it is exactly that build, else those on both sides of it. `exact` tells which of the two.
#[derive(Debug, Clone)]
pub struct Tables {
    pub list: Vec<&'static DecisionTable>,
    pub exact: bool,
    /// The server is newer than every table: later changes are unknown.
    pub beyond: bool,
}

pub fn tables(identity: &Identity, build: &Build) -> Tables {
    // Ollama's tree has its own defines, so its table comes first if it vendors the same llama.cpp.
    if identity.kind == Kind::Ollama && build.number == OLLAMA_TABLE && !build.or_later {
        let own = decision_table::all().iter().filter(|table| table.source == "ollama").collect();
        return Tables { list: own, exact: false, beyond: false };
    }
    let mut numbered: Vec<(u64, &'static DecisionTable)> =
        decision_table::all().iter().filter_map(|table| Some((build_number(&table.version)?, table))).collect();
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
    use server::llama_build::build;

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
        // Newer than every listed release: it is not assumed to have the last one's build.
        assert_eq!(of(Kind::Ollama, "7.0.0"), (10488, vec!["b10586"], false, true));
        let identity = Identity { kind: Kind::Ollama, version: Some("7.0.0".into()), ..Identity::default() };
        let from = build(&identity, None).unwrap().from.to_string();
        assert!(!from.contains("7.0.0") && from.contains("the latest version known here"), "{from}");
    }
}
