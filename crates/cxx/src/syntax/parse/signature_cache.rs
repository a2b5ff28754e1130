//! Caches parsed signatures, because every unit repeats the declarations of its headers, token for token.
//!
//! The parse result depends only on the tokens and on which of their names are types and templates.

use super::Parser;
use crate::syntax::ast::{Function, Signature};
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, FxMap, Sym};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Signatures by the position of their first token.
#[derive(Debug, Clone, Default)]
pub struct SeenSignatures(FxMap<(u16, u32), Arc<One>>);

#[derive(Debug)]
struct One {
    /// The tokens of the signature: up to the end of the declaration, or up to the brace of its body.
    unit: Arc<Vec<Tok>>,
    toks: Range<usize>,
    /// The names in the signature, and whether each is a type or a template.
    names: Vec<(Sym, Known)>,
    signature: Arc<Signature>,
    has_body: bool,
}

/// Whether a name is a type, and whether it is a template.
type Known = (bool, bool);

impl Parser<'_> {
    /// The function that begins here, if it was parsed before.
    pub(super) fn seen_function(&mut self, seen: &SeenSignatures) -> Option<Function> {
        let first = self.peek().filter(|_| !self.hidden)?;
        let one = seen.0.get(&(first.file, first.off))?;
        let toks = one.unit.get(one.toks.clone())?;
        if self.toks.get(self.pos..self.pos + toks.len())? != toks
            || !one.names.iter().all(|(name, known)| self.known(*name) == *known)
        {
            return None;
        }
        self.pos += toks.len();
        let body = one.has_body.then(|| {
            let from = self.pos;
            self.pos -= 1;
            self.skip_balanced();
            from..self.pos.saturating_sub(1).max(from)
        });
        let signature = one.signature.clone();
        let (unit, space) = (self.unit, self.space);
        Some(Function { signature, unit, space, body, home: None, inits: None, owner: None, parsed: OnceLock::new() })
    }

    /// Stores a function that was just parsed from `start` on.
    pub(super) fn remember(&self, function: &Function, start: usize, toks: &Arc<Vec<Tok>>, seen: &mut SeenSignatures) {
        let end = function.body.as_ref().map_or(self.pos, |body| body.start);
        let Some((first, all)) = toks.get(start..end).and_then(|all| Some((all.first()?, all))) else { return };
        // Skip a signature with a struct or a lambda, which refers to its own unit.
        let braces = all.iter().filter(|tok| tok.is(sym::LBRACE)).count();
        let names = all.iter().filter(|tok| tok.kind == Kind::Ident && !self.interner.is_keyword(tok.sym));
        let names: Vec<Sym> = names.map(|tok| tok.sym).collect();
        let own = names.iter().filter(|name| **name == function.name).count();
        if self.hidden || function.inits.is_some() || braces != usize::from(function.body.is_some()) || own != 1 {
            return;
        }
        // The function's own name is excluded. It may have just become a template, and its parameters follow it in any
        // case.
        let others = names.into_iter().filter(|name| *name != function.name);
        let one = One {
            unit: toks.clone(),
            toks: start..end,
            names: others.map(|name| (name, self.known(name))).collect(),
            signature: function.signature.clone(),
            has_body: function.body.is_some(),
        };
        seen.0.insert((first.file, first.off), Arc::new(one));
    }

    fn known(&self, name: Sym) -> Known {
        let (all, more) = (self.names, &self.more);
        let is_type = all.types.contains(name) || more.types.contains(name);
        (is_type, self.is_template(name))
    }
}
