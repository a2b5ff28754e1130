//! What stands between the backend's `graph_compute` and the dispatcher, compared with what is understood there.
//!
//! The dispatcher's answer holds for what reaches it, as it reaches it, and if nothing else is done for it. The functions on the
//! way are read statement by statement: one that could leave a node out, launch something or change a node, and that is none of
//! those known to do neither for a node by itself, makes the answer undetermined. What fuses nodes is told beside an answer: of a
//! lone node nothing is fused.

mod conditions;
mod effects;
mod fusion;
mod harmless;
mod hooks;
mod walk;

use crate::backend_table::{Entry, entry};
use cxx::Program;
use cxx::ast::{Base, Expr, ExprKind, Function, Type};
use cxx::files::Span;
use cxx::sym::Sym;
use effects::Effects;
use walk::Walk;

/// Where what is done is not understood, and why.
pub type Doubt = (String, String);

/// Something between the loop over the nodes and the dispatcher that is not understood, for this operation.
/// `lone`: of a node by itself; else of one in a graph, where what fuses nodes is followed.
pub fn doubt(program: &Program, dispatcher: &Function, op: &str, lone: bool) -> Option<Doubt> {
    let chain = match chain(program, dispatcher) {
        Ok(chain) => chain,
        Err(doubt) => return Some(doubt),
    };
    let mut below = dispatcher;
    for function in chain {
        if let Some((at, what)) = Walk::new(program, op, below, dispatcher, lone).function(function) {
            return Some(told(program, at, &format!("{} {what}", program.text(function.name))));
        }
        below = function;
    }
    reordered(program, below).or_else(|| hooks::changed(program, dispatcher))
}

/// What the backend does with a graph when it was built: it may put nodes in another order, and nothing else.
fn reordered(program: &Program, below: &Function) -> Option<Doubt> {
    let Entry::Function(index) = entry(program, "graph_optimize") else { return None };
    let function = program.function(index)?;
    let mut effects = Effects::new(program, below.name);
    effects.reorders = true;
    effects.enter(function);
    let at = effects.of_stmts(&program.body(function).stmts)?;
    let what = format!("{} may change nodes before they are computed", program.text(function.name));
    Some(told(program, at, &what))
}

/// From the dispatcher up: the function that calls it, that one's caller, up to the backend's `graph_compute`.
fn chain<'p>(program: &'p Program, dispatcher: &Function) -> Result<Vec<&'p Function>, Doubt> {
    let top = match entry(program, "graph_compute") {
        // Trees older than backends have the loop elsewhere.
        Entry::None => return Ok(callers(program, dispatcher).collect()),
        Entry::Other(at) => return Err(told(program, at, "how the backend computes a graph is not followed")),
        Entry::Function(index) => program.function(index),
    };
    let Some(top) = top else { return Ok(Vec::new()) };
    let mut chain: Vec<&Function> = Vec::new();
    let mut below = dispatcher;
    // Real trees have one or two.
    while chain.len() < 4 {
        let found: Vec<&Function> = callers(program, below).collect();
        if found.iter().any(|caller| std::ptr::eq(*caller, top)) {
            chain.push(top);
            return Ok(chain);
        }
        let [next] = found.as_slice() else { break };
        chain.push(next);
        below = next;
    }
    let why = format!("how {} comes to {} is not followed", program.text(top.name), program.text(dispatcher.name));
    Err((program.files.place(top.span), why))
}

/// The functions of the same unit that are given a graph and name another.
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

/// What a graph of nodes is, and a node.
pub(crate) const GRAPH: &str = "ggml_cgraph";
const TENSOR: &str = "ggml_tensor";

pub(crate) fn takes(program: &Program, function: &Function, part: &str) -> bool {
    function.params.iter().any(|param| type_name(program, &param.ty).is_some_and(|name| name.contains(part)))
}

/// The place, and what is said of it with the first line of its text.
fn told(program: &Program, at: Span, what: &str) -> Doubt {
    let text = program.files.text(at);
    (program.files.place(at), format!("{what}: `{}`", text.lines().next().unwrap_or_default()))
}

fn type_name<'p>(program: &'p Program, ty: &Type) -> Option<&'p str> {
    match &ty.base {
        Base::Name(name) => name.path.last().map(|last| program.text(last.sym)),
        _ => None,
    }
}

/// The function that a call names, and what it is given.
fn called(expr: &Expr) -> Option<(Sym, &[Expr])> {
    let ExprKind::Call(callee, args) = &expr.kind else { return None };
    let ExprKind::Name(name) = &callee.kind else { return None };
    Some((name.path.last()?.sym, args))
}

/// The one function of a name that has a body.
fn only_body(program: &Program, name: Sym) -> Option<&Function> {
    let all = program.overloads(name).iter().filter_map(|&index| program.function(index));
    let mut bodies = all.filter(|function| function.body.is_some());
    bodies.next().filter(|_| bodies.next().is_none())
}

fn is_local(expr: &Expr, slot: Option<u32>) -> bool {
    matches!(expr.kind, ExprKind::Local(found, _) if Some(found) == slot)
}
