//! One machine with a whole graph in its memory: evaluates the tree's own code at each node.

use super::{Data, Graph, Home, Param, Tensor};
use crate::device_globals;
use crate::ggml_dialect::{GGML, is_move};
use crate::op::{Stage, fill, missing, set};
use crate::outcome::Launched;
use crate::session::{MAX_FORKS, Need, arguments, explain};
use crate::supports::Supports;
use cxx::Program;
use cxx::eval::{Machine, MemoryPlace, Platform, Run, Stop, Ty, UnknownCondition, Value};
use cxx::files::Span;
use say::{Message, key, say};
use std::rc::Rc;

pub(super) struct GraphSession<'p> {
    pub machine: Machine<'p>,
    stage: Stage,
    supports: Supports,
    entry: u32,
    fuses: Option<u32>,
    /// The content of memory before each node.
    image: Vec<(MemoryPlace, Value)>,
    tensors: Vec<MemoryPlace>,
    nodes: Vec<usize>,
    /// The operation of each node.
    operations: Vec<String>,
    graph: MemoryPlace,
}

/// The result of one way through the code.
pub(super) struct End {
    pub launches: Vec<Launched>,
    /// Copies and fills that are requested from the driver.
    pub moves: Vec<Launched>,
    /// The number of nodes that the call covers.
    pub nodes: usize,
    /// The number of copies from the GPU with known bytes.
    pub read: usize,
    pub open: Option<Open>,
}

/// More blocks than fit on any multiprocessor.
const MOST_SUPPOSED: i64 = 64;

/// Extra steps that all nodes of a graph share for loops over data: enough for a hundred products of 512 tokens with 8
/// of 128 experts.
const ALLOWANCE: u64 = 1 << 31;

/// The position of an unknown value, and the reason.
pub(super) type Open = (String, Message);

