//! All inputs that `explain` accepts: cards with their aliases and generations, types, versions.

use crate::decision_table::{COLUMNS, all};
use crate::pins::built_in;
use crate::words::types;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The cards, types and versions that `explain` knows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Choices {
    pub cards: Vec<CardChoice>,
    /// Targets that the tables have and that no listed card has.
    pub other_targets: Vec<String>,
    pub types: Vec<TypeChoice>,
    /// Versions with a table of their own, oldest first.
    pub versions: Vec<VersionChoice>,
    /// Ollama's releases, each with its llama.cpp build.
    pub ollama: Vec<OllamaChoice>,
    /// The largest number of tokens.
    pub most_tokens: i64,
}

impl answer::Answer for Choices {
    const SCHEMA: &'static str = "whichkernel.explain-choices/1";
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CardChoice {
    /// The name for the command line: `rx-9070-xt`.
    pub name: String,
    /// The name on the box: `RX 9070 XT`.
    pub title: String,
    pub aliases: Vec<String>,
    pub target: String,
    pub generation: Option<&'static str>,
    /// Whether this card represents its target.
    pub reference: bool,
    /// Whether the tables cover the card's target.
    pub in_tables: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TypeChoice {
    pub name: String,
    /// The tensor types in a file of this type, most frequent first; itself for a tensor type.
    pub tensors: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionChoice {
    /// `llama.cpp` or `ollama`.
    pub source: String,
    pub version: String,
    /// The date; empty if it is unknown.
    pub date: String,
    pub commit: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OllamaChoice {
    pub release: String,
    pub date: String,
    pub build: String,
}

/// Lists the cards, types and versions that can be asked about.
pub fn choices() -> Choices {
    let newest = all().last();
    let in_tables = |target: &str| newest.is_some_and(|table| table.targets.contains_key(target));
    let cards: Vec<CardChoice> = gpu::listed()
        .into_iter()
        .map(|card| CardChoice {
            in_tables: in_tables(&card.target),
            name: card.name,
            title: card.title,
            aliases: card.aliases,
            target: card.target,
            generation: card.generation,
            reference: card.reference,
        })
        .collect();
    let known: BTreeSet<&str> = cards.iter().map(|card| card.target.as_str()).collect();
    let targets = newest.into_iter().flat_map(|table| table.targets.keys());
    let other_targets = targets.filter(|target| !known.contains(target.as_str())).cloned().collect();
    let tensors: BTreeSet<&str> = newest
        .into_iter()
        .flat_map(|table| table.targets.values())
        .flat_map(|it| it.types.keys())
        .map(String::as_str)
        .collect();
    let mixes = gguf::file_types().filter(|name| !tensors.contains(name));
    let names: BTreeSet<&str> = tensors.iter().copied().chain(mixes).collect();
    Choices {
        other_targets,
        types: names
            .into_iter()
            .filter_map(|name| Some(TypeChoice { name: name.to_owned(), tensors: types(name)? }))
            .collect(),
        versions: all()
            .iter()
            .map(|table| VersionChoice {
                source: table.source.clone(),
                version: table.version.clone(),
                date: table.date.clone(),
                commit: table.commit.clone(),
            })
            .collect(),
        ollama: built_in()
            .into_iter()
            .map(|pin| OllamaChoice { release: pin.release, date: pin.date, build: pin.build })
            .collect(),
        most_tokens: COLUMNS,
        cards,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Nowhere, card};

    #[test]
    fn everything_listed_is_understood() {
        let choices = choices();
        for listed in &choices.cards {
            for name in listed.aliases.iter().chain([&listed.name, &listed.title]) {
                let found = card(name, &Nowhere).unwrap_or_else(|_| panic!("{name}"));
                assert_eq!(found.target, listed.target, "{name}");
            }
        }
        assert!(choices.types.iter().any(|kind| kind.name == "Q4_K_M" && kind.tensors == ["Q4_K", "Q6_K"]));
        for version in &choices.versions {
            assert!(crate::versions::resolve(&version.version).is_some(), "{}", version.version);
        }
        let most = choices.cards.iter().filter(|card| card.reference && card.in_tables).count();
        assert_eq!(most + choices.other_targets.len(), all().last().expect("a table").targets.len());
    }
}
