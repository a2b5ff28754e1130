//! Reuses the result of including a header. The result depends on the current macros and on the headers that would be
//! skipped. If these are the same, so are the tokens of the header and the macros after it. For a long header, the
//! relevant macros are known: the names in its files and in their definitions. Other macros have no effect.
//!
//! Only an include between two declarations is kept. An include within macro arguments, or a file that ends within
//! them, is always read again.

use super::lex::Kind;
use super::macro_table::Macro;
use super::macros::Macros;
use super::outcomes::{Included, LONG, Needs, Open, Outcome, Visit};
use super::preprocess::Preprocessor;
use super::sym::{FxMap, FxSet, Sym, SymSet};
use std::sync::Arc;

impl Preprocessor<'_> {
    /// Reuses the earlier result of a file. Returns false if the file must be read.
    pub(crate) fn replay(&mut self, file: u16) -> bool {
        let fits = |known: &&Arc<Outcome>| {
            known.visits.iter().all(|(file, read)| self.macros.once.contains(file) == *read)
                && (known.state == Some(self.macros.state)
                    || known.needs.as_ref().is_some_and(|needs| self.macros.meets(needs)))
        };
        let known = self.macros.included.of_file.get(&file).and_then(|list| list.iter().find(fits));
        let Some(known) = known.cloned() else { return false };
        self.out.extend_from_slice(known.unit.get(known.toks.clone()).unwrap_or_default());
        for (name, made) in &known.defined {
            self.macros.set(*name, made.clone());
        }
        self.macros.once.extend(&known.once);
        self.recorder.visits.extend_from_slice(&known.visits);
        self.recorder.pasted.extend_from_slice(&known.pasted);
        self.macros.included.pasted.extend(&known.pasted);
        true
    }

    pub(crate) fn record(&mut self, file: u16, plain: bool) {
        let (toks, visits, set) = (self.out.len(), self.recorder.visits.len(), self.macros.set.len());
        self.recorder.visits.push((file, false));
        let pasted = self.recorder.pasted.len();
        self.recorder.open.push(Open { file, plain, state: self.macros.state, toks, visits, set, pasted });
    }

    /// Called when the innermost file has been read to its end.
    pub(crate) fn recorded(&mut self) {
        if self.gathering > 0 {
            self.recorder.spoil();
        }
        let Some(open) = self.recorder.open.pop() else { return };
        // The unit itself is read only once.
        if !open.plain || self.recorder.open.is_empty() {
            return;
        }
        let mut seen = FxSet::default();
        let visits = self.recorder.visits.get(open.visits..).unwrap_or_default();
        let visits: Vec<Visit> = visits.iter().filter(|(file, _)| seen.insert(*file)).copied().collect();
        let read = visits.iter().filter(|(file, read)| !read && self.macros.once.contains(file));
        let once = read.map(|(file, _)| *file).collect();
        let mut seen = FxSet::default();
        let set = self.macros.set.get(open.set..).unwrap_or_default().iter().filter(|(name, _)| seen.insert(*name));
        let defined = set.map(|(name, _)| (*name, self.macros.table.get(*name).cloned())).collect();
        let toks = open.toks..self.out.len();
        let pasted = self.recorder.pasted.get(open.pasted..).unwrap_or_default().to_vec();
        let needs = (toks.len() >= LONG).then(|| self.needs(&visits, &pasted, open.set));
        let (state, unit) = (Some(open.state), Arc::default());
        self.recorder.done.push((open.file, Outcome { state, needs, visits, unit, toks, defined, once, pasted }));
    }

    /// The definitions that macros used in these files had before the first file was read. `set` is the number of
    /// definitions made before that.
    fn needs(&mut self, visits: &[Visit], pasted: &[Sym], set: usize) -> Needs {
        let mut before: FxMap<Sym, Option<&Arc<Macro>>> = FxMap::default();
        for (name, made) in self.macros.set.get(set..).unwrap_or_default() {
            before.entry(*name).or_insert(made.as_ref());
        }
        let files = &self.files;
        let kept = &mut self.macros.included.names;
        let mut met = SymSet::default();
        let mut open: Vec<Sym> = Vec::new();
        for (file, _) in visits.iter().filter(|(_, read)| !read) {
            let names = kept.entry(*file).or_insert_with(|| {
                let mut seen = SymSet::default();
                let toks = files.get(*file).map_or(&[][..], |file| &file.toks);
                let idents = toks.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym);
                idents.filter(|name| seen.insert(*name)).collect()
            });
            open.extend(names.iter().filter(|name| met.insert(**name)));
        }
        open.extend(pasted.iter().filter(|name| met.insert(**name)));
        // A definition may use other names.
        let (mut defined, mut absent) = (Vec::new(), SymSet::default());
        while let Some(name) = open.pop() {
            let made = before.get(&name).copied().unwrap_or_else(|| self.macros.table.get(name));
            let Some(made) = made else {
                absent.insert(name);
                continue;
            };
            let idents = made.body.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym);
            open.extend(idents.filter(|name| met.insert(*name)));
            defined.push((name, made.clone()));
        }
        Needs { defined: defined.into(), absent: Arc::new(absent) }
    }
}

impl Macros {
    /// Whether the macros that affect an outcome have the same definitions now.
    fn meets(&self, needs: &Needs) -> bool {
        let same = |(name, made): &(Sym, Arc<Macro>)| {
            self.table.get(*name).is_some_and(|now| Arc::ptr_eq(now, made) || now.alike(made))
        };
        let appeared = |name: Sym| needs.absent.contains(name) && self.table.has(name);
        needs.defined.iter().all(same)
            && !self.set.iter().any(|(name, _)| appeared(*name))
            && !self.base.keys().any(|name| appeared(*name))
    }

    /// The outcomes that are also valid under other defines: those of files that never reach these names, and those
    /// whose dependencies are known. If names are undefined permanently (`fixed`), the latter are dropped, because
    /// outcomes do not record that.
    pub(crate) fn included_without(&self, names: &FxSet<Sym>, mentions: impl Fn(u16) -> bool, fixed: bool) -> Included {
        let in_body = |name: &Sym| {
            let all = self.definitions.values().map(|(_, made)| made).chain(self.base.values());
            let mut bodies = all.map(|made| &made.body);
            bodies.any(|body| body.iter().any(|tok| tok.kind == Kind::Ident && tok.sym == *name))
        };
        // A macro can introduce a name into files that do not spell it.
        let behind = names.iter().any(|name| self.included.pasted.contains(name) || in_body(name));
        let mut known: FxMap<u16, bool> = FxMap::default();
        let mut free = |file: u16| !*known.entry(file).or_insert_with(|| mentions(file));
        let mut kept = Included {
            of_file: FxMap::default(),
            pasted: self.included.pasted.clone(),
            bodies: self.included.bodies.clone(),
            names: self.included.names.clone(),
        };
        for (file, list) in &self.included.of_file {
            let mut hold: Vec<Arc<Outcome>> = Vec::new();
            for outcome in list {
                if !behind && outcome.visits.iter().all(|(file, _)| free(*file)) {
                    hold.push(outcome.clone());
                } else if outcome.needs.is_some() && !fixed {
                    hold.push(Arc::new(Outcome { state: None, ..outcome.as_ref().clone() }));
                }
            }
            if !hold.is_empty() {
                kept.of_file.insert(*file, hold);
            }
        }
        kept
    }
}
