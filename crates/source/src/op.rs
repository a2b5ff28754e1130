//! Operations: the tensors with which the dispatcher is called.

use cxx::IntTy;
use cxx::eval::{Agg, FnValue, Machine, MemoryPlace, Run, Shape as Held, Stop, Ty, Value};
use say::{Message, say};
use std::rc::Rc;

/// A dimension: a constant, or a number that grows by `per` with each column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    pub at: i64,
    pub per: i64,
}

impl Dim {
    pub fn fixed(at: i64) -> Dim {
        Dim { at, per: 0 }
    }
    fn value(self) -> Value {
        Value::Int(self.at, self.per, IntTy::I64)
    }
    fn times(self, by: i64) -> Dim {
        Dim { at: self.at.saturating_mul(by), per: self.per.saturating_mul(by) }
    }
    /// The product of two dimensions. At most one should depend on the columns; otherwise the product is taken at the
    /// first column only.
    fn by(self, other: Dim) -> Dim {
        match (self.per, other.per) {
            (0, _) => other.times(self.at),
            (_, 0) => self.times(other.at),
            _ => Dim { at: self.at.saturating_mul(other.at), per: cxx::eval::CURVED },
        }
    }
}

/// The operation in question, and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Weights of `rows` x `k`, contiguous; activations F32.
    MulMat { rows: i64, k: i64 },
    /// A product with `experts` weight matrices, `used` of them per token; columns are tokens.
    MulMatId { rows: i64, k: i64, experts: i64, used: i64 },
    /// Attention over `kv` cached positions; columns are the batch's tokens, the type is the KV cache's.
    FlashAttn { head: i64, head_v: i64, heads: i64, heads_kv: i64, kv: i64, mask: bool },
    /// Rotary embedding of `heads` heads of `head` values; columns are tokens.
    Rope { head: i64, heads: i64, mode: i64 },
    /// Looks up rows of `k` values; columns are the requested rows.
    GetRows { rows: i64, k: i64 },
}

/// GGML_ROPE_TYPE_VISION.
const VISION: i64 = 24;

impl Shape {
    pub fn operation(&self) -> &'static str {
        match self {
            Shape::MulMat { .. } => "GGML_OP_MUL_MAT",
            Shape::MulMatId { .. } => "GGML_OP_MUL_MAT_ID",
            Shape::FlashAttn { .. } => "GGML_OP_FLASH_ATTN_EXT",
            Shape::Rope { .. } => "GGML_OP_ROPE",
            Shape::GetRows { .. } => "GGML_OP_GET_ROWS",
        }
    }

    /// The operation for weights (or a KV cache) of a type at a column count.
    pub fn op(&self, ty: &str, columns: i64) -> Op {
        let fixed = Dim::fixed;
        let n = Dim { at: columns, per: 1 };
        let one = fixed(1);
        let tensor = |ty: &str, ne: [Dim; 4]| Tensor { ty: ty.to_owned(), ne, weights: false, permuted: false };
        let weights = |ty: &str, ne: [Dim; 4]| Tensor { weights: true, ..tensor(ty, ne) };
        let (sources, result, params) = match *self {
            Shape::MulMat { rows, k } => {
                let sources = vec![
                    Some(weights(ty, [fixed(k), fixed(rows), one, one])),
                    Some(tensor("F32", [fixed(k), n, one, one])),
                ];
                (sources, tensor("F32", [fixed(rows), n, one, one]), Vec::new())
            }
            Shape::MulMatId { rows, k, experts, used } => {
                let sources = vec![
                    Some(weights(ty, [fixed(k), fixed(rows), fixed(experts), one])),
                    Some(tensor("F32", [fixed(k), one, n, one])),
                    Some(tensor("I32", [fixed(used), n, one, one])),
                ];
                (sources, tensor("F32", [fixed(rows), fixed(used), n, one]), Vec::new())
            }
            Shape::FlashAttn { head, head_v, heads, heads_kv, kv, mask } => {
                let cache =
                    |head| Tensor { permuted: true, ..tensor(ty, [fixed(head), fixed(kv), fixed(heads_kv), one]) };
                let query = Tensor { permuted: true, ..tensor("F32", [fixed(head), n, fixed(heads), one]) };
                let mask = mask.then(|| tensor("F16", [fixed(kv), n, one, one]));
                let sources = vec![Some(query), Some(cache(head)), Some(cache(head_v)), mask];
                let scale = 1.0 / (head.max(1) as f64).sqrt();
                // scale, max_bias, logit_softcap, precision.
                let [scale, bias, cap] = [scale, 0.0, 0.0].map(|value: f64| Value::Float(f64::from(value as f32), 32));
                let params = vec![scale, bias, cap, Value::int(0)];
                (sources, tensor("F32", [fixed(head_v), fixed(heads), n, one]), params)
            }
            Shape::Rope { head, heads, mode } => {
                let sources = vec![
                    Some(tensor(ty, [fixed(head), fixed(heads), n, one])),
                    Some(tensor("I32", [n, one, one, one])),
                ];
                // n_past, n_dims, mode, n_ctx, n_ctx_orig, then floats: freq_base, freq_scale, ext_factor, ... Vision
                // models rotate half of a head; with several positions per token the head is split into four sections.
                let turned = if mode == VISION { head / 2 } else { head };
                let section = if mode & 8 != 0 { head / 4 } else { 0 };
                let ints = [0, turned, mode, 0, 0].map(Value::int);
                let floats = [10_000.0, 1.0, 0.0, 1.0, 32.0, 1.0].map(|value| Value::Float(value, 32));
                let params = ints.into_iter().chain(floats).chain([section; 4].map(Value::int));
                (sources, tensor(ty, [fixed(head), fixed(heads), n, one]), params.collect())
            }
            Shape::GetRows { rows, k } => {
                let sources =
                    vec![Some(weights(ty, [fixed(k), fixed(rows), one, one])), Some(tensor("I32", [n, one, one, one]))];
                (sources, tensor("F32", [fixed(k), n, one, one]), Vec::new())
            }
        };
        Op { op: self.operation().to_owned(), sources, result, params }
    }
}

