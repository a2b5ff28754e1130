//! The launches of a run, as `metal_types.hpp` records them.

use super::answer::MetalCondition;
use cxx::Span;
use cxx::eval::{Machine, Run, Stop, Value};
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

/// One launch of a compute kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MetalLaunch {
    /// The kernel's name in the shader library.
    pub kernel: String,
    /// The function constants with which the kernel is compiled, as pairs of index and value. A value is null if it is
    /// unknown.
    pub constants: Vec<(i64, Option<i64>)>,
    pub threadgroups: [Option<i64>; 3],
    pub threads_per_threadgroup: [Option<i64>; 3],
    /// The bytes of threadgroup memory, as pairs of index and size. A size is null if it is unknown.
    pub threadgroup_memory: Vec<(i64, Option<i64>)>,
}

impl MetalLaunch {
    /// Makes every number that differs in another launch of the same kernel unknown.
    pub fn join(&mut self, other: &MetalLaunch) {
        let dims = self.threadgroups.iter_mut().chain(&mut self.threads_per_threadgroup);
        for (mine, theirs) in dims.zip(other.threadgroups.iter().chain(&other.threads_per_threadgroup)) {
            if mine != theirs {
                *mine = None;
            }
        }
        for (mine, theirs) in
            [(&mut self.constants, &other.constants), (&mut self.threadgroup_memory, &other.threadgroup_memory)]
        {
            for (index, (_, value)) in mine.iter_mut().enumerate() {
                if theirs.get(index).map(|(_, theirs)| theirs) != Some(value) {
                    *value = None;
                }
            }
        }
    }
}

/// What one run did. Two runs are the same if their launches are.
#[derive(Debug, Clone, Default)]
pub struct MetalRun {
    pub launches: Vec<MetalLaunch>,
    pub rule: Vec<MetalCondition>,
    /// Where the program itself stopped the run.
    pub stopped: Option<Message>,
}

impl PartialEq for MetalRun {
    fn eq(&self, other: &MetalRun) -> bool {
        self.launches == other.launches && self.stopped == other.stopped
    }
}

/// The words in the names of functions that choose a kernel.
const CHOOSING: &[&str] = &["mul_m", "flash_attn", "fa_vec", "supports_op"];

/// The conditions of a run in the functions that choose a kernel.
pub fn rule(machine: &Machine<'_>) -> Vec<MetalCondition> {
    let program = machine.program;
    let chooses = |name: &str| CHOOSING.iter().any(|part| name.contains(part));
    let asked = machine.trace.iter().flatten().filter(|asked| chooses(program.text(asked.function)));
    let mut rule: Vec<MetalCondition> = Vec::new();
    for asked in asked {
        let condition = MetalCondition {
            file: program.files.path(asked.at.file).to_owned(),
            line: program.files.line(asked.at),
            condition: program.files.text(asked.at),
            outcome: asked.outcome.clone(),
            values: asked.values.iter().cloned().collect(),
        };
        if !rule.contains(&condition) {
            rule.push(condition);
        }
    }
    rule
}

fn unknown() -> Stop {
    Stop::undetermined(Span::default(), say!("source-open-backend-bound"))
}

/// The launches in the global list of the prelude. A kernel or a constant that is unknown makes the run undetermined; a
/// number of the launch's shape may be unknown.
pub fn launches(machine: &mut Machine<'_>) -> Run<Vec<MetalLaunch>> {
    let Value::Agg(list) = machine.call_by_name("objc_recorded", Vec::new())? else { return Err(unknown()) };
    let mut launches = Vec::new();
    for item in &list.items {
        launches.push(launch(machine, item)?);
    }
    if launches.is_empty() {
        return Err(Stop::undetermined(Span::default(), say!("source-open-backend-none")));
    }
    Ok(launches)
}

fn launch(machine: &mut Machine<'_>, item: &Value) -> Run<MetalLaunch> {
    let Some(Value::Str(kernel)) = field(machine, item, "kernel") else { return Err(unknown()) };
    let constants = pairs(&numbers(machine, item, "constants").ok_or_else(unknown)?);
    // The kernel that is compiled must be known.
    let constants =
        constants.into_iter().map(|(index, value)| Some((index?, Some(value?)))).collect::<Option<Vec<_>>>();
    let memory = pairs(&numbers(machine, item, "memory").ok_or_else(unknown)?);
    let memory = memory.into_iter().map(|(index, size)| Some((index?, size))).collect::<Option<Vec<_>>>();
    Ok(MetalLaunch {
        kernel: kernel.to_string(),
        constants: constants.ok_or_else(unknown)?,
        threadgroups: dims(machine, item, "groups"),
        threads_per_threadgroup: dims(machine, item, "threads"),
        threadgroup_memory: memory.ok_or_else(unknown)?,
    })
}

fn field(machine: &Machine<'_>, item: &Value, name: &str) -> Option<Value> {
    let Value::Agg(agg) = item else { return None };
    machine.field_of(agg, machine.program.interner.get(name)?)
}

fn numbers(machine: &mut Machine<'_>, item: &Value, name: &str) -> Option<Vec<Option<i64>>> {
    let Value::Agg(list) = field(machine, item, name)? else { return None };
    Some(list.items.iter().map(|value| machine.settle(value)).collect())
}

fn pairs(numbers: &[Option<i64>]) -> Vec<(Option<i64>, Option<i64>)> {
    numbers.chunks(2).map(|pair| (pair.first().copied().flatten(), pair.get(1).copied().flatten())).collect()
}

fn dims(machine: &mut Machine<'_>, item: &Value, name: &str) -> [Option<i64>; 3] {
    let size = field(machine, item, name);
    ["width", "height", "depth"].map(|part| {
        let value = size.as_ref().and_then(|size| field(machine, size, part))?;
        machine.settle(&value)
    })
}
