//! Whether the backend accepts an operation: ggml calls its `supports_op` before it assigns a graph. A rejected
//! operation goes to another backend, and no path here is taken.

use crate::backend_table::{Entry, entry};
use crate::op::{Stage, set};
use cxx::Program;
use cxx::ast::Base;
use cxx::eval::{Machine, MemoryPlace, Run, Stop, Value};
use cxx::files::Span;
use say::{Message, say};
use std::rc::Rc;

#[derive(Debug, Clone, Copy)]
pub enum Supports {
    /// This version has no function that accepts or refuses operations.
    NotAsked,
    /// The function, and its argument: a device or a backend.
    By { function: u32, of: Option<MemoryPlace>, tensor_first: bool },
    /// The table entry is not understood.
    Unclear(Span),
}

/// Whether the tensor is the first of the function's two parameters.
fn tensor_first(program: &Program, function: u32) -> Option<bool> {
    let is_tensor = |base: &Base| matches!(base, Base::Name(name) if name.path.last().is_some_and(|last| program.text(last.sym) == "ggml_tensor"));
    match program.function(function)?.params.as_slice() {
        [only] if is_tensor(&only.ty.base) => Some(true),
        [_, second] if is_tensor(&second.ty.base) => Some(false),
        _ => None,
    }
}

impl Supports {
    pub fn new(machine: &mut Machine<'_>, stage: &Stage) -> Supports {
        let function = match entry(machine.program, "supports_op") {
            Entry::None => return Supports::NotAsked,
            Entry::Function(function) => function,
            Entry::Other(at) => return Supports::Unclear(at),
        };
        let Some(tensor_first) = tensor_first(machine.program, function) else {
            let at = machine.program.function(function).map_or(Span::default(), |function| function.span);
            return Supports::Unclear(at);
        };
        Supports::By { function, of: asked_of(machine, stage, function), tensor_first }
    }

    /// Ok if the backend accepts the operation, or if this is not checked. Only products are checked, because the
    /// checks of other operations need more than a question gives.
    pub fn ask(&self, machine: &mut Machine<'_>, op: &str, tensor: MemoryPlace) -> Run<()> {
        if !matches!(op, "GGML_OP_MUL_MAT" | "GGML_OP_MUL_MAT_ID") {
            return Ok(());
        }
        let (function, of, tensor_first) = match *self {
            Supports::NotAsked => return Ok(()),
            Supports::By { function, of, tensor_first } => (function, of, tensor_first),
            Supports::Unclear(at) => {
                return Err(Stop::undetermined(at, say!("source-open-supports")));
            }
        };
        let at = machine.program.function(function).map_or(Span::default(), |found| found.span);
        let given = of.map_or(Value::Opaque(at), Value::Ptr);
        let values = if tensor_first { vec![Value::Ptr(tensor)] } else { vec![given, Value::Ptr(tensor)] };
        // This check selects no path, so its conditions are not among the reasons.
        let trace = machine.trace.take();
        let answer = machine.run_function(function, values);
        machine.trace = trace;
        machine.handoffs.clear();
        machine.unfollowed = None;
        let answer = answer?;
        match machine.settle(&answer) {
            Some(0) => Err(stopped(machine.program, function, |name| say!("source-open-refused", name))),
            Some(_) => Ok(()),
            None => Err(stopped(machine.program, function, |name| say!("source-open-accepts", name))),
        }
    }
}

/// The position is the function's start, not its whole text.
fn stopped(program: &Program, function: u32, why: impl Fn(&str) -> Message) -> Stop {
    let (at, name) = program.function(function).map_or((Span::default(), ""), |it| (it.span, program.text(it.name)));
    Stop::undetermined(Span { end: at.start, ..at }, why(name))
}

/// The queried device or backend, which is the first argument. Its unspecified fields are unknown.
fn asked_of(machine: &mut Machine<'_>, stage: &Stage, function: u32) -> Option<MemoryPlace> {
    let first = &machine.program.function(function)?.params.first()?.ty.base;
    let of_device = matches!(first, Base::Name(name) if name.path.last().is_some_and(|last| machine.program.text(last.sym).contains("dev")));
    let context = if of_device {
        let mut context = unknown(machine, "ggml_backend_cuda_device_context")?;
        set(machine, &mut context, "device", Value::int(0));
        machine.global(context)
    } else {
        stage.context?
    };
    let mut object = unknown(machine, if of_device { "ggml_backend_device" } else { "ggml_backend" })?;
    set(machine, &mut object, "context", Value::Ptr(context));
    Some(machine.global(object))
}

fn unknown(machine: &mut Machine<'_>, name: &str) -> Option<Value> {
    let mut object = machine.object(name).ok()?;
    if let Value::Agg(agg) = &mut object {
        Rc::make_mut(agg).items.iter_mut().for_each(|slot| *slot = Value::Uninit);
    }
    Some(object)
}
