//! The additions of ggml's Vulkan backend to C++: the functions whose calls count as results.

use crate::ggml_dialect::GGML;
use cxx::ast::Expr;
use cxx::eval::{Builtin, Handoff, Machine, Run, Stop, Value};
use cxx::{Dialect, Span, Vocabulary};
use say::{Message, say};

pub static VULKAN: Dialect = Dialect {
    vocabulary: Vocabulary {
        prelude: include_str!("vulkan_types.hpp"),
        units: &["c", "cpp"],
        beside: &["cpp", "c"],
        own_header: "ggml-vulkan-common.h",
        settled: &[],
        answered: |name| BUILTINS.iter().any(|(known, _)| *known == name),
        ..GGML.vocabulary
    },
    builtins: BUILTINS,
    constants: &[],
    ..GGML
};

const BUILTINS: &[(&str, Builtin)] = &[
    ("GGML_UNUSED", Builtin::Ignore),
    ("GGML_LOG_DEBUG", Builtin::Ignore),
    ("GGML_LOG_INFO", Builtin::Ignore),
    ("GGML_LOG_WARN", Builtin::Ignore),
    ("GGML_LOG_ERROR", Builtin::Ignore),
    ("VK_LOG_DEBUG", Builtin::Ignore),
    ("GGML_ASSERT", Builtin::Assert),
    ("GGML_ABORT", Builtin::Abort),
    ("ggml_abort", Builtin::Abort),
    // Conversion helpers; no choice depends on them.
    ("ggml_vk_get_to_fp16", Builtin::Unknown),
    ("ggml_vk_get_cpy_pipeline", Builtin::Unknown),
    ("ggml_vk_host_get", Builtin::Ignore),
    ("create_mm_pipelines", Builtin::Answer(made)),
    ("ggml_vk_create_pipeline", Builtin::Answer(last)),
    ("std430_size", Builtin::Answer(std430)),
    (MAP, Builtin::Answer(map)),
    (GUESS, Builtin::Answer(matrix)),
    (VECTOR, Builtin::Answer(vector)),
    (VECTOR_ID, Builtin::Answer(vector_id)),
    ("ggml_vk_mul_mat_vec_p021_f16_f32", Builtin::Answer(other)),
    ("ggml_vk_mul_mat_vec_nc_f16_f32", Builtin::Answer(other)),
    ("ggml_vk_fwht", Builtin::Answer(other)),
];

const VECTOR: &str = "ggml_vk_get_dequantize_mul_mat_vec";
/// The same function for experts.
const VECTOR_ID: &str = "ggml_vk_get_dequantize_mul_mat_vec_id";
/// The prefix of the message of a run that ended with a choice.
pub const CHOSEN: &str = "chosen ";

fn chosen(what: String, at: Span) -> Stop {
    Stop::Abort { at, what: format!("{CHOSEN}{what}") }
}

/// The values of a call's arguments.
fn values(machine: &mut Machine<'_>, args: &[Expr]) -> Run<Vec<Value>> {
    args.iter().map(|arg| machine.eval(arg)).collect()
}

fn unsure(at: Span, why: Message) -> Stop {
    Stop::undetermined(at, why)
}

/// `std430_size({{16, 4}, {4, 4}})`: the size of a struct with these members (size, alignment) under GLSL's std430
/// layout. The evaluator does not support lists of a function-local struct.
fn std430(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let members = match values(machine, args)?.into_iter().next() {
        Some(Value::Agg(list)) => list.items.clone(),
        _ => return Err(unsure(at, say!("source-open-vulkan-members"))),
    };
    let up = |size: i64, align: i64| (size + align - 1) / align * align;
    let (mut end, mut largest) = (0, 1);
    for member in members {
        let numbers: Option<Vec<i64>> = match &member {
            Value::Agg(member) => member.items.iter().map(|item| machine.settle(item)).collect(),
            _ => None,
        };
        let Some(&[size, align]) = numbers.as_deref().filter(|of| of.iter().all(|number| *number > 0)) else {
            return Err(unsure(at, say!("source-open-vulkan-member-size")));
        };
        end = up(end, align) + size;
        largest = largest.max(align);
    }
    Ok(Value::int(up(end, largest)))
}

/// The index of the argument of `create_mm_pipelines` that says whether there is also a pipeline for aligned rows.
const ALIGNED: usize = 11;

/// The index of `align` in `vk_tile_config`.
const ALIGN: usize = 2;

