//! One process on one card: the backend is opened once, and every question starts from that state.

use super::Read;
use crate::op::{Shape, Stage, missing, set};
use cxx::Span;
use cxx::eval::{Machine, MemoryPlace, Moment, Run, Shape as Held, Stop, Ty, Value};
use say::say;
use std::rc::Rc;

/// A device is opened once; a graph of one node takes far fewer steps.
const MOST_STEPS: u64 = 60_000_000;
/// The maximum number of unknown conditions for which both branches are run.
const MOST_UNKNOWN: usize = 4;
/// The size of each buffer. It fits into the smallest heap of the stored cards.
const BUFFER: i64 = 1 << 30;
/// The distance of two tensors in a buffer: more than the largest alignment that a device asks for.
const APART: i64 = 1 << 28;

pub struct Session<'m, 'p> {
    machine: &'m mut Machine<'p>,
    backend: Value,
    device: Value,
    /// Buffers for weights and for other tensors.
    buffers: [MemoryPlace; 2],
    base: i64,
    opened: Moment,
    traces: bool,
}

fn unknown(what: &str) -> Stop {
    Stop::undetermined(Span::default(), say!("source-open-backend-step", what))
}

impl<'m, 'p> Session<'m, 'p> {
    /// Registers the backend, opens its first device and allocates two buffers, as a program does.
    pub fn open(machine: &'m mut Machine<'p>, register: &str, traces: bool) -> Run<Session<'m, 'p>> {
        machine.starting = true;
        machine.most_steps = MOST_STEPS;
        machine.reset(1, 1);
        let registered = machine.call_by_name(register, Vec::new())?;
        let device = call(machine, &registered, "get_device", vec![registered.clone(), Value::size(0)])?;
        let backend = call(machine, &device, "init_backend", vec![device.clone(), Value::Null])?;
        let kind = call(machine, &device, "get_buffer_type", vec![device.clone()])?;
        let mut buffers = [MemoryPlace::new(0); 2];
        for (slot, usage) in buffers.iter_mut().zip(["WEIGHTS", "COMPUTE"]) {
            let size = Value::size(usize::try_from(BUFFER).unwrap_or_default());
            let made = call(machine, &kind, "alloc_buffer", vec![kind.clone(), size])?;
            let Value::Ptr(place) = made else { return Err(unknown("alloc_buffer")) };
            let name = format!("GGML_BACKEND_BUFFER_USAGE_{usage}");
            let usage = machine.constant_named(&name).ok_or_else(|| missing(&name))?;
            let Some(mut buffer) = machine.peek(place).cloned() else { return Err(unknown("alloc_buffer")) };
            set(machine, &mut buffer, "usage", Value::int(usage));
            machine.write(place, buffer);
            *slot = place;
        }
        let [first, _] = buffers;
        let base = match call(machine, &Value::Ptr(first), "get_base", vec![Value::Ptr(first)])? {
            Value::Pointer(_, Some(base)) => base,
            Value::Int(base, 0, _) => base,
            _ => return Err(unknown("get_base")),
        };
        let opened = machine.moment();
        Ok(Session { machine, backend, device, buffers, base, opened, traces })
    }

    /// Asks whether the device supports the operation, computes a graph with it, and reads the answer.
    pub fn run<T: PartialEq>(&mut self, shape: &Shape, kind: &str, columns: i64, read: Read<T>) -> Run<T> {
        let ended = self.run_both(shape, kind, columns, read, &[]);
        self.machine.script.clear();
        ended
    }

    /// Runs both branches of a condition that is unknown. If both have the same answer, the condition does not matter.
    fn run_both<T: PartialEq>(
        &mut self,
        shape: &Shape,
        kind: &str,
        columns: i64,
        read: Read<T>,
        outcomes: &[bool],
    ) -> Run<T> {
        let ended = self.run_once(shape, kind, columns, outcomes);
        let unknown = match read(self.machine, ended) {
            Err(Stop::Fork(unknown)) if outcomes.len() < MOST_UNKNOWN => unknown,
            ended => return ended,
        };
        let mut found: Option<T> = None;
        for outcome in [true, false] {
            let outcomes: Vec<bool> = outcomes.iter().copied().chain([outcome]).collect();
            match self.run_both(shape, kind, columns, read, &outcomes) {
                Ok(answer) if found.as_ref() == Some(&answer) => return Ok(answer),
                Ok(answer) if found.is_none() => found = Some(answer),
                // Neither branch has an answer if the first one stops: its own reason is the nearer one.
                Err(stop) if found.is_none() || matches!(stop, Stop::Need(_)) => return Err(stop),
                _ => break,
            }
        }
        Err(Stop::Fork(unknown))
    }