impl<'p> GraphSession<'p> {
    pub fn new(
        program: &'p Program,
        entry: u32,
        fuses: Option<u32>,
        platform: Platform,
        graph: &Graph,
    ) -> Result<GraphSession<'p>, Result<Need, Stop>> {
        let mut machine = Machine::new(program, &GGML, platform, |_, _| false);
        machine.follows = true;
        machine.allowance = ALLOWANCE;
        let made = device_globals::fill(&mut machine).and_then(|()| Stage::new(&mut machine));
        let made = made.and_then(|stage| {
            let tensors: Vec<MemoryPlace> = graph.tensors.iter().map(|_| machine.global(Value::Null)).collect();
            let mut image = Vec::with_capacity(tensors.len() + 1);
            for (place, tensor) in tensors.iter().zip(&graph.tensors) {
                image.push((*place, built(&mut machine, &stage, tensor, &tensors)?));
            }
            let place = machine.global(Value::Null);
            image.push((place, whole(&mut machine, graph, &tensors)?));
            Ok((stage, image, tensors, place))
        });
        let (stage, image, tensors, place) = made.map_err(|stop| match stop {
            Stop::Need(name) => Ok(Need(name)),
            stop => Err(stop),
        })?;
        let supports = Supports::new(&mut machine, &stage);
        Ok(GraphSession {
            machine,
            stage,
            supports,
            entry,
            fuses,
            image,
            tensors,
            nodes: graph.nodes.clone(),
            operations: (0..graph.nodes.len())
                .map(|index| graph.node(index).map_or(String::new(), |node| node.op.to_string()))
                .collect(),
            graph: place,
        })
    }

    /// The flag of nodes that must be computed; all bits if the tree has no such flag.
    pub fn computed(&mut self) -> i64 {
        self.machine.constant_named("GGML_TENSOR_FLAG_COMPUTE").unwrap_or(-1)
    }

    /// Supplies the data of a program's copies from the GPU.
    pub fn tell(&mut self, data: &Data) {
        self.machine.arrivals = data.read();
    }

    /// Supplies the data of the copies at a node. `came`: the number of copies by earlier nodes.
    pub fn tell_at(&mut self, data: &Data, graph: &Graph, index: usize, came: Option<usize>) {
        if let Data::Routed(routing) = data {
            self.machine.arrivals =
                graph.node(index).and_then(|node| routing.arrival(graph, node)).into_iter().collect();
            self.machine.first_arrival = 0;
        } else {
            self.machine.first_arrival = came.unwrap_or(usize::MAX);
        }
    }

    /// Every way through the code at a node, and the first unknown value.
    ///
    /// How many blocks of a kernel fit on a multiprocessor depends on registers, which the compiler assigns. Every
    /// number that the source allows is tried; the parts that all results have in common are certain.
    pub fn ends(&mut self, index: usize) -> Result<(Vec<End>, Option<Open>), Need> {
        self.machine.supposed = None;
        let mut ends = Vec::new();
        let mut unknown = None;
        let asked = self.ways(index, &mut ends, &mut unknown)?;
        if let [(at, most)] = asked.as_slice()
            && (1..=MOST_SUPPOSED).contains(most)
        {
            ends.clear();
            let why = match self.machine.platform.facts.is_empty() {
                true => say!("source-open-occupancy", most),
                false => say!("source-open-occupancy-code", most),
            };
            unknown = Some((self.machine.program.files.place(*at), why));
            for number in 1..=*most {
                self.machine.supposed = Some(number);
                self.ways(index, &mut ends, &mut unknown)?;
            }
            self.machine.supposed = None;
        }
        Ok((ends, unknown))
    }

    /// Every way at a node under the current assumption. Returns the positions of numbers that may be assumed, and
    /// their maxima.
    fn ways(&mut self, index: usize, ends: &mut Vec<End>, open: &mut Option<Open>) -> Result<Vec<(Span, i64)>, Need> {
        let program = self.machine.program;
        let mut scripts = vec![Vec::new()];
        let mut unknown: Option<UnknownCondition> = None;
        let mut asked: Vec<(Span, i64)> = Vec::new();
        let mut runs = 0;
        while let Some(script) = scripts.pop() {
            runs += 1;
            self.machine.reset(1, 1);
            for (place, value) in &self.image {
                self.machine.write(*place, value.clone());
            }
            self.machine.script = script.clone();
            let ended = self.once(index);
            unknown = unknown.or_else(|| self.machine.unknown.first().copied());
            for found in &self.machine.asked {
                if !asked.contains(found) {
                    asked.push(*found);
                }
            }
            let (nodes, open) = match ended {
                Ok(nodes) => (nodes, None),
                Err(Stop::Need(name)) => return Err(Need(name)),
                Err(Stop::Fork(condition)) if runs < MAX_FORKS => {
                    unknown = unknown.or(Some(condition));
                    for outcome in [true, false] {
                        let mut next = script.clone();
                        next.push(outcome);
                        scripts.push(next);
                    }
                    continue;
                }
                Err(stop) => (1, Some(explain(program, &stop))),
            };
            let missed = self.machine.unfollowed.map(|at| {
                let why = say!("source-open-code", why = key!("source-open-call"), code = program.files.text(at));
                (program.files.place(at), why)
            });
            let open = open.or(missed);
            let handoffs = std::mem::take(&mut self.machine.handoffs);
            let all = handoffs.iter().map(|handoff| Launched::of(&self.machine, handoff));
            let (moves, launches) = all.partition(|handoff| is_move(&handoff.kernel));
            ends.push(End { launches, moves, nodes, read: self.machine.arrived, open });
        }
        *open = open.take().or_else(|| unknown.map(|it| (program.files.place(it.at), it.why(program))));
        Ok(asked)
    }

    /// Tries fusion first, then calls the dispatcher. Returns how many nodes are done.
    fn once(&mut self, index: usize) -> Run<usize> {
        if let Some(&node) = self.nodes.get(index).and_then(|node| self.tensors.get(*node)) {
            let op = self.operations.get(index).cloned().unwrap_or_default();
            self.supports.ask(&mut self.machine, &op, node)?;
        }
        if let Some(fuses) = self.fuses {
            match self.call(fuses, index)? {
                Value::Int(0, 0, _) => {}
                Value::Int(more, 0, _) if more > 0 => return Ok(usize::try_from(more).unwrap_or(usize::MAX - 1) + 1),
                _ => return Err(self.unsure(say!("source-open-fused-count"))),
            }
        }
        match self.call(self.entry, index)? {
            Value::Int(0, 0, _) => Err(self.unsure(say!("source-open-not-dispatched"))),
            Value::Opaque(_) => Err(self.unsure(say!("source-open-dispatched"))),
            _ => Ok(1),
        }
    }

    fn unsure(&self, why: Message) -> Stop {
        let at = self.machine.program.function(self.entry).map_or(Span::default(), |function| function.span);
        // The position is the function's start, not its whole text.
        Stop::undetermined(Span { end: at.start, ..at }, why)
    }

    fn call(&mut self, function: u32, index: usize) -> Run<Value> {
        let program = self.machine.program;
        let node = self.nodes.get(index).and_then(|node| self.tensors.get(*node)).copied();
        let (Some(node), Some(found)) = (node, program.function(function)) else { return Err(Stop::Decided) };
        let values = arguments(program, &self.stage, found, node, Some((self.graph, index as i64)));
        self.machine.run_function(function, values)
    }
}

