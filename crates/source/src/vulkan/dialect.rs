//! The additions of Vulkan to C++: the driver's answers to a program's queries, and the dispatch that ends a run. The
//! types are in `vulkan_types.hpp`; its functions that begin with `wk_` are answered here.

use super::profile::{Fact, VulkanProfile};
use crate::ggml_dialect::{GGML, KEPT};
use cxx::ast::Expr;
use cxx::eval::{Agg, Builtin, FnValue, Machine, MemoryPlace, Platform, Property, Run, Shape, Stop, Ty, Value};
use cxx::{Dialect, Outside, Role, Span, Vocabulary};
use say::say;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

pub static VULKAN: Dialect = Dialect {
    vocabulary: Vocabulary {
        words: &[],
        kept: KEPT,
        prelude: include_str!("vulkan_types.hpp"),
        units: &["c", "cpp"],
        beside: &["cpp", "c"],
        own_header: "ggml-vulkan-common.h",
        settled: &[],
        answered: |name| BUILTINS.iter().any(|(known, _)| *known == name),
        role,
        ..GGML.vocabulary
    },
    builtins: BUILTINS,
    constants: &[],
    undeclared,
    hands_out_memory: |_| false,
    outside: |_| Outside::Unknown,
    ..GGML
};

/// The handles of Vulkan: calls on them have no effect that the program sees, apart from those in `vulkan_types.hpp`.
fn role(name: &str) -> Role {
    const HANDLES: &[&str] = &[
        "Buffer",
        "DeviceMemory",
        "Fence",
        "Semaphore",
        "Event",
        "ShaderModule",
        "PipelineLayout",
        "DescriptorSetLayout",
        "DescriptorPool",
        "DescriptorSet",
        "QueryPool",
        "CommandPool",
        "Pipeline",
        "Queue",
        "CommandBuffer",
        "Device",
        "PhysicalDevice",
        "Instance",
        "DispatchLoaderDynamic",
    ];
    if HANDLES.contains(&name) { Role::Context } else { Role::Plain }
}

const BUILTINS: &[(&str, Builtin)] = &[
    ("GGML_UNUSED", Builtin::Ignore),
    ("GGML_UNUSED_VARS", Builtin::Ignore),
    ("UNUSED", Builtin::Ignore),
    ("GGML_LOG_DEBUG", Builtin::Ignore),
    ("GGML_LOG_INFO", Builtin::Ignore),
    ("GGML_LOG_WARN", Builtin::Ignore),
    ("GGML_LOG_ERROR", Builtin::Ignore),
    ("GGML_LOG_CONT", Builtin::Ignore),
    ("GGML_ASSERT", Builtin::Assert),
    ("GGML_ABORT", Builtin::Abort),
    ("ggml_abort", Builtin::Abort),
    ("hardware_concurrency", Builtin::Answer(one)),
    ("wk_fill", Builtin::Answer(fill)),
    ("wk_extensions", Builtin::Answer(extensions)),
    ("wk_queues", Builtin::Answer(queues)),
    ("wk_memory", Builtin::Answer(memory)),
    ("wk_matrices", Builtin::Answer(matrices)),
    ("wk_function", Builtin::Answer(function)),
    ("wk_handle", Builtin::Answer(handle)),
    ("wk_dispatch", Builtin::Answer(dispatch)),
];

/// The prefix of the message of a run that ended with a choice.
const CHOSEN: &str = "chosen ";

/// The name of the pipeline whose dispatch ended a run.
pub fn chosen(_: &mut Machine<'_>, ended: Run<()>) -> Run<String> {
    match ended {
        Err(Stop::Abort { at, what }) => match what.strip_prefix(CHOSEN) {
            Some(name) => Ok(name.to_owned()),
            // An abort that is not a dispatch is one of the program's own.
            None => Err(Stop::undetermined(at, say!("source-open-backend-aborts", code = what))),
        },
        Err(stop) => Err(stop),
        Ok(()) => Err(Stop::undetermined(Span::default(), say!("source-open-backend-none"))),
    }
}

