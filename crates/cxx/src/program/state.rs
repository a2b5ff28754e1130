//! State that outlives a call. If its unit writes to a variable, the variable holds the value written last, which the
//! sources do not determine. So its initial value cannot be used as an answer.

use super::Program;
use super::read_only_use::Named;
use crate::syntax::ast::{Function, Global, INTERNAL, Var};
use crate::syntax::files::Span;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym;

impl Program {
    /// The position at which a global is written; None if no code that can see it writes to it.
    pub fn write_of_global(&self, global: &Global) -> Option<Span> {
        *global.written.get_or_init(|| self.find_write(global))
    }

    fn find_write(&self, global: &Global) -> Option<Span> {
        if global.fixed || self.vocabulary().settled.contains(&self.text(global.name)) {
            return None;
        }
        // Units that were not read may write to any variable that is visible to them.
        match global.internal {
            true => {
                let named = Named { name: global.name, ty: Some(&global.ty), unit: global.unit };
                self.write_in_unit(named, global.span).or_else(|| self.given_out(global))
            }
            false => Some(global.span),
        }
    }

    /// The position at which a function returns a reference to the global, which lets any caller write to it.
    fn given_out(&self, global: &Global) -> Option<Span> {
        let returns = |pair: &[Tok]| matches!(pair, [a, b] if a.is(sym::RETURN) && b.sym == global.name);
        let gives = |function: &&Function| {
            function.unit == global.unit && function.ret.reference && !function.ret.constant && function.body.is_some()
        };
        let mut givers = self.functions.iter().filter(gives);
        givers.find(|function| self.body_toks(function).windows(2).any(returns)).map(|function| function.span)
    }

    /// The position at which a static variable of a function is written.
    pub fn write_of_static(&self, function: Option<&Function>, unit: u32, var: &Var) -> Option<Span> {
        let named = Named { name: var.name, ty: Some(&var.ty), unit };
        match function {
            Some(function) => {
                let toks = self.body_toks(function);
                let given = function.ret.reference && !function.ret.constant;
                let returns = |pair: &[Tok]| matches!(pair, [a, b] if a.is(sym::RETURN) && b.sym == var.name);
                match given.then(|| toks.windows(2).find(|pair| returns(pair))).flatten() {
                    // Any caller can write through the returned reference.
                    Some(pair) => pair.first().map(Span::of),
                    None => self.first_write(toks, named, var.span),
                }
            }
            None => self.write_in_unit(named, var.span),
        }
    }

    fn write_in_unit(&self, named: Named<'_>, declared: Span) -> Option<Span> {
        self.look_for(named.name);
        self.stretches(named.unit, named.name).find_map(|toks| self.first_write(toks, named, declared))
    }

    fn first_write(&self, toks: &[Tok], named: Named<'_>, declared: Span) -> Option<Span> {
        let mentions = toks.iter().enumerate().filter(|(_, tok)| tok.sym == named.name && tok.kind == Kind::Ident);
        let own = |tok: &Tok| tok.file == declared.file && tok.off >= declared.start && tok.off < declared.end;
        mentions
            .into_iter()
            .find(|(at, tok)| !own(tok) && !self.only_reads(toks, *at, named))
            .map(|(_, tok)| Span::of(tok))
    }
}

impl Function {
    pub fn is_internal(&self) -> bool {
        self.attrs & INTERNAL != 0
    }
}
