//! `--kernel`: selects kernels by the user's text. Every kernel name that this program prints selects its kernel.
//!
//! A kernel has three names here: mangled, demangled and readable (`mul_mat_q<Q4_K,112,false>`). The text is compared
//! with each, as a regular expression and literally, because C++ names contain many characters that have a special
//! meaning in a regular expression.

use crate::grammar;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The maximum number of values in a range such as `mul_mat_vec_q<Q4_K,1..8>`, which `inspect --bundles` prints.
const RANGE: u64 = 4096;

#[derive(Debug, Clone)]
pub struct NameFilter {
    text: String,
    expression: Option<Pattern>,
    /// The text literally, without spaces, with ranges expanded.
    literal: Pattern,
    /// The kernel's identifier, if the text begins with one and a `<`. It excludes most names quickly.
    identifier: Option<String>,
}

#[derive(Debug, Clone)]
enum Pattern {
    /// A text without special characters.
    Text(String),
    Expression(Regex),
}

impl Pattern {
    fn new(expression: &str) -> Result<Self, regex::Error> {
        const SIZE: usize = 4 << 20;
        if regex::escape(expression) == expression {
            return Ok(Pattern::Text(expression.to_owned()));
        }
        RegexBuilder::new(expression).size_limit(SIZE).build().map(Pattern::Expression)
    }

    fn is_in(&self, name: &str) -> bool {
        match self {
            Pattern::Text(text) => name.contains(text.as_str()),
            Pattern::Expression(regex) => regex.is_match(name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFilter {
    pub text: String,
    pub why: String,
}

say::worded! { struct BadFilter { text, why } => "launch-bad-filter" }

impl NameFilter {
    pub fn new(text: &str) -> Result<Self, BadFilter> {
        let bad = |why: regex::Error| BadFilter { text: text.chars().take(200).collect(), why: why.to_string() };
        let literal = Pattern::new(&spelled_out(&blankless(text))).map_err(bad)?;
        let start = text.strip_prefix('^').unwrap_or(text);
        let end = start.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(start.len());
        let identifier = start.get(..end).filter(|_| start.get(end..).is_some_and(|rest| rest.starts_with('<')));
        let identifier = identifier.filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(NameFilter { text: text.to_owned(), expression: Pattern::new(text).ok(), literal, identifier })
    }

    /// The user's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text selects this kernel. `name` is the demangled name, or the mangled one again.
    pub fn matches(&self, mangled: &str, name: &str) -> bool {
        if self.hits(mangled) || self.hits(name) {
            return true;
        }
        let possible = self.identifier.as_ref().is_none_or(|identifier| mangled.contains(identifier.as_str()));
        possible && self.hits(&grammar::read(name).readable)
    }

    fn hits(&self, name: &str) -> bool {
        self.expression.as_ref().is_some_and(|pattern| pattern.is_in(name)) || self.literal.is_in(&blankless(name))
    }

    /// The names most similar to the text, in their readable form, for "nothing matches".
    pub fn nearest<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        const SHOWN: usize = 3;
        let wanted: String = self.text.chars().take(80).filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let wanted = wanted.to_ascii_lowercase();
        let mut best: BTreeSet<(Reverse<usize>, usize, String)> = BTreeSet::new();
        for name in names {
            let likeness = common(&wanted, &name.to_ascii_lowercase());
            if likeness < 3 || best.last().is_some_and(|worst| best.len() == SHOWN && worst.0 < Reverse(likeness)) {
                continue;
            }
            let readable = grammar::read(name).readable;
            best.insert((Reverse(likeness), readable.len(), readable));
            while best.len() > SHOWN {
                best.pop_last();
            }
        }
        best.into_iter().map(|(_, _, name)| name).collect()
    }
}

fn blankless(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_whitespace) {
        Cow::Owned(text.chars().filter(|c| !c.is_whitespace()).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The text escaped for an expression, with each `A..B` replaced by its numbers.
fn spelled_out(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("..") {
        let head = before.trim_end_matches(|c: char| c.is_ascii_digit());
        let low = before.get(head.len()..).unwrap_or_default();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (high, tail) = after.split_at(digits);
        let (low, high) = (low.parse::<u64>(), high.parse::<u64>());
        match (low, high) {
            (Ok(low), Ok(high)) if low <= high && high - low < RANGE => {
                let values: Vec<String> = (low..=high).map(|value| value.to_string()).collect();
                out += &format!("{}(?:{})", regex::escape(head), values.join("|"));
                rest = tail;
            }
            _ => {
                out += &regex::escape(before);
                out += "\\.\\.";
                rest = after;
            }
        }
    }
    out + &regex::escape(rest)
}

/// The length of the longest common substring.
fn common(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.get(..b.len().min(400)).unwrap_or(b).as_bytes());
    let mut row = vec![0usize; b.len() + 1];
    let mut best = 0;
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let Some(cell) = row.get_mut(at + 1) else { break };
            let value = if x == y { diagonal + 1 } else { 0 };
            diagonal = std::mem::replace(cell, value);
            best = best.max(value);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const MMVQ: &str = "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb0ELb0EEvPKvS2_PKi";

    fn matches(filter: &str, mangled: &str) -> bool {
        let name = codeobject::demangle(mangled).unwrap_or_else(|| mangled.to_owned());
        NameFilter::new(filter).expect("a filter").matches(mangled, &name)
    }

    #[test]
    fn a_kernel_is_found_by_each_of_its_names() {
        let name = codeobject::demangle(MMVQ).expect("readable");
        let readable = grammar::read(MMVQ).readable;
        for filter in [MMVQ, &name, &readable, "mul_mat_vec_q<Q4_K", "^mul_mat_vec_q<", "mul_mat_vec_q<Q4_K,1..8"] {
            assert!(matches(filter, MMVQ), "{filter}");
        }
        for filter in ["mul_mat_vec_q<Q4_0", "mul_mat_q<", "mul_mat_vec_q<Q4_K,2..8", "^void$"] {
            assert!(!matches(filter, MMVQ), "{filter}");
        }
    }

    #[test]
    fn a_name_that_is_no_expression_is_a_name() {
        let mangled = "_Z1kIXadL_Z1fPfiEEEvPT_";
        let name = codeobject::demangle(mangled).expect("readable");
        assert!(matches(&name, mangled), "{name}");
        assert!(matches("k<&f(float*", mangled));
        assert!(!matches("k<&g(float*", mangled));
    }

    #[test]
    fn what_is_near_is_named() {
        let filter = NameFilter::new("mul_mat_vec_qq<").expect("a filter");
        assert_eq!(filter.nearest([MMVQ, "_Z4copyPf"].into_iter()), [grammar::read(MMVQ).readable]);
        assert!(filter.nearest(["x"].into_iter()).is_empty());
    }
}
