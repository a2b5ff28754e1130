//! Macros as they stand at a place of a unit, and what was learnt of all of them on the way.

use super::defer::is_plain;
use super::files::Span;
use super::included::Included;
use super::lex::Tok;
use super::relevance::Group;
use super::sym::{FxMap, FxSet, Sym, SymSet};
use std::sync::Arc;

#[derive(Debug)]
pub struct Macro {
    /// None: object-like.
    pub params: Option<Vec<Sym>>,
    pub variadic: bool,
    pub body: Vec<Tok>,
    /// It makes no names (`#`, `##`), and what is made with it has as many brackets open as before.
    pub(super) plain: bool,
}

impl Macro {
    pub(super) fn new(params: Option<Vec<Sym>>, variadic: bool, body: &[Tok]) -> Macro {
        Macro { params, variadic, body: body.to_vec(), plain: is_plain(body) }
    }

    /// Whether both come to the same wherever they are called.
    pub(super) fn alike(&self, other: &Macro) -> bool {
        let alike = |(a, b): (&Tok, &Tok)| a.sym == b.sym && a.kind == b.kind && a.flags == b.flags;
        self.params == other.params
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(alike)
    }
}

/// Names with what they are defined as; None undefines one.
pub type Defined = Vec<(Sym, Option<Arc<Macro>>)>;

/// What names stand for right now, by their number: every name of every file is looked up in it.
#[derive(Debug, Default)]
pub(super) struct Table {
    by_name: Vec<Option<Arc<Macro>>>,
    /// Those of a single body.
    few: FxMap<Sym, Arc<Macro>>,
    /// The names that stand for anything.
    names: SymSet,
}

impl Table {
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

    /// What it stood for before.
    fn put(&mut self, name: Sym, made: Option<Arc<Macro>>) -> Option<Arc<Macro>> {
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

#[derive(Debug, Default)]
pub struct Macros {
    pub(super) table: Table,
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
    /// Names that the sources undefine, or set to what they were before.
    pub(super) undefined: FxSet<Sym>,
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
    /// Files with a `#line`.
    pub(super) renumbered: FxSet<u16>,
    /// Files that say `#pragma pack`.
    pub(super) packed: FxSet<u16>,
    /// Headers that were looked for: those in angle brackets by their name, the others by the file that asks too.
    pub(super) system: FxMap<String, Option<String>>,
    pub(super) quoted: FxMap<(u16, String), Option<String>>,
    pub(super) included: Included,
    /// How the table differs from what the unit began with, as one number that does not hang on the order.
    pub(super) state: u64,
    /// Names that were set since the unit began, with what each stood for before.
    pub(super) set: Defined,
}

impl Macros {
    /// These and nothing else.
    pub(super) fn of(few: &[(Sym, Arc<Macro>)]) -> Macros {
        let mut table = Table { few: few.iter().cloned().collect(), ..Table::default() };
        table.names.extend(few.iter().map(|(name, _)| *name));
        Macros { table, ..Macros::default() }
    }

    /// A new unit: nothing of the one before is left.
    pub(super) fn begin(&mut self, path: &str) {
        for (name, _) in self.set.drain(..) {
            self.table.put(name, None);
        }
        for (name, made) in &self.base {
            self.table.put(*name, Some(made.clone()));
        }
        self.once.clear();
        self.pushed.clear();
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

    /// The names that the sources themselves, or the build for single files, make or take back.
    pub(super) fn unsettled(&self) -> FxSet<Sym> {
        let made = self.definitions.values().map(|(name, _)| *name);
        let of_file = self.of_file.iter().flat_map(|(_, defines)| defines).map(|(name, _)| *name);
        made.chain(of_file).chain(self.undefined.iter().copied()).collect()
    }

    /// The names that units begin with otherwise than under `before`.
    pub(super) fn otherwise(&self, before: &Macros) -> FxSet<Sym> {
        let names = self.base.keys().chain(before.base.keys());
        let differs = |name: &&Sym| match (self.base.get(*name), before.base.get(*name)) {
            (Some(a), Some(b)) => !a.alike(b),
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
        let before = self.table.put(name, made);
        self.state ^= now ^ before.as_ref().map_or(0, mixed);
        self.set.push((name, before));
    }
}
