//! A card as the backend represents it (`vk_device_struct`), and the pipelines that the tree's code creates for it.

use super::profile::VulkanProfile;
use super::unit::TILES;
use crate::op::missing;
use cxx::eval::{Machine, MemoryPlace, Run, Stop, Value};
use say::say;
use std::rc::Rc;

/// AMD's PCI vendor id.
const AMD: i64 = 0x1002;
/// VK_DRIVER_ID_MESA_RADV
const RADV: i64 = 3;
/// RADV's limits (radv_physical_device.c): the largest buffer range, and the largest number of work groups.
const RANGE: i64 = u32::MAX as i64;
const GROUPS: [i64; 3] = [u32::MAX as i64, 65_535, 65_535];
/// The number of rows and columns of a cooperative matrix, on every card that supports them.
const MATRIX: i64 = 16;

/// The device with its pipelines, or the reason why they could not be created. Vector products do not need them.
pub fn ready(machine: &mut Machine<'_>, card: &VulkanProfile) -> Run<(MemoryPlace, Option<Stop>)> {
    let place = device(machine, card)?;
    let mut table = Vec::new();
    // First the tiles that a vendor's cards may use, then the pipelines made from them.
    for (function, more) in [(TILES, None), ("ggml_vk_load_shaders", Some(Value::Null))] {
        machine.reset(1, 1);
        let values = std::iter::once(Value::Ptr(place)).chain(more).collect();
        match machine.call_by_name(function, values) {
            Ok(_) | Err(Stop::Decided) => {}
            Err(stop @ Stop::Need(_)) => return Err(stop),
            Err(stop) => return Ok((place, Some(stop))),
        }
        let made = std::mem::take(&mut machine.handoffs);
        for made in made {
            let values: Vec<Value> = made.args.into_iter().map(|(_, value)| value).collect();
            table.push(entry(machine, &values)?);
        }
    }
    let Some(mut object) = machine.peek(place).cloned() else { return Ok((place, None)) };
    set(machine, &mut object, "pipeline_matmul", Value::array(table));
    machine.write(place, object);
    Ok((place, None))
}

/// Two types, for experts, half accumulator, and for each tile the pipelines by name.
fn entry(machine: &mut Machine<'_>, made: &[Value]) -> Run<Value> {
    let unknown = || Stop::undetermined(Default::default(), say!("source-open-vulkan-made"));
    let [weights, activations, experts, half, Value::Str(name), aligned, tiles @ ..] = made else {
        return Err(unknown());
    };
    let aligned = machine.settle(aligned).ok_or_else(unknown)? != 0;
    let mut pairs = Vec::new();
    for (place, align) in tiles.iter().enumerate() {
        let mut pair = machine.object("vk_matmul_pipeline_pair")?;
        set(machine, &mut pair, "unaligned", Value::Str(format!("{name}_{place}").into()));
        let other = if aligned { Value::Str(format!("{name}_aligned_{place}").into()) } else { Value::Null };
        set(machine, &mut pair, "aligned", other);
        set(machine, &mut pair, "align", align.clone());
        pairs.push(pair);
    }
    let mut key = Vec::new();
    for value in [weights, activations, experts, half] {
        key.push(Value::int(machine.settle(value).ok_or_else(unknown)?));
    }
    let tiles = machine.global(Value::array(pairs));
    key.push(Value::Ptr(tiles));
    Ok(Value::array(key))
}

fn device(machine: &mut Machine<'_>, card: &VulkanProfile) -> Run<MemoryPlace> {
    let mut object = machine.object("vk_device_struct")?;
    // Fields that are not set here are unknown.
    if let Value::Agg(agg) = &mut object {
        for slot in &mut Rc::make_mut(agg).items {
            if matches!(slot, Value::Int(..) | Value::Null | Value::Str(_)) {
                *slot = Value::Opaque(Default::default());
            }
        }
    }
    let Some(architecture) = machine.constant_named(&card.architecture) else {
        return Err(missing(&card.architecture));
    };
    let smallest = if card.architecture == "AMD_GCN" { 64 } else { 32 };
    let matrix = if card.coopmat { MATRIX } else { 0 };
    for (field, value) in [
        ("vendor_id", AMD),
        ("driver_id", RADV),
        ("architecture", architecture),
        ("integer_dot_product", card.integer_dot_product.into()),
        ("mmvq_mode", card.mmvq_mode),
        ("fp16", card.fp16.into()),
        ("dot2_f16", card.dot2.into()),
        ("uma", 0),
        ("subgroup_size", card.subgroup_size),
        ("subgroup_size_control", 1),
        ("subgroup_min_size", smallest),
        ("subgroup_max_size", 64),
        ("subgroup_ballot", 1),
        ("subgroup_require_full_support", 1),
        ("coopmat_support", card.coopmat.into()),
        ("coopmat_acc_f16_support", card.coopmat.into()),
        ("coopmat_acc_f32_support", card.coopmat.into()),
        ("coopmat_bf16_support", card.bf16.into()),
        ("coopmat_int_support", card.coopmat.into()),
        ("coopmat_m", matrix),
        ("coopmat_n", matrix),
        ("coopmat_k", matrix),
        ("coopmat_int_m", matrix),
        ("coopmat_int_n", matrix),
        ("coopmat_int_k", matrix),
        ("coopmat2", 0),
        ("coopmat2_decode_vector", 0),
        ("coopmat2_bf16_support", 0),
        // Attention is not evaluated here.
        ("coopmat1_fa_support", 0),
        ("subgroup_arithmetic", 1),
        ("ocp_fp4", 0),
    ] {
        set(machine, &mut object, field, Value::int(value));
    }
    // Attention pipelines are created on demand, so there are none yet.
    set(machine, &mut object, "pipeline_flash_attn_f32_f16", Value::array(Vec::new()));
    let mut properties = machine.object("PhysicalDeviceProperties")?;
    let mut limits = machine.object("PhysicalDeviceLimits")?;
    set(machine, &mut limits, "maxStorageBufferRange", Value::int(RANGE));
    set(machine, &mut limits, "maxComputeWorkGroupCount", Value::array(GROUPS.map(Value::int).to_vec()));
    set(machine, &mut limits, "maxComputeSharedMemorySize", Value::int(card.shared_memory));
    set(machine, &mut properties, "limits", limits);
    set(machine, &mut object, "properties", properties);
    Ok(machine.global(object))
}

/// Sets a field, if the version has it.
pub fn set(machine: &Machine<'_>, object: &mut Value, field: &str, value: Value) {
    if let Some(slot) = machine.field_mut(object, field) {
        *slot = value;
    }
}