/// The description of a tensor.
#[derive(Debug, Clone)]
pub struct Tensor {
    pub ty: String,
    pub ne: [Dim; 4],
    pub weights: bool,
    /// Dimensions 1 and 2 swapped in memory, as attention sees a KV cache.
    pub permuted: bool,
}

/// An operation with its operands; `params` are `op_params`.
#[derive(Debug, Clone)]
pub struct Op {
    pub op: String,
    pub sources: Vec<Option<Tensor>>,
    pub result: Tensor,
    pub params: Vec<Value>,
}

/// The memory for one machine's operations: allocated once, rewritten for each question.
#[derive(Debug)]
pub struct Stage {
    /// The backend's context, in versions that have one.
    pub context: Option<MemoryPlace>,
    /// The parameters of the worker threads of a graph, in versions that use them.
    pub task: Option<MemoryPlace>,
    pub(crate) buffers: [MemoryPlace; 2],
    pub(crate) blank: Value,
    slots: Vec<MemoryPlace>,
}

impl Stage {
    pub fn new(machine: &mut Machine<'_>) -> Run<Stage> {
        let buffers = [buffer(machine, true)?, buffer(machine, false)?];
        let context = context(machine);
        let task = task(machine);
        let mut blank = machine.object("ggml_tensor")?;
        // Fields of a tensor that no question specifies.
        for field in ["flags", "name"] {
            set(machine, &mut blank, field, Value::Uninit);
        }
        if backend_fills_extra(machine.program) {
            set(machine, &mut blank, "extra", Value::Pointer(Rc::new(Ty::Unknown), None));
        }
        Ok(Stage { context, task, buffers, blank, slots: Vec::new() })
    }

    /// A stage on buffers that the backend itself allocated.
    pub(crate) fn with_buffers(machine: &mut Machine<'_>, buffers: [MemoryPlace; 2]) -> Run<Stage> {
        let blank = machine.object("ggml_tensor")?;
        Ok(Stage { context: None, task: None, buffers, blank, slots: Vec::new() })
    }

    fn put(&mut self, machine: &mut Machine<'_>, slot: usize, value: Value) -> MemoryPlace {
        if let Some(&place) = self.slots.get(slot) {
            machine.write(place, value);
            return place;
        }
        let place = machine.global(value);
        self.slots.push(place);
        place
    }
}

pub(crate) fn missing(what: &str) -> Stop {
    Stop::undetermined(Default::default(), say!("source-open-missing", what))
}

/// The reason if a tree does not have a type.
pub(crate) fn no_type(ty: &str) -> Message {
    let what = type_name(ty);
    say!("source-open-missing", what)
}

fn type_name(ty: &str) -> String {
    format!("GGML_TYPE_{ty}")
}

