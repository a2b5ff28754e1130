//! The code between the backend's `graph_compute` and the dispatcher, compared with the known forms.
//!
//! The dispatcher's answer holds for what reaches it, as it reaches it, and if nothing else is done for it. The functions on the
//! way are read statement by statement: one that could leave a node out, launch something or change a node, and that is none of
//! those known to do neither for a node by itself, makes the answer undetermined. What fuses nodes is told beside an answer: of a
//! lone node nothing is fused.

mod calls;
mod conditions;
mod effects;
mod fusion;
mod harmless;
mod hooks;
mod walk;

pub use calls::Doubt;
pub(crate) use calls::{GRAPH, callers, takes};

use crate::backend_table::{Entry, entry};
use calls::told;
use cxx::Program;
use cxx::ast::Function;
use effects::Effects;
use walk::Walk;

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
