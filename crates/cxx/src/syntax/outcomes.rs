//! What including a header came to, so that the next unit can take it over.

use super::bodies::Bodies;
use super::lex::Tok;
use super::macro_table::{Defined, Macro};
use super::sym::{FxMap, FxSet, Sym, SymSet};
use std::ops::Range;
use std::sync::Arc;

/// A file, and whether it was skipped because it had been read (`#pragma once`).
pub(super) type Visit = (u16, bool);

/// What including a file came to.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The macros when it began ([`Macros::state`]); None if those were of another build.
    pub(super) state: Option<u64>,
    /// Those of them that have a part in it; None if that was not looked into.
    pub(super) needs: Option<Needs>,
    /// The files that it led to, itself first, each as it was met first.
    pub(super) visits: Vec<Visit>,
    /// The unit in which it was read, and where in it its tokens stand.
    pub(super) unit: Arc<Vec<Tok>>,
    pub(super) toks: Range<usize>,
    pub(super) defined: Defined,
    /// Files that are not to be read again in this unit.
    pub(super) once: Vec<u16>,
    /// Names that `##` made.
    pub(super) pasted: Vec<Sym>,
}

/// The macros that have a part in what a file comes to.
#[derive(Debug, Clone)]
pub(super) struct Needs {
    pub(super) defined: Arc<[(Sym, Arc<Macro>)]>,
    /// Names that stood for nothing.
    pub(super) absent: Arc<SymSet>,
}

/// What the headers of a unit came to, each by its file.
pub(crate) type Done = Vec<(u16, Outcome)>;

/// Outcomes by file.
#[derive(Debug, Default)]
pub(crate) struct Included {
    pub(super) of_file: FxMap<u16, Vec<Arc<Outcome>>>,
    /// Names that `##` made: they stand in no file.
    pub(crate) pasted: FxSet<Sym>,
    /// Bodies that are not copied from unit to unit.
    pub(crate) bodies: Bodies,
    /// The names in a file, each once.
    pub(super) names: FxMap<u16, Arc<[Sym]>>,
}

/// Of a file that comes to so many tokens it is looked into which macros have a part.
pub(super) const LONG: usize = 1000;

/// A file is met under a few different states of the macros; beyond this many it is read each time.
const MAX_OUTCOMES: usize = 16;

/// The files that are being read right now, the outermost first.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(super) open: Vec<Open>,
    pub(super) visits: Vec<Visit>,
    /// Files read to their end in this unit, whose tokens are not all there yet.
    pub(crate) done: Done,
    /// Names that `##` made in this unit.
    pub(crate) pasted: Vec<Sym>,
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) file: u16,
    /// It can be told where it begins and ends.
    pub(super) plain: bool,
    pub(super) state: u64,
    pub(super) toks: usize,
    pub(super) visits: usize,
    pub(super) set: usize,
    pub(super) pasted: usize,
}

impl Recorder {
    /// Something happened that no outcome tells: none of the files that are open is kept.
    pub(crate) fn spoil(&mut self) {
        self.open.iter_mut().for_each(|open| open.plain = false);
    }

    /// A file was not opened: it had been read in this unit, or its outcome was taken.
    pub(crate) fn pass(&mut self, file: u16, read: bool) {
        if read {
            self.visits.push((file, true));
        }
    }
}

impl Included {
    /// A unit has been read and parsed: what its headers came to can be taken over by the next, without what is long in it.
    pub(crate) fn keep(&mut self, done: Done, toks: &Arc<Vec<Tok>>, long: Vec<Range<usize>>) {
        let short = self.bodies.shorten(toks, long, done.iter().map(|(_, outcome)| outcome.toks.clone()));
        for (file, outcome) in done {
            let list = self.of_file.entry(file).or_default();
            if list.len() < MAX_OUTCOMES {
                let (unit, toks) = match short.place(&outcome.toks) {
                    Some(place) => (short.toks.clone(), place),
                    None => (toks.clone(), outcome.toks.clone()),
                };
                list.push(Arc::new(Outcome { unit, toks, ..outcome }));
            }
        }
    }
}
