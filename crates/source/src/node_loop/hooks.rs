//! The backend's functions that handle tensors before they are computed, from its tables (`init_tensor`, `set_tensor`,
//! ...). They are not evaluated, so if one writes to a field that a dispatcher depends on, the answer is undetermined.

use super::calls::{Doubt, TENSOR, called, told, type_name};
use super::effects::Effects;
use super::harmless::STD_WRITES;
use crate::backend_table::functions;
use cxx::Program;
use cxx::ast::{Expr, ExprKind, Function, Param, Unary};
use cxx::files::Span;
use cxx::lex::{Kind, Tok};
use cxx::sym::{self, FxSet, Sym};
use cxx::visit::{Part, parts_of};
use say::say;

/// The fields of a tensor that can affect a decision. The address of its data does not.
const DECIDES: &[&str] = &["type", "ne", "nb", "op", "op_params", "flags", "src", "view_src", "view_offs"];

/// The maximum depth of nested function reads.
const DEEPEST: usize = 4;

/// A function in the backend's tables that may change a tensor, apart from those that compute graphs.
pub(super) fn changed(program: &Program, dispatcher: &Function) -> Option<Doubt> {
    let mut seen = FxSet::default();
    let (functions, others) = functions(program, &["graph_compute", "graph_optimize"]);
    let unknown = others.into_iter().find(|value| is_hook(program, value)).map(|value| value.span);
    if let Some(at) = unknown.or_else(|| set_later(program, dispatcher)) {
        return Some(told(program, at, say!("source-open-hook")));
    }
    for function in functions {
        let Some(found) = program.function(function).filter(|found| found.unit == dispatcher.unit) else { continue };
        if let Some(at) = writes(program, found, &mut seen, 0) {
            return Some(told(program, at, say!("source-open-hook-writes", name = program.text(found.name))));
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
    // A class inside the function may do anything with its arguments.
    let toks = program.body_toks(function);
    if let Some([class, ..]) = toks.windows(3).find(|toks| matches!(toks, [class, _, brace] if (class.is(sym::STRUCT) || class.is(sym::CLASS)) && brace.is(sym::LBRACE))) {
        return Some(Span::of(class));
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
            Part::Bound(_) => continue,
            Part::Unparsed(span) => {
                let text = program.files.text(span);
                let field = |name: &&str| text.contains(&format!("->{name}")) || text.contains(&format!(".{name}"));
                if DECIDES.iter().any(field) {
                    return Some(span);
                }
                continue;
            }
        };
        // An object that receives the tensor, or a function of the standard library that writes to its arguments.
        if let ExprKind::Call(callee, args) = &expr.kind {
            let to_method = match &callee.kind {
                ExprKind::Member { base, .. } => {
                    !is_table(program, base) && args.iter().any(|arg| effects.is_node(arg))
                }
                _ => false,
            };
            let name = called(expr).map(|(name, _)| program.text(name));
            let swapped = name.is_some_and(|name| STD_WRITES.contains(&name));
            if to_method || (swapped && args.iter().any(|arg| decides(&effects, arg))) {
                return Some(expr.span);
            }
        }
        let target = match &expr.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => Some(&**target),
            ExprKind::Unary(Unary::Address, inner) => Some(&**inner),
            _ => None,
        };
        if target.is_some_and(|target| decides(&effects, target) && (effects.changes(target) || !is_path(target))) {
            return Some(expr.span);
        }
        let Some((name, _)) = called(expr) else { continue };
        for callee in program.overloads(name).iter().filter_map(|&index| program.function(index)) {
            let found = match callee.body {
                Some(_) => writes(program, callee, seen, depth + 1),
                None => is_unseen(program, callee).then_some(expr.span),
            };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// Whether the target is a deciding field, or a whole tensor.
fn decides(effects: &Effects<'_>, target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Member { base, name, .. } => DECIDES.contains(&effects.program.text(*name)) || decides(effects, base),
        ExprKind::Index(base, _) | ExprKind::Cast(_, base) => decides(effects, base),
        ExprKind::Ternary(parts) => parts.iter().skip(1).any(|part| decides(effects, part)),
        ExprKind::Unary(Unary::Deref, whole) => match &whole.kind {
            ExprKind::Cast(ty, _) => type_name(effects.program, ty) == Some(TENSOR),
            _ => effects.is_node(whole),
        },
        _ => false,
    }
}

/// `buffer->iface`: a table whose functions are read separately.
fn is_table(program: &Program, expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Member { name, .. } if program.text(*name) == "iface")
}

/// Whether an expression is a path of fields and elements from a variable.
fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(..) => true,
        ExprKind::Member { base, .. } | ExprKind::Index(base, _) | ExprKind::Cast(_, base) => is_path(base),
        ExprKind::Unary(Unary::Deref, base) => is_path(base),
        _ => false,
    }
}

/// Whether a function is in another unit and takes a mutable tensor. ggml's public functions do not change the deciding
/// fields.
fn is_unseen(program: &Program, function: &Function) -> bool {
    let written = |param: &Param| type_name(program, &param.ty) == Some(TENSOR) && !param.ty.constant;
    !program.files.path(function.span.file).ends_with(".h") && function.params.iter().any(written)
}

/// Whether a table entry may be a function that was not read.
fn is_hook(program: &Program, value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Lambda(_) => true,
        ExprKind::Name(name) => {
            let all = name.path.last().map_or(&[][..], |last| program.overloads(last.sym));
            all.iter().filter_map(|&index| program.function(index)).any(|function| is_unseen(program, function))
        }
        _ => false,
    }
}

/// `buffer->iface.init_tensor = f`: a table that is changed at run time.
fn set_later(program: &Program, dispatcher: &Function) -> Option<Span> {
    let name = program.interner.get("init_tensor")?;
    let toks = program.files.toks(dispatcher.span.file);
    let sets = |toks: &&[Tok]| matches!(toks, [before, dot, field, assign] if field.is(name) && assign.is(sym::ASSIGN) && (dot.is(sym::DOT) || dot.is(sym::ARROW)) && before.kind == Kind::Ident);
    toks.windows(4).find(sets).and_then(|toks| toks.get(2)).map(Span::of)
}

fn takes_tensor(program: &Program, function: &Function) -> bool {
    function.params.iter().any(|param| type_name(program, &param.ty) == Some(TENSOR))
}
