//! The type of an expression, without running it. Needed for `?:`, whose sides have a common type although only one of
//! them is run.

use super::machine::Machine;
use super::records::Run;
use super::value::{Ty, Value};
use crate::syntax::ast::{Base, Binary, Expr, ExprKind, Name, TemplateArg, Unary};
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use crate::syntax::visit::parts;

impl Machine<'_> {
    /// Converts the selected side of `?:` to the common type of both sides.
    pub(super) fn balanced(&mut self, value: Value, other: &Expr) -> Run<Value> {
        let mine = match &value {
            Value::Int(_, _, mine) => Ty::of(*mine),
            Value::Float(_, bits) => Ty::Float(*bits),
            _ => return Ok(value),
        };
        let never = matches!(other.kind, ExprKind::Throw);
        match self.type_of(other) {
            // Conversion to the type of the other side may change the number.
            None if !never => Ok(Value::Opaque(other.span)),
            None => Ok(value),
            Some(theirs) => match together(&mine, &theirs) {
                Some(ty) if ty.same(&mine) != Some(true) => self.convert_to(&ty, value),
                // The other side has the type of a template parameter or an unresolved name, so the result may be any
                // number.
                None if matches!(theirs, Ty::Named(_)) && calls(other) => Ok(Value::Opaque(other.span)),
                _ => Ok(value),
            },
        }
    }

    /// The type of an expression. None if it cannot be determined.
    pub(super) fn static_type(&mut self, expr: &Expr) -> Option<Ty> {
        self.type_of(expr)
    }

    fn type_of(&mut self, expr: &Expr) -> Option<Ty> {
        let int = |ty: IntTy| Some(Ty::of(ty));
        match &expr.kind {
            ExprKind::Int(_, ty) => int(*ty),
            ExprKind::Bool(_) => int(IntTy::Bool),
            ExprKind::Float(_, bits) => Some(Ty::Float(*bits)),
            ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) | ExprKind::SizeofPack(_) | ExprKind::AlignofType(_) => {
                int(IntTy::U64)
            }
            ExprKind::Cast(ty, _) | ExprKind::Construct(ty, _) => self.resolve(ty).ok(),
            ExprKind::Unary(Unary::Not, _) => int(IntTy::Bool),
            ExprKind::Unary(Unary::Neg | Unary::Plus | Unary::BitNot, inner) => self.arithmetic(inner, None),
            ExprKind::Binary(op, left, right) => match op {
                Binary::Lt | Binary::Gt | Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne => int(IntTy::Bool),
                Binary::And | Binary::Or => int(IntTy::Bool),
                Binary::Shl | Binary::Shr => self.arithmetic(left, None),
                _ => self.arithmetic(left, Some(right)),
            },
            ExprKind::Ternary(parts) => {
                let [_, yes, no] = parts.as_ref();
                match (self.type_of(yes)?, self.type_of(no)?) {
                    (a, b) if a.same(&b) == Some(true) => Some(a),
                    (a, b) => together(&a, &b),
                }
            }
            ExprKind::Comma(_, right) => self.type_of(right),
            ExprKind::Assign(_, target, _) => self.type_of(target),
            ExprKind::Step { target, .. } => self.type_of(target),
            ExprKind::Local(..) | ExprKind::Member { .. } | ExprKind::Index(..) | ExprKind::Name(_) => {
                if super::taint::changes(expr) || calls(expr) {
                    return None;
                }
                // Reading a variable affects only the range of the run, and that is restored.
                let (until, steps, undo) = (self.until, self.steps, self.lost);
                let held = match self.place(expr) {
                    Ok(Some(place)) => self.peek(place).map(Value::ty),
                    _ => self.eval(expr).ok().map(|value| value.ty()),
                };
                (self.until, self.steps, self.lost) = (until, steps, undo);
                held.filter(|ty| !matches!(ty, Ty::Unknown))
            }
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(name) => self.type_of_call(name, args),
                ExprKind::Local(slot, _) => match self.stack.get(self.slot(*slot) as usize) {
                    Some(Value::Lambda(closure)) => {
                        let closure = closure.clone();
                        self.resolve(closure.lambda.ret.as_ref()?).ok()
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn arithmetic(&mut self, left: &Expr, right: Option<&Expr>) -> Option<Ty> {
        let left = self.type_of(left)?;
        let right = match right {
            Some(right) => self.type_of(right)?,
            None => left.clone(),
        };
        match (left.int_ty(), right.int_ty()) {
            (Some(a), Some(b)) => Some(Ty::of(a.common(b))),
            _ => together(&left, &right),
        }
    }

    fn type_of_call(&mut self, name: &Name, args: &[Expr]) -> Option<Ty> {
        let last: Sym = name.path.last()?.sym;
        let program = self.program;
        let mut found: Option<Ty> = None;
        for function in program.overloads(last).iter().filter_map(|&index| program.function(index)) {
            // The return type of a template may depend on its parameters.
            if matches!(function.ret.base, Base::Local(_) | Base::Auto) || function.ret.pointers > 0 {
                return None;
            }
            let ty = self.resolve(&function.ret).ok()?;
            match &found {
                Some(known) if known.same(&ty) != Some(true) => return None,
                _ => found = Some(ty),
            }
        }
        if found.is_none() {
            match program.text(last) {
                "atoi" | "strcmp" => return Some(Ty::of(IntTy::I32)),
                "strtol" => return Some(Ty::of(IntTy::I64)),
                "strtoul" | "strlen" => return Some(Ty::of(IntTy::U64)),
                _ => {}
            }
        }
        if found.is_none() && matches!(program.text(last), "floorf" | "ceilf" | "log2f" | "sqrtf") {
            return Some(Ty::Float(32));
        }
        if found.is_none() && matches!(program.text(last), "floor" | "ceil" | "log2" | "sqrt") {
            let given = self.type_of(args.first()?)?;
            return Some(if matches!(given, Ty::Float(_)) { given } else { Ty::Float(64) });
        }
        if found.is_none() && matches!(program.text(last), "min" | "max" | "abs") {
            // `std::min<int64_t>(a, b)` has the given type, regardless of its arguments.
            let given = name.path.last().and_then(|segment| segment.args.as_ref()?.first());
            return match given {
                Some(TemplateArg::Type(ty)) => self.resolve(ty).ok(),
                Some(TemplateArg::Expr(_) | TemplateArg::Expansion(_)) => None,
                None => self.type_of(args.first()?),
            };
        }
        found
    }
}

/// The usual arithmetic conversions of two number types.
fn together(a: &Ty, b: &Ty) -> Option<Ty> {
    match (a, b) {
        (Ty::Float(a), Ty::Float(b)) => Some(Ty::Float(*a.max(b))),
        (Ty::Float(bits), other) | (other, Ty::Float(bits)) => other.int_ty().map(|_| Ty::Float(*bits)),
        _ => Some(Ty::of(a.int_ty()?.common(b.int_ty()?))),
    }
}

/// Whether an expression contains a call.
pub(super) fn calls(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Call(..) | ExprKind::Construct(..)) || parts(expr).into_iter().any(calls)
}
