//! The macro definitions at a position of a unit, and records about all definitions read so far.

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
    /// The position of the `#endif`; 0 while it is open.
    pub end: u32,
    /// All names in the region's conditions.
    pub asked: Vec<Sym>,
    /// The conditions themselves.
    pub lines: Vec<Vec<Tok>>,
}

#[derive(Debug, Default)]
pub struct Macros {
    pub(crate) table: MacroTable,
    /// The definitions that every unit begins with.
    pub base: FxMap<Sym, Arc<Macro>>,
    /// Additional defines for single files: a path ending, and its defines.
    pub of_file: Vec<(String, Defined)>,
    /// Every name that was ever defined.
    pub ever: FxSet<Sym>,
    /// The earlier definitions of a name, saved by `push_macro`.
    pub(crate) pushed: FxMap<Sym, Vec<Option<Arc<Macro>>>>,
    /// Names whose `#define` is ignored: checks and logs that the interpreter handles itself.
    pub kept: FxSet<Sym>,
    /// Names undefined permanently from outside (`-U`): a `#define` in the sources does not change that.
    pub fixed: FxSet<Sym>,
    /// Names that the sources undefine or restore to an earlier definition.
    pub(crate) undefined: FxSet<Sym>,
    /// Names that a conditional read while they were undefined, and where this happened first.
    pub asked: FxMap<Sym, Vec<Span>>,
    /// Every conditional that was read, by position.
    pub groups: FxMap<(u16, u32), Group>,
    /// Every macro that was ever defined, by position.
    pub definitions: FxMap<(u16, u32), (Sym, Arc<Macro>)>,
    /// Headers of the dialect that a unit includes but the tree does not have.
    pub absent: Vec<String>,
    pub own_header: &'static str,
    pub(crate) once: FxSet<u16>,
    /// Files with a `#line`.
    pub(crate) renumbered: FxSet<u16>,
    /// Files with a `#pragma pack`.
    pub(crate) packed: FxSet<u16>,
    /// Resolved headers: those in angle brackets by name, quoted ones by name and including file.
    pub(crate) system: FxMap<String, Option<String>>,
    pub(crate) quoted: FxMap<(u16, String), Option<String>>,
    pub(crate) included: Included,
    /// An order-independent hash of how the table differs from the unit's initial state.
    pub(crate) state: u64,
    /// Names set since the unit began, with their previous definitions.
    pub(crate) set: Defined,
}

impl Macros {
    /// Macros with only these definitions.
    pub(crate) fn of(few: &[(Sym, Arc<Macro>)]) -> Macros {
        Macros { table: MacroTable::of(few), ..Macros::default() }
    }

    /// Starts a new unit and drops the definitions of the previous one.
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
            // Matches one file by name, or all files with an extension such as `.cpp`.
            let whole = |head: &str| head.is_empty() || head.ends_with('/') || end.starts_with('.');
            path.strip_suffix(end.as_str()).is_some_and(whole)
        };
        let mine: Defined =
            self.of_file.iter().filter(of_this).flat_map(|(_, defines)| defines.iter().cloned()).collect();
        for (name, made) in mine {
            self.set(name, made);
        }
    }

    /// Names that the sources, or the build for single files, define or undefine.
    pub(crate) fn unsettled(&self) -> FxSet<Sym> {
        let made = self.definitions.values().map(|(name, _)| *name);
        let of_file = self.of_file.iter().flat_map(|(_, defines)| defines).map(|(name, _)| *name);
        made.chain(of_file).chain(self.undefined.iter().copied()).collect()
    }

    /// Names whose initial definitions differ from those in `before`.
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
