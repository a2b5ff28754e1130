//! The answer as data for programs: the trees, the chains from the entry to the launches, and the related lines.

use super::facts::Fact;
use super::trace::{Chain, CodeLocation};
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// The output of `source TREE --chain`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Chains {
    /// The trees that were read together, in the given order.
    pub trees: Vec<Tree>,
    /// Always `declared`: what the source allows, not what ran.
    pub rung: Rung,
    /// The HTTP path whose requests were followed; empty for a chain between two functions.
    pub route: String,
    pub chains: Vec<Chain>,
    /// Whether a chain was found, with the files read and the calls that could not be followed.
    pub found: Conclusion,
    pub beside: Vec<Beside>,
}

/// Shown for a call through a function value: no declaration determines the called function.
pub(crate) const THROUGH_A_VALUE: &str = "(*f)()";

/// Whether chains were found in these trees. Unread files and calls through values can hide one.
pub fn ways_found(trees: &[&str], chains: &[Chain], files: usize, unread: &[String]) -> Conclusion {
    let files = files as u64;
    let mut basis = Basis::new("source", trees.iter().copied(), Rung::Declared, Unit::Files, files, files);
    for what in unread {
        basis = basis.without(what, None, LeftOutWhy::Unreadable);
    }
    let whole = chains.iter().filter(|chain| chain.open.is_empty()).count() as u64;
    let calls: u64 = chains.iter().map(|chain| chain.unresolved_calls as u64).sum();
    if calls > 0 {
        basis = basis.without(THROUGH_A_VALUE, Some(calls), LeftOutWhy::OutOfView);
    } else if whole == 0 {
        basis = basis.without(THROUGH_A_VALUE, None, LeftOutWhy::OutOfView);
    }
    basis.presence(whole)
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tree {
    pub label: String,
    pub commit: Option<String>,
}

/// A source line that decides a fact on which a chain depends.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Beside {
    pub subject: &'static str,
    pub at: CodeLocation,
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