/// The platform of a run: the card's answers and the process's environment.
pub fn platform(card: &VulkanProfile) -> Platform {
    let mut facts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut properties = Vec::new();
    // A field that several structures have under one name, with one value.
    let mut shared: BTreeMap<&str, Option<&Fact>> = BTreeMap::new();
    for (key, fact) in &card.fields {
        match fact {
            Fact::Number(number) => drop(facts.insert(key.clone(), vec![*number])),
            Fact::Text(text) => properties.push((key.clone(), Property::Text(text.clone()))),
        }
        if let Some((_, field)) = key.split_once('.') {
            shared.entry(field).and_modify(|known| *known = known.filter(|known| *known == fact)).or_insert(Some(fact));
        }
    }
    for (field, fact) in shared {
        if let Some(Fact::Number(number)) = fact {
            facts.insert(format!("*.{field}"), vec![*number]);
        }
    }
    for name in &card.unfilled {
        facts.insert(format!("unfilled {name}"), Vec::new());
    }
    for extension in &card.extensions {
        properties.push(("extension".to_owned(), Property::Text(extension.clone())));
    }
    facts.insert("queues".to_owned(), card.queues.clone());
    facts.insert("types".to_owned(), card.memory[0].clone());
    facts.insert("heaps".to_owned(), card.memory[1].clone());
    if let Some(matrices) = &card.matrices {
        facts.insert("matrices".to_owned(), matrices.clone());
    }
    Platform { properties, environment: card.environment.clone(), facts: Arc::new(facts) }
}

fn unsure(at: Span) -> Stop {
    Stop::undetermined(at, say!("source-open-vulkan-query"))
}

/// The processors of the host: no decision about a dispatch depends on their number.
fn one(_: &mut Machine<'_>, _: &[Expr], _: Span) -> Run<Value> {
    Ok(Value::int(1))
}

fn first(machine: &mut Machine<'_>, args: &[Expr]) -> Run<Value> {
    args.first().map_or(Ok(Value::Null), |arg| machine.eval(arg))
}

/// Fills a chain of structures. A field that the driver's answer does not have is unknown.
fn fill(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let mut next = first(machine, args)?;
    for _ in 0..64 {
        let place = match next {
            Value::Ptr(place) => place,
            Value::Null => return Ok(Value::Void),
            _ => return Err(unsure(at)),
        };
        let Some(Value::Agg(object)) = machine.peek(place).cloned() else { return Err(unsure(at)) };
        let Shape::Struct(instance) = &object.shape else { return Err(unsure(at)) };
        let name = instance.of.name.map_or("", |name| machine.program.text(name));
        let name = format!("Vk{}", name.strip_prefix("Vk").unwrap_or(name));
        let below = machine.program.interner.get("pNext").and_then(|field| machine.field_of(&object, field));
        next = below.unwrap_or(Value::Null);
        if !machine.platform.facts.contains_key(&format!("unfilled {name}")) {
            let filled = filled(machine, &object, &name, at);
            machine.write(place, filled);
        }
    }
    Err(unsure(at))
}

fn filled(machine: &Machine<'_>, object: &Rc<Agg>, path: &str, at: Span) -> Value {
    let mut object = object.clone();
    let Shape::Struct(instance) = object.shape.clone() else { return Value::Agg(object) };
    let names: Vec<Option<String>> =
        machine.field_names(&instance).into_iter().map(|name| name.map(str::to_owned)).collect();
    for (slot, name) in Rc::make_mut(&mut object).items.iter_mut().zip(names) {
        let Some(name) = name.filter(|name| name != "pNext" && name != "sType") else { continue };
        // The core structures are parts of those that can be extended.
        let path = match name.as_str() {
            "properties" => "VkPhysicalDeviceProperties".to_owned(),
            "features" => "VkPhysicalDeviceFeatures".to_owned(),
            _ => format!("{path}.{name}"),
        };
        *slot = match &*slot {
            Value::Agg(part) => match &part.shape {
                Shape::Struct(_) => filled(machine, part, &path, at),
                Shape::Array => {
                    let items = part.items.iter().enumerate();
                    Value::array(
                        items.map(|(index, item)| known(machine, item, &format!("{path}[{index}]"), at)).collect(),
                    )
                }
            },
            slot => known(machine, slot, &path, at),
        };
    }
    Value::Agg(object)
}

