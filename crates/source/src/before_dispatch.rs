//! Ways taken before the dispatcher is asked: a function that evaluates a graph and does work on a node itself, outside of fusion.
//!
//! The dispatcher's answer holds for what reaches it. Where the loop over the nodes takes some of them elsewhere, under a
//! condition of its own, what a product comes to is not the dispatcher's to say.

use cxx::Program;
use cxx::ast::{Base, Expr, Function};
use cxx::visit::{Call, calls, names};

/// Where work is done on a node past the dispatcher; `op` is the operation that is asked about.
pub fn before_dispatch(program: &Program, dispatcher: &Function, op: &str) -> Option<(String, String)> {
    let all = (0..program.functions.len() as u32).filter_map(|index| program.function(index));
    for function in all.filter(|function| function.unit == dispatcher.unit && function.name != dispatcher.name) {
        if function.is_remote() || !program.mentions(function, dispatcher.name) {
            continue;
        }
        let found = calls(&program.body(function).stmts);
        if !found.iter().any(|call| is(call, dispatcher)) {
            continue;
        }
        if let Some(call) =
            found.iter().find(|call| !is(call, dispatcher) && works(program, call) && about(program, call, op))
        {
            let (place, text) = (program.files.place(call.at), program.files.text(call.at));
            let why = format!(
                "{} does work before {} is asked: `{text}`",
                program.text(function.name),
                program.text(dispatcher.name)
            );
            return Some((place, why));
        }
    }
    None
}

fn is(call: &Call<'_>, function: &Function) -> bool {
    call.name.path.last().is_some_and(|last| last.sym == function.name)
}

/// It is given the backend's context and a tensor, by which it can launch; fusion is told by itself.
fn works(program: &Program, call: &Call<'_>) -> bool {
    let Some(last) = call.name.path.last() else { return false };
    let fuses = |text: &str| text.to_ascii_lowercase().contains("fus");
    if fuses(program.text(last.sym)) || call.args.iter().any(|arg| fuses(&program.files.text(arg.span))) {
        return false;
    }
    if call.guards.iter().any(|guard| fuses(&program.files.text(guard.span))) {
        return false;
    }
    let takes = |function: &Function, part: &str| {
        function.params.iter().any(|param| match &param.ty.base {
            Base::Name(name) => name.path.last().is_some_and(|last| program.text(last.sym).contains(part)),
            _ => false,
        })
    };
    let declared = program.overloads(last.sym).iter().filter_map(|&index| program.function(index));
    declared.into_iter().any(|function| takes(function, "cuda_context") && takes(function, "ggml_tensor"))
}

/// Whether a condition around a call may hold for this operation: one that names operations must name it.
fn about(program: &Program, call: &Call<'_>, op: &str) -> bool {
    let operations = |guard: &&Expr| {
        let mut found = Vec::new();
        names(guard, &mut found);
        let texts = found.into_iter().filter_map(|name| Some(program.text(name.path.last()?.sym).to_owned()));
        texts.filter(|text| text.starts_with("GGML_OP_")).collect::<Vec<_>>()
    };
    call.guards.iter().all(|guard| {
        let named = operations(guard);
        let excluded = program.files.text(guard.span).contains("!=");
        named.is_empty() || excluded || named.iter().any(|name| name == op)
    })
}
