//! What the program asks of its machine: the header of the model, addresses, and the end of a run.

use cxx::whole::{Halt, List, Machine, Object, Place, Run, Slot, Value, formatted, place};
use gguf::{Gguf, Value as Fact};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The end of a run whose graphs are complete.
pub const DONE: &str = "done";

/// The backend's function that changes a graph before it is allocated.
pub const OPTIMIZE: &str = "ggml_backend_cuda_graph_optimize";

#[derive(Debug, Default)]
pub struct Host {
    /// The graphs that the GPU was given.
    pub graphs: RefCell<Vec<Place>>,
    claimed: RefCell<BTreeSet<String>>,
    next: Cell<i64>,
}

impl Host {
    /// Tensors of the file that the program did not ask for.
    pub fn unclaimed(&self, gguf: &Gguf) -> Vec<String> {
        let claimed = self.claimed.borrow();
        gguf.tensors.iter().map(|tensor| tensor.name.clone()).filter(|name| !claimed.contains(name)).collect()
    }

    fn address(&self, size: i64) -> i64 {
        let here = self.next.get();
        self.next.set((here + size.max(1) + 4095) / 4096 * 4096 + 4096);
        here
    }
}

struct Header {
    facts: BTreeMap<String, Fact>,
    tensors: BTreeMap<String, (i64, Vec<i64>)>,
    words: i64,
}

fn done<T>(machine: &Machine<'_>) -> Run<T> {
    Err(Halt::Ended { at: machine.here(), what: DONE.to_owned() })
}

fn void() -> Run<Slot> {
    Ok(Slot::Value(Value::Void))
}

/// Provides the functions of the machine.
pub fn provide(machine: &mut Machine<'_>, gguf: &Gguf, columns: i64, positions: i64) -> Rc<Host> {
    let host = Rc::new(Host { next: Cell::new(1 << 44), ..Host::default() });
    let count = |key: &str| match gguf.get(key) {
        Some(Fact::Array { len, .. }) => Some(*len as i64),
        Some(Fact::Unsigned(number)) => Some(*number as i64),
        _ => None,
    };
    let words = count("tokenizer.ggml.tokens").or_else(|| count(&format!("{}.vocab_size", gguf.architecture())));
    let header = Rc::new(Header {
        facts: gguf.metadata.iter().cloned().collect(),
        tensors: gguf
            .tensors
            .iter()
            .map(|tensor| {
                let dims = tensor.dims.iter().map(|dim| *dim as i64).collect();
                (tensor.name.clone(), (i64::from(tensor.kind.0), dims))
            })
            .collect(),
        words: words.unwrap_or(0),
    });
    provide_memory(machine, &host);
    provide_header(machine, &header);
    provide_tensors(machine, &header, &host);
    let given = host.clone();
    let opened = Rc::new(Cell::new(false));
    let open = opened.clone();
    machine.provide("wk_opened", move |_, _, _| {
        open.set(true);
        void()
    });
    machine.provide("ggml_backend_graph_compute_async", move |machine, _, args| {
        let [backend, graph] = args else { return machine.lost("graph") };
        let Value::Ptr(backend) = backend.read() else { return machine.lost("backend") };
        let device = machine.field(&backend, "device")?;
        let gpu = machine.call_named("ggml_backend_dev_name", vec![Slot::Place(device)])?.read();
        if opened.get() && matches!(gpu, Value::Str(name) if &*name != "CPU") {
            match graph.read() {
                Value::Ptr(graph) => given.graphs.borrow_mut().push(graph),
                Value::At(list, index) => given.graphs.borrow_mut().extend(list.at(index)),
                _ => return machine.lost("graph"),
            }
        }
        Ok(Slot::Value(Value::int(0)))
    });
    for name in ["ggml_backend_tensor_get_async", "ggml_backend_tensor_get"] {
        machine.provide(name, |machine, _, _| done(machine));
    }
    // Every layer and the output are on the GPU.
    for name in ["llama_model::dev_layer", "llama_model::dev_output"] {
        machine.provide(name, |machine, _, _| {
            machine.call_named("ggml_backend_dev_get", vec![Slot::Value(Value::int(0))])
        });
    }
    // The backend's own changes to a graph before it is allocated.
    machine.provide("wk_context", |_, _, _| Ok(Slot::Value(Value::Ptr(place(Object::loose())))));
    machine.provide("wk_optimize_graph", |machine, _, args| machine.call_hidden(OPTIMIZE, args.to_vec()));
    for name in ["ggml_cuda_set_device", "ggml_cuda_get_device"] {
        machine.provide(name, |_, _, _| Ok(Slot::Value(Value::int(0))));
    }
    machine.provide("wk_supports", |_, _, _| Ok(Slot::Value(Value::bool(true))));
    // A cache that earlier batches filled further than this one does.
    if positions > (columns + 255) / 256 * 256 {
        machine.provide("llama_kv_cache::get_n_kv", move |machine, this, _| {
            let Some(this) = this else { return machine.lost("cache") };
            let size = machine.call_method_named(&this, "get_size", Vec::new())?.read().number().unwrap_or(0);
            Ok(Slot::Value(Value::Int(size.min(positions), cxx::IntTy::U32)))
        });
    }
    host
}

