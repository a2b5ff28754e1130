//! Queries of host code to its driver and to ggml's buffers, answered for the GPU of the question.

use crate::kernel_facts::{Needs, resources};
use crate::outcome::Launched;
use cxx::Span;
use cxx::ast::Expr;
use cxx::eval::{Machine, Property, Run, Value};
use gpu::cuda_occupancy;
use gpu::occupancy::Resources;

/// `cudaGetDeviceProperties(&prop, device)`: fills the known fields. The driver fills the others too, with unknown
/// values.
pub fn properties(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(target) = args.first() else { return Ok(Value::int(0)) };
    let Value::Ptr(place) = machine.eval(target)? else { return Ok(Value::int(0)) };
    let Some(instance) = machine.peek(place).and_then(Machine::instance) else { return Ok(Value::int(0)) };
    for index in 0..machine.field_names(&instance).len() {
        if let Some(field) = place.part(index) {
            machine.store(field, Value::Opaque(at))?;
        }
    }
    for (name, value) in machine.platform.properties.clone() {
        let index = machine.program.interner.get(&name).and_then(|name| machine.field_index(&instance, name));
        let value = match value {
            Property::Int(value) => Value::int(value),
            Property::Text(text) => {
                let mut chars: Vec<Value> = text.bytes().map(Value::char).collect();
                chars.resize(256.max(chars.len() + 1), Value::char(0));
                Value::array(chars)
            }
        };
        if let Some(field) = index.and_then(|index| place.part(index)) {
            machine.store(field, value)?;
        }
    }
    Ok(Value::int(0))
}

/// Evaluates `cudaDeviceGetAttribute(&value, attribute, device)`.
pub fn attribute(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let name = args.get(1).map(|attribute| machine.program.files.text(attribute.span)).unwrap_or_default();
    let value = property_of(machine, &name).map_or(Value::Opaque(at), Value::int);
    machine.give(args.first(), value)
}

/// The names of an attribute in each vendor's headers, and the corresponding property.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("virtualmemorymanagementsupported", "virtualMemoryManagementSupported"),
    ("virtualaddressmanagementsupported", "virtualMemoryManagementSupported"),
    ("cooperativelaunch", "cooperativeLaunch"),
    ("multiprocessorcount", "multiProcessorCount"),
    ("warpsize", "warpSize"),
    ("computecapabilitymajor", "major"),
    ("computecapabilityminor", "minor"),
    ("maxsharedmemoryperblockoptin", "sharedMemPerBlockOptin"),
    ("sharedmemperblockoptin", "sharedMemPerBlockOptin"),
    ("maxsharedmemoryperblock", "sharedMemPerBlock"),
    ("integrated", "integrated"),
];

fn property_of(machine: &Machine<'_>, attribute: &str) -> Option<i64> {
    let plain: String = attribute.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let vendors = ["cudadevattr", "cudeviceattribute", "hipdeviceattribute", "musadevattr", "mudeviceattribute"];
    let asked = vendors.iter().find_map(|vendor| plain.strip_prefix(vendor))?;
    let property = ATTRIBUTES.iter().find(|(name, _)| *name == asked)?.1;
    machine.platform.properties.iter().find_map(|(name, value)| match value {
        Property::Int(value) if name == property => Some(*value),
        _ => None,
    })
}

/// `ggml_backend_buffer_get_usage(buffer)`: the buffer's field, in every version.
pub fn buffer_usage(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let Some(buffer) = args.first() else { return Ok(Value::Opaque(at)) };
    let Value::Ptr(place) = machine.eval(buffer)? else { return Ok(Value::Opaque(at)) };
    let usage = machine.program.interner.get("usage");
    Ok(match (machine.peek(place), usage) {
        (Some(Value::Agg(agg)), Some(usage)) => machine.field_of(agg, usage).unwrap_or(Value::Opaque(at)),
        _ => Value::Opaque(at),
    })
}

