//! Compares the code between the backend's `graph_compute` and the dispatcher with known forms.
//!
//! The dispatcher's answer holds only if every node reaches it unchanged and nothing else is done for the node. The
//! functions on the way are therefore read statement by statement. A statement that could skip a node, launch a kernel
//! or change a node makes the answer undetermined, unless it is known to do none of this for a single node. Fusion is
//! reported in addition to an answer: a single node is never fused.

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
use say::say;
use walk::Walk;

/// Code between the loop over the nodes and the dispatcher that `source` does not understand, for this operation.
/// `lone`: for a single node; otherwise for a node in a graph, where fusion is followed.
pub fn doubt(program: &Program, dispatcher: &Function, op: &str, lone: bool) -> Option<Doubt> {
    let chain = match chain(program, dispatcher) {
        Ok(chain) => chain,
        Err(doubt) => return Some(doubt),
    };
    let mut below = dispatcher;
    for function in chain {
        if let Some((at, what)) = Walk::new(program, op, below, dispatcher, lone).function(function) {
            return Some(told(program, at, say!("source-open-loop", function = program.text(function.name), what)));
        }
        below = function;
    }
    reordered(program, below).or_else(|| hooks::changed(program, dispatcher))
}

/// Checks the backend's function that optimises a finished graph. It may reorder nodes but must do nothing else.
fn reordered(program: &Program, below: &Function) -> Option<Doubt> {
    let Entry::Function(index) = entry(program, "graph_optimize") else { return None };
    let function = program.function(index)?;
    let mut effects = Effects::new(program, below.name);
    effects.reorders = true;
    effects.enter(function);
    let at = effects.of_stmts(&program.body(function).stmts)?;
    Some(told(program, at, say!("source-open-reordered", name = program.text(function.name))))
}

/// From the dispatcher upwards: its caller, that function's caller, up to the backend's `graph_compute`.
fn chain<'p>(program: &'p Program, dispatcher: &Function) -> Result<Vec<&'p Function>, Doubt> {
    let top = match entry(program, "graph_compute") {
        // Trees without a backend interface have the loop elsewhere.
        Entry::None => return Ok(callers(program, dispatcher).collect()),
        Entry::Other(at) => return Err(told(program, at, say!("source-open-compute"))),
        Entry::Function(index) => program.function(index),
    };
    let Some(top) = top else { return Ok(Vec::new()) };
    let mut chain: Vec<&Function> = Vec::new();
    let mut below = dispatcher;
    // Real trees have one or two functions on the way.
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
    let why = say!("source-open-way", top = program.text(top.name), dispatcher = program.text(dispatcher.name));
    Err((program.files.place(top.span), why))
}