impl Op {
    /// Builds the tensors and returns the result's index. Sizes of types and blocks come from the tree's own functions.
    pub fn build(&self, machine: &mut Machine<'_>, stage: &mut Stage) -> Run<MemoryPlace> {
        if stage.slots.is_empty() {
            stage.put(machine, 0, Value::Null);
        }
        let mut sources = Vec::new();
        for (slot, source) in self.sources.iter().enumerate() {
            sources.push(match source {
                Some(tensor) => {
                    let value = tensor.build(machine, stage)?;
                    Value::Ptr(stage.put(machine, slot + 1, value))
                }
                None => Value::Null,
            });
            if source.is_none() {
                stage.put(machine, slot + 1, Value::Null);
            }
        }
        let mut object = self.result.build(machine, stage)?;
        if let (Some(slot), Ok(mut blank)) = (machine.field_mut(&mut object, "src"), machine.object("ggml_tensor"))
            && let Some(empty) = machine.field_mut(&mut blank, "src")
        {
            *slot = empty.clone();
        }
        let op = machine.constant_named(&self.op).ok_or_else(|| missing(&self.op))?;
        set(machine, &mut object, "op", Value::int(op));
        fill(machine, &mut object, "src", &sources, Value::Null);
        fill(machine, &mut object, "op_params", &self.params, Value::int(0));
        Ok(stage.put(machine, 0, object))
    }
}

impl Tensor {
    fn build(&self, machine: &mut Machine<'_>, stage: &Stage) -> Run<Value> {
        let name = type_name(&self.ty);
        let number = machine.constant_named(&name).ok_or_else(|| missing(&name))?;
        let size = ask(machine, "ggml_type_size", number)?;
        let block = ask(machine, "ggml_blck_size", number)?;
        if block <= 0 {
            return Err(Stop::undetermined(Default::default(), say!("source-open-no-block", name)));
        }
        let [ne0, ne1, ne2, ne3] = self.ne;
        if ne0.at % block != 0 {
            let why = say!("source-open-block", values = ne0.at, name, block);
            return Err(Stop::undetermined(Default::default(), why));
        }
        let row = Dim::fixed(size.saturating_mul(ne0.at / block));
        let nb = if self.permuted {
            let nb2 = row;
            let nb1 = row.by(ne2);
            [Dim::fixed(size), nb1, nb2, nb1.by(ne1)]
        } else {
            let nb2 = row.by(ne1);
            [Dim::fixed(size), row, nb2, nb2.by(ne2)]
        };
        let _ = ne3;
        let mut object = stage.blank.clone();
        if !self.weights {
            // The operation of the source tensor is not part of the question.
            set(machine, &mut object, "op", Value::Uninit);
            set(machine, &mut object, "src", Value::Uninit);
        }
        set(machine, &mut object, "type", Value::int(number));
        fill(machine, &mut object, "ne", &self.ne.map(Dim::value), Value::int(1));
        fill(machine, &mut object, "nb", &nb.map(Dim::value), Value::int(0));
        let pointer = Value::Pointer(Rc::new(Ty::Void), None);
        set(machine, &mut object, "data", pointer);
        let [weights, compute] = stage.buffers;
        set(machine, &mut object, "buffer", Value::Ptr(if self.weights { weights } else { compute }));
        // Until mid-2024 a tensor itself stored where it lives.
        if let Some(gpu) =
            machine.constant_named("GGML_BACKEND_TYPE_GPU").or(machine.constant_named("GGML_BACKEND_GPU"))
        {
            set(machine, &mut object, "backend", Value::int(gpu));
        }
        Ok(object)
    }
}

/// A number converted to the declared type of the field.
fn declared(slot: &Value, value: Value) -> Value {
    match (value, slot.int_ty()) {
        (Value::Int(value, dependence, _), Some(ty)) => Value::Int(value, dependence, ty),
        (value, _) => value,
    }
}

/// Sets a field, if the version has it.
pub(crate) fn set(machine: &Machine<'_>, object: &mut Value, field: &str, value: Value) {
    if let Some(slot) = machine.field_mut(object, field) {
        *slot = declared(slot, value);
    }
}

/// Sets the items of an array field, the rest to `rest`.
pub(crate) fn fill(machine: &Machine<'_>, object: &mut Value, field: &str, values: &[Value], rest: Value) {
    if let Some(Value::Agg(array)) = machine.field_mut(object, field) {
        let array = Rc::make_mut(array);
        for (index, slot) in array.items.iter_mut().enumerate() {
            *slot = declared(slot, values.get(index).unwrap_or(&rest).clone());
        }
    }
}

