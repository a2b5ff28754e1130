//! Decides which bodies can be expanded on demand: bodies of functions at file level that have no directives and only
//! plain macros. All others are expanded at once. A wrong guess is corrected: if a deferred body turns out not to
//! belong to a function, its unit is parsed again with all bodies expanded.

use super::bodies::LONG;
use super::brackets::{close, plain_end};
use super::lex::{Kind, Tok};
use super::macro_table::{Macro, Stood};
use super::preprocess::{Preprocessor, copy_frames};
use super::sym::{self, Sym};
use std::sync::Arc;

/// The maximum number of signature tokens scanned backwards.
const SIGNATURE: usize = 500;

/// The maximum number of macros examined in one body.
const MACROS: usize = 64;

impl Preprocessor<'_> {
    /// Copies the tokens up to the next directive or macro name, which is most of a file. Bodies that can be deferred
    /// are skipped.
    pub(crate) fn copy_plain(&mut self) {
        if self.floor > 0 || copy_frames(&mut self.frames, 0, &self.macros.table, &mut self.pool, &mut self.out) {
            return;
        }
        let Some(source) = self.sources.last().filter(|source| source.is_live()) else { return };
        let (toks, mut at) = (source.toks.clone(), source.at);
        loop {
            let rest = toks.get(at..).unwrap_or_default();
            let table = &self.macros.table;
            // The opening brace of a body follows a parenthesis.
            let mut closed = self.out.last().is_some_and(|tok| tok.is(sym::RPAREN));
            let ends = |tok: &Tok| {
                let after = std::mem::take(&mut closed);
                match tok.kind {
                    Kind::Ident => table.has(tok.sym),
                    Kind::Punct => {
                        closed = tok.sym == sym::RPAREN;
                        (after && tok.sym == sym::LBRACE) || (tok.sym == sym::HASH && tok.bol())
                    }
                    _ => false,
                }
            };
            let plain = rest.get(..rest.iter().position(ends).unwrap_or(rest.len())).unwrap_or_default();
            self.out.extend_from_slice(plain);
            at += plain.len();
            let Some(open) = toks.get(at).copied().filter(|tok| tok.is(sym::LBRACE)) else { break };
            let deferred = self.defer(&toks, at);
            self.out.push(open);
            at += 1;
            if let Some((body, end)) = deferred {
                self.out.push(body);
                at = end;
            }
        }
        if let Some(source) = self.sources.last_mut() {
            source.at = at;
        }
    }

    /// The token for the body whose brace is at `open`, and the position of its closing brace. None if the body must be
    /// read now.
    fn defer(&mut self, toks: &Arc<Vec<Tok>>, open: usize) -> Option<(Tok, usize)> {
        let file = toks.get(open)?.file;
        if self.braces.long.is_some_and(|(of, end)| of == file && open < end) || !self.begins_body() {
            return None;
        }
        let end = plain_end(toks.get(open..)?).map(|end| open + end);
        let deferred = end.and_then(|end| {
            let body = Some(open + 1..end).filter(|body| body.len() >= LONG)?;
            let macros = self.met(toks.get(body.clone())?)?;
            self.macros.included.bodies.add(toks, body, macros).map(|token| (token, end))
        });
        if deferred.is_none() {
            self.braces.long = Some((file, end.unwrap_or_else(|| close(toks, open))));
        }
        deferred
    }

    /// Whether a brace here would open a function body: it follows a signature and is not inside an open bracket.
    fn begins_body(&mut self) -> bool {
        if !self.out.last().is_some_and(|tok| tok.is(sym::RPAREN)) {
            return false;
        }
        for tok in self.out.get(self.braces.seen..).unwrap_or_default() {
            if tok.is(sym::LBRACE) {
                self.braces.open += 1;
            } else if tok.is(sym::RBRACE) {
                self.braces.open = self.braces.open.saturating_sub(1);
            }
        }
        self.braces.seen = self.out.len();
        if self.braces.open > 0 {
            return false;
        }
        // Go back over the parameters to the name, and to the type before it.
        let mut depth = 0usize;
        let mut before = self.out.iter().rev().take(SIGNATURE).skip_while(|tok| {
            depth += usize::from(tok.is(sym::RPAREN));
            depth -= usize::from(tok.is(sym::LPAREN));
            depth > 0
        });
        let (Some(_), Some(name), Some(ty)) = (before.next(), before.next(), before.next()) else { return false };
        let named = name.kind == Kind::Ident && !self.interner.is_keyword(name.sym) && name.sym != sym::ALIGN;
        let typed = match ty.kind {
            Kind::Ident => ty.sym != sym::OPERATOR,
            _ => ty.is(sym::STAR) || ty.is(sym::AMP) || ty.is(sym::GT),
        };
        named && typed
    }

    /// The macros that may occur in these tokens, with their current definitions; None if one of them is not plain.
    fn met(&self, toks: &[Tok]) -> Option<Stood> {
        let table = &self.macros.table;
        let add = |toks: &[Tok], found: &mut Vec<(Sym, Arc<Macro>)>| {
            for tok in toks.iter().filter(|tok| tok.kind == Kind::Ident) {
                if let Some(made) = table.get(tok.sym)
                    && !found.iter().any(|(known, _)| *known == tok.sym)
                {
                    found.push((tok.sym, Some(made).filter(|made| made.plain && found.len() < MACROS)?.clone()));
                }
            }
            Some(())
        };
        let mut found = Vec::new();
        add(toks, &mut found)?;
        // A definition may name other macros.
        let mut next = 0;
        while let Some(made) = found.get(next).map(|(_, made)| made.clone()) {
            add(&made.body, &mut found)?;
            next += 1;
        }
        Some(found.into())
    }
}
