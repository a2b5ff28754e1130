//! Detects builds with identical tokens. If another value of a define does not change the outcome of any condition, and
//! nothing else names the define, then each unit has the same tokens.

use super::Program;
use crate::syntax::condition::under;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::macros::Group;
use crate::syntax::sym::{self, Sym};

impl Program {
    /// Whether this program would be the same under these defines. False if that is uncertain.
    pub fn same_under(&self, defines: &[(&str, &str)]) -> bool {
        let known = |(name, value): &(&str, &str)| Some((self.interner.get(name)?, value.parse().ok()?));
        let Some(defines) = defines.iter().map(known).collect::<Option<Vec<(Sym, u32)>>>() else { return false };
        let varied = |name: &Sym| defines.iter().any(|(varied, _)| varied == name);
        let in_code = |toks: &[Tok]| toks.iter().any(|tok| tok.kind == Kind::Ident && varied(&tok.sym));
        // If headers were taken over from another build, it is unknown which names their conditionals read.
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

    /// The index of the first condition of a group that holds, or the number of conditions if none does.
    fn branch(&self, group: &Group, defines: &[(Sym, u32)], settled: &dyn Fn(Sym) -> bool) -> Option<usize> {
        for (at, line) in group.lines.iter().enumerate() {
            // `#ifdef X` and `#if X` are not distinguished.
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
