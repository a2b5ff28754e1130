//! What a family of sources adds to C++, handed in from outside: its vocabulary, the functions and constants of its platform, and
//! which of its calls are a result.

use super::builtin::Builtin;
use super::machine::Machine;
use super::records::{Decision, Handoff};
use crate::syntax::vocabulary::Vocabulary;

/// What a call does that the sources do not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Unknown,
    /// Asks about a function that it is given, and does not run it.
    Query,
    /// Does work that counts as a hand-off.
    Work,
    /// Moves or fills memory: a hand-off where a whole run is followed, and nothing that settles one.
    Moves,
}

#[derive(Debug)]
pub struct Dialect {
    pub vocabulary: Vocabulary,
    pub builtins: &'static [(&'static str, Builtin)],
    pub constants: &'static [(&'static str, i64)],
    /// Structs whose alignment is not that of their fields.
    pub aligned: &'static [(&'static str, usize)],
    /// By the name of a function that returns an untyped pointer: whether it hands out memory, which decides nothing.
    pub hands_out_memory: fn(&str) -> bool,
    /// By the name of a function that the sources do not define.
    pub outside: fn(&str) -> Outside,
    /// How the number in a variable of this name reads to a person; None: as it is.
    pub show: fn(&mut Machine<'_>, &str, i64) -> Option<String>,
    /// What a hand-off that ends a run comes to. Numbers are settled by the machine, which narrows the inputs for which
    /// the run holds to those where they are the same.
    pub decision: fn(&mut Machine<'_>, &Handoff) -> Option<Decision>,
}

impl Dialect {
    /// C++ and nothing else.
    pub const PLAIN: Dialect = Dialect {
        vocabulary: Vocabulary::PLAIN,
        builtins: &[],
        constants: &[],
        aligned: &[],
        hands_out_memory: |_| false,
        outside: |_| Outside::Unknown,
        show: |_, _, _| None,
        decision: |_, _| None,
    };
}