fn provide_memory(machine: &mut Machine<'_>, host: &Rc<Host>) {
    let given = host.clone();
    machine.provide("wk_address", move |_, _, args| {
        let size = args.first().and_then(|size| size.read().number()).unwrap_or(0);
        Ok(Slot::Value(Value::Int(given.address(size), cxx::IntTy::U64)))
    });
    let given = host.clone();
    machine.provide("ggml_aligned_malloc", move |_, _, args| {
        let size = args.first().and_then(|size| size.read().number()).unwrap_or(0);
        Ok(Slot::Value(Value::Int(given.address(size), cxx::IntTy::U64)))
    });
    // An object's place in a context: the address that the program adds to the start of its memory.
    machine.provide("ggml_new_object", |machine, _, args| {
        let object = machine.object("ggml_object")?;
        let offs = machine.field(&object, "offs")?;
        *offs.borrow_mut() = Value::Ptr(place(Value::Zero));
        if let Some(ctx) = args.first().map(|ctx| place(ctx.read())) {
            let end = machine.field(&ctx, "objects_end")?;
            let begin = machine.field(&ctx, "objects_begin")?;
            let kind = machine.field(&object, "type")?;
            if let Some(slot) = args.get(1) {
                let value = slot.read();
                machine.store(&kind, value, machine.here())?;
            }
            let last = end.borrow().clone();
            match last {
                Value::Ptr(last) => {
                    let next = machine.field(&last, "next")?;
                    *next.borrow_mut() = Value::Ptr(object.clone());
                }
                _ => *begin.borrow_mut() = Value::Ptr(object.clone()),
            }
            *end.borrow_mut() = Value::Ptr(object.clone());
        }
        Ok(Slot::Value(Value::Ptr(object)))
    });
    for name in ["ggml_get_first_tensor", "ggml_get_next_tensor"] {
        machine.provide(name, move |machine, _, args| {
            let [Some(ctx), tensor] = [0, 1].map(|at| args.get(at).map(Slot::read)) else {
                return machine.lost("tensors");
            };
            next_tensor(machine, &place(ctx), tensor)
        });
    }
    machine.provide("incr_ptr_aligned", |_, _, _| Ok(Slot::Value(Value::At(List::raw(Value::Zero), 0))));
    machine.provide("ggml_set_name", |machine, _, args| {
        let (Some(tensor), Some(name)) = (args.first().map(Slot::read), args.get(1).and_then(|n| n.read().text()))
        else {
            return machine.lost("name");
        };
        if let Value::Ptr(tensor) = &tensor {
            let held = machine.field(tensor, "name")?;
            *held.borrow_mut() = Value::Str(name);
        }
        Ok(Slot::Value(tensor))
    });
    machine.provide("ggml_format_name", |machine, _, args| {
        let text = formatted(machine, args.get(1..).unwrap_or_default())?;
        let Some(tensor) = args.first().map(Slot::read) else { return machine.lost("name") };
        if let Value::Ptr(tensor) = &tensor {
            let held = machine.field(tensor, "name")?;
            *held.borrow_mut() = Value::Str(text.into());
        }
        Ok(Slot::Value(tensor))
    });
    // Numbers of an operation keep their type.
    for name in ["ggml_set_op_params_i32", "ggml_set_op_params_f32"] {
        machine.provide(name, move |machine, _, args| {
            let [Value::Ptr(tensor), index, value] = [0, 1, 2].map(|at| args.get(at).map_or(Value::Void, Slot::read))
            else {
                return machine.lost("op_params");
            };
            let params = machine.field(&tensor, "op_params")?;
            let Value::List(list) = params.borrow().clone() else { return machine.lost("op_params") };
            let (Some(index), Some(_)) = (index.number(), list.at(index.number().unwrap_or(-1))) else {
                return machine.lost("op_params");
            };
            if let Some(slot) = list.at(index) {
                let value = match (name, value) {
                    ("ggml_set_op_params_f32", Value::Int(number, ty)) => Value::Float(ty.as_float(number), 32),
                    ("ggml_set_op_params_f32", Value::Float(number, _)) => Value::Float(f64::from(number as f32), 32),
                    (_, Value::Int(number, _)) => Value::Int(cxx::IntTy::I32.wrap(number), cxx::IntTy::I32),
                    (_, value) => value,
                };
                *slot.borrow_mut() = value;
            }
            void()
        });
    }
    for name in ["ggml_get_op_params_i32", "ggml_get_op_params_f32"] {
        machine.provide(name, |machine, _, args| {
            let [Value::Ptr(tensor), index] = [0, 1].map(|at| args.get(at).map_or(Value::Void, Slot::read)) else {
                return machine.lost("op_params");
            };
            let params = machine.field(&tensor, "op_params")?;
            let Value::List(list) = params.borrow().clone() else { return machine.lost("op_params") };
            match index.number().and_then(|index| list.at(index)) {
                Some(slot) => Ok(Slot::Value(slot.borrow().clone())),
                None => machine.lost("op_params"),
            }
        });
    }
    machine.provide("format", |machine, _, args| Ok(Slot::Value(Value::Str(formatted(machine, args)?.into()))));
    for name in ["ggml_time_us", "ggml_time_ms", "ggml_time_init", "ggml_cycles"] {
        machine.provide(name, |_, _, _| Ok(Slot::Value(Value::Int(1, cxx::IntTy::I64))));
    }
    for name in [
        "llm_graph_result::set_inputs",
        "llama_set_abort_callback",
        "ggml_backend_tensor_set",
        "ggml_backend_tensor_set_async",
        "ggml_gen_hadamard",
        "ggml_backend_tensor_copy",
        "ggml_backend_tensor_copy_async",
        "ggml_backend_synchronize",
        "ggml_backend_sched_synchronize",
        "llama_context::synchronize",
    ] {
        machine.provide(name, |_, _, _| void());
    }
}

