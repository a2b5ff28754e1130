//! A fact: a topic, what it is about, and the value that was seen. `crates/evidence/topics.md` lists the topics in use.

use crate::{Span, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Parameters by name: `type = "Q4_K"`, `columns = "9..256"`. In a claim, a value may also be a pattern, see
/// [`About::speaks_for`]. Facts with the same parameters share them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct About(pub Arc<BTreeMap<String, String>>);

impl About {
    pub fn new<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        About(Arc::new(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()))
    }

    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<String>) {
        Arc::make_mut(&mut self.0).insert(key.into(), value.into());
    }

    /// The address of the content. It is the same for two facts that share their content.
    pub(crate) fn place(&self) -> *const BTreeMap<String, String> {
        Arc::as_ptr(&self.0)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Whether a fact about `self` answers `asked`. Every requested parameter must be given and must match. Further
    /// parameters make the fact more specific, not irrelevant. `asked` may contain patterns: `*` within a text, `A|B`
    /// for one of several, and ranges of numbers. A fact matches a range if it is inside the range or covers a part of
    /// it.
    pub fn speaks_for(&self, asked: &About) -> bool {
        asked.0.iter().all(|(key, pattern)| self.get(key).is_some_and(|value| fits(value, pattern)))
    }

    /// The part of `self`'s question that none of these facts covers: parameter and gap. `A|B` asks for both, and a
    /// range asks for every number in it. The matches of `*` cannot be listed, so any fact is enough.
    pub fn uncovered<'a>(&self, facts: impl Iterator<Item = &'a About> + Clone) -> Vec<(String, String)> {
        let mut gaps = Vec::new();
        for one in self.alternatives() {
            let speaking = facts.clone().filter(|fact| fact.speaks_for(&one));
            if speaking.clone().next().is_none() {
                let asked: Vec<&String> = one.0.keys().filter(|key| self.get(key) != one.get(key)).collect();
                let key = asked.first().map_or_else(String::new, |key| (*key).clone());
                let value = one.get(&key).unwrap_or_default().to_owned();
                gaps.push((key, value));
                continue;
            }
            for (key, range) in one.ranges() {
                let parts: Vec<Span> =
                    speaking.clone().filter_map(|fact| fact.get(key)).filter_map(Span::parse).collect();
                gaps.extend(range.uncovered(&parts).into_iter().map(|gap| (key.to_owned(), gap.to_string())));
            }
        }
        gaps
    }

    /// Parameters that are ranges of numbers.
    pub fn ranges(&self) -> impl Iterator<Item = (&str, Span)> {
        let range = |pattern: &str| pattern.contains("..").then(|| Span::parse(pattern)).flatten();
        self.0.iter().filter_map(move |(key, pattern)| Some((key.as_str(), range(pattern)?)))
    }

    /// Every combination of the alternatives in `A|B`; only the first ones if there are too many.
    fn alternatives(&self) -> Vec<About> {
        const MOST: usize = 256;
        let mut all = vec![About::default()];
        for (key, pattern) in self.0.iter() {
            let mut next = Vec::new();
            for (about, one) in all.iter().flat_map(|about| pattern.split('|').map(move |one| (about, one))) {
                let mut about = about.clone();
                about.insert(key, one);
                next.push(about);
            }
            next.truncate(MOST);
            all = next;
        }
        all
    }
}

pub(crate) fn fits(value: &str, pattern: &str) -> bool {
    pattern.split('|').any(|one| match (Span::parse(value), Span::parse(one)) {
        (Some(value), Some(range)) => value.overlaps(range),
        _ => glob(value, one),
    })
}

/// Whether a value matches a pattern in which `*` matches any text, including none.
pub(crate) fn glob(value: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| value.strip_prefix(first)) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = rest.get(at + piece.len()..).unwrap_or("");
    }
    rest.ends_with(last)
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.0.iter().enumerate() {
            write!(f, "{}{key}={value}", if i > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// How exact the value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    #[default]
    Exact,
    /// A lower bound: at least this many, or at least these. This is the result of an incomplete scan.
    AtLeast,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Nouns separated by dots, most general first: `matmul.path`, `kernel.registers`, `library.loaded`.
    pub topic: String,
    #[serde(default)]
    pub about: About,
    pub value: Value,
    #[serde(default)]
    pub bound: Bound,
}

impl Fact {
    pub fn new(topic: impl Into<String>, about: About, value: impl Into<Value>) -> Self {
        Fact { topic: topic.into(), about, value: value.into(), bound: Bound::Exact }
    }

    /// A fact whose value is a lower bound: there may be more.
    pub fn at_least(topic: impl Into<String>, about: About, value: impl Into<Value>) -> Self {
        Fact { bound: Bound::AtLeast, ..Fact::new(topic, about, value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_documented() {
        assert!(fits("mul_mat_q<Q4_K,112,false>", "mul_mat_q<Q4_K*"));
        assert!(fits("librocblas.so.4.3.60303", "*rocblas*60303"));
        assert!(!fits("librocblas.so.4", "*rocblas"));
        assert!(fits("Q5_K", "Q4_K|Q5_K|Q6_K"));
        assert!(fits("290", "257.."));
        assert!(!fits("290", "9..256"));
        assert!(fits("aba", "a*a"));
        assert!(!fits("a", "a*a"));
    }
}
