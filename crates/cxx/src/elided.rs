//! Bodies of functions that a header brought into one unit are not copied into the next: a single token stands between the braces
//! for what the first unit has there. A header is mostly bodies, and of these a question runs a few.

use super::ast::Function;
use super::lex::{Kind, Tok};
use super::program::Program;
use super::sym;
use std::ops::Range;
use std::sync::Arc;

/// So many tokens are worth leaving out.
const LONG: usize = 24;

/// Bodies by their number, each with the tokens of the unit that it stands in.
#[derive(Debug, Clone, Default)]
pub(super) struct Elided(Vec<(Arc<Vec<Tok>>, Range<usize>)>);

/// A unit without its long bodies: where its stretches stand now.
#[derive(Debug)]
pub(super) struct Short {
    pub(super) toks: Arc<Vec<Tok>>,
    /// From and to before, and from now; in ascending order.
    stretches: Vec<(usize, usize, usize)>,
}

impl Elided {
    fn get(&self, tok: &Tok) -> Option<&(Arc<Vec<Tok>>, Range<usize>)> {
        if tok.kind == Kind::Body { self.0.get(tok.off as usize) } else { None }
    }

    /// Gives functions the bodies that tokens of theirs stand for. False where one stands anywhere else: such a unit must be
    /// parsed as a [whole](Elided::whole).
    pub(super) fn give_back(&self, toks: &[Tok], functions: &mut [Function]) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let mut left = toks.iter().filter(|tok| tok.kind == Kind::Body).count();
        for function in functions.iter_mut().filter(|function| function.inits.is_none()) {
            let Some(range) = function.body.clone().filter(|range| range.len() == 1) else { continue };
            if let Some((home, body)) = toks.get(range.start).and_then(|tok| self.get(tok)) {
                (function.home, function.body) = (Some(home.clone()), Some(body.clone()));
                left = left.saturating_sub(1);
            }
        }
        left == 0
    }

    /// The tokens with every body in its place.
    pub(super) fn whole(&self, toks: &[Tok]) -> Vec<Tok> {
        let mut out = Vec::with_capacity(toks.len());
        for tok in toks {
            match self.get(tok) {
                Some((home, body)) => out.extend_from_slice(home.get(body.clone()).unwrap_or_default()),
                None => out.push(*tok),
            }
        }
        out
    }

    /// What of a unit is taken over by others (`wanted`), without the long bodies of its functions.
    pub(super) fn shorten(
        &mut self,
        toks: &Arc<Vec<Tok>>,
        functions: &[Function],
        wanted: impl Iterator<Item = Range<usize>>,
    ) -> Short {
        let mut wanted: Vec<Range<usize>> = wanted.collect();
        wanted.sort_unstable_by_key(|range| (range.start, usize::MAX - range.end));
        let own = functions.iter().filter(|function| function.home.is_none() && function.inits.is_none());
        let mut bodies = own.filter_map(|function| function.body.clone()).filter(|body| body.len() >= LONG).peekable();
        let mut short = Short { toks: Arc::default(), stretches: Vec::new() };
        let (mut out, mut done): (Vec<Tok>, usize) = (Vec::new(), 0);
        for range in wanted {
            // One within another was copied with it.
            if range.end <= done {
                continue;
            }
            let mut at = range.start.max(done);
            done = range.end;
            while bodies.next_if(|body| body.start < at).is_some() {}
            // Where there is nothing to leave out, it is taken over as it stands.
            if bodies.peek().is_none_or(|body| body.end >= range.end) {
                continue;
            }
            while let Some(body) = bodies.next_if(|body| body.end < range.end) {
                short.add(toks, at..body.start, &mut out);
                let first = toks.get(body.start).copied();
                let Some(first) = first.filter(|_| self.0.len() < u32::MAX as usize) else { continue };
                out.push(Tok { kind: Kind::Body, flags: 0, sym: sym::BODY, off: self.0.len() as u32, len: 0, ..first });
                at = body.end;
                self.0.push((toks.clone(), body));
            }
            short.add(toks, at..range.end, &mut out);
        }
        short.toks = Arc::new(out);
        short
    }
}

impl Short {
    fn add(&mut self, toks: &[Tok], range: Range<usize>, out: &mut Vec<Tok>) {
        self.stretches.push((range.start, range.end, out.len()));
        out.extend_from_slice(toks.get(range).unwrap_or_default());
    }

    /// Where a stretch of the unit stands; None where it is not here, or begins or ends within a body.
    pub(super) fn place(&self, range: &Range<usize>) -> Option<Range<usize>> {
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

impl Program {
    /// The tokens that a function's body is a stretch of.
    pub(crate) fn home<'a>(&'a self, function: &'a Function) -> &'a [Tok] {
        match &function.home {
            Some(home) => home,
            None => self.unit_toks(function.unit),
        }
    }

    /// All tokens of a unit in their order, in stretches: a body that stands with another unit is one, with its braces.
    pub(crate) fn stretches(&self, unit: u32) -> impl Iterator<Item = &[Tok]> {
        let (toks, elided) = (self.unit_toks(unit), &self.macros.included.elided);
        let (mut at, mut body) = (0, None);
        std::iter::from_fn(move || {
            if let Some(body) = body.take() {
                return Some(body);
            }
            let rest = toks.get(at..)?;
            let next = rest.iter().position(|tok| tok.kind == Kind::Body);
            at += next.unwrap_or(rest.len()) + 1;
            body = next
                .and_then(|next| rest.get(next))
                .and_then(|tok| elided.get(tok))
                .map(|(home, body)| home.get(body.start.saturating_sub(1)..body.end + 1).unwrap_or_default());
            rest.get(..next.unwrap_or(rest.len()))
        })
    }
}
