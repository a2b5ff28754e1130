//! Presence questions, each with its conclusion.

use crate::census::{Groups, Question};
use answer::Answer;
use evidence::{Conclusion, Word};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether a file has any instruction of a family, or with a prefix.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Has {
    pub answers: Vec<HasAnswer>,
    /// Whether every word of every code section was an instruction or padding.
    pub complete: bool,
    pub undecoded: usize,
    pub cut: usize,
}

impl Answer for Has {
    const SCHEMA: &'static str = "whichkernel.isa-has/1";
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct HasAnswer {
    pub what: String,
    pub count: u64,
    /// True if an instruction was found, or if every word was decoded.
    pub certain: bool,
    /// Related families that are present but were not requested.
    pub related: BTreeMap<&'static str, u64>,
    pub conclusion: Conclusion,
}

impl HasAnswer {
    pub fn new(what: &str, question: &Question, groups: &Groups) -> Self {
        let conclusion = question.conclude(groups);
        HasAnswer {
            what: what.to_owned(),
            count: question.count(groups),
            certain: conclusion.word() != Word::NotKnown,
            related: question.beside(groups).into_iter().map(|(family, count)| (family.key(), count)).collect(),
            conclusion,
        }
    }
}

impl Has {
    pub fn new(answers: Vec<HasAnswer>, groups: &Groups) -> Self {
        let (undecoded, cut) = (groups.undecoded.len(), groups.cut.len());
        Has { answers, complete: groups.is_complete(), undecoded, cut }
    }
}
