//! What a backend does with tensors before they are computed: the functions in its tables (`init_tensor`, `set_tensor`, ...). None of them
//! is evaluated, so one that writes to what a dispatcher decides by leaves the answer open.

use super::effects::Effects;
use super::{TENSOR, called, told, type_name};
use crate::backend_table::functions;
use cxx::Program;
use cxx::ast::{Expr, ExprKind, Function, Unary};
use cxx::files::Span;
use cxx::sym::{FxSet, Sym};
use cxx::visit::{Part, parts_of};

/// What a tensor is; where its numbers are decides nothing.
const DECIDES: &[&str] = &["type", "ne", "nb", "op", "op_params", "flags", "src", "view_src", "view_offs"];

/// How many functions deep a call is read.
const DEEPEST: usize = 4;

/// A function of the backend's tables that may change a tensor, beside those that compute graphs.
pub(super) fn changed(program: &Program, dispatcher: &Function) -> Option<super::Doubt> {
    let mut seen = FxSet::default();
    for function in functions(program, &["graph_compute", "graph_optimize"]) {
        let Some(found) = program.function(function).filter(|found| found.unit == dispatcher.unit) else { continue };
        if let Some(at) = writes(program, found, &mut seen, 0) {
            let what = format!("{} may change a tensor before it is computed", program.text(found.name));
            return Some(told(program, at, &what));
        }
    }
    None
}

fn writes<'p>(program: &'p Program, function: &'p Function, seen: &mut FxSet<Sym>, depth: usize) -> Option<Span> {
    if !takes_tensor(program, function) || !seen.insert(function.name) {
        return None;
    }
    if depth > DEEPEST {
        return Some(function.span);
    }
    let mut effects = Effects::new(program, function.name);
    effects.enter(function);
    let body = program.body(function);
    for part in parts_of(&body.stmts) {
        let expr = match part {
            Part::Expr(expr) => expr,
            Part::Var(var) => {
                effects.declared(var);
                continue;
            }
            Part::Unparsed(span) => {
                let text = program.files.text(span);
                let field = |name: &&str| text.contains(&format!("->{name}")) || text.contains(&format!(".{name}"));
                if DECIDES.iter().any(|name| field(name)) {
                    return Some(span);
                }
                continue;
            }
        };
        let target = match &expr.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => Some(&**target),
            ExprKind::Unary(Unary::Address, inner) => Some(&**inner),
            _ => None,
        };
        if target.is_some_and(|target| decides(&effects, target) && effects.changes(target)) {
            return Some(expr.span);
        }
        let Some((name, _)) = called(expr) else { continue };
        for callee in program.overloads(name).iter().filter_map(|&index| program.function(index)) {
            let found = match callee.body {
                Some(_) => writes(program, callee, seen, depth + 1),
                None => None,
            };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// Whether a field that decides is written to, or a whole tensor.
fn decides(effects: &Effects<'_>, target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Member { base, name, .. } => DECIDES.contains(&effects.program.text(*name)) || decides(effects, base),
        ExprKind::Index(base, _) | ExprKind::Cast(_, base) => decides(effects, base),
        ExprKind::Unary(Unary::Deref, whole) => match &whole.kind {
            ExprKind::Cast(ty, _) => type_name(effects.program, ty) == Some(TENSOR),
            _ => effects.is_node(whole),
        },
        _ => false,
    }
}

fn takes_tensor(program: &Program, function: &Function) -> bool {
    function.params.iter().any(|param| type_name(program, &param.ty) == Some(TENSOR))
}