fn ask(machine: &mut Machine<'_>, function: &str, number: i64) -> Run<i64> {
    match machine.call_by_name(function, vec![Value::int(number)])? {
        Value::Int(value, 0, _) => Ok(value),
        _ => Err(missing(&format!("answer from {function}"))),
    }
}

/// A buffer of the GPU backend, entirely on device 0. Its functions have the backend's own names, so that the tree's
/// code can tell whether it is a split buffer.
fn buffer(machine: &mut Machine<'_>, weights: bool) -> Run<MemoryPlace> {
    let mut kind = machine.object("ggml_backend_buffer_type")?;
    name_functions(machine, &mut kind, "ggml_backend_cuda_buffer_type_");
    let context = machine.object("ggml_backend_cuda_buffer_type_context").ok();
    if let Some(mut context) = context {
        set(machine, &mut context, "device", Value::int(0));
        let context = machine.global(context);
        set(machine, &mut kind, "context", Value::Ptr(context));
    }
    let kind = machine.global(kind);
    let mut buffer = machine.object("ggml_backend_buffer")?;
    set(machine, &mut buffer, "size", Value::Uninit);
    name_functions(machine, &mut buffer, "ggml_backend_cuda_buffer_");
    set(machine, &mut buffer, "buft", Value::Ptr(kind));
    let usage = if weights { "GGML_BACKEND_BUFFER_USAGE_WEIGHTS" } else { "GGML_BACKEND_BUFFER_USAGE_ANY" };
    if let Some(usage) = machine.constant_named(usage) {
        set(machine, &mut buffer, "usage", Value::int(usage));
    }
    if let Ok(mut context) = machine.object("ggml_backend_cuda_buffer_context") {
        set(machine, &mut context, "device", Value::int(0));
        let context = machine.global(context);
        set(machine, &mut buffer, "context", Value::Ptr(context));
    }
    Ok(machine.global(buffer))
}

fn name_functions(machine: &Machine<'_>, object: &mut Value, prefix: &str) {
    let Some(Value::Agg(table)) = machine.field_mut(object, "iface") else { return };
    let table: &mut Agg = Rc::make_mut(table);
    let Held::Struct(instance) = table.shape.clone() else { return };
    for (slot, field) in table.items.iter_mut().zip(machine.field_names(&instance)) {
        let name = field.and_then(|field| machine.program.interner.get(&format!("{prefix}{field}")));
        *slot = match name {
            Some(name) => Value::Fn(Rc::new(FnValue { name, args: Vec::new(), view: cxx::View::ANYWHERE })),
            None => Value::Pointer(Rc::new(Ty::Func), None),
        };
    }
}

fn context(machine: &mut Machine<'_>) -> Option<MemoryPlace> {
    let mut object = machine.object("ggml_backend_cuda_context").ok()?;
    if let Value::Agg(agg) = &mut object {
        for slot in &mut Rc::make_mut(agg).items {
            *slot = Value::Uninit;
        }
    }
    set(machine, &mut object, "device", Value::int(0));
    Some(machine.global(object))
}

/// Until March 2024, each thread of a graph called the dispatcher. This models the first thread, in the compute phase.
fn task(machine: &mut Machine<'_>) -> Option<MemoryPlace> {
    let mut object = machine.object("ggml_compute_params").ok()?;
    let compute = ["GGML_TASK_TYPE_COMPUTE", "GGML_TASK_COMPUTE"];
    let compute = compute.into_iter().find_map(|name| machine.constant_named(name))?;
    set(machine, &mut object, "type", Value::int(compute));
    set(machine, &mut object, "ith", Value::int(0));
    set(machine, &mut object, "nth", Value::int(1));
    Some(machine.global(object))
}

/// Whether the buffer also gives an `extra` to tensors that are not split, according to the code that prepares them.
pub(crate) fn backend_fills_extra(program: &cxx::Program) -> bool {
    let (Some(name), Some(extra)) =
        (program.interner.get("ggml_backend_cuda_buffer_init_tensor"), program.interner.get("extra"))
    else {
        return false;
    };
    let functions = program.overloads(name).iter().filter_map(|&index| program.function(index));
    functions.into_iter().any(|function| program.mentions(function, extra))
}
