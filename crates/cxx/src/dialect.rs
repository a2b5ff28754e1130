//! What a family of sources adds to C++, handed in from outside: the words of its compiler, the functions and constants
//! of its platform, and which of its calls are a result. Static tables and plain functions, so that a program can be
//! shared between threads.

use crate::eval::{Builtin, Decision, Handoff, Machine};

/// A word of a declaration that the standard does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Says of a function where it runs: bits of [`crate::ast::ELSEWHERE`], [`crate::ast::HERE`], [`crate::ast::REMOTE`].
    Mark(u8),
    /// Says nothing that is needed here.
    Ignored,
    /// Like `static`: a statement that begins with it is a declaration.
    Storage,
    /// Says nothing that is needed here, with arguments in parentheses.
    WithArguments,
}

/// What part a struct has in a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    /// Nothing in it is looked at: guards, pools of memory.
    Foreign,
    /// It is what it is for a whole run, whatever methods are called on it; what they return is not known.
    Context,
}

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
    pub words: &'static [(&'static str, Word)],
    /// Macros whose definition is not taken: checks and logs, which are answered as calls.
    pub kept: &'static [&'static str],
    /// Statements that begin with one of these only say that a variable is not used, which is no use of it.
    pub unused: &'static [&'static str],
    /// Declarations that stand before every program: types of the platform that are looked into.
    pub prelude: &'static str,
    /// Endings of files that are compiled by themselves; a `static` in one is not visible elsewhere.
    pub units: &'static [&'static str],
    /// Endings with which a unit may stand beside its header, the likeliest first.
    pub beside: &'static [&'static str],
    /// The ending of headers that must be in the tree: one that is not is told.
    pub own_header: &'static str,
    pub builtins: &'static [(&'static str, Builtin)],
    pub constants: &'static [(&'static str, i64)],
    /// Globals that hold what they start with in every question, whoever may write to them.
    pub settled: &'static [&'static str],
    /// Structs whose alignment is not that of their fields.
    pub aligned: &'static [(&'static str, usize)],
    /// By the name of a struct.
    pub role: fn(&str) -> Role,
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
        words: &[],
        kept: &[],
        unused: &[],
        prelude: "",
        units: &["c", "cc", "cpp", "cxx"],
        beside: &["cpp", "cc", "cxx", "c"],
        own_header: ".hpp",
        builtins: &[],
        constants: &[],
        settled: &[],
        aligned: &[],
        role: |_| Role::Plain,
        hands_out_memory: |_| false,
        outside: |_| Outside::Unknown,
        show: |_, _, _| None,
        decision: |_, _| None,
    };

    pub fn is_unit(&self, path: &str) -> bool {
        path.rsplit_once('.').is_some_and(|(_, ending)| self.units.contains(&ending))
    }
}

pub(crate) static PLAIN: Dialect = Dialect::PLAIN;
