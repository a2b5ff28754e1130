//! What a run takes in and leaves behind: the platform it runs on, why it stopped, its hand-offs, what copies brought.

use super::value::Value;
use crate::syntax::files::Span;
use crate::syntax::sym::{FxMap, Sym};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Why a run ended before its function returned.
#[derive(Debug, Clone)]
pub enum Stop {
    /// Something was not understood or not known, here.
    Undetermined { at: Span, why: String },
    /// A function is declared and its unit is not loaded.
    Need(Sym),
    /// A condition is unknown and the script of outcomes has run out.
    Fork { at: Span, why: String },
    /// The program would abort here.
    Abort { at: Span, what: String },
    /// A hand-off was reached that settles the question.
    Decided,
}

pub type Run<T> = Result<T, Stop>;

/// A condition that was asked on the way.
#[derive(Debug, Clone)]
pub struct AskedCondition {
    pub function: Sym,
    pub depth: usize,
    pub at: Span,
    pub outcome: String,
    pub values: Vec<(String, String)>,
}

/// What the platform would answer: its properties, by the name of the field or attribute.
#[derive(Debug, Clone, Default)]
pub struct Platform {
    pub properties: Vec<(String, Property)>,
    /// `getenv`.
    pub environment: Vec<(String, String)>,
    /// Known facts about functions that run elsewhere, by name and template arguments: numbers for the dialect's own
    /// builtins.
    pub facts: Arc<BTreeMap<String, Vec<i64>>>,
}

#[derive(Debug, Clone)]
pub enum Property {
    Int(i64),
    Text(String),
}

#[derive(Debug, Clone)]
pub struct Handoff {
    pub name: Sym,
    /// Template arguments by the parameter's name.
    pub args: Vec<(Option<Sym>, Value)>,
    /// The first two values of a configuration, each a number or up to three.
    pub config: [Option<[i64; 3]>; 2],
    pub at: Span,
    /// The functions that were active, outermost first.
    pub stack: Vec<Sym>,
    /// Done inside a library: there is no function to evaluate.
    pub library: bool,
    /// Local integers of the function that hands over, by name.
    pub locals: Vec<(Sym, Value)>,
}

/// The result of a hand-off in the caller's terms: a class, and numbers that hold for all inputs of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    pub class: usize,
    pub numbers: [i64; 2],
}

/// What a window of inputs comes to.
#[derive(Debug)]
pub struct Window {
    pub from: i64,
    pub to: i64,
    pub decision: Decision,
    pub handoff: Handoff,
}

/// What one copy from elsewhere brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The address that was copied from.
    pub from: i64,
    pub length: i64,
    /// None if unknown.
    pub bytes: Option<Rc<[u8]>>,
}

/// A buffer of the run.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) start: i64,
    pub(super) length: i64,
    /// None: not known, since here.
    pub(super) bytes: Option<Rc<[u8]>>,
    pub(super) since: Span,
}

/// Statements of a block that ask first whether one variable is a number.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) slot: u32,
    pub(super) of: Range<usize>,
    pub(super) by_value: FxMap<i64, Vec<usize>>,
}
