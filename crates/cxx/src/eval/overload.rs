//! Overload resolution: decides which function of a given name a call refers to.

use super::machine::Machine;
use super::records::Run;
use super::value::{Shape, Ty, Value};
use crate::syntax::ast::{Base, Expr, ExprKind, Function, Param, Segment, Type, View, WEAK, same_type};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use say::say;

impl<'p> Machine<'p> {
    /// The overload that a call refers to: visible at the call, with the right arity, running on the host, and with a
    /// body.
    pub(super) fn pick(
        &mut self,
        (name, path, view): (Sym, &[Segment], View),
        (args, given): (usize, &[Expr]),
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
        let (visible, redirected) = self.declared_before(visible, (name, path, view), args);
        if redirected {
            self.finds_no_more(name, given, view, at)?;
        }
        let mut declared: Vec<&Function> = Vec::new();
        for index in visible {
            let Some(function) = program.function(index) else { continue };
            let open = function.variadic || function.params.iter().any(|param| param.pack);
            // A definition may leave its default arguments to the declaration in the header.
            let given = |(position, param): &(usize, &Param)| {
                param.pack || param.default.is_some() || self.declared_default(function, *position).is_some()
            };
            let required = function.params.iter().enumerate().filter(|param| !given(param)).count();
            let arity = args >= required && (args <= function.params.len() || open);
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
        let (picked, by_types) = self.best(&fits, (args, given), view, at)?;
        if let Some(chosen) = picked.and_then(|index| program.function(index)) {
            self.is_the_only_one(chosen, &fits, at)?;
        }
        // If another overload with the same arity is declared here but defined elsewhere, the types of the arguments
        // decide between them.
        let chosen = picked.and_then(|index| program.function(index));
        if let Some(chosen) = chosen
            && let Some(other) = declared.iter().find(|other| !same_parameters(chosen, other))
        {
            let (name, place) = (program.text(name), program.files.place(other.span));
            return Err(self.unsure(at, say!("cxx-open-overload-at", name, place)));
        }
        if picked.is_some() && !specialised && !by_types && !redirected && path.is_empty() {
            self.picks.insert(key, picked);
        }
        Ok(picked)
    }

    /// The functions declared before the running one. Also returns whether its unit has others of that name and arity:
    /// declared later, in another namespace, or as a friend.
    fn declared_before(
        &self,
        visible: Vec<u32>,
        (name, path, view): (Sym, &[Segment], View),
        args: usize,
    ) -> (Vec<u32>, bool) {
        let program = self.program;
        let all = program.overloads(name);
        let friend = program.spelled.friends.contains(&name);
        if !path.is_empty() || view != self.view() || (all.len() < 2 && !friend) {
            return (visible, false);
        }
        let caller = self.frames.last().and_then(|frame| frame.function);
        let same = |a: u32, b: u32| match (program.function(a), program.function(b)) {
            (Some(a), Some(b)) => {
                a.span == b.span || (a.space == b.space && a.params.len() == b.params.len() && same_parameters(a, b))
            }
            _ => false,
        };
        let mine = |index: u32| program.function(index).filter(|function| function.unit == view.unit);
        let later = |index: &u32| {
            caller.is_some_and(|caller| {
                *index > caller
                    && mine(*index).is_some()
                    && !all.iter().any(|&other| other < caller && mine(other).is_some() && same(other, *index))
            })
        };
        let before: Vec<u32> = visible.iter().copied().filter(|index| !later(index)).collect();
        let kept = match before.is_empty() {
            false => before,
            // The namespace declares its own function only later. Until then, the name refers to the function of the
            // enclosing scope.
            true => {
                let so_far: Vec<u32> = all.iter().copied().filter(|index| !later(index)).collect();
                let found = program.visible_among(&so_far, path, view);
                if found.is_empty() { visible } else { found }
            }
        };
        let fits =
            |function: &Function| (function.params.len() >= args || function.variadic) && !function.is_elsewhere_only();
        let other = |index: &u32| mine(*index).is_some_and(fits) && !kept.iter().any(|&known| same(known, *index));
        let redirected = friend || all.iter().any(other);
        (kept, redirected)
    }

    /// Fails if argument-dependent lookup, or a namespace that a function opens, could find another function. Plain
    /// number arguments are safe.
    fn finds_no_more(&mut self, name: Sym, given: &[Expr], view: View, at: Span) -> Run<()> {
        let program = self.program;
        let all = || program.overloads(name).iter().filter_map(|&index| program.function(index));
        // Lookup also searches the namespace of an enum argument.
        let spaces: Vec<u32> = all().map(|function| function.space).filter(|space| *space != view.space).collect();
        let enums = || program.enums.iter().filter(|it| it.unit == view.unit && spaces.contains(&it.space));
        let (any, wide) = (enums().next().is_some(), enums().any(|found| found.underlying.is_some()));
        let mut opened = all().filter_map(|function| program.space(function.space).last());
        let mut known = !opened.any(|space| program.spelled.opened.contains(space));
        for arg in given {
            let number = |ty: Ty| {
                let sure = !any || computed(arg) || (certain(arg, &ty) && !wide);
                matches!(ty, Ty::Float(_)) || (ty.int_ty().is_some() && sure)
            };
            known &= self.static_type(arg).is_some_and(number);
        }
        if known {
            return Ok(());
        }
        let name = program.text(name);
        Err(self.unsure(at, say!("cxx-open-overload-types", name)))
    }

    /// A default argument that only another declaration of the same function has.
    pub(super) fn declared_default(&self, function: &Function, position: usize) -> Option<&'p Expr> {
        let same = |other: &&Function| other.params.len() == function.params.len() && same_parameters(function, other);
        let program = self.program;
        let mut others =
            program.overloads(function.name).iter().filter_map(|&index| program.function(index)).filter(same);
        others.find_map(|other| other.params.get(position)?.default.as_ref())
    }

