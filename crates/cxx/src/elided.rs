//! Bodies of functions stand in a unit as a single token between their braces, and so do long lists of numbers with theirs: a header is mostly bodies, and of these a question
//! runs a few. A body that a header brought into one unit is not copied into the next, and one that no directive stands in
//! is not even expanded before somebody looks at it: no macro can become another on the way through it, so the names that may
//! be met in it are kept with what each stood for.

use super::ast::Function;
use super::files::Files;
use super::lex::{Kind, Tok};
use super::macros::{Macro, Macros};
use super::parse::Declared;
use super::preprocess::{MAX_TOKENS, Preprocessor};
use super::program::{Nothing, Program};
use super::sym::{self, Interner, Sym};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// So many tokens are worth leaving out.
pub(super) const LONG: usize = 24;

/// Macros as they stood for a body.
pub(super) type Stood = Box<[(Sym, Arc<Macro>)]>;

/// Where the tokens of a body stand, and the macros that they are still to be expanded with.
#[derive(Debug)]
pub struct Home {
    toks: Arc<Vec<Tok>>,
    range: Range<usize>,
    macros: Stood,
    expanded: OnceLock<Vec<Tok>>,
    /// Tokens that macros have made in all bodies so far.
    made: Arc<AtomicUsize>,
}

impl Home {
    /// The same as they stand in their file, or in the unit that has them.
    pub(crate) fn raw(&self) -> &[Tok] {
        self.toks.get(self.range.clone()).unwrap_or_default()
    }

    /// The tokens between the braces.
    pub(crate) fn toks(&self) -> &[Tok] {
        if self.macros.is_empty() { self.raw() } else { self.expanded.get_or_init(|| self.expand()) }
    }

    fn expand(&self) -> Vec<Tok> {
        let (mut files, mut interner, mut macros) = (Files::default(), Interner::none(), Macros::of(&self.macros));
        let mut preprocessor = Preprocessor::new(&Nothing, &mut files, &mut interner, &mut macros);
        let before = self.made.load(Ordering::Relaxed).min(MAX_TOKENS);
        preprocessor.made = before;
        let mut toks = preprocessor.expand_list(self.raw()).unwrap_or_default();
        toks.shrink_to_fit();
        let made = preprocessor.made;
        self.made.fetch_add(made - before, Ordering::Relaxed);
        // More than any program has: a brace that closes nothing is no statement that could be understood.
        let first = self.raw().first().filter(|_| made >= MAX_TOKENS);
        first.map_or(toks, |first| vec![Tok { kind: Kind::Punct, sym: sym::RBRACE, ..*first }])
    }

    /// Whether there may be such a token in it, wherever it comes from; false only where there is none.
    fn may_have(&self, is: impl Fn(&Tok) -> bool) -> bool {
        let bodies = self.macros.iter().map(|(_, made)| made.body.as_slice());
        self.expanded.get().map_or(self.raw(), Vec::as_slice).iter().any(&is)
            || (self.expanded.get().is_none() && bodies.into_iter().flatten().any(is))
    }
}

/// Bodies by their number.
#[derive(Debug, Clone, Default)]
pub(super) struct Elided {
    bodies: Vec<Arc<Home>>,
    made: Arc<AtomicUsize>,
}

/// A unit without its long bodies: where its stretches stand now.
#[derive(Debug)]
pub(super) struct Short {
    pub(super) toks: Arc<Vec<Tok>>,
    /// From and to before, and from now; in ascending order.
    stretches: Vec<(usize, usize, usize)>,
}

impl Elided {
    pub(super) fn get(&self, tok: &Tok) -> Option<&Arc<Home>> {
        if tok.kind == Kind::Body { self.bodies.get(tok.off as usize) } else { None }
    }

    /// The token that stands for a body from now on.
    pub(super) fn add(&mut self, toks: &Arc<Vec<Tok>>, range: Range<usize>, macros: Stood) -> Option<Tok> {
        let first = toks.get(range.start)?;
        let off = u32::try_from(self.bodies.len()).ok()?;
        let (toks, made) = (toks.clone(), self.made.clone());
        self.bodies.push(Arc::new(Home { toks, range, macros, expanded: OnceLock::new(), made }));
        Some(Tok { kind: Kind::Body, flags: 0, sym: sym::BODY, off, len: 0, ..*first })
    }

