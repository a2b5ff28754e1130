//! The additions of Objective-C and Metal to C++: the answers of the card and its system, and the launches of a run. The types are
//! in `metal_types.hpp`; its functions that begin with `wk_` are answered here.

use super::launch::{MetalRun, launches, rule};
use crate::ggml_dialect::{GGML, KEPT};
use crate::outcome::with_place;
use cxx::ast::Expr;
use cxx::eval::{Builtin, Machine, Property, Run, Stop, Ty, Value};
use cxx::{Dialect, IntTy, Outside, Role, Span, Vocabulary};
use say::say;
use std::rc::Rc;

pub static METAL: Dialect = Dialect {
    vocabulary: Vocabulary {
        words: &[],
        kept: KEPT,
        prelude: include_str!("metal_types.hpp"),
        units: &["c", "cpp", "m"],
        beside: &["cpp", "m", "c"],
        own_header: "ggml-metal-device.h",
        settled: &[],
        answered: |name| BUILTINS.iter().any(|(known, _)| *known == name),
        role: |_| Role::Plain,
        ..GGML.vocabulary
    },
    builtins: BUILTINS,
    constants: &[],
    undeclared,
    hands_out_memory: |_| false,
    outside: |_| Outside::Unknown,
    ..GGML
};

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
    ("wk_fact", Builtin::Answer(fact)),
    ("wk_text", Builtin::Answer(text)),
    ("wk_family", Builtin::Answer(family)),
    ("wk_available", Builtin::Answer(available)),
    ("wk_compiles", Builtin::Answer(compiles)),
    ("wk_functions", Builtin::Answer(functions)),
    ("wk_has_function", Builtin::Answer(has_function)),
    ("wk_prefix", Builtin::Answer(prefix)),
    ("wk_string", Builtin::Answer(string)),
    ("wk_chars", Builtin::Answer(chars)),
    ("wk_alloc", Builtin::Answer(alloc)),
    ("wk_memory", Builtin::Answer(memory)),
    ("wk_launched", Builtin::Ignore),
    ("ggml_time_us", Builtin::Answer(clock)),
    // Whether an operation may run at the same time as those before it only decides where barriers are.
    ("ggml_mem_ranges_init", Builtin::Answer(ranges)),
    ("ggml_mem_ranges_free", Builtin::Ignore),
    ("ggml_mem_ranges_reset", Builtin::Ignore),
    ("ggml_mem_ranges_add", Builtin::Unknown),
    ("ggml_mem_ranges_check", Builtin::Unknown),
    ("calloc", Builtin::Answer(calloc)),
    ("malloc", Builtin::Answer(malloc)),
    ("free", Builtin::Ignore),
    ("strncmp", Builtin::Answer(strncmp)),
];

/// The symbols with the text of the embedded shaders: `ggml_metallib_start`, `ggml_metallib_mul_mv_start`.
const EMBEDDED: &str = "ggml_metallib_";
/// The property with the functions of a shader file.
pub const FUNCTIONS: &str = "functions of ";

/// The text that stands for the shaders of a file.
fn shaders(file: &str) -> String {
    format!("shaders of {file}")
}

/// The embedded shaders, whose contents decide nothing but which functions exist.
fn undeclared(_: &mut Machine<'_>, name: &str) -> Option<Value> {
    let name = name.strip_prefix(EMBEDDED)?;
    let file = name.strip_suffix("_start").or_else(|| name.strip_suffix("_end"));
    let whole = matches!(name, "start" | "end").then_some("ggml-metal");
    Some(Value::Str(shaders(file.or(whole)?).as_str().into()))
}

/// The launches of a run that ended.
pub fn launched(machine: &mut Machine<'_>, ended: Run<()>) -> Run<MetalRun> {
    match ended {
        Err(Stop::Abort { at, what }) => {
            let why = say!("source-open-backend-aborts", code = what);
            let stopped = with_place(&machine.program.files.place(at), &why);
            Ok(MetalRun { stopped: Some(stopped), ..MetalRun::default() })
        }
        Err(stop) => Err(stop),
        Ok(()) => Ok(MetalRun { rule: rule(machine), launches: launches(machine)?, stopped: None }),
    }
}

fn texts<'e>(machine: &mut Machine<'_>, args: impl IntoIterator<Item = &'e Expr>) -> Run<Vec<Option<String>>> {
    args.into_iter()
        .map(|arg| {
            let value = machine.eval(arg)?;
            Ok(machine.text_of(&value))
        })
        .collect()
}