/// `ggml_hash_find(set, key)`: the index of a tensor in a set. How the set hashes addresses is not modelled.
pub fn hash_find(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let [set, key] = args else { return Ok(Value::Opaque(at)) };
    let (Value::Ptr(set), Value::Ptr(key)) = (machine.eval(set)?, machine.eval(key)?) else {
        return Ok(Value::Opaque(at));
    };
    let keys = match (machine.peek(set), machine.program.interner.get("keys")) {
        (Some(Value::Agg(agg)), Some(keys)) => machine.field_of(agg, keys),
        _ => None,
    };
    let Some(Value::Ptr(first)) = keys else { return Ok(Value::Opaque(at)) };
    let places = (0..).map_while(|index| Some((index, machine.peek(first.moved(index)?)?)));
    let mut found = places.filter(|(_, held)| matches!(held, Value::Ptr(held) if *held == key));
    Ok(found.next().map_or(Value::Opaque(at), |(index, _)| Value::typed(index, cxx::IntTy::U64)))
}

/// `cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared)`: how many blocks of a kernel fit
/// on a multiprocessor. This depends on registers and static shared memory, which the compiler assigns. If compiled
/// code was given, the number is computed as HIP and the stand-in GPU do. The sources alone give only an upper bound.
pub fn occupancy(machine: &mut Machine<'_>, args: &[Expr], at: Span) -> Run<Value> {
    let [target, kernel, threads, shared] = args else { return Ok(Value::Opaque(at)) };
    let (threads, shared) = (machine.eval(threads)?, machine.eval(shared)?);
    let (threads, shared) = (machine.settle(&threads), machine.settle(&shared));
    let needs = compiled(machine, kernel, at)?;
    let blocks = match (threads, shared) {
        (Some(threads), Some(shared)) => fitting(machine, threads, shared, needs.as_ref()),
        _ => None,
    };
    let blocks = match (blocks, needs) {
        (Some(blocks), Some(_)) => Value::int(blocks),
        (Some(most), None) => machine.suppose(most, at),
        (None, _) => Value::Opaque(at),
    };
    machine.give(Some(target), blocks)
}

/// The resources of a kernel, if compiled code was given.
fn compiled(machine: &mut Machine<'_>, kernel: &Expr, at: Span) -> Run<Option<Needs>> {
    let facts = machine.platform.facts.clone();
    if facts.is_empty() {
        return Ok(None);
    }
    let Value::Fn(found) = machine.eval(kernel)? else { return Ok(None) };
    let launch = machine.handoff_of(&found, None, &[], at)?;
    let instance = Launched::of(machine, &launch).instance();
    Ok(facts.get(&instance).and_then(|numbers| resources(numbers)))
}

/// How many blocks of a kernel fit; an upper bound if its resources are unknown.
fn fitting(machine: &Machine<'_>, threads: i64, shared: i64, needs: Option<&Needs>) -> Option<i64> {
    let (threads, shared) = (u32::try_from(threads).ok().filter(|&threads| threads > 0)?, u64::try_from(shared).ok()?);
    let number = |property: &str| match machine.platform.properties.iter().find(|(name, _)| name == property)?.1 {
        Property::Int(value) => u32::try_from(value).ok(),
        Property::Text(_) => None,
    };
    let architecture = machine.platform.properties.iter().find_map(|(name, value)| match value {
        Property::Text(text) if name == "gcnArchName" => Some(text),
        _ => None,
    });
    let Some(architecture) = architecture else {
        match needs {
            Some(Needs::Nvidia(needs)) => {
                let capability = (number("major")?, number("minor")?);
                return cuda_occupancy::active_blocks(capability, *needs, threads, shared).map(i64::from);
            }
            Some(Needs::Amd(_)) => return None,
            None => {}
        }
        // No NVIDIA GPU has more threads, blocks or shared memory per multiprocessor (CUDA C++ Programming Guide).
        let by_memory = (228_u64 << 10).checked_div(shared).unwrap_or(u64::MAX);
        return Some(by_memory.min(32).min(u64::from(2048 / threads)) as i64);
    };
    let version = gpu::TargetId::named(architecture).ok()?.version()?;
    let least = Resources { wavefront: number("warpSize")?, wgp_mode: true, ..Default::default() };
    let needs = match needs {
        Some(Needs::Amd(needs)) => needs,
        Some(Needs::Nvidia(_)) => return None,
        None => &least,
    };
    let block = number("maxThreadsPerBlock").unwrap_or(1024);
    gpu::occupancy::active_blocks(version, number("sharedMemPerBlock")?, block, needs, threads, shared).map(i64::from)
}