/// The tensor of a context behind another one, or the first.
fn next_tensor(machine: &mut Machine<'_>, ctx: &Place, behind: Option<Value>) -> Run<Slot> {
    let Some(kind) = machine.units.sym("GGML_OBJECT_TYPE_TENSOR") else { return machine.lost("objects") };
    let kind = machine.enumerator(kind)?.and_then(|kind| kind.number());
    let mut object = machine.field(ctx, "objects_begin")?.borrow().clone();
    let mut reached = behind.is_none();
    while let Value::Ptr(here) = object {
        let held = machine.field(&here, "offs")?.borrow().clone();
        let is_tensor = machine.field(&here, "type")?.borrow().number() == kind;
        if is_tensor && reached {
            return Ok(Slot::Value(held));
        }
        reached |= behind.as_ref().is_some_and(|behind| cxx::whole::address(behind) == cxx::whole::address(&held));
        object = machine.field(&here, "next")?.borrow().clone();
    }
    Ok(Slot::Value(Value::Null))
}

fn provide_header(machine: &mut Machine<'_>, header: &Rc<Header>) {
    machine.provide("gguf_get_n_kv", |_, _, _| Ok(Slot::Value(Value::int(0))));
    for name in ["get_key", "get_arr_n", "get_arr", "get_key_or_arr"] {
        let header = header.clone();
        machine.provide(&format!("llama_model_loader::{name}"), move |machine, _, args| {
            let key = key(machine, &header, args.first())?;
            let found = key.as_ref().and_then(|key| header.facts.get(key)).cloned();
            let last = args.last().map(Slot::read);
            let required = match (name, args.len()) {
                ("get_key_or_arr", 3) | ("get_key" | "get_arr" | "get_arr_n", 2) => true,
                _ => last.and_then(|value| value.truth()).unwrap_or(true),
            };
            let Some(fact) = found else {
                if required {
                    return Err(Halt::Ended { at: machine.here(), what: key.unwrap_or_default() });
                }
                return Ok(Slot::Value(Value::bool(false)));
            };
            let Some(Slot::Place(to)) = args.get(1) else { return machine.lost("key") };
            let value = match &fact {
                Fact::Unsigned(number) => Value::Int(*number as i64, cxx::IntTy::U64),
                Fact::Signed(number) => Value::Int(*number, cxx::IntTy::I64),
                Fact::Float(number) => Value::Float(*number, 32),
                Fact::Bool(truth) => Value::bool(*truth),
                Fact::Text(text) => Value::Str(text.as_str().into()),
                Fact::Array { len, .. } if name == "get_arr_n" => Value::Int(*len as i64, cxx::IntTy::U64),
                Fact::Array { .. } => return machine.lost(format!("array {}", key.unwrap_or_default())),
            };
            if name == "get_key_or_arr" {
                // One number for every layer.
                let Value::List(list) = to.borrow().clone() else {
                    machine.store(to, value, machine.here())?;
                    return Ok(Slot::Value(Value::bool(true)));
                };
                let count = args.get(2).and_then(|count| count.read().number()).unwrap_or(0);
                for index in 0..count {
                    let Some(slot) = list.at(index) else { return machine.lost("layers") };
                    machine.store(&slot, value.clone(), machine.here())?;
                }
                return Ok(Slot::Value(Value::bool(true)));
            }
            machine.store(to, value, machine.here())?;
            Ok(Slot::Value(Value::bool(true)))
        });
    }
    let arch = header.facts.get("general.architecture").cloned();
    let named = arch.clone();
    machine.provide("llama_model_loader::get_arch", move |machine, _, _| {
        let Some(Fact::Text(name)) = &named else { return machine.lost("architecture") };
        machine.call_named("llm_arch_from_string", vec![Slot::Value(Value::Str(name.as_str().into()))])
    });
    machine.provide("llama_model_loader::get_arch_name", move |machine, _, _| match &arch {
        Some(Fact::Text(name)) => Ok(Slot::Value(Value::Str(name.as_str().into()))),
        _ => machine.lost("architecture"),
    });
    for name in ["llama_model_loader::ftype_name", "llama_model_base::arch_name", "llama_model_base::type_name"] {
        machine.provide(name, |_, _, _| Ok(Slot::Value(Value::Str("".into()))));
    }
    let words = header.words;
    for name in ["llama_vocab::n_tokens", "llama_vocab_n_tokens"] {
        machine.provide(name, move |_, _, _| Ok(Slot::Value(Value::Int(words, cxx::IntTy::U32))));
    }
    machine.provide("llama_vocab::n_token_types", |_, _, _| Ok(Slot::Value(Value::Int(0, cxx::IntTy::U32))));
}

