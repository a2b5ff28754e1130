//! Builds that come to the same: where another value of a define leaves every condition that asks for it as it was, and nothing else
//! names it, each unit is the same token by token.

use super::Program;
use crate::syntax::condition::under;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::macros::Group;
use crate::syntax::sym::{self, Sym};

impl Program {
    /// Whether this program under these defines too would be what it is. False if that cannot be told.
    pub fn same_under(&self, defines: &[(&str, &str)]) -> bool {
        let known = |(name, value): &(&str, &str)| Some((self.interner.get(name)?, value.parse().ok()?));
        let Some(defines) = defines.iter().map(known).collect::<Option<Vec<(Sym, u32)>>>() else { return false };
        let varied = |name: &Sym| defines.iter().any(|(varied, _)| varied == name);
        let in_code = |toks: &[Tok]| toks.iter().any(|tok| tok.kind == Kind::Ident && varied(&tok.sym));
        // What conditionals asked for is unknown of a build whose headers were taken over.
        if self.taken_over
            || defines
                .iter()
                .any(|(name, _)| self.macros.included.pasted.contains(name) || self.macros.fixed.contains(name))
            || self.macros.base.values().any(|made| in_code(&made.body))
            || self.files.iter().any(|file| beside_conditions(&file.toks).any(in_code))
        {
            return false;
        }
        // `__has_include(<x>)` is looked up under a name that no condition contains.
        let groups = || self.macros.groups.values();
        if !defines.iter().all(|(name, _)| groups().any(|group| group.asked.contains(name))) {
            return false;
        }
        let unsettled = self.macros.unsettled();
        let settled = |name: Sym| !unsettled.contains(&name);
        let mut asking = groups().filter(|group| group.asked.iter().any(varied));
        asking.all(|group| match (self.branch(group, &[], &settled), self.branch(group, &defines, &settled)) {
            (Some(now), Some(then)) => now == then,
            _ => false,
        })
    }

    /// Which of a group's conditions holds first; the number of them where none does.
    fn branch(&self, group: &Group, defines: &[(Sym, u32)], settled: &dyn Fn(Sym) -> bool) -> Option<usize> {
        for (at, line) in group.lines.iter().enumerate() {
            // `#ifdef X` and `#if X` are not told apart.
            if line.len() < 2 {
                return None;
            }
            if under(&self.macros.base, &self.interner, line, defines, settled)? {
                return Some(at);
            }
        }
        Some(group.lines.len())
    }
}

/// The lines of a file that are not conditions.
fn beside_conditions(toks: &[Tok]) -> impl Iterator<Item = &[Tok]> {
    let lines = toks.chunk_by(|_, next| !next.bol());
    lines.filter(|line| {
        let asks = |tok: &Tok| {
            matches!(tok.sym, sym::IF | sym::IFDEF | sym::IFNDEF | sym::ELIF | sym::ELIFDEF | sym::ELIFNDEF)
        };
        !matches!(line, [hash, what, ..] if hash.is(sym::HASH) && asks(what))
    })
}
