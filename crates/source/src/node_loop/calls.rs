//! The parameters, calls and names in a program's functions, for reading the loop over nodes.

use cxx::Program;
use cxx::ast::{Base, Expr, ExprKind, Function, Type};
use cxx::files::Span;
use cxx::sym::Sym;
use say::{Message, say};

/// The position of code that is not understood, and the reason.
pub type Doubt = (String, Message);

/// Functions of the same unit that take a graph and name another function.
pub(crate) fn callers<'p>(program: &'p Program, of: &Function) -> impl Iterator<Item = &'p Function> {
    let (unit, name) = (of.unit, of.name);
    let all = (0..program.functions.len() as u32).filter_map(|index| program.function(index));
    all.filter(move |function| {
        function.unit == unit
            && function.name != name
            && !function.is_remote()
            && function.body.is_some()
            && takes(program, function, GRAPH)
            && program.mentions(function, name)
    })
}

/// The type names of a graph and of a node.
pub(crate) const GRAPH: &str = "ggml_cgraph";
pub(super) const TENSOR: &str = "ggml_tensor";

pub(crate) fn takes(program: &Program, function: &Function, part: &str) -> bool {
    function.params.iter().any(|param| type_name(program, &param.ty).is_some_and(|name| name.contains(part)))
}

/// The position, and a description with the first line of its text.
pub(super) fn told(program: &Program, at: Span, what: Message) -> Doubt {
    let text = program.files.text(at);
    (program.files.place(at), say!("source-open-code", why = what, code = text.lines().next().unwrap_or_default()))
}

pub(super) fn type_name<'p>(program: &'p Program, ty: &Type) -> Option<&'p str> {
    match &ty.base {
        Base::Name(name) => name.path.last().map(|last| program.text(last.sym)),
        _ => None,
    }
}

/// The function that a call names, and its arguments.
pub(super) fn called(expr: &Expr) -> Option<(Sym, &[Expr])> {
    let ExprKind::Call(callee, args) = &expr.kind else { return None };
    let ExprKind::Name(name) = &callee.kind else { return None };
    Some((name.path.last()?.sym, args))
}

/// The only function of a name that has a body.
pub(super) fn only_body(program: &Program, name: Sym) -> Option<&Function> {
    let all = program.overloads(name).iter().filter_map(|&index| program.function(index));
    let mut bodies = all.filter(|function| function.body.is_some());
    bodies.next().filter(|_| bodies.next().is_none())
}

pub(super) fn is_local(expr: &Expr, slot: Option<u32>) -> bool {
    matches!(expr.kind, ExprKind::Local(found, _) if Some(found) == slot)
}
