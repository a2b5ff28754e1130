//! Which function a call means, among those of one name.

use super::machine::{Machine, Run};
use super::value::Value;
use crate::ast::{Expr, Function};
use crate::files::Span;
use crate::sym::Sym;

impl<'p> Machine<'p> {
    /// The overload that a call means: by arity, on the host, with a body; the caller's own file first.
    pub(super) fn pick(&mut self, name: Sym, args: usize, explicit: &[Value], at: Span) -> Run<Option<u32>> {
        let file = self.frames.last().map_or(u16::MAX, |frame| frame.file);
        let key = (name, args, explicit.len(), file);
        if let Some(&picked) = self.picks.get(&key) {
            return Ok(picked);
        }
        let program = self.program;
        let mut fits: Vec<(u32, &Function)> = Vec::new();
        let mut specialised = false;
        for &index in program.overloads(name) {
            let Some(function) = program.function(index) else { continue };
            let required = function.params.iter().filter(|p| p.default.is_none() && !p.pack).count();
            let open = function.variadic || function.params.iter().any(|param| param.pack);
            // A definition may leave its defaults to the declaration in the header.
            let needed = if self.has_defaults(name, function.params.len()) { 0 } else { required };
            let arity = args >= needed.min(required) && (args <= function.params.len() || open);
            let templates = explicit.len() <= function.templates.len() || function.templates.iter().any(|t| t.pack);
            if !arity || !(templates || function.special.is_some()) || function.is_elsewhere_only() {
                continue;
            }
            if function.body.is_none() {
                continue;
            }
            if let Some(special) = &function.special {
                specialised = true;
                let wanted = self.template_values(special)?;
                let same =
                    wanted.len() == explicit.len() && wanted.iter().zip(explicit).all(|(a, b)| a.same(b) == Some(true));
                if same {
                    return Ok(Some(index));
                }
                continue;
            }
            fits.push((index, function));
        }
        let picked = self.best(&fits, args, file, at)?;
        if picked.is_some() && !specialised && fits.len() == 1 {
            self.picks.insert(key, picked);
        }
        Ok(picked)
    }

    /// A default that only a declaration of the same function has.
    pub(super) fn declared_default(&self, function: &Function, position: usize) -> Option<&'p Expr> {
        let same = |other: &&Function| other.params.len() == function.params.len();
        let program = self.program;
        let mut others =
            program.overloads(function.name).iter().filter_map(|&index| program.function(index)).filter(same);
        others.find_map(|other| other.params.get(position)?.default.as_ref())
    }

    fn has_defaults(&self, name: Sym, params: usize) -> bool {
        self.program.overloads(name).iter().filter_map(|&index| self.program.function(index)).any(|function| {
            function.params.len() == params && function.params.iter().any(|param| param.default.is_some())
        })
    }

    fn best(&self, fits: &[(u32, &Function)], args: usize, file: u16, at: Span) -> Run<Option<u32>> {
        let score = |function: &Function| {
            let exact = function.params.len() == args && !function.params.iter().any(|param| param.pack);
            let here = function.span.file == file;
            // A static of another unit is not visible from here; one of a header is.
            let internal = function.attrs & crate::ast::INTERNAL != 0;
            let hidden =
                internal && !here && self.program.dialect().is_unit(self.program.files.path(function.span.file));
            (!hidden, here, exact, function.templates.is_empty())
        };
        let Some(top) = fits.iter().map(|(_, function)| score(function)).max() else { return Ok(None) };
        let mut ties = fits.iter().filter(|(_, function)| score(function) == top);
        let Some(&(index, first)) = ties.next() else { return Ok(None) };
        // A header without a guard is read once per unit: the same function again.
        match ties.find(|(_, other)| other.span != first.span) {
            Some((_, other)) => {
                let (name, place) = (self.program.text(other.name), self.program.files.place(other.span));
                Err(self.unsure(at, format!("which {name} is called is not known (another is at {place})")))
            }
            None => Ok(Some(index)),
        }
    }
}
