//! The inputs and outputs of a run: its platform, why it stopped, its hand-offs, and the data that copies provided.

use super::settings::{CallValue, Settings};
use super::value::Value;
use crate::program::Program;
use crate::syntax::files::Span;
use crate::syntax::sym::{FxMap, Sym};
use say::{Message, say};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Why a run ended before its function returned.
#[derive(Debug, Clone)]
pub enum Stop {
    /// The construct at this position was not understood, or its value is unknown.
    Undetermined { at: Span, why: Box<Message> },
    /// A function is declared, but the unit that defines it is not loaded.
    Need(Sym),
    /// A condition is unknown and the script of outcomes has run out.
    Fork(UnknownCondition),
    /// The program would abort here.
    Abort { at: Span, what: String },
    /// A hand-off was reached that answers the question.
    Decided,
}

impl Stop {
    pub fn undetermined(at: Span, why: Message) -> Stop {
        Stop::Undetermined { at, why: Box::new(why) }
    }
}

/// A condition whose outcome is unknown, and the unknown expression that it depends on.
#[derive(Debug, Clone, Copy)]
pub struct UnknownCondition {
    pub at: Span,
    pub from: Option<Span>,
}

impl UnknownCondition {
    pub fn why(self, program: &Program) -> Message {
        match self.from {
            Some(from) => say!("cxx-open-value", value = program.files.text(from)),
            None => say!("cxx-open-condition"),
        }
    }
}

pub type Run<T> = Result<T, Stop>;

/// A condition that was evaluated during the run.
#[derive(Debug, Clone)]
pub struct AskedCondition {
    pub function: Sym,
    pub depth: usize,
    pub at: Span,
    pub outcome: String,
    pub values: Vec<(String, String)>,
}

/// The platform's properties, by the name of the field or attribute.
#[derive(Debug, Clone, Default)]
pub struct Platform {
    pub properties: Vec<(String, Property)>,
    /// The variables that `getenv` sees.
    pub environment: Vec<(String, String)>,
    /// Known facts about functions that run elsewhere, by name and template arguments. The dialect's builtins use these
    /// numbers.
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
    /// The configuration; None if the hand-off names none.
    pub config: Option<Settings>,
    pub at: Span,
    /// The functions that were active, outermost first.
    pub stack: Vec<Sym>,
    /// Whether the work happens inside a library, so that there is no function to evaluate.
    pub library: bool,
    /// The arguments of a library call, by position. Empty if the caller does not need configurations.
    pub given: Vec<CallValue>,
    /// Local integers of the function that performs the hand-off, by name.
    pub locals: Vec<(Sym, Value)>,
}

/// A hand-off in the caller's terms: a class, and numbers that are valid for all inputs of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    pub class: usize,
    pub numbers: [i64; 2],
}

/// The result for a window of inputs.
#[derive(Debug)]
pub struct Window {
    pub from: i64,
    pub to: i64,
    pub decision: Decision,
    pub handoff: Handoff,
}

/// The data provided by one copy from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The address that was copied from.
    pub from: i64,
    pub length: i64,
    /// The bytes. None if they are unknown.
    pub bytes: Option<Rc<[u8]>>,
}

/// A buffer of the run.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) start: i64,
    pub(super) length: i64,
    /// None if the content is unknown. Then `since` is the position that made it unknown.
    pub(super) bytes: Option<Rc<[u8]>>,
    pub(super) since: Span,
}

/// Statements of a block that first compare one variable with a number.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) slot: u32,
    pub(super) of: Range<usize>,
    pub(super) by_value: FxMap<i64, Vec<usize>>,
}
