//! The expected value of a claim, and how an observed value compares: it meets the expectation, contradicts it, or does
//! not decide it.

use crate::fact::glob;
use crate::{Bound, Fact, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The operators of an investigation file: `expected = { at_least = 12 }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expected {
    Equals(Value),
    OneOf(Vec<Value>),
    /// Both ends are included.
    Between(f64, f64),
    AtLeast(f64),
    AtMost(f64),
    /// A list contains this item (or all of these), or a text contains this part; `*` matches any text in an item.
    Contains(Value),
    /// Negative: a list does not contain this item (or any of these), or a text does not contain this part.
    Lacks(Value),
    /// The whole text matches; `*` matches any text.
    Matches(String),
    /// Something was seen, with any value. The value here must be true.
    Present(bool),
    /// A negative expectation: nothing of this kind exists. The value must be true.
    Absent(bool),
}

/// How an observed fact relates to an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Holds,
    Contradicts,
    /// The fact does not decide it: for example, it is a lower bound below the claimed value, or a text where a number
    /// is expected.
    Silent,
}

impl Expected {
    /// Whether the claim is negative. Such a claim needs the rules of absence: field of view, canary, nothing lost.
    pub fn is_negative(&self) -> bool {
        matches!(self, Expected::Lacks(_) | Expected::Absent(_))
    }

    pub fn ask(&self, fact: &Fact) -> Answer {
        self.ask_within(fact.bound, &fact.value)
    }

    pub(crate) fn ask_within(&self, bound: Bound, value: &Value) -> Answer {
        let open = bound == Bound::AtLeast;
        let decide = |holds: bool| if holds { Answer::Holds } else { Answer::Contradicts };
        // There may be more above a lower bound. Answer only if that would not change the result.
        let at_least = |holds_now: bool| if holds_now { Answer::Holds } else { Answer::Silent };
        let at_most = |broken_now: bool| if broken_now { Answer::Contradicts } else { Answer::Silent };
        match self {
            Expected::Equals(wanted) if open => at_most(exceeds(value, wanted)),
            Expected::Equals(wanted) => decide(value.same(wanted)),
            Expected::OneOf(all) if open => at_most(all.iter().all(|wanted| exceeds(value, wanted))),
            Expected::OneOf(all) => decide(all.iter().any(|wanted| value.same(wanted))),
            Expected::Between(low, high) => match value.number() {
                Some(n) if open => at_most(n > *high),
                Some(n) => decide(*low <= n && n <= *high),
                None => Answer::Silent,
            },
            Expected::AtLeast(low) => match value.number() {
                Some(n) if open => at_least(n >= *low),
                Some(n) => decide(n >= *low),
                None => Answer::Silent,
            },
            Expected::AtMost(high) => match value.number() {
                Some(n) if open => at_most(n > *high),
                Some(n) => decide(n <= *high),
                None => Answer::Silent,
            },
            Expected::Contains(wanted) => {
                let has = wanted_items(wanted).iter().all(|item| contains(value, item));
                if open { at_least(has) } else { decide(has) }
            }
            Expected::Lacks(unwanted) => {
                let has = wanted_items(unwanted).iter().any(|item| contains(value, item));
                if open { at_most(has) } else { decide(!has) }
            }
            Expected::Matches(pattern) => match value {
                Value::Text(text) => decide(glob(text, pattern)),
                Value::Nothing => Answer::Contradicts,
                _ => Answer::Silent,
            },
            Expected::Present(_) => {
                if open {
                    at_least(!value.is_nothing())
                } else {
                    decide(!value.is_nothing())
                }
            }
            Expected::Absent(_) => {
                if open {
                    at_most(!value.is_nothing())
                } else {
                    decide(value.is_nothing())
                }
            }
        }
    }
}

/// Whether no further sighting could turn `seen` into `wanted`.
fn exceeds(seen: &Value, wanted: &Value) -> bool {
    match (seen, wanted) {
        (Value::List(seen), Value::List(wanted)) => seen.iter().any(|x| !wanted.iter().any(|y| x.same(y))),
        _ => matches!((seen.number(), wanted.number()), (Some(seen), Some(wanted)) if seen > wanted),
    }
}

fn wanted_items(wanted: &Value) -> &[Value] {
    match wanted {
        Value::List(items) => items,
        one => std::slice::from_ref(one),
    }
}

fn contains(value: &Value, item: &Value) -> bool {
    match (value, item) {
        (Value::List(items), Value::Text(pattern)) => items.iter().any(|have| match have {
            Value::Text(text) => glob(text, pattern),
            other => other.same(item),
        }),
        (Value::List(items), item) => items.iter().any(|have| have.same(item)),
        (Value::Text(text), Value::Text(piece)) => text.contains(piece.as_str()),
        _ => false,
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Equals(value) => write!(f, "= {value}"),
            Expected::OneOf(all) => write!(f, "in {{{}}}", Value::List(all.clone())),
            Expected::Between(low, high) => write!(f, "{low} .. {high}"),
            Expected::AtLeast(low) => write!(f, ">= {low}"),
            Expected::AtMost(high) => write!(f, "<= {high}"),
            Expected::Contains(value) => write!(f, "has {value}"),
            Expected::Lacks(value) => write!(f, "has no {value}"),
            Expected::Matches(pattern) => write!(f, "like {pattern}"),
            Expected::Present(_) => f.write_str("present"),
            Expected::Absent(_) => f.write_str("absent"),
        }
    }
}