    fn run_once(&mut self, shape: &Shape, kind: &str, columns: i64, outcomes: &[bool]) -> Run<()> {
        let machine = &mut *self.machine;
        machine.script.clear();
        machine.return_to(&self.opened);
        machine.reset(columns, columns);
        let mut stage = Stage::with_buffers(machine, self.buffers)?;
        let node = shape.op(kind, columns).build(machine, &mut stage)?;
        self.place(node)?;
        let machine = &mut *self.machine;
        let supported = call(machine, &self.device, "supports_op", vec![self.device.clone(), Value::Ptr(node)])?;
        match machine.settle(&supported) {
            Some(0) => return Err(Stop::undetermined(Span::default(), say!("source-open-backend-unsupported"))),
            Some(_) => {}
            None => return Err(unknown("supports_op")),
        }
        let nodes = machine.global(Value::array(vec![Value::Ptr(node)]));
        let mut graph = machine.object("ggml_cgraph")?;
        let first = nodes.part(0).map_or(Value::Null, Value::Ptr);
        set(machine, &mut graph, "nodes", first);
        set(machine, &mut graph, "n_nodes", Value::int(1));
        set(machine, &mut graph, "size", Value::int(1));
        let graph = machine.global(graph);
        machine.reset(columns, columns);
        machine.script = outcomes.to_vec();
        machine.trace = self.traces.then(Vec::new);
        call(machine, &self.backend, "graph_compute", vec![self.backend.clone(), Value::Ptr(graph)]).map(drop)
    }

    /// Gives every tensor its own memory in its buffer, and marks the node to be computed.
    fn place(&mut self, node: MemoryPlace) -> Run<()> {
        let machine = &mut *self.machine;
        let compute = machine.constant_named("GGML_TENSOR_FLAG_COMPUTE");
        let Some(object) = machine.peek(node).cloned() else { return Err(unknown("node")) };
        let mut tensors = vec![node];
        if let Value::Agg(agg) = &object
            && let Some(src) = machine.program.interner.get("src")
            && let Some(Value::Agg(sources)) = machine.field_of(agg, src)
        {
            tensors.extend(sources.items.iter().filter_map(|source| match source {
                Value::Ptr(place) => Some(*place),
                _ => None,
            }));
        }
        for (index, place) in tensors.into_iter().enumerate() {
            let Some(mut tensor) = machine.peek(place).cloned() else { continue };
            let address = self.base + APART * i64::try_from(index).unwrap_or_default();
            set(machine, &mut tensor, "data", Value::Pointer(Rc::new(Ty::Void), Some(address)));
            set(machine, &mut tensor, "view_src", Value::Null);
            set(machine, &mut tensor, "view_offs", Value::size(0));
            set(machine, &mut tensor, "extra", Value::Null);
            if let (0, Some(compute)) = (index, compute) {
                set(machine, &mut tensor, "flags", Value::int(compute));
            }
            machine.write(place, tensor);
        }
        Ok(())
    }
}

/// Calls a function of an object's interface: `object->iface.name(...)`.
fn call(machine: &mut Machine<'_>, object: &Value, name: &str, values: Vec<Value>) -> Run<Value> {
    let field = |machine: &Machine<'_>, value: &Value, name: &str| match value {
        Value::Agg(agg) if matches!(agg.shape, Held::Struct(_)) => {
            machine.program.interner.get(name).and_then(|name| machine.field_of(agg, name))
        }
        _ => None,
    };
    let Value::Ptr(place) = object else { return Err(unknown(name)) };
    let Some(held) = machine.peek(*place).cloned() else { return Err(unknown(name)) };
    let function = field(machine, &held, "iface").and_then(|table| field(machine, &table, name));
    match function {
        Some(function @ Value::Fn(_)) => machine.call_with(&function, values),
        _ => Err(unknown(name)),
    }
}