    /// The best match, and whether it depends on the types of the arguments.
    fn best(
        &mut self,
        fits: &[(u32, &Function)],
        (args, given): (usize, &[Expr]),
        view: View,
        at: Span,
    ) -> Run<(Option<u32>, bool)> {
        let score = |function: &Function| {
            let exact = function.params.len() == args && !function.params.iter().any(|param| param.pack);
            (function.unit == view.unit, exact, function.templates.is_empty())
        };
        let Some(top) = fits.iter().map(|(_, function)| score(function)).max() else { return Ok((None, false)) };
        let mut ties = fits.iter().filter(|(_, function)| score(function) == top);
        let Some(&(index, first)) = ties.next() else { return Ok((None, false)) };
        // A header is read once per unit, so the same function appears several times. Functions internal to other units
        // are not visible here.
        let mut rivals: Vec<(u32, &Function)> = Vec::new();
        for &(index, function) in fits.iter().filter(|(_, function)| score(function).0 == top.0) {
            if rivals.iter().all(|(_, known)| known.span != function.span) {
                rivals.push((index, function));
            }
        }
        let alike =
            |other: &Function| first.span == other.span || (score(other) != top && same_given(first, other, args));
        if rivals.iter().all(|(_, other)| alike(other)) {
            return Ok((Some(index), false));
        }
        let list: Vec<&Function> = rivals.iter().map(|(_, function)| *function).collect();
        match self.by_types(&list, given) {
            Some(position) => Ok((rivals.get(position).map(|(index, _)| *index), true)),
            None => {
                let other = list.iter().find(|other| other.span != first.span).unwrap_or(&first);
                let (name, place) = (self.program.text(other.name), self.program.files.place(other.span));
                Err(self.unsure(at, say!("cxx-open-overload-at", name, place)))
            }
        }
    }

    /// Fails if a linker could choose another definition: a weak function, or one that units define differently.
    fn is_the_only_one(&self, chosen: &Function, fits: &[(u32, &Function)], at: Span) -> Run<()> {
        if chosen.is_internal() {
            return Ok(());
        }
        let other = |other: &&Function| {
            other.unit != chosen.unit
                && other.span != chosen.span
                && !other.is_internal()
                && other.space == chosen.space
                && other.params.len() == chosen.params.len()
                && other.templates.len() == chosen.templates.len()
                && same_parameters(chosen, other)
        };
        let other = fits.iter().map(|(_, function)| *function).find(other);
        if chosen.attrs & WEAK == 0 && other.is_none() {
            return Ok(());
        }
        let (name, place) = (self.program.text(chosen.name), self.program.files.place(chosen.span));
        Err(self.unsure(at, say!("cxx-open-linked", name, place)))
    }

