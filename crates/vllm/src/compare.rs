//! Two answers compared: two versions of vLLM, or two environments.

use crate::answer::{CaseAnswer, Rules};
use crate::question::Case;
use answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The choices that differ between two versions of vLLM.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesDiff {
    pub model: String,
    /// vLLM's version, and its runtime.
    pub before: String,
    pub after: String,
    pub cases: u64,
    /// Cases in which at least one side is not completely known.
    pub unknown: u64,
    pub changes: Vec<Changed>,
}

impl Answer for RulesDiff {
    const SCHEMA: &'static str = "whichkernel.vllm-diff/1";
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    pub card: String,
    /// attention, mla-prefill, moe, linear, kv-cache, failure, or a product with its size and tokens
    pub topic: String,
    /// None if this side did not make the choice.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Compares two answers to the same question.
pub fn compare(before: &Rules, after: &Rules) -> RulesDiff {
    let mut changes = Vec::new();
    let mut unknown = 0;
    for (one, other) in before.cases.iter().zip(&after.cases) {
        let open = |case: &CaseAnswer| case.outcome == crate::Outcome::Unknown;
        unknown += u64::from(open(one) || open(other));
        changes.extend(changed(one, other));
    }
    RulesDiff {
        model: before.model.clone(),
        before: side(before),
        after: side(after),
        cases: before.cases.len() as u64,
        unknown,
        changes,
    }
}

fn side(rules: &Rules) -> String {
    let version = rules.cases.iter().find_map(|case| case.version.clone()).unwrap_or_else(|| "?".to_owned());
    format!("{version} ({})", rules.runtime)
}

/// The facts in which two cases differ.
pub fn changed(one: &CaseAnswer, other: &CaseAnswer) -> Vec<Changed> {
    let (before, after): (BTreeMap<_, _>, BTreeMap<_, _>) = (one.facts(), other.facts());
    let topics: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let row = |topic: &String| {
        let (was, is) = (before.get(topic), after.get(topic));
        let changed =
            Changed { card: one.card.clone(), topic: topic.clone(), before: was.cloned(), after: is.cloned() };
        (was != is).then_some(changed)
    };
    topics.into_iter().filter_map(row).collect()
}

/// The maximum number of inputs that are tried one by one.
const MOST: usize = 16;

/// The same case with one input changed: each boolean variable that a choice read, and each optional package.
pub fn flips(case: &Case, answer: &CaseAnswer) -> Vec<(String, Case)> {
    let mut names: BTreeMap<&str, bool> = BTreeMap::new();
    for asked in answer.choices.iter().flat_map(|choice| &choice.asked) {
        match asked.value.as_str() {
            _ if !matches!(asked.kind.as_str(), "environment" | "set") => None,
            "true" => names.insert(&asked.name, true),
            "false" => names.insert(&asked.name, false),
            _ => None,
        };
    }
    let mut out = Vec::new();
    for package in ["aiter", "flash_attn"] {
        let mut other = case.clone();
        let had = other.with.iter().any(|name| name == package);
        other.with.retain(|name| name != package);
        if !had {
            other.with.push(package.to_owned());
        }
        out.push((format!("{}{package}", if had { "-" } else { "+" }), other));
    }
    for (name, on) in names {
        let mut other = case.clone();
        let value = if on { "0" } else { "1" };
        other.environment.insert(name.to_owned(), value.to_owned());
        out.push((format!("{name}={value}"), other));
    }
    out.truncate(MOST);
    out
}
