//! Functions that the interpreter answers without searching the sources.

use super::dialect::Dialect;
use super::machine::Machine;
use super::records::Run;
use super::value::Value;
use crate::program::Program;
use crate::syntax::ast::Expr;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::{FxMap, Sym};

/// A function that the interpreter answers itself, without searching the sources.
#[derive(Debug, Clone, Copy)]
pub enum Builtin {
    /// The call has no effect, and its arguments are not evaluated.
    Ignore,
    /// Evaluates the argument and returns no value.
    Check,
    Assert,
    Abort,
    Min,
    Max,
    Getenv,
    /// Returns an unknown value and writes nothing.
    Unknown,
    /// Like `Unknown`, but the function is run if `Machine::follows` is set.
    UnlessFollowed,
    /// Stores this number through its first argument and returns 0.
    Give(i64),
    /// A builtin that the dialect implements.
    Answer(fn(&mut Machine<'_>, &[Expr], Span) -> Run<Value>),
    Same,
    Find,
    Equal,
    Fill,
    Memset,
    Memcpy,
    Strlen,
    Strcpy,
    Strcspn,
    Strstr,
    Strtok,
    /// A function such as `strtoul`, which returns this type.
    Strtoul(IntTy),
    Strcmp,
    Atoi,
    /// These are known only in a process that is followed from its start.
    Snprintf,
    Strncpy,
    Memcmp,
    Float(fn(f64) -> f64),
}

const TABLE: &[(&str, Builtin)] = &[
    ("printf", Builtin::Ignore),
    ("fprintf", Builtin::Ignore),
    ("assert", Builtin::Assert),
    ("abort", Builtin::Abort),
    ("exit", Builtin::Abort),
    ("min", Builtin::Min),
    ("max", Builtin::Max),
    ("getenv", Builtin::Getenv),
    ("move", Builtin::Same),
    ("forward", Builtin::Same),
    ("find", Builtin::Find),
    ("equal", Builtin::Equal),
    ("fill", Builtin::Fill),
    ("memset", Builtin::Memset),
    ("memcpy", Builtin::Memcpy),
    ("strlen", Builtin::Strlen),
    ("strcpy", Builtin::Strcpy),
    ("strcspn", Builtin::Strcspn),
    ("strstr", Builtin::Strstr),
    ("strtok", Builtin::Strtok),
    ("strtoul", Builtin::Strtoul(IntTy::U64)),
    ("strtol", Builtin::Strtoul(IntTy::I64)),
    ("strcmp", Builtin::Strcmp),
    ("atoi", Builtin::Atoi),
    ("snprintf", Builtin::Snprintf),
    ("strncpy", Builtin::Strncpy),
    ("memcmp", Builtin::Memcmp),
    ("floor", Builtin::Float(f64::floor)),
    ("floorf", Builtin::Float(f64::floor)),
    ("ceil", Builtin::Float(f64::ceil)),
    ("ceilf", Builtin::Float(f64::ceil)),
    ("log2", Builtin::Float(f64::log2)),
    ("log2f", Builtin::Float(f64::log2)),
    ("sqrt", Builtin::Float(f64::sqrt)),
    ("sqrtf", Builtin::Float(f64::sqrt)),
];

pub(super) fn table(program: &Program, dialect: &Dialect) -> FxMap<Sym, Builtin> {
    let all = TABLE.iter().chain(dialect.builtins);
    all.filter_map(|&(name, builtin)| Some((program.interner.get(name)?, builtin))).collect()
}