/// The name of a key: text, or an enumerator that the tree's table names.
fn key(machine: &mut Machine<'_>, header: &Header, key: Option<&Slot>) -> Run<Option<String>> {
    match key.map(Slot::read) {
        Some(Value::Str(text)) => Ok(Some(text.to_string())),
        Some(Value::Int(number, _)) => {
            let Some(Fact::Text(name)) = header.facts.get("general.architecture") else { return Ok(None) };
            let arch =
                machine.call_named("llm_arch_from_string", vec![Slot::Value(Value::Str(name.as_str().into()))])?;
            let Some(ty) = machine.class_ty("LLM_KV") else { return machine.lost("LLM_KV") };
            let object = machine.make(&ty, vec![arch])?;
            let name = machine.call_method_named(&place(object), "(", vec![Slot::Value(Value::int(number))])?.read();
            Ok(name.text().map(|name| name.to_string()))
        }
        _ => machine.lost("key"),
    }
}

fn provide_tensors(machine: &mut Machine<'_>, header: &Rc<Header>, host: &Rc<Host>) {
    let (header, host) = (header.clone(), host.clone());
    let made: Rc<RefCell<BTreeMap<(String, bool), Value>>> = Rc::default();
    machine.provide("llama_model_base::create_tensor", move |machine, _, args| {
        let args: Vec<Slot> = args.iter().rev().take(3).rev().cloned().collect();
        let [name, ne, flags] = args.as_slice() else { return machine.lost("create_tensor") };
        let tn = name.clone().into_place();
        let name = machine.call_method_named(&tn, "str", Vec::new())?.read().text().unwrap_or_default().to_string();
        let flags = flags.read().number().unwrap_or(0);
        let flag = |machine: &mut Machine<'_>, name: &str| -> Run<bool> {
            Ok(machine.static_number("llama_model_loader", name)?.is_some_and(|bit| flags & bit != 0))
        };
        let optional = flag(machine, "TENSOR_NOT_REQUIRED")?;
        let skip = flag(machine, "TENSOR_SKIP")?;
        let again = flag(machine, "TENSOR_DUPLICATED")?;
        let reshaped = flag(machine, "TENSOR_ALLOW_RESHAPE")?;
        let Some((kind, dims)) = header.tensors.get(&name) else {
            if optional {
                return Ok(Slot::Value(Value::Null));
            }
            return Err(Halt::Ended { at: machine.here(), what: name });
        };
        host.claimed.borrow_mut().insert(name.clone());
        if skip {
            return Ok(Slot::Value(Value::Null));
        }
        let mut wanted = Vec::new();
        if let Value::List(list) = ne.read() {
            for item in list.items.borrow().iter() {
                wanted.push(item.borrow().number().unwrap_or(-1));
            }
        }
        let same = (0..4).all(|at| wanted.get(at).unwrap_or(&1) == dims.get(at).unwrap_or(&1));
        if !same && !reshaped {
            return Err(Halt::Ended { at: machine.here(), what: format!("{name} {wanted:?} {dims:?}") });
        }
        let tensor = machine.field(&tn, "tensor")?.borrow().clone();
        let gpu = machine.call_named("wk_on_gpu", vec![Slot::Value(tensor), Slot::Value(Value::bool(again))])?.read();
        let key = (name.clone(), gpu.truth() == Some(true));
        if let Some(known) = made.borrow().get(&key) {
            return Ok(Slot::Value(known.clone()));
        }
        let ne = if same { dims.clone() } else { wanted };
        let list = Value::list(
            ne.iter().map(|dim| Value::Int(*dim, cxx::IntTy::I64)).collect(),
            cxx::whole::Ty::Int(cxx::IntTy::I64),
        );
        let count = Value::int(ne.len() as i64);
        let given = vec![Value::int(*kind), count, list, gpu].into_iter().map(Slot::Value).collect();
        let tensor = machine.call_named("wk_tensor", given)?.read();
        // The tree's table of types must agree with the format of the file.
        let stride = match &tensor {
            Value::Ptr(held) => machine.field(held, "nb")?.borrow().clone(),
            _ => Value::Void,
        };
        let stride = match stride {
            Value::List(list) => list.at(0).and_then(|first| first.borrow().number()),
            _ => None,
        };
        let block = gguf::TensorType(u32::try_from(*kind).unwrap_or(u32::MAX)).block();
        if stride.is_none() || block.map(|(_, size)| size as i64) != stride {
            return machine.lost(format!("{name} {stride:?}"));
        }
        let named = vec![Slot::Value(tensor.clone()), Slot::Value(Value::Str(name.into()))];
        machine.call_named("ggml_set_name", named)?;
        made.borrow_mut().insert(key, tensor.clone());
        Ok(Slot::Value(tensor))
    });
}
