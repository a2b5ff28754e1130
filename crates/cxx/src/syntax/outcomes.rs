//! The results of including headers, so that the next unit can reuse them.

use super::bodies::Bodies;
use super::lex::Tok;
use super::macro_table::{Defined, Macro};
use super::sym::{FxMap, FxSet, Sym, SymSet};
use std::ops::Range;
use std::sync::Arc;

/// A file, and whether it was skipped because it had already been read (`#pragma once`).
pub(super) type Visit = (u16, bool);

/// The result of including a file.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The state of the macros at the start of the file ([`Macros::state`]); None if it belongs to another build.
    pub(super) state: Option<u64>,
    /// The macros that the outcome depends on; None if they were not determined.
    pub(super) needs: Option<Needs>,
    /// The files that it visited, starting with itself, each as at its first visit.
    pub(super) visits: Vec<Visit>,
    /// The unit in which it was read, and the range of its tokens there.
    pub(super) unit: Arc<Vec<Tok>>,
    pub(super) toks: Range<usize>,
    pub(super) defined: Defined,
    /// Files that this unit must not read again.
    pub(super) once: Vec<u16>,
    /// Names created by `##`.
    pub(super) pasted: Vec<Sym>,
}

/// The macros that the result of a file depends on.
#[derive(Debug, Clone)]
pub(super) struct Needs {
    pub(super) defined: Arc<[(Sym, Arc<Macro>)]>,
    /// Names that were not defined.
    pub(super) absent: Arc<SymSet>,
}

/// The results of a unit's headers, by file.
pub(crate) type Done = Vec<(u16, Outcome)>;

/// Outcomes by file.
#[derive(Debug, Default)]
pub(crate) struct Included {
    pub(super) of_file: FxMap<u16, Vec<Arc<Outcome>>>,
    /// Names created by `##`, which no file spells.
    pub(crate) pasted: FxSet<Sym>,
    /// Bodies that are shared between units instead of copied.
    pub(crate) bodies: Bodies,
    /// The distinct names in a file.
    pub(super) names: FxMap<u16, Arc<[Sym]>>,
}

/// The minimum number of tokens for which the dependencies of a file on macros are determined.
pub(super) const LONG: usize = 1000;

/// The maximum number of results kept per file, one for each state of the macros.
const MAX_OUTCOMES: usize = 16;

/// The files that are currently being read, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(super) open: Vec<Open>,
    pub(super) visits: Vec<Visit>,
    /// Files read to their end in this unit, whose tokens are not complete yet.
    pub(crate) done: Done,
    /// Names created by `##` in this unit.
    pub(crate) pasted: Vec<Sym>,
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) file: u16,
    /// Whether the start and the end of the region in the token stream are known.
    pub(super) plain: bool,
    pub(super) state: u64,
    pub(super) toks: usize,
    pub(super) visits: usize,
    pub(super) set: usize,
    pub(super) pasted: usize,
}

impl Recorder {
    /// Called after an event that results do not record. The results of open files will not be kept.
    pub(crate) fn spoil(&mut self) {
        self.open.iter_mut().for_each(|open| open.plain = false);
    }

    /// Called for a file that was not opened: it was already read in this unit, or its result was reused.
    pub(crate) fn pass(&mut self, file: u16, read: bool) {
        if read {
            self.visits.push((file, true));
        }
    }
}

impl Included {
    /// Keeps the results of a unit's headers, without their long bodies, after the unit has been read and parsed.
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
