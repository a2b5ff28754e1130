//! What a family of sources adds to the C++ that is read: words of its compiler, macros that are left alone, the endings of its
//! files. Static tables and plain functions, so that a program can be shared between threads.

/// A word of a declaration that the standard does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Says of a function where it runs: bits of [`super::ast::ELSEWHERE`], [`super::ast::HERE`], [`super::ast::REMOTE`].
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
    /// It is what it is for a whole run, whatever methods are called on it; what they return is unknown.
    Context,
}

#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    pub words: &'static [(&'static str, Word)],
    /// Macros whose definition is not taken: checks and logs, which are answered as calls.
    pub kept: &'static [&'static str],
    /// Statements that begin with one of these only mark a variable as unused, which is not a use.
    pub unused: &'static [&'static str],
    /// Declarations that stand before every program: types of the platform that are looked into.
    pub prelude: &'static str,
    /// Endings of files that are compiled by themselves; a `static` in one is not visible elsewhere.
    pub units: &'static [&'static str],
    /// Endings with which a unit may stand beside its header, the likeliest first.
    pub beside: &'static [&'static str],
    /// The ending of headers that must be in the tree: one that is not is told.
    pub own_header: &'static str,
    /// Globals that hold their initial value in every question, regardless of writers.
    pub settled: &'static [&'static str],
    /// By the name of a function: whether the platform answers for it.
    pub answered: fn(&str) -> bool,
    /// By the name of a struct.
    pub role: fn(&str) -> Role,
}

impl Vocabulary {
    /// C++ and nothing else.
    pub const PLAIN: Vocabulary = Vocabulary {
        words: &[],
        kept: &[],
        unused: &[],
        prelude: "",
        units: &["c", "cc", "cpp", "cxx"],
        beside: &["cpp", "cc", "cxx", "c"],
        own_header: ".hpp",
        settled: &[],
        answered: |_| false,
        role: |_| Role::Plain,
    };

    pub fn is_unit(&self, path: &str) -> bool {
        path.rsplit_once('.').is_some_and(|(_, ending)| self.units.contains(&ending))
    }
}

pub(crate) static PLAIN: Vocabulary = Vocabulary::PLAIN;
