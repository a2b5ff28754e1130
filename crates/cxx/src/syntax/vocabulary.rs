//! The additions of a family of sources to C++, for the parser: words of its compiler, macros that are not expanded,
//! file extensions. It has only static tables and plain functions, so that threads can share a program.

/// A declaration word outside the C++ standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// States where a function runs, as bits of [`super::ast::ELSEWHERE`], [`super::ast::HERE`],
    /// [`super::ast::REMOTE`].
    Mark(u8),
    /// Has no meaning for the evaluator.
    Ignored,
    /// Like `static`: a statement that begins with it is a declaration.
    Storage,
    /// Has no meaning for the evaluator and takes arguments in parentheses.
    WithArguments,
}

/// The role of a struct in a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    /// A type whose content the evaluator ignores: guards, memory pools.
    Foreign,
    /// The struct stays the same for a whole run, whatever methods are called on it. The results of the methods are
    /// unknown.
    Context,
}

#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    pub words: &'static [(&'static str, Word)],
    /// Macros whose definition is ignored: checks and logs, which are treated as calls.
    pub kept: &'static [&'static str],
    /// Statements that begin with one of these only mark a variable as unused, which is not a use.
    pub unused: &'static [&'static str],
    /// Declarations placed before every program: platform types that the evaluator needs.
    pub prelude: &'static str,
    /// Extensions of files that are compiled separately. A `static` in one of them is not visible elsewhere.
    pub units: &'static [&'static str],
    /// The extensions of a source file next to its header, most likely first.
    pub beside: &'static [&'static str],
    /// The extension of headers that must be in the tree; missing ones are reported.
    pub own_header: &'static str,
    /// Globals that keep their initial value in every evaluation, even if code writes to them.
    pub settled: &'static [&'static str],
    /// Whether the platform provides a function of this name.
    pub answered: fn(&str) -> bool,
    /// The role of a struct of this name.
    pub role: fn(&str) -> Role,
}

impl Vocabulary {
    /// Plain C++ without extensions.
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
