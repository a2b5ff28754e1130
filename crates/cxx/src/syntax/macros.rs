//! Macros as they stand at a place of a unit, and what was learnt of all of them on the way.

use super::files::Span;
use super::lex::Tok;
use super::macro_table::{Defined, Macro, MacroTable};
use super::outcomes::Included;
use super::sym::{FxMap, FxSet, Sym};
use std::sync::Arc;

/// One `#if` with everything up to its `#endif`, at its position in the file.
#[derive(Debug, Clone)]
pub struct Group {
    pub file: u16,
    pub start: u32,
    /// Of the `#endif`; 0 while it is open.
    pub end: u32,
    /// Every name in its conditions.
    pub asked: Vec<Sym>,
    /// The conditions themselves.
    pub lines: Vec<Vec<Tok>>,
}

#[derive(Debug, Default)]
pub struct Macros {
    pub(crate) table: MacroTable,
    /// What every unit begins with.
    pub base: FxMap<Sym, Arc<Macro>>,
    /// What single files are compiled with on top of that: the end of a path, and its defines.
    pub of_file: Vec<(String, Defined)>,
    /// Every name that was ever defined.
    pub ever: FxSet<Sym>,
    /// `push_macro`: what a name meant before.
    pub(crate) pushed: FxMap<Sym, Vec<Option<Arc<Macro>>>>,
    /// Names whose `#define` is not taken: checks and logs that the interpreter answers itself.
    pub kept: FxSet<Sym>,
    /// Undefined from outside (`-U`) for good: the sources' own `#define` does not change that.
    pub fixed: FxSet<Sym>,
    /// Names that the sources undefine, or set to what they were before.
    pub(crate) undefined: FxSet<Sym>,
    /// Names that a conditional asked for while nothing defined them, and where first.
    pub asked: FxMap<Sym, Vec<Span>>,
    /// Every conditional that was read, by position.
    pub groups: FxMap<(u16, u32), Group>,
    /// Every macro that was ever defined, by position.
    pub definitions: FxMap<(u16, u32), (Sym, Arc<Macro>)>,
    /// Headers of the dialect's own that a unit includes and the tree does not have.
    pub absent: Vec<String>,
    pub own_header: &'static str,
    pub(crate) once: FxSet<u16>,
    /// Files with a `#line`.
    pub(crate) renumbered: FxSet<u16>,
    /// Files that say `#pragma pack`.
    pub(crate) packed: FxSet<u16>,
    /// Headers that were looked for: those in angle brackets by their name, the others by the file that asks too.
    pub(crate) system: FxMap<String, Option<String>>,
    pub(crate) quoted: FxMap<(u16, String), Option<String>>,
    pub(crate) included: Included,
    /// How the table differs from the unit's initial state, as one number that does not depend on the order.
    pub(crate) state: u64,
    /// Names that were set since the unit began, with what each stood for before.
    pub(crate) set: Defined,
}

impl Macros {
    /// These and nothing else.
    pub(crate) fn of(few: &[(Sym, Arc<Macro>)]) -> Macros {
        Macros { table: MacroTable::of(few), ..Macros::default() }
    }

    /// A new unit: nothing of the one before is left.
    pub(crate) fn begin(&mut self, path: &str) {
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
    pub(crate) fn unsettled(&self) -> FxSet<Sym> {
        let made = self.definitions.values().map(|(name, _)| *name);
        let of_file = self.of_file.iter().flat_map(|(_, defines)| defines).map(|(name, _)| *name);
        made.chain(of_file).chain(self.undefined.iter().copied()).collect()
    }

    /// The names that units begin with otherwise than under `before`.
    pub(crate) fn otherwise(&self, before: &Macros) -> FxSet<Sym> {
        let names = self.base.keys().chain(before.base.keys());
        let differs = |name: &&Sym| match (self.base.get(*name), before.base.get(*name)) {
            (Some(a), Some(b)) => !a.alike(b),
            _ => true,
        };
        let fixed = self.fixed.symmetric_difference(&before.fixed);
        names.filter(differs).chain(fixed).copied().collect()
    }

    /// Defines a name, or undefines it.
    pub(crate) fn set(&mut self, name: Sym, made: Option<Arc<Macro>>) {
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