/// The value of one field, of the field's declared type.
fn known(machine: &Machine<'_>, slot: &Value, key: &str, at: Span) -> Value {
    let shared = || Some(format!("*.{}", key.split_once('.')?.1));
    let found = machine.platform.facts.get(key).or_else(|| machine.platform.facts.get(&shared()?));
    if let Some([number]) = found.map(Vec::as_slice) {
        return match (slot.int_ty(), slot) {
            (Some(ty), _) => Value::typed(ty.wrap(*number), ty),
            (None, Value::Float(_, bits)) => Value::Float(*number as f64, *bits),
            _ => Value::int(*number),
        };
    }
    let text = machine.platform.properties.iter().find(|(known, _)| known == key);
    match text {
        Some((_, Property::Text(text))) => Value::Str(text.as_str().into()),
        _ => match slot.int_ty() {
            Some(ty) => Value::Unset(ty, at),
            None => Value::Opaque(at),
        },
    }
}

/// A list of objects of a struct, with these numbers in its first fields.
fn objects(machine: &mut Machine<'_>, name: &str, numbers: &[i64], each: usize) -> Run<Value> {
    let object = machine.object(name)?;
    let mut list = Vec::new();
    for row in numbers.chunks(each) {
        let mut object = object.clone();
        if let Value::Agg(agg) = &mut object {
            for (slot, number) in Rc::make_mut(agg).items.iter_mut().zip(row) {
                *slot = slot.int_ty().map_or(Value::int(*number), |ty| Value::typed(ty.wrap(*number), ty));
            }
        }
        list.push(object);
    }
    Ok(Value::list(list, Rc::new(object.ty())))
}

fn fact(machine: &Machine<'_>, name: &str) -> Option<Vec<i64>> {
    machine.platform.facts.get(name).cloned()
}

fn extensions(machine: &mut Machine<'_>, _: &[Expr], _: Span) -> Run<Value> {
    let object = machine.object("ExtensionProperties")?;
    let names: Vec<String> = machine
        .platform
        .properties
        .iter()
        .filter_map(|(key, value)| match value {
            Property::Text(text) if key == "extension" => Some(text.clone()),
            _ => None,
        })
        .collect();
    let mut list = Vec::new();
    for name in names {
        let mut object = object.clone();
        if let Some(slot) = machine.field_mut(&mut object, "extensionName") {
            *slot = Value::Str(name.as_str().into());
        }
        list.push(object);
    }
    Ok(Value::list(list, Rc::new(object.ty())))
}

fn queues(machine: &mut Machine<'_>, _: &[Expr], at: Span) -> Run<Value> {
    let numbers = fact(machine, "queues").filter(|numbers| !numbers.is_empty()).ok_or_else(|| unsure(at))?;
    objects(machine, "QueueFamilyProperties", &numbers, 3)
}

fn memory(machine: &mut Machine<'_>, _: &[Expr], at: Span) -> Run<Value> {
    let mut object = machine.object("PhysicalDeviceMemoryProperties")?;
    for (list, count, name, of) in [
        ("memoryTypes", "memoryTypeCount", "types", "MemoryType"),
        ("memoryHeaps", "memoryHeapCount", "heaps", "MemoryHeap"),
    ] {
        let numbers = fact(machine, name).filter(|numbers| !numbers.is_empty()).ok_or_else(|| unsure(at))?;
        let items = objects(machine, of, &numbers, 2)?;
        crate::op::set(machine, &mut object, count, Value::int((numbers.len() / 2) as i64));
        crate::op::set(machine, &mut object, list, items);
    }
    Ok(object)
}

/// vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR: the count, or the list.
fn matrices(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    const EACH: usize = 9;
    let [count, list] = args else { return Err(unsure(at)) };
    let (count, list) = (machine.eval(count)?, machine.eval(list)?);
    let numbers = fact(machine, "matrices").ok_or_else(|| unsure(at))?;
    let Value::Ptr(count) = count else { return Err(unsure(at)) };
    machine.store(count, Value::int((numbers.len() / EACH) as i64))?;
    let mut place = match list {
        Value::Ptr(place) => place,
        Value::Null => return Ok(Value::int(0)),
        _ => return Err(unsure(at)),
    };
    for row in numbers.chunks(EACH) {
        let Some(mut object) = machine.peek(place).cloned() else { return Err(unsure(at)) };
        let fields =
            ["MSize", "NSize", "KSize", "AType", "BType", "CType", "ResultType", "saturatingAccumulation", "scope"];
        for (field, number) in fields.into_iter().zip(row) {
            crate::op::set(machine, &mut object, field, Value::int(*number));
        }
        machine.write(place, object);
        place = place.moved(1).ok_or_else(|| unsure(at))?;
    }
    Ok(Value::int(0))
}

/// The function of a name: one of `vulkan_types.hpp`, or one that is not modelled.
fn function(machine: &mut Machine<'_>, args: &[Expr], _: Span) -> Run<Value> {
    let name = match first(machine, args)? {
        Value::Str(text) => machine.program.interner.get(&text),
        _ => None,
    };
    let name = name.filter(|name| !machine.program.overloads(*name).is_empty());
    Ok(match name {
        Some(name) => Value::Fn(Rc::new(FnValue { name, args: Vec::new(), view: cxx::View::ANYWHERE })),
        None => Value::Pointer(Rc::new(Ty::Func), None),
    })
}

/// A handle that no other object has.
fn handle(machine: &mut Machine<'_>, _: &[Expr], _: Span) -> Run<Value> {
    let place = machine.global(Value::Void);
    Ok(Value::typed(i64::from(place.root), cxx::IntTy::U64))
}

/// A dispatch of the bound pipeline. The object that holds the pipeline's handle also holds its name.
fn dispatch(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let bound = first(machine, args)?;
    let unknown = || Stop::undetermined(at, say!("source-open-backend-bound"));
    let Some(bound) = machine.settle(&bound).filter(|bound| *bound != 0) else { return Err(unknown()) };
    let Some(name) = name_of(machine, bound) else { return Err(unknown()) };
    let product = name.starts_with("mul_mat_vec") || (name.starts_with("matmul") && !name.contains("reduce"));
    if product { Err(Stop::Abort { at, what: format!("{CHOSEN}{name}") }) } else { Ok(Value::Void) }
}

fn name_of(machine: &Machine<'_>, bound: i64) -> Option<String> {
    let handle = machine.program.interner.get("handle")?;
    let holds = |item: &Value| match item {
        Value::Agg(agg) => {
            let pipeline = Machine::instance(item)
                .and_then(|of| of.of.name)
                .is_some_and(|name| machine.program.text(name) == "Pipeline");
            pipeline && matches!(machine.field_of(agg, handle), Some(Value::Int(number, 0, _)) if number == bound)
        }
        _ => false,
    };
    let mut found = machine.objects().filter_map(|object| match object {
        Value::Agg(agg) if agg.items.iter().any(holds) => {
            let name = machine.program.interner.get("name").and_then(|name| machine.field_of(agg, name));
            Some(match name {
                Some(Value::Str(text)) if !text.is_empty() => Some(text.to_string()),
                _ => None,
            })
        }
        _ => None,
    });
    // Two objects with one handle would have two names.
    let only = found.next()?;
    only.filter(|_| found.next().is_none())
}

/// The shaders, which are compiled from other sources: modules without instructions. Their contents decide nothing.
fn undeclared(machine: &mut Machine<'_>, name: &str) -> Option<Value> {
    const HEADER: [i64; 5] = [0x0723_0203, 0x0001_0500, 0, 1, 0];
    let size = i64::try_from(HEADER.len() * 4).unwrap_or_default();
    let several = name.starts_with("arr_");
    let all = |value: Value| if several { Value::array(vec![value; 8]) } else { value };
    if name.ends_with("_len") {
        return Some(all(Value::typed(size, cxx::IntTy::U64)));
    }
    if !name.ends_with("_data") {
        return None;
    }
    let words = HEADER.map(|word| Value::typed(word, cxx::IntTy::U32)).to_vec();
    let place: Option<MemoryPlace> = machine.global(Value::array(words)).part(0);
    Some(all(Value::Ptr(place?)))
}
