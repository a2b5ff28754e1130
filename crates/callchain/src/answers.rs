//! The answer as programs get it: the trees, the ways from the entry to the launches, and the lines beside them.

use super::facts::Fact;
use super::trace::{Chain, Place};
use evidence::Rung;
use schemars::JsonSchema;
use serde::Serialize;

/// What `source TREE --chain` answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Chains {
    /// The trees that were read together, in the order in which they were given.
    pub trees: Vec<Tree>,
    /// Always `declared`: what the source allows, not what ran.
    pub rung: Rung,
    /// The path whose requests were followed; empty between two functions.
    pub route: String,
    pub chains: Vec<Chain>,
    pub beside: Vec<Beside>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tree {
    pub label: String,
    pub commit: Option<String>,
}

/// A line that settles what a chain hangs on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Beside {
    pub subject: &'static str,
    pub at: Place,
    pub text: String,
}

impl answer::Answer for Chains {
    const SCHEMA: &'static str = "whichkernel.chain/2";
}

impl From<&Fact> for Beside {
    fn from(fact: &Fact) -> Beside {
        Beside { subject: fact.subject.word(), at: fact.at.clone(), text: fact.text.clone() }
    }
}
