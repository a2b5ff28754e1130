//! Access to bodies that are stored apart from their units.

use super::Program;
use crate::syntax::ast::Function;
use crate::syntax::bodies::LONG;
use crate::syntax::lex::{BodyId, Kind, Tok};
use crate::syntax::parse::Declared;
use crate::syntax::sym::Sym;
use std::ops::Range;

/// Expands the body tokens of functions and variables. Returns false if a body token is in any other place. The unit
/// must then be parsed [with its bodies](Program::with_bodies).
pub(super) fn give_back(toks: &[Tok], declared: &mut Declared) -> bool {
    let mut left = toks.iter().filter(|tok| tok.kind == Kind::Body).count();
    let mut take = |range: &Option<Range<usize>>| {
        let range = range.as_ref().filter(|range| range.len() == 1)?;
        let body = toks.get(range.start)?.body()?;
        left = left.saturating_sub(1);
        Some(body)
    };
    for global in &mut declared.globals {
        global.home = take(&global.list).or(global.home);
    }
    for function in declared.functions.iter_mut().filter(|function| function.inits.is_none()) {
        if let Some(body) = take(&function.body) {
            function.home = Some((body, 0..usize::MAX));
        }
    }
    left == 0
}

/// The ranges of long function bodies and long initializer lists, in the order of the unit.
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

impl Program {
    /// The tokens of a body that is stored apart from its unit.
    pub(super) fn stored(&self, body: BodyId) -> &[Tok] {
        self.macros.included.bodies.get(body).map_or(&[], |body| body.toks())
    }

    /// The tokens that the ranges of a struct or function refer to.
    pub(super) fn toks_of(&self, unit: u32, home: Option<BodyId>) -> &[Tok] {
        home.map_or_else(|| self.unit_toks(unit), |body| self.stored(body))
    }

    /// The tokens of a unit with every body expanded in place.
    pub(super) fn with_bodies(&self, toks: &[Tok]) -> Vec<Tok> {
        let mut out = Vec::with_capacity(toks.len());
        for tok in toks {
            match tok.body() {
                Some(body) => out.extend_from_slice(self.stored(body)),
                None => out.push(*tok),
            }
        }
        out
    }

    /// The token list that contains a function's body, and the range of the body in it.
    pub(crate) fn stands_in<'a>(&'a self, function: &'a Function) -> (&'a [Tok], Range<usize>) {
        match &function.home {
            Some((body, range)) => {
                let toks = self.stored(*body);
                (toks, range.start..range.end.min(toks.len()))
            }
            None => (self.unit_toks(function.unit), function.body.clone().unwrap_or(0..0)),
        }
    }

    /// The tokens of a function's body.
    pub fn body_toks<'a>(&'a self, function: &'a Function) -> &'a [Tok] {
        let (toks, range) = self.stands_in(function);
        toks.get(range).unwrap_or_default()
    }

    /// Whether a name occurs in a function's body.
    pub fn mentions(&self, function: &Function, name: Sym) -> bool {
        self.has_tok(function, |tok| tok.sym == name && tok.kind == Kind::Ident)
    }

    /// Whether a function's body contains a matching token.
    pub fn has_tok(&self, function: &Function, is: impl Fn(&Tok) -> bool) -> bool {
        let bodies = &self.macros.included.bodies;
        let stored = function.home.as_ref().and_then(|(body, _)| bodies.get(*body));
        stored.is_none_or(|body| body.may_have(&is)) && self.body_toks(function).iter().any(is)
    }

    /// All tokens of a unit in order, as a sequence of pieces. Some pieces are stored bodies. Leaves out bodies that
    /// cannot contain the name.
    pub(crate) fn stretches(&self, unit: u32, name: Sym) -> impl Iterator<Item = &[Tok]> {
        let (toks, bodies) = (self.unit_toks(unit), &self.macros.included.bodies);
        let named = move |tok: &Tok| tok.sym == name && tok.kind == Kind::Ident;
        let (mut at, mut body) = (0, None);
        std::iter::from_fn(move || {
            if let Some(body) = body.take() {
                return Some(body);
            }
            let rest = toks.get(at..)?;
            let next = rest.iter().position(|tok| tok.kind == Kind::Body);
            at += next.unwrap_or(rest.len()) + 1;
            let stored = next.and_then(|next| rest.get(next)?.body()).and_then(|id| bodies.get(id));
            body = stored.filter(|stored| stored.may_have(named)).map(|stored| stored.toks());
            rest.get(..next.unwrap_or(rest.len()))
        })
    }
}
