//! A dialect: the additions of a family of sources to C++. It has the vocabulary, the functions and constants of the
//! platform, and the calls that count as results. The caller provides it.

use super::builtin::Builtin;
use super::machine::Machine;
use super::records::{Decision, Handoff, Run};
use super::value::Value;
use crate::syntax::ast::Expr;
use crate::syntax::vocabulary::Vocabulary;

/// The effect of a call that the sources do not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Unknown,
    /// Asks about the function that is passed to it, but does not run that function.
    Query,
    /// Does work that counts as a hand-off.
    Work,
    /// Copies or fills memory. Counts as a hand-off when a whole run is followed, but never decides a run.
    Moves,
}

/// Reads the three values of a configuration from the arguments of a call.
pub type ReadConfiguration = fn(&mut Machine<'_>, &[Expr]) -> Run<Option<[Value; 3]>>;

#[derive(Debug)]
pub struct Dialect {
    pub vocabulary: Vocabulary,
    pub builtins: &'static [(&'static str, Builtin)],
    pub constants: &'static [(&'static str, i64)],
    /// The value of another name that the sources do not declare.
    pub undeclared: fn(&mut Machine<'_>, &str) -> Option<Value>,
    /// Structs whose alignment differs from that of their fields.
    pub aligned: &'static [(&'static str, usize)],
    /// Whether a function of this name, which returns an untyped pointer, allocates memory. No decision depends on the
    /// address.
    pub hands_out_memory: fn(&str) -> bool,
    /// The effect of a function that the sources do not define, by name.
    pub outside: fn(&str) -> Outside,
    /// The configuration that a call of this function passes along with the function that it hands over.
    pub configuration: fn(&str, &[Expr]) -> Option<ReadConfiguration>,
    /// How to display the number in a variable of this name; None to show the number itself.
    pub show: fn(&mut Machine<'_>, &str, i64) -> Option<String>,
    /// The decision that a final hand-off represents. The machine narrows the run to the inputs for which the numbers
    /// of the decision stay the same.
    pub decision: fn(&mut Machine<'_>, &Handoff) -> Option<Decision>,
}

impl Dialect {
    /// Plain C++ without extensions.
    pub const PLAIN: Dialect = Dialect {
        vocabulary: Vocabulary::PLAIN,
        builtins: &[],
        constants: &[],
        undeclared: |_, _| None,
        aligned: &[],
        hands_out_memory: |_| false,
        outside: |_| Outside::Unknown,
        configuration: |_, _| None,
        show: |_, _, _| None,
        decision: |_, _| None,
    };
}
