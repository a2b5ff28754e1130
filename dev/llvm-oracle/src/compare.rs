//! Compares every field that both sides have, kernel by kernel.

use crate::readelf::{Noted, Report};
use codeobject::{Argument, CodeObject, Metadata};
use std::collections::BTreeMap;

/// The differences, in words. Empty if both agree.
pub fn differences(object: &CodeObject<'_>, said: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    let flags = object.elf().header.flags;
    if flags != said.flags {
        wrong.push(format!("e_flags {flags:#x}, readelf {:#x}", said.flags));
    }
    if object.stated_target != said.target {
        wrong.push(format!("amdhsa.target {:?}, readelf {:?}", object.stated_target, said.target));
    }
    let ours: Vec<Metadata> = match object.kernels().map(|kernel| kernel.map(|kernel| kernel.metadata)).collect() {
        Ok(kernels) => kernels,
        Err(error) => return vec![format!("metadata: {error}")],
    };
    if ours.len() != said.kernels.len() {
        wrong.push(format!("{} kernels, readelf {}", ours.len(), said.kernels.len()));
    }
    for (ours, said) in ours.iter().zip(&said.kernels) {
        wrong.extend(kernel(ours, said).into_iter().map(|what| format!("{}: {what}", ours.name)));
    }
    wrong.extend(object.problems.iter().map(|problem| format!("problem: {problem}")));
    wrong
}

fn kernel(ours: &Metadata, said: &Noted) -> Vec<String> {
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let fields = [
        (".name", Some(ours.name.clone())),
        (".symbol", Some(ours.symbol.clone())),
        (".sgpr_count", number(ours.sgpr_count)),
        (".vgpr_count", number(ours.vgpr_count)),
        (".agpr_count", number(ours.agpr_count)),
        (".sgpr_spill_count", number(ours.sgpr_spill_count)),
        (".vgpr_spill_count", number(ours.vgpr_spill_count)),
        (".group_segment_fixed_size", number(ours.group_segment_fixed_size)),
        (".private_segment_fixed_size", number(ours.private_segment_fixed_size)),
        (".wavefront_size", number(ours.wavefront_size)),
        (".kernarg_segment_size", number(ours.kernarg_segment_size)),
        (".kernarg_segment_align", number(ours.kernarg_segment_align)),
        (".max_flat_workgroup_size", number(ours.max_flat_workgroup_size)),
    ];
    let mut wrong: Vec<String> = fields
        .iter()
        .filter(|(key, value)| said.fields.get(*key) != value.as_ref())
        .map(|(key, value)| format!("{key} {value:?}, readelf {:?}", said.fields.get(*key)))
        .collect();
    if ours.arguments.len() != said.arguments.len() {
        wrong.push(format!("{} arguments, readelf {}", ours.arguments.len(), said.arguments.len()));
    }
    for (i, (ours, said)) in ours.arguments.iter().zip(&said.arguments).enumerate() {
        wrong.extend(argument(ours, said).into_iter().map(|what| format!("argument {i}: {what}")));
    }
    wrong
}

fn argument(ours: &Argument, said: &BTreeMap<String, String>) -> Vec<String> {
    let fields = [
        (".offset", Some(ours.offset.to_string())),
        (".size", Some(ours.size.to_string())),
        (".value_kind", Some(ours.value_kind.to_string())),
        (".name", ours.name.clone()),
        (".type_name", ours.type_name.clone()),
        (".address_space", ours.address_space.as_ref().map(ToString::to_string)),
    ];
    fields
        .iter()
        .filter(|(key, value)| said.get(*key) != value.as_ref())
        .map(|(key, value)| format!("{key} {value:?}, readelf {:?}", said.get(*key)))
        .collect()
}