/// The record of the memory that operations use.
fn ranges(machine: &mut Machine<'_>, _: &[Expr], _: Span) -> Run<Value> {
    Ok(Value::Ptr(machine.global(Value::Void)))
}

/// The clock stands still: the backend only logs how long it takes.
fn clock(_: &mut Machine<'_>, _: &[Expr], _: Span) -> Run<Value> {
    Ok(Value::typed(0, IntTy::I64))
}

/// A number that the profile of the card has, or an unknown one.
fn fact(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let name = texts(machine, args)?.into_iter().flatten().next().unwrap_or_default();
    let found = machine.platform.facts.get(&name).and_then(|numbers| numbers.first().copied());
    Ok(found.map_or(Value::Unset(IntTy::I64, at), |number| Value::typed(number, IntTy::I64)))
}

fn text(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let name = texts(machine, args)?.into_iter().flatten().next().unwrap_or_default();
    let found = machine.platform.properties.iter().find(|(known, _)| *known == name);
    Ok(match found {
        Some((_, Property::Text(text))) => Value::Str(text.as_str().into()),
        _ => Value::Opaque(at),
    })
}

fn family(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let wanted = args.first().map(|arg| machine.eval(arg)).transpose()?;
    let wanted = wanted.and_then(|wanted| machine.settle(&wanted));
    Ok(match (machine.platform.facts.get("families"), wanted) {
        (Some(families), Some(wanted)) => Value::bool(families.contains(&wanted)),
        _ => Value::Opaque(at),
    })
}

/// `@available(macOS 15.0, iOS 18.0, *)`.
fn available(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let versions = texts(machine, args)?.into_iter().flatten().next().unwrap_or_default();
    let wanted = versions.split(',').find_map(|part| part.trim().strip_prefix("macOS"));
    let wanted = wanted.and_then(|version| version.trim().split('.').next()?.parse::<i64>().ok());
    let own = machine.platform.facts.get("macOS").and_then(|numbers| numbers.first().copied());
    Ok(match (own, wanted) {
        (Some(own), Some(wanted)) => Value::bool(own >= wanted),
        _ => Value::Opaque(at),
    })
}

/// Whether the system's compiler accepts shaders. The embedded ones are assumed to compile: ggml stops if they do not.
fn compiles(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(Some(source)) = texts(machine, args)?.into_iter().next() else { return Ok(Value::Opaque(at)) };
    if source.starts_with(&shaders("")) {
        return Ok(Value::bool(true));
    }
    let name = match source {
        source if !source.contains("metal_tensor") => "",
        source if source.contains("bfloat") => "tensorBfloat",
        _ => "tensorHalf",
    };
    let known = machine.platform.facts.get(name).and_then(|numbers| numbers.first().copied());
    Ok(known.map_or(Value::Opaque(at), |known| Value::bool(known != 0)))
}

/// The functions of a library: those that its shader file defines; for a library from other text, those in the text.
fn names(machine: &Machine<'_>, source: &str) -> Option<String> {
    match source.strip_prefix(&shaders("")) {
        Some(file) => {
            let wanted = format!("{FUNCTIONS}{file}");
            machine.platform.properties.iter().find_map(|(name, value)| match value {
                Property::Text(text) if *name == wanted => Some(text.clone()),
                _ => None,
            })
        }
        None => Some(super::shaders::kernels(source).into_iter().collect::<Vec<_>>().join(" ")),
    }
}

fn functions(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(Some(source)) = texts(machine, args)?.into_iter().next() else { return Ok(Value::Opaque(at)) };
    let Some(names) = names(machine, &source) else { return Ok(Value::Opaque(at)) };
    let list = names.split(' ').filter(|name| !name.is_empty()).map(|name| Value::Str(name.into())).collect();
    let place = machine.global(Value::list(list, Rc::new(Ty::Ptr(Rc::new(Ty::Int(8, true))))));
    Ok(Value::Ptr(place))
}

fn has_function(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let given = texts(machine, args)?;
    let [Some(source), Some(wanted)] = given.as_slice() else { return Ok(Value::Opaque(at)) };
    let known = names(machine, source);
    // A name that is not found may be made by a macro that is not understood.
    let has = known.is_some_and(|names| names.split(' ').any(|name| name == wanted));
    Ok(if has { Value::bool(true) } else { Value::Opaque(at) })
}

