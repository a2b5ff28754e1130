//! A macro, and the table of definitions at a position of a unit.

use super::brackets::is_plain;
use super::lex::Tok;
use super::sym::{FxMap, Sym, SymSet};
use std::sync::Arc;

#[derive(Debug)]
pub struct Macro {
    /// The parameters. None for an object-like macro.
    pub params: Option<Vec<Sym>>,
    pub variadic: bool,
    pub body: Vec<Tok>,
    /// Whether the macro creates no names (`#`, `##`) and its expansion has balanced brackets.
    pub(crate) plain: bool,
}

impl Macro {
    pub(crate) fn new(params: Option<Vec<Sym>>, variadic: bool, body: &[Tok]) -> Macro {
        Macro { params, variadic, body: body.to_vec(), plain: is_plain(body) }
    }

    /// Whether both macros have the same expansion wherever they are used.
    pub(crate) fn alike(&self, other: &Macro) -> bool {
        let alike = |(a, b): (&Tok, &Tok)| a.sym == b.sym && a.kind == b.kind && a.flags == b.flags;
        self.params == other.params
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(alike)
    }
}

/// Names with their definitions; None undefines a name.
pub type Defined = Vec<(Sym, Option<Arc<Macro>>)>;

/// The macro definitions in effect for a body.
pub(crate) type Stood = Box<[(Sym, Arc<Macro>)]>;

/// The current definitions, indexed by name number: every name of every file is looked up here.
#[derive(Debug, Default)]
pub(crate) struct MacroTable {
    by_name: Vec<Option<Arc<Macro>>>,
    /// The definitions for a single body.
    few: FxMap<Sym, Arc<Macro>>,
    /// The names with a definition.
    names: SymSet,
}

impl MacroTable {
    /// A table with only these definitions.
    pub fn of(few: &[(Sym, Arc<Macro>)]) -> MacroTable {
        let mut names = SymSet::default();
        names.extend(few.iter().map(|(name, _)| *name));
        MacroTable { few: few.iter().cloned().collect(), names, ..MacroTable::default() }
    }

    pub fn get(&self, name: Sym) -> Option<&Arc<Macro>> {
        match self.by_name.get(name.0 as usize) {
            Some(known) => known.as_ref(),
            None if self.few.is_empty() => None,
            None => self.few.get(&name),
        }
    }

    pub fn has(&self, name: Sym) -> bool {
        self.names.contains(name)
    }

    /// Sets a definition and returns the previous one.
    pub fn put(&mut self, name: Sym, made: Option<Arc<Macro>>) -> Option<Arc<Macro>> {
        let at = name.0 as usize;
        if at >= self.by_name.len() {
            made.as_ref()?;
            self.by_name.resize(at + 1 + at / 2, None);
        }
        match &made {
            Some(_) => drop(self.names.insert(name)),
            None => self.names.remove(name),
        }
        self.by_name.get_mut(at).and_then(|slot| std::mem::replace(slot, made))
    }
}
