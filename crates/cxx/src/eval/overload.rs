//! Which function a call means, among those of one name.

use super::machine::{Machine, Run};
use super::value::Value;
use crate::View;
use crate::ast::{Base, Expr, Function, Segment, Type};
use crate::files::Span;
use crate::sym::Sym;

impl<'p> Machine<'p> {
    /// The overload that a call means: one that is visible there, by arity, on the host, with a body.
    pub(super) fn pick(
        &mut self,
        (name, path, view): (Sym, &[Segment], View),
        args: usize,
        explicit: &[Value],
        at: Span,
    ) -> Run<Option<u32>> {
        let key = (name, args, explicit.len(), view);
        if let Some(&picked) = self.picks.get(&key).filter(|_| path.is_empty()) {
            return Ok(picked);
        }
        let program = self.program;
        let mut fits: Vec<(u32, &Function)> = Vec::new();
        let mut specialised = false;
        let visible = program.visible_functions(name, path, view);
        let mut declared: Vec<&Function> = Vec::new();
        for index in visible {
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
                if function.unit == view.unit && function.special.is_none() {
                    declared.push(function);
                }
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
        let picked = self.best(&fits, args, view, at)?;
        // A second one of as many parameters is declared here and defined elsewhere: the types of the arguments decide.
        let chosen = picked.and_then(|index| program.function(index));
        if let Some(chosen) = chosen
            && let Some(other) = declared.iter().find(|other| !same_parameters(chosen, other))
        {
            let (name, place) = (program.text(name), program.files.place(other.span));
            return Err(self.unsure(at, format!("which {name} is called is not known (another is at {place})")));
        }
        if picked.is_some() && !specialised && path.is_empty() {
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

    fn best(&self, fits: &[(u32, &Function)], args: usize, view: View, at: Span) -> Run<Option<u32>> {
        let score = |function: &Function| {
            let exact = function.params.len() == args && !function.params.iter().any(|param| param.pack);
            (function.unit == view.unit, exact, function.templates.is_empty())
        };
        let Some(top) = fits.iter().map(|(_, function)| score(function)).max() else { return Ok(None) };
        let mut ties = fits.iter().filter(|(_, function)| score(function) == top);
        let Some(&(index, first)) = ties.next() else { return Ok(None) };
        // A header is read once per unit: the same function again.
        match ties.find(|(_, other)| other.span != first.span) {
            Some((_, other)) => {
                let (name, place) = (self.program.text(other.name), self.program.files.place(other.span));
                Err(self.unsure(at, format!("which {name} is called is not known (another is at {place})")))
            }
            None => Ok(Some(index)),
        }
    }
}

/// Whether two declarations are of one function, as far as their parameters' types are spelled.
fn same_parameters(a: &Function, b: &Function) -> bool {
    let same = |x: &Type, y: &Type| {
        let base = match (&x.base, &y.base) {
            (Base::Int { bits, signed }, Base::Int { bits: b, signed: s }) => bits == b && signed == s,
            (Base::Float(a), Base::Float(b)) => a == b,
            (Base::Name(a), Base::Name(b)) => {
                a.path.last().map(|segment| segment.sym) == b.path.last().map(|segment| segment.sym)
            }
            (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
        };
        base && x.pointers == y.pointers && x.reference == y.reference
    };
    a.params.len() != b.params.len() || a.params.iter().zip(&b.params).all(|(x, y)| same(&x.ty, &y.ty))
}
