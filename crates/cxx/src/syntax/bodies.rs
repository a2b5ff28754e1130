//! A unit stores the body of a function, or a long list of numbers, as a single token. Headers consist mostly of
//! bodies, and a question runs few of them. So a body from a header is not copied into the next unit. A body without
//! directives is expanded only when it is used. No macro can change inside it, so it is stored with the current
//! definitions of the names in it.

use super::lex::{BodyId, Kind, Tok};
use super::macro_table::Stood;
use super::sym;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// The minimum number of tokens for which a body is stored apart.
pub(crate) const LONG: usize = 24;

/// The tokens of a body, and the macros to expand them with.
#[derive(Debug)]
pub(crate) struct StoredBody {
    toks: Arc<Vec<Tok>>,
    range: Range<usize>,
    pub(crate) macros: Stood,
    pub(crate) expanded: OnceLock<Vec<Tok>>,
    /// How many tokens macros have produced in all bodies so far.
    pub(crate) made: Arc<AtomicUsize>,
}

impl StoredBody {
    /// The unexpanded tokens.
    pub(crate) fn raw(&self) -> &[Tok] {
        self.toks.get(self.range.clone()).unwrap_or_default()
    }

    /// Whether the body may contain a matching token, including tokens from macros. False is certain.
    pub(crate) fn may_have(&self, is: impl Fn(&Tok) -> bool) -> bool {
        let bodies = self.macros.iter().map(|(_, made)| made.body.as_slice());
        self.expanded.get().map_or(self.raw(), Vec::as_slice).iter().any(&is)
            || (self.expanded.get().is_none() && bodies.into_iter().flatten().any(is))
    }
}

/// Stored bodies by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bodies {
    bodies: Vec<Arc<StoredBody>>,
    made: Arc<AtomicUsize>,
}

/// A unit without its long bodies, with the new positions of the remaining token ranges.
#[derive(Debug)]
pub(crate) struct Short {
    pub(crate) toks: Arc<Vec<Tok>>,
    /// Old start, old end and new start of each range, in ascending order.
    stretches: Vec<(usize, usize, usize)>,
}

impl Bodies {
    pub(crate) fn get(&self, id: BodyId) -> Option<&StoredBody> {
        self.bodies.get(id.0 as usize).map(Arc::as_ref)
    }

    /// Stores a body and returns the token that represents it.
    pub(crate) fn add(&mut self, toks: &Arc<Vec<Tok>>, range: Range<usize>, macros: Stood) -> Option<Tok> {
        let first = toks.get(range.start)?;
        let off = u32::try_from(self.bodies.len()).ok()?;
        let (toks, made) = (toks.clone(), self.made.clone());
        self.bodies.push(Arc::new(StoredBody { toks, range, macros, expanded: OnceLock::new(), made }));
        Some(Tok { kind: Kind::Body, flags: 0, sym: sym::BODY, off, len: 0, ..*first })
    }

    /// The parts of a unit that other units reuse (`wanted`), without their long bodies.
    pub(crate) fn shorten(
        &mut self,
        toks: &Arc<Vec<Tok>>,
        long: Vec<Range<usize>>,
        wanted: impl Iterator<Item = Range<usize>>,
    ) -> Short {
        let mut wanted: Vec<Range<usize>> = wanted.collect();
        wanted.sort_unstable_by_key(|range| (range.start, usize::MAX - range.end));
        let mut bodies = long.into_iter().peekable();
        let mut short = Short { toks: Arc::default(), stretches: Vec::new() };
        let (mut out, mut done): (Vec<Tok>, usize) = (Vec::new(), 0);
        for range in wanted {
            // A range inside another one was already copied.
            if range.end <= done {
                continue;
            }
            let mut at = range.start.max(done);
            done = range.end;
            while bodies.next_if(|body| body.start < at).is_some() {}
            // Ranges without a long body are not shortened.
            if bodies.peek().is_none_or(|body| body.end >= range.end) {
                continue;
            }
            while let Some(body) = bodies.next_if(|body| body.end < range.end) {
                short.add(toks, at..body.start, &mut out);
                let end = body.end;
                let Some(token) = self.add(toks, body, Box::default()) else { continue };
                out.push(token);
                at = end;
            }
            short.add(toks, at..range.end, &mut out);
        }
        out.shrink_to_fit();
        short.toks = Arc::new(out);
        short
    }
}

impl Short {
    fn add(&mut self, toks: &[Tok], range: Range<usize>, out: &mut Vec<Tok>) {
        self.stretches.push((range.start, range.end, out.len()));
        out.extend_from_slice(toks.get(range).unwrap_or_default());
    }

    /// The new position of a range of the unit; None if it is missing here, or begins or ends inside a body.
    pub(crate) fn place(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let of = |at: usize, last: bool| {
            let after = self.stretches.partition_point(|(from, ..)| if last { *from < at } else { *from <= at });
            let &(from, to, now) = self.stretches.get(after.checked_sub(1)?)?;
            (at <= to).then(|| now + (at - from))
        };
        if range.is_empty() {
            return Some(0..0);
        }
        Some(of(range.start, false)?..of(range.end, true)?)
    }
}