/// A tensor in the form that the tree declares.
fn built(machine: &mut Machine<'_>, stage: &Stage, tensor: &Tensor, places: &[MemoryPlace]) -> Run<Value> {
    let mut number = |name: &str| machine.constant_named(name).map(Value::int).ok_or_else(|| missing(name));
    let ty = number(&format!("GGML_TYPE_{}", tensor.ty.name()))?;
    let op = number(&tensor.op)?;
    let mut params = Vec::with_capacity(tensor.params.len());
    for param in &tensor.params {
        params.push(match param {
            Param::Int(value) => Value::int(*value),
            Param::Float(value) => Value::Float(f64::from(*value as f32), 32),
            Param::Named(name) => number(name)?,
        });
    }
    // Since 2025 a node has a flag that it must be computed.
    let flags = if tensor.op == "GGML_OP_NONE" { None } else { machine.constant_named("GGML_TENSOR_FLAG_COMPUTE") };
    let pointer = |id: &Option<usize>| id.and_then(|id| places.get(id)).map_or(Value::Null, |place| Value::Ptr(*place));
    let sources: Vec<Value> = tensor.sources.iter().map(pointer).collect();
    let [weights, compute] = stage.buffers;
    let mut object = stage.blank.clone();
    let object_ref = &mut object;
    set(machine, object_ref, "type", ty);
    set(machine, object_ref, "op", op);
    set(machine, object_ref, "flags", Value::int(tensor.flags.or(flags).unwrap_or(0)));
    fill(machine, object_ref, "ne", &tensor.ne.map(Value::int), Value::int(1));
    fill(machine, object_ref, "nb", &tensor.nb.map(Value::int), Value::int(0));
    fill(machine, object_ref, "op_params", &params, Value::int(0));
    fill(machine, object_ref, "src", &sources, Value::Null);
    set(machine, object_ref, "view_src", pointer(&tensor.view.map(|(id, _)| id)));
    set(machine, object_ref, "view_offs", Value::int(tensor.view.map_or(0, |(_, offset)| offset)));
    set(machine, object_ref, "data", Value::Pointer(Rc::new(Ty::Void), Some(tensor.address)));
    let home = if tensor.home == Home::Weights { weights } else { compute };
    set(machine, object_ref, "buffer", Value::Ptr(home));
    Ok(object)
}

/// The graph in the form that the tree declares: its nodes, and how often each tensor is used.
fn whole(machine: &mut Machine<'_>, graph: &Graph, places: &[MemoryPlace]) -> Run<Value> {
    let mut object = machine.object("ggml_cgraph")?;
    let pointers = |ids: &mut dyn Iterator<Item = usize>| {
        let known = ids.filter_map(|id| places.get(id).copied());
        Value::array(known.map(Value::Ptr).collect())
    };
    let count = places.len();
    let array = |machine: &mut Machine<'_>, value: Value| machine.global(value).part(0).map_or(Value::Null, Value::Ptr);
    let nodes = array(machine, pointers(&mut graph.nodes.iter().copied()));
    let keys = array(machine, pointers(&mut (0..count)));
    let uses =
        array(machine, Value::array(graph.uses.iter().map(|uses| Value::typed(*uses, cxx::IntTy::I32)).collect()));
    let full = Value::typed(i64::from(u32::MAX), cxx::IntTy::U32);
    let used = array(machine, Value::array(vec![full; count / 32 + 1]));
    set(machine, &mut object, "n_nodes", Value::int(graph.nodes.len() as i64));
    set(machine, &mut object, "size", Value::int(graph.nodes.len() as i64));
    set(machine, &mut object, "nodes", nodes);
    set(machine, &mut object, "use_counts", uses);
    if let Some(found) = machine.field_mut(&mut object, "visited_hash_set") {
        let mut visited = found.clone();
        set(machine, &mut visited, "size", Value::int(count as i64));
        set(machine, &mut visited, "keys", keys);
        set(machine, &mut visited, "used", used);
        *found = visited;
    }
    Ok(object)
}
