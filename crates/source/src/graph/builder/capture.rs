//! Reads a graph out of the program's memory.

use crate::graph::{Graph, Home, Id, Param, Tensor};
use cxx::whole::{Machine, Place, Run, Slot, Value, address};
use gguf::TensorType;
use std::collections::BTreeMap;

/// The tree's function that counts the uses of a node.
const USES: &str = "ggml_node_get_use_count";

/// The nodes of a `ggml_cgraph` with the tensors that they use.
pub fn graph(machine: &mut Machine<'_>, graph: &Place) -> Run<Graph> {
    let count = number(machine, graph, "n_nodes")?;
    let nodes = machine.field(graph, "nodes")?.borrow().clone();
    let mut found = Captured { graph: Graph { placed: true, ..Graph::default() }, known: BTreeMap::new() };
    for index in 0..count {
        let node = match &nodes {
            Value::At(list, from) => list.at(from + index).map(|node| node.borrow().clone()),
            _ => None,
        };
        let Some(node) = node else { return machine.lost("node") };
        let Some(id) = found.tensor(machine, &node)? else { return machine.lost("node") };
        found.graph.nodes.push(id);
    }
    let Captured { graph: mut out, .. } = found;
    let mut uses = vec![0; out.tensors.len()];
    for node in &out.nodes {
        for source in out.tensors.get(*node).map_or(&[][..], |tensor| &tensor.sources).iter().flatten() {
            if let Some(count) = uses.get_mut(*source) {
                *count += 1;
            }
        }
    }
    // A node may also be used in a part of the graph that another device computes.
    if machine.units.sym(USES).is_some_and(|name| machine.units.functions.contains_key(&name)) {
        for (index, node) in out.nodes.iter().enumerate() {
            let args = vec![Slot::Value(Value::Ptr(graph.clone())), Slot::Value(Value::int(index as i64))];
            let count = machine.call_named(USES, args)?.read().number();
            if let (Some(slot), Some(count)) = (uses.get_mut(*node), count) {
                *slot = count;
            }
        }
    }
    out.uses = uses;
    Ok(out)
}

struct Captured {
    graph: Graph,
    known: BTreeMap<i64, Id>,
}

impl Captured {
    fn tensor(&mut self, machine: &mut Machine<'_>, value: &Value) -> Run<Option<Id>> {
        let place = match value {
            Value::Ptr(place) => place.clone(),
            Value::At(list, index) => match list.at(*index) {
                Some(place) => place,
                None => return machine.lost("tensor"),
            },
            _ => return Ok(None),
        };
        let key = address(&Value::Ptr(place.clone()));
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(*known));
        }
        let mut sources = Vec::new();
        for source in list(machine, &place, "src")? {
            sources.push(self.tensor(machine, &source)?);
        }
        while sources.last() == Some(&None) {
            sources.pop();
        }
        let view = machine.field(&place, "view_src")?.borrow().clone();
        let offset = number(machine, &place, "view_offs")?;
        let view = self.tensor(machine, &view)?.map(|id| (id, offset));
        let op = number(machine, &place, "op")?;
        let op = machine.enumerator_name("ggml_op", op)?;
        let ty = TensorType(number(machine, &place, "type")? as u32);
        let mut params = Vec::new();
        for param in list(machine, &place, "op_params")? {
            params.push(match param {
                Value::Float(number, _) => Param::Float(number),
                other => Param::Int(other.number().unwrap_or(0)),
            });
        }
        while matches!(params.last(), Some(Param::Int(0) | Param::Float(0.0))) {
            params.pop();
        }
        let home = match machine.field(&place, "buffer")?.borrow().clone() {
            buffer @ (Value::Ptr(_) | Value::At(..)) => {
                let usage =
                    machine.call_named("ggml_backend_buffer_get_usage", vec![Slot::Value(buffer)])?.read().number();
                if usage == Some(1) { Home::Weights } else { Home::Compute }
            }
            _ => Home::Compute,
        };
        let data = machine.field(&place, "data")?.borrow().clone();
        let name = machine.field(&place, "name")?.borrow().text().map_or(String::new(), |name| name.to_string());
        let id = self.graph.tensors.len();
        let four = |values: Vec<Value>| {
            let mut out = [1_i64; 4];
            for (slot, value) in out.iter_mut().zip(values) {
                *slot = value.number().unwrap_or(0);
            }
            out
        };
        self.graph.tensors.push(Tensor {
            name,
            op: op.into(),
            ty,
            ne: four(list(machine, &place, "ne")?),
            nb: four(list(machine, &place, "nb")?),
            sources,
            view,
            params,
            home,
            address: address(&data),
            flags: Some(number(machine, &place, "flags")?),
        });
        self.known.insert(key, id);
        Ok(Some(id))
    }
}

fn number(machine: &mut Machine<'_>, object: &Place, name: &str) -> Run<i64> {
    let value = machine.field(object, name)?.borrow().clone();
    value.number().map_or_else(|| machine.lost(name), Ok)
}

fn list(machine: &mut Machine<'_>, object: &Place, name: &str) -> Run<Vec<Value>> {
    let value = machine.field(object, name)?.borrow().clone();
    Ok(match value {
        Value::List(list) => list.items.borrow().iter().map(|item| item.borrow().clone()).collect(),
        _ => Vec::new(),
    })
}
