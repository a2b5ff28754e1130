//! A header that was read before is not read again. What including a file comes to hangs on the macros as they stand and on the headers
//! that it would pass over; where these are the same as before, so are its tokens and the macros after it.
//!
//! Only an include between two declarations is kept: one within the arguments of a macro, or a file that ends within them, goes the long way.

use super::lex::{Kind, Tok};
use super::macros::{Defined, Macros};
use super::preprocess::Preprocessor;
use super::sym::{FxMap, FxSet, Sym};
use std::ops::Range;
use std::sync::Arc;

/// A file, and whether it was passed over because it had been read (`#pragma once`).
type Visit = (u16, bool);

/// What including a file came to.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The macros when it began ([`Macros::state`]).
    state: u64,
    /// The files that it led to, itself first, each as it was met first.
    visits: Vec<Visit>,
    /// The unit in which it was read, and where in it its tokens stand.
    unit: Arc<Vec<Tok>>,
    toks: Range<usize>,
    defined: Defined,
    /// Files that are not to be read again in this unit.
    once: Vec<u16>,
}

/// Outcomes by file.
#[derive(Debug, Default)]
pub(super) struct Included {
    of_file: FxMap<u16, Vec<Arc<Outcome>>>,
    /// Names that `##` made: they stand in no file.
    pub(super) pasted: FxSet<Sym>,
    /// The tokens of the longest unit so far: room for the next.
    pub(super) longest: usize,
}

/// A file is met under a few different states of the macros; beyond this many it is read each time.
const MAX_OUTCOMES: usize = 16;

/// The files that are being read right now, the outermost first.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    open: Vec<Open>,
    visits: Vec<Visit>,
    /// Files read to their end in this unit, whose tokens are not all there yet.
    done: Vec<(u16, Outcome)>,
}

#[derive(Debug)]
struct Open {
    file: u16,
    /// It can be told where it begins and ends.
    plain: bool,
    state: u64,
    toks: usize,
    visits: usize,
    set: usize,
}

impl Recorder {
    /// Something happened that no outcome tells: none of the files that are open is kept.
    pub(super) fn spoil(&mut self) {
        self.open.iter_mut().for_each(|open| open.plain = false);
    }

    /// A file was not opened: it had been read in this unit, or its outcome was taken.
    pub(super) fn pass(&mut self, file: u16, read: bool) {
        if read {
            self.visits.push((file, true));
        }
    }
}

impl Preprocessor<'_> {
    /// Takes over what a file came to before; false where it must be read.
    pub(super) fn replay(&mut self, file: u16) -> bool {
        let fits = |known: &&Arc<Outcome>| {
            known.state == self.macros.state
                && known.visits.iter().all(|(file, read)| self.macros.once.contains(file) == *read)
        };
        let known = self.macros.included.of_file.get(&file).and_then(|list| list.iter().find(fits));
        let Some(known) = known.cloned() else { return false };
        self.out.extend_from_slice(known.unit.get(known.toks.clone()).unwrap_or_default());
        for (name, made) in &known.defined {
            self.macros.set(*name, made.clone());
        }
        self.macros.once.extend(&known.once);
        self.recorder.visits.extend_from_slice(&known.visits);
        true
    }

    pub(super) fn record(&mut self, file: u16, plain: bool) {
        let (toks, visits, set) = (self.out.len(), self.recorder.visits.len(), self.macros.set.len());
        self.recorder.visits.push((file, false));
        self.recorder.open.push(Open { file, plain, state: self.macros.state, toks, visits, set });
    }

    /// The innermost file has been read to its end.
    pub(super) fn recorded(&mut self) {
        if self.gathering > 0 {
            self.recorder.spoil();
        }
        let Some(open) = self.recorder.open.pop() else { return };
        // The unit itself is read once.
        if !open.plain || self.recorder.open.is_empty() {
            return;
        }
        let mut seen = FxSet::default();
        let visits = self.recorder.visits.get(open.visits..).unwrap_or_default();
        let visits: Vec<Visit> = visits.iter().filter(|(file, _)| seen.insert(*file)).copied().collect();
        let read = visits.iter().filter(|(file, read)| !read && self.macros.once.contains(file));
        let once = read.map(|(file, _)| *file).collect();
        let mut seen = FxSet::default();
        let set = self.macros.set.get(open.set..).unwrap_or_default().iter().filter(|name| seen.insert(**name));
        let defined = set.map(|name| (*name, self.macros.table.get(name).cloned())).collect();
        let toks = open.toks..self.out.len();
        let unit = Arc::default();
        self.recorder.done.push((open.file, Outcome { state: open.state, visits, unit, toks, defined, once }));
    }

    /// The unit has been read: what its headers came to can be taken over by the next.
    pub(super) fn keep(&mut self, toks: &Arc<Vec<Tok>>) {
        self.macros.included.longest = self.macros.included.longest.max(toks.len());
        for (file, outcome) in self.recorder.done.drain(..) {
            let list = self.macros.included.of_file.entry(file).or_default();
            if list.len() < MAX_OUTCOMES {
                list.push(Arc::new(Outcome { unit: toks.clone(), ..outcome }));
            }
        }
    }
}

impl Macros {
    /// The outcomes that hold under other defines too: those of files that lead to none of these names.
    pub(super) fn included_without(&self, names: &FxSet<Sym>, mentions: impl Fn(u16) -> bool) -> Included {
        let in_body = |name: &Sym| {
            let all = self.definitions.values().map(|(_, made)| made).chain(self.base.values());
            let mut bodies = all.map(|made| &made.body);
            bodies.any(|body| body.iter().any(|tok| tok.kind == Kind::Ident && tok.sym == *name))
        };
        // Behind another macro a name may be met where it is not written.
        if names.iter().any(|name| self.included.pasted.contains(name) || in_body(name)) {
            return Included::default();
        }
        let mut known: FxMap<u16, bool> = FxMap::default();
        let mut free = |file: u16| !*known.entry(file).or_insert_with(|| mentions(file));
        let mut kept = Included {
            of_file: FxMap::default(),
            pasted: self.included.pasted.clone(),
            longest: self.included.longest,
        };
        for (file, list) in &self.included.of_file {
            let hold = list.iter().filter(|outcome| outcome.visits.iter().all(|(file, _)| free(*file)));
            let hold: Vec<Arc<Outcome>> = hold.cloned().collect();
            if !hold.is_empty() {
                kept.of_file.insert(*file, hold);
            }
        }
        kept
    }
}
