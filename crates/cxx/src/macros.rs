//! Macros as they stand at a place of a unit, and what was learnt of all of them on the way.

use super::files::Span;
use super::included::Included;
use super::lex::Tok;
use super::relevance::Group;
use super::sym::{FxMap, FxSet, Sym};
use std::sync::Arc;

#[derive(Debug)]
pub struct Macro {
    /// None: object-like.
    pub params: Option<Vec<Sym>>,
    pub variadic: bool,
    pub body: Vec<Tok>,
}

/// Names with what they are defined as; None undefines one.
pub type Defined = Vec<(Sym, Option<Arc<Macro>>)>;

#[derive(Debug, Default)]
pub struct Macros {
    pub(super) table: FxMap<Sym, Arc<Macro>>,
    /// What every unit begins with.
    pub base: FxMap<Sym, Arc<Macro>>,
    /// What single files are compiled with on top of that: the end of a path, and its defines.
    pub of_file: Vec<(String, Defined)>,
    /// Every name that was ever defined.
    pub ever: FxSet<Sym>,
    /// `push_macro`: what a name meant before.
    pub(super) pushed: FxMap<Sym, Vec<Option<Arc<Macro>>>>,
    /// Names whose `#define` is not taken: checks and logs that the interpreter answers itself.
    pub kept: FxSet<Sym>,
    /// Undefined from outside (`-U`) for good: the sources' own `#define` does not change that.
    pub fixed: FxSet<Sym>,
    /// Names that a conditional asked for while nothing defined them, and where first.
    pub asked: FxMap<Sym, Vec<Span>>,
    /// Every conditional that was met, by where it stands.
    pub groups: FxMap<(u16, u32), Group>,
    /// Every macro that was ever made, by where it stands.
    pub definitions: FxMap<(u16, u32), (Sym, Arc<Macro>)>,
    /// Headers of the dialect's own that a unit includes and the tree does not have.
    pub absent: Vec<String>,
    pub own_header: &'static str,
    pub(super) once: FxSet<u16>,
    /// Headers in angle brackets that were looked for.
    pub(super) system: FxMap<String, Option<String>>,
    pub(super) included: Included,
    /// How the table differs from what the unit began with, as one number that does not hang on the order.
    pub(super) state: u64,
    /// Names that were set since the unit began.
    pub(super) set: Vec<Sym>,
}

impl Macros {
    /// A new unit: nothing of the one before is left.
    pub(super) fn begin(&mut self, path: &str) {
        self.table = self.base.clone();
        self.once.clear();
        self.pushed.clear();
        self.set.clear();
        self.state = 0;
        let of_this = |(end, _): &&(String, Defined)| {
            // A file by its name, or all of a kind: `.cpp`.
            let whole = |head: &str| head.is_empty() || head.ends_with('/') || end.starts_with('.');
            path.strip_suffix(end.as_str()).is_some_and(whole)
        };
        let mine: Defined =
            self.of_file.iter().filter(of_this).flat_map(|(_, defines)| defines.iter().cloned()).collect();
        for (name, made) in mine {
            self.set(name, made);
        }
    }

    /// The names that units begin with otherwise than under `before`.
    pub(super) fn otherwise(&self, before: &Macros) -> FxSet<Sym> {
        let same = |a: &Macro, b: &Macro| {
            let alike = |(a, b): (&Tok, &Tok)| a.sym == b.sym && a.kind == b.kind;
            a.params == b.params && a.body.len() == b.body.len() && a.body.iter().zip(&b.body).all(alike)
        };
        let names = self.base.keys().chain(before.base.keys());
        let differs = |name: &&Sym| match (self.base.get(*name), before.base.get(*name)) {
            (Some(a), Some(b)) => !same(a, b),
            _ => true,
        };
        let fixed = self.fixed.symmetric_difference(&before.fixed);
        names.filter(differs).chain(fixed).copied().collect()
    }

    /// Defines a name, or undefines it.
    pub(super) fn set(&mut self, name: Sym, made: Option<Arc<Macro>>) {
        let mixed = |made: &Arc<Macro>| {
            let place = Arc::as_ptr(made) as usize as u64;
            let word = (place ^ u64::from(name.0).rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        let now = made.as_ref().map_or(0, mixed);
        let before = match made {
            Some(made) => self.table.insert(name, made),
            None => self.table.remove(&name),
        };
        self.state ^= now ^ before.as_ref().map_or(0, mixed);
        self.set.push(name);
    }
}