    /// The function that takes these arguments with the least conversion. None if that cannot be determined.
    pub(super) fn by_types(&mut self, list: &[&Function], args: &[Expr]) -> Option<usize> {
        // The rank of each argument for each function: exact, promoted, converted.
        let mut ranks: Vec<Vec<u8>> = vec![Vec::with_capacity(args.len()); list.len()];
        for (position, arg) in args.iter().enumerate() {
            let params: Vec<Option<&Type>> = list.iter().map(|function| parameter(function, position)).collect();
            // A mutable reference binds only to variables. Whether this argument is one is not checked.
            let way = |ty: &Type| (ty.reference, ty.constant);
            let writable = params.iter().flatten().any(|ty| way(ty) == (true, false));
            if writable && !params.windows(2).all(|pair| matches!(pair, [Some(a), Some(b)] if way(a) == way(b))) {
                return None;
            }
            if params.iter().all(|param| matches!((param, params.first()), (Some(a), Some(Some(b))) if same_type(a, b)))
            {
                continue;
            }
            if let Some(found) = self.object_ranks(list, &params, arg) {
                for (rank, ranks) in found.into_iter().zip(&mut ranks) {
                    ranks.push(rank);
                }
                continue;
            }
            let ty = self.static_type(arg)?;
            for (function, (param, ranks)) in list.iter().zip(params.iter().zip(&mut ranks)) {
                let param = param.filter(|param| param.pointers == 0 && param.dims.is_empty())?;
                let templates = function.templates.len();
                ranks.push(match (&param.base, ty.int_ty()) {
                    (Base::Local(slot), _) if (*slot as usize) < templates && certain(arg, &ty) => 0,
                    (Base::Bool, Some(IntTy::Bool)) => 0,
                    (Base::Int { bits, signed }, Some(mine)) => {
                        let theirs = IntTy::new(*bits, *signed);
                        match mine {
                            _ if mine == theirs => 0,
                            _ if mine.promoted() == theirs => 1,
                            _ => 2,
                        }
                    }
                    (Base::Bool | Base::Float(_), Some(_)) => 2,
                    (Base::Bool | Base::Int { .. }, None) if matches!(ty, Ty::Float(_)) => 2,
                    _ => return None,
                });
            }
        }
        let better = |a: usize, b: usize| {
            let (x, y) = (ranks.get(a)?, ranks.get(b)?);
            let (left, right) = (list.get(a)?, list.get(b)?);
            if !x.iter().zip(y).all(|(x, y)| x <= y) {
                return Some(false);
            }
            let plain = |function: &Function| {
                (function.templates.is_empty(), !function.variadic && !function.params.iter().any(|param| param.pack))
            };
            Some(x.iter().zip(y).any(|(x, y)| x < y) || plain(left) > plain(right))
        };
        let mut all = (0..list.len())
            .filter(|&one| (0..list.len()).filter(|&other| other != one).all(|other| better(one, other) == Some(true)));
        let only = all.next().filter(|_| all.next().is_none())?;
        ranks.get(only).filter(|ranks| !ranks.contains(&UNFIT)).map(|_| only)
    }

    /// The ranks of parameters for an object in memory: its own type, any type, or another one. None if the argument is
    /// not such an object, or if a parameter's type is not understood.
    fn object_ranks(&mut self, list: &[&Function], params: &[Option<&Type>], arg: &Expr) -> Option<Vec<u8>> {
        if !self.starting || !matches!(arg.kind, ExprKind::Local(..)) {
            return None;
        }
        let place = self.place(arg).ok()??;
        let Some(Value::Agg(object)) = self.peek(place).cloned() else { return None };
        let rank = |(function, param): (&&Function, &Option<&Type>)| {
            let param = param.filter(|param| param.pointers == 0 && param.dims.is_empty())?;
            let name = match &param.base {
                Base::Local(slot) if (*slot as usize) < function.templates.len() => return Some(1),
                Base::Name(name) => name.path.last()?.sym,
                _ => return None,
            };
            let same = match (&object.shape, self.program.text(name)) {
                (Shape::Array, "vector") => object.item.as_deref().is_some_and(|item| !matches!(item, Ty::Map(..))),
                (Shape::Array, "array") => object.item.is_none(),
                (Shape::Array, _) => return None,
                (Shape::Struct(_), "vector" | "array") => false,
                (Shape::Struct(of), _) => of.of.name == Some(name),
            };
            Some(if same { 0 } else { UNFIT })
        };
        list.iter().zip(params).map(rank).collect()
    }
}

/// The rank of a parameter that does not take the argument.
const UNFIT: u8 = 9;

fn parameter(function: &Function, position: usize) -> Option<&Type> {
    match function.params.get(position) {
        Some(param) => Some(&param.ty),
        None => function.params.last().filter(|last| last.pack).map(|last| &last.ty),
    }
}

/// Whether an expression certainly has the type of its number. A variable of an enum type is stored as an int, so its
/// type is not certain.
fn certain(expr: &Expr, ty: &Ty) -> bool {
    computed(expr) || matches!(ty.int_ty(), Some(IntTy::I64 | IntTy::U64 | IntTy::Bool))
}

/// Whether an expression computes a number, so that it cannot be a variable of an enum type.
fn computed(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Int(..)
            | ExprKind::Bool(_)
            | ExprKind::Binary(..)
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofExpr(_)
    )
}

/// Whether the parameters that receive `args` arguments are spelled the same in two functions.
fn same_given(a: &Function, b: &Function, args: usize) -> bool {
    (0..args).all(|position| match (parameter(a, position), parameter(b, position)) {
        (Some(x), Some(y)) => same_type(x, y),
        _ => false,
    })
}

/// Whether two declarations declare the same function, judged by the spelling of their parameter types.
fn same_parameters(a: &Function, b: &Function) -> bool {
    a.params.len() != b.params.len() || a.params.iter().zip(&b.params).all(|(x, y)| same_type(&x.ty, &y.ty))
}