/// Records the creation of pipelines for a pair of types as a hand-off: their key, their name, and one pipeline per
/// tile.
fn made(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let [key, tiles, name, ..] = args else { return Err(unsure(at, say!("source-open-vulkan-call"))) };
    let mut eval = |expr: &Expr| machine.eval(expr);
    let (key, tiles, name) = (eval(key)?, eval(tiles)?, eval(name)?);
    let aligned = match args.get(ALIGNED) {
        Some(expr) => eval(expr)?,
        None => Value::int(1),
    };
    let (Value::Agg(key), Value::Agg(tiles), Value::Str(_)) = (&key, &tiles, &name) else {
        return Err(unsure(at, say!("source-open-vulkan-made")));
    };
    let mut about: Vec<Value> = key.items.clone();
    about.extend([name, aligned]);
    let align = machine.program.interner.get("align");
    for tile in &tiles.items {
        let Value::Agg(tile) = tile else { return Err(unsure(at, say!("source-open-vulkan-tiles"))) };
        // A braced list that was not converted to a struct keeps its fields in order.
        let align = align.and_then(|align| machine.field_of(tile, align)).or_else(|| tile.items.get(ALIGN).cloned());
        about.push(align.ok_or_else(|| unsure(at, say!("source-open-vulkan-aligned")))?);
    }
    let Some(name) = machine.program.interner.get("create_mm_pipelines") else { return Ok(Value::Void) };
    let args = about.into_iter().map(|value| (None, value)).collect();
    let (config, stack, locals) = (None, Vec::new(), Vec::new());
    machine.handoffs.push(Handoff { name, args, config, at, stack, library: false, locals });
    Ok(Value::Void)
}

/// The first pipeline for vectors comes after all pipelines for matrices.
fn last(machine: &mut Machine<'_>, args: &[Expr], _: Span) -> Run<Value> {
    let Some(name) = args.get(2) else { return Ok(Value::Void) };
    match machine.eval(name)? {
        Value::Str(text) if text.starts_with("mul_mat_vec") => Err(Stop::Decided),
        _ => Ok(Value::Void),
    }
}

const MAP: &str = "ggml_vk_get_mul_mat_mat_pipeline_map";
const GUESS: &str = "ggml_vk_guess_matmul_pipeline_map";

/// Looks up a pair of types among the created pipelines: first with the accumulator of the tree's own rule, then with
/// float, as the replaced function does. A table entry is: two types, for experts, half accumulator, tiles.
fn map(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let values = values(machine, args)?;
    let [context, weights, activations, precision, ..] = values.as_slice() else {
        return Err(unsure(at, say!("source-open-vulkan-call")));
    };
    let experts = values.get(4).cloned().unwrap_or(Value::int(0));
    let asked = vec![context.clone(), weights.clone(), activations.clone(), precision.clone()];
    let half = machine.call_by_name("ggml_vk_get_mul_mat_mat_f16acc", asked)?;
    let numbers: Option<Vec<i64>> =
        [weights, activations, &experts, &half].into_iter().map(|value| machine.settle(value)).collect();
    let (Some(numbers), Some(table)) = (numbers, table(machine, context)) else {
        return Err(unsure(at, say!("source-open-vulkan-pipelines")));
    };
    let [weights, activations, experts, half] = numbers.as_slice() else { return Ok(Value::Null) };
    let find = |half: i64| {
        table.iter().find_map(|entry| match entry {
            Value::Agg(entry) => match entry.items.as_slice() {
                [Value::Int(a, ..), Value::Int(b, ..), Value::Int(id, ..), Value::Int(acc, ..), tiles]
                    if [a, b, id, acc] == [weights, activations, experts, &half] =>
                {
                    Some(tiles.clone())
                }
                _ => None,
            },
            _ => None,
        })
    };
    Ok(find(*half).or_else(|| if *half != 0 { find(0) } else { None }).unwrap_or(Value::Null))
}

/// The stored value of `context->device->pipeline_matmul`.
fn table(machine: &Machine<'_>, context: &Value) -> Option<Vec<Value>> {
    let mut value = context.clone();
    for field in ["device", "pipeline_matmul"] {
        let Value::Ptr(place) = value else { return None };
        let Value::Agg(object) = machine.peek(place)? else { return None };
        value = machine.field_of(object, machine.program.interner.get(field)?)?;
    }
    match value {
        Value::Agg(list) => Some(list.items.clone()),
        _ => None,
    }
}

/// The tree's own function selects the tile; a pipeline is represented by its name.
fn matrix(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let values = values(machine, args)?;
    match machine.call_by_name(GUESS, values)? {
        Value::Str(name) => Err(chosen(format!("matrix {name}"), at)),
        _ => Err(unsure(at, say!("source-open-vulkan-tile"))),
    }
}

fn other(machine: &mut Machine<'_>, _: &[Expr], at: Span) -> Run<Value> {
    let text = machine.program.files.text(at);
    Err(chosen(format!("other {}", text.split('(').next().unwrap_or_default()), at))
}

fn vector(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    of_vectors(machine, args, at, VECTOR, "vector")
}

fn vector_id(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    of_vectors(machine, args, at, VECTOR_ID, "vector_id")
}

/// The tree's own function decides whether there is a pipeline for these types. If there is none, the caller asks
/// again.
fn of_vectors(machine: &mut Machine<'_>, args: &[Expr], at: Span, function: &str, word: &str) -> Run<Value> {
    let values = values(machine, args)?;
    let number = |machine: &mut Machine<'_>, place: usize| values.get(place).and_then(|value| machine.settle(value));
    let (Some(weights), Some(activations)) = (number(machine, 1), number(machine, 2)) else {
        return Err(unsure(at, say!("source-open-vulkan-types")));
    };
    match machine.call_by_name(function, values.clone())? {
        Value::Null => Ok(Value::Null),
        _ => Err(chosen(format!("{word} {weights} {activations}"), at)),
    }
}