    /// Gives functions and variables what tokens of theirs stand for. False where one stands anywhere else: such a unit must be
    /// parsed as a [whole](Elided::whole).
    pub(super) fn give_back(&self, toks: &[Tok], declared: &mut Declared) -> bool {
        let mut left = toks.iter().filter(|tok| tok.kind == Kind::Body).count();
        for global in declared.globals.iter_mut() {
            let Some(range) = global.list.as_ref().filter(|range| range.len() == 1) else { continue };
            if let Some(home) = toks.get(range.start).and_then(|tok| self.get(tok)) {
                global.home = Some(home.clone());
                left = left.saturating_sub(1);
            }
        }
        for function in declared.functions.iter_mut().filter(|function| function.inits.is_none()) {
            let Some(range) = function.body.as_ref().filter(|range| range.len() == 1) else { continue };
            if let Some(home) = toks.get(range.start).and_then(|tok| self.get(tok)) {
                function.home = Some((home.clone(), 0..usize::MAX));
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
                Some(home) => out.extend_from_slice(home.toks()),
                None => out.push(*tok),
            }
        }
        out
    }

    /// The long bodies of functions, and the long lists that variables begin as, in the order of the unit that they stand in.
    pub(super) fn long(declared: &Declared) -> Vec<Range<usize>> {
        let functions = declared.functions.iter();
        let own = functions.filter(|function| function.home.is_none() && function.inits.is_none());
        let lists = declared.globals.iter().filter(|global| global.home.is_none());
        let all = own.filter_map(|function| function.body.clone());
        let all = all.chain(lists.filter_map(|global| global.list.clone()));
        let mut all: Vec<Range<usize>> = all.filter(|range| range.len() >= LONG).collect();
        all.sort_unstable_by_key(|range| range.start);
        all
    }

    /// What of a unit is taken over by others (`wanted`), without what is long in it.
    pub(super) fn shorten(
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
    /// A list of tokens, and where in it a function's body stands.
    pub(crate) fn stands_in<'a>(&'a self, function: &'a Function) -> (&'a [Tok], Range<usize>) {
        match &function.home {
            Some((home, range)) => (home.toks(), range.start..range.end.min(home.toks().len())),
            None => (self.unit_toks(function.unit), function.body.clone().unwrap_or(0..0)),
        }
    }

    /// The tokens of a function's body.
    pub fn body_toks<'a>(&'a self, function: &'a Function) -> &'a [Tok] {
        let (toks, range) = self.stands_in(function);
        toks.get(range).unwrap_or_default()
    }

    /// Whether a name stands in a function's body.
    pub fn mentions(&self, function: &Function, name: Sym) -> bool {
        self.has_tok(function, |tok| tok.sym == name && tok.kind == Kind::Ident)
    }

    /// Whether there is such a token in a function's body.
    pub fn has_tok(&self, function: &Function, is: impl Fn(&Tok) -> bool) -> bool {
        function.home.as_ref().is_none_or(|(home, _)| home.may_have(&is)) && self.body_toks(function).iter().any(is)
    }

    /// All tokens of a unit in their order, in stretches, of which bodies are some; those in which a name may stand.
    pub(crate) fn stretches(&self, unit: u32, name: Sym) -> impl Iterator<Item = &[Tok]> {
        let (toks, elided) = (self.unit_toks(unit), &self.macros.included.elided);
        let named = move |tok: &Tok| tok.sym == name && tok.kind == Kind::Ident;
        let (mut at, mut body) = (0, None);
        std::iter::from_fn(move || {
            if let Some(body) = body.take() {
                return Some(body);
            }
            let rest = toks.get(at..)?;
            let next = rest.iter().position(|tok| tok.kind == Kind::Body);
            at += next.unwrap_or(rest.len()) + 1;
            let home = next.and_then(|next| rest.get(next)).and_then(|tok| elided.get(tok));
            body = home.filter(|home| home.may_have(named)).map(|home| home.toks());
            rest.get(..next.unwrap_or(rest.len()))
        })
    }
}
