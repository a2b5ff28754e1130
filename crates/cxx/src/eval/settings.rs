//! The values of a hand-off's configuration.

use crate::syntax::files::Span;
use say::Message;

/// A number of a configuration, for every input of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    Fixed(i64),
    /// Linear parts, in ascending order of their first input.
    Parts(Vec<ExtentPart>),
}

/// From this input up to the next part, the number grows by `slope` with each input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentPart {
    pub from: i64,
    pub value: i64,
    pub slope: i64,
}

/// The position of an unknown value, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotKnown {
    pub at: Span,
    pub why: Message,
}

/// A value of a configuration.
pub type Setting = Result<[Extent; 3], Box<NotKnown>>;

/// The first three values of a configuration.
pub type Settings = [Setting; 3];

/// An argument of a library call. A pointer to a number counts as that number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallValue {
    /// One number; several if the value differs between the builds that were joined.
    Numbers(Vec<Extent>),
    /// The bits of an f64.
    Float(u64),
    Unknown,
}

impl NotKnown {
    pub(super) fn new(at: Span, why: Message) -> Box<NotKnown> {
        Box::new(NotKnown { at, why })
    }
}

impl Extent {
    /// The number at an input; None before the first part.
    pub fn at(&self, input: i64) -> Option<i64> {
        match self {
            Extent::Fixed(number) => Some(*number),
            Extent::Parts(parts) => {
                let part = parts.get(parts.partition_point(|part| part.from <= input).checked_sub(1)?)?;
                part.slope.checked_mul(input.checked_sub(part.from)?)?.checked_add(part.value)
            }
        }
    }
}