fn prefix(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let given = texts(machine, args)?;
    let [Some(text), Some(start)] = given.as_slice() else { return Ok(Value::Opaque(at)) };
    Ok(Value::bool(text.starts_with(start)))
}

/// `strncmp(a, b, n)`, as far as its sign is defined.
fn strncmp(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let [a, b, count] = args else { return Ok(Value::Opaque(at)) };
    let given = texts(machine, [a, b])?;
    let count = machine.eval(count)?;
    let count = machine.settle(&count).and_then(|count| usize::try_from(count).ok());
    let ([Some(a), Some(b)], Some(count)) = (given.as_slice(), count) else { return Ok(Value::Opaque(at)) };
    let part = |text: &str| text.bytes().take(count).collect::<Vec<u8>>();
    Ok(Value::int(part(a).cmp(&part(b)) as i64))
}

/// A text of its own, which later changes to its source do not affect.
fn string(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(Some(text)) = texts(machine, args)?.into_iter().next() else { return Ok(Value::Opaque(at)) };
    Ok(Value::Str(text.as_str().into()))
}

/// The characters of a text in memory: a program may point into them.
fn chars(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(Some(text)) = texts(machine, args)?.into_iter().next() else { return Ok(Value::Opaque(at)) };
    let list = text.bytes().chain([0]).map(|byte| Value::typed(i64::from(byte), IntTy::I8)).collect();
    let place = machine.global(Value::array(list));
    Ok(place.part(0).map_or(Value::Opaque(at), Value::Ptr))
}

/// A new object of a class.
fn alloc(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(Some(class)) = texts(machine, args)?.into_iter().next() else { return Ok(Value::Opaque(at)) };
    let object = match class.as_str() {
        "NSString" => return Ok(Value::Str("".into())),
        "NSMutableArray" | "NSArray" => machine.call_by_name("objc_array", Vec::new())?,
        "NSMutableDictionary" | "NSDictionary" => machine.call_by_name("objc_dictionary", Vec::new())?,
        _ => machine.call_by_name("objc_new", Vec::new())?,
    };
    Ok(object)
}

/// The most items of one allocation.
const MOST_ITEMS: i64 = 4096;

/// An object of the type in `sizeof(T)`, all zero. None if the type is not understood.
fn zeroed(machine: &mut Machine<'_>, size: &Expr) -> Option<Value> {
    let text = machine.program.files.text(size.span);
    let ty = text.strip_prefix("sizeof")?.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    let name = ty.strip_prefix("struct ").unwrap_or(ty).trim();
    if name.ends_with('*') {
        return Some(Value::Null);
    }
    match name {
        "int64_t" => Some(Value::typed(0, IntTy::I64)),
        "int32_t" | "int" => Some(Value::int(0)),
        _ => machine.object(name).ok(),
    }
}

/// `calloc(n, sizeof(T))`.
fn calloc(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let [count, size] = args else { return Ok(Value::Opaque(at)) };
    let count = machine.eval(count)?;
    let count = machine.settle(&count).filter(|count| (1..=MOST_ITEMS).contains(count));
    let (Some(count), Some(item)) = (count, zeroed(machine, size)) else { return Ok(Value::Opaque(at)) };
    if count == 1 {
        return Ok(Value::Ptr(machine.global(item)));
    }
    let place = machine.global(Value::array(vec![item; usize::try_from(count).unwrap_or_default()]));
    Ok(place.part(0).map_or(Value::Opaque(at), Value::Ptr))
}

/// `malloc(sizeof(T))`: an object whose fields are unknown.
fn malloc(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(mut object) = args.first().and_then(|size| zeroed(machine, size)) else { return Ok(Value::Opaque(at)) };
    if let Value::Agg(agg) = &mut object {
        for slot in &mut Rc::make_mut(agg).items {
            *slot = Value::Uninit;
        }
    }
    Ok(Value::Ptr(machine.global(object)))
}

/// An address that nothing else has.
fn memory(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let size = args.first().map(|arg| machine.eval(arg)).transpose()?;
    if size.and_then(|size| machine.settle(&size)).is_none() {
        return Ok(Value::Opaque(at));
    }
    let place = machine.global(Value::Void);
    Ok(Value::Pointer(Rc::new(Ty::Void), Some((i64::from(place.root) & 0xffff) << 40)))
}
