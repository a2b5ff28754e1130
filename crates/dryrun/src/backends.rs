//! Compares HIP and Vulkan: the kernel that each backend selects for the same product of the same model on the same
//! card.
//!
//! Both sides are Selected, each in its own runtime. Facts about the code are read where code exists: RADV compiles
//! each pipeline for the card and reports its registers; a HIP library has code only for the targets that it was built
//! for.

use crate::{Cell, Code, Map, RunRoot, Selected, VulkanCell, VulkanMap, VulkanRow};
use answer::Answer;
use codeobject::TargetId;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use launch::grammar::Family;
use observe::census::{KernelMix, mixes};
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The kernels that HIP and Vulkan select for the same products.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Backends {
    pub card: String,
    pub target: String,
    pub hip: HipRests,
    pub vulkan: VulkanRests,
    /// Always `selected`: nothing was executed.
    pub rung: Rung,
    /// Whether both sides have an answer for every requested product.
    pub reach: Conclusion,
    pub products: Vec<Product>,
}

impl Answer for Backends {
    const SCHEMA: &'static str = "whichkernel.diff-backends/2";
}

/// The basis of the HIP side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HipRests {
    pub runtime: String,
    /// Whether the libraries have code that the target can use. If not, only the host's choice is known: there are no
    /// registers and instructions to report.
    pub ships: bool,
    /// The target whose metadata was used instead.
    pub metadata_of: Option<String>,
}

/// The basis of the Vulkan side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VulkanRests {
    pub runtime: String,
    /// The name of the card in Mesa's stand-in.
    pub stand_in: String,
    pub device: Option<String>,
    pub driver: Option<String>,
}

/// One type of weights at one column count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Product {
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: u64,
    /// The kernels selected for these products, most launched first; empty if there is no answer.
    pub hip: Vec<Taken>,
    pub vulkan: Vec<Taken>,
    /// Why a side has no answer.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub hip_problem: Option<Message>,
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub vulkan_problem: Option<Message>,
}

/// A kernel, and the resources that one launch uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Taken {
    pub kernel: String,
    pub path: String,
    pub launches: u64,
    pub vgprs: Option<u64>,
    pub sgprs: Option<u64>,
    /// Bytes, static and dynamic.
    pub lds: Option<u64>,
    /// Bytes of scratch on the HIP side, spilled registers on the Vulkan side.
    pub spilled: Option<u64>,
    /// Waves that fit on a SIMD, by registers, LDS and threads.
    pub waves: Option<u64>,
    /// None if there is no code to count.
    pub instructions: Option<u64>,
    /// Instructions of the matrix units, by mnemonic.
    pub matrix: BTreeMap<String, u64>,
    /// Dot products, by mnemonic.
    pub dot: BTreeMap<String, u64>,
}

impl Backends {
    pub fn of((place, hip): (&RunRoot, &Map), (vulkan_runtime, vulkan): (String, &VulkanMap)) -> Backends {
        let described = &hip.plan.described;
        let code = if described.ships { code(place, hip) } else { BTreeMap::new() };
        let target = hip.plan.card.profile.processor();
        let mut products = Vec::new();
        for (left, right) in hip.cells.iter().zip(&vulkan.cells) {
            let mut kinds = left.kinds();
            kinds.extend(right.kinds().into_iter().filter(|kind| !left.kinds().contains(kind)));
            if kinds.is_empty() {
                kinds.push(left.kind.clone());
            }
            products.extend(kinds.iter().map(|kind| product(kind, left, right, (&code, described.ships), target)));
        }
        let answered = products.iter().filter(|of| !of.hip.is_empty() && !of.vulkan.is_empty()).count() as u64;
        let lost = hip.cells.iter().map(|cell| cell.lost).chain(vulkan.cells.iter().map(|cell| cell.lost)).sum();
        let basis =
            Basis::listed(crate::verdict::NAME, [target], Rung::Selected, Unit::Cells, products.len() as u64, answered)
                .by(crate::vulkan::NAME)
                .lost(lost);
        let basis = if described.ships { basis } else { basis.without(target, None, LeftOutWhy::OtherTarget) };
        Backends {
            card: hip.plan.card.profile.name.clone(),
            target: target.to_owned(),
            hip: HipRests { runtime: place.name(), ships: described.ships, metadata_of: described.near.clone() },
            vulkan: VulkanRests {
                runtime: vulkan_runtime,
                stand_in: vulkan.card.id.to_owned(),
                device: vulkan.device.clone(),
                driver: vulkan.driver.clone(),
            },
            rung: Rung::Selected,
            reach: basis.completeness(),
            products,
        }
    }

    /// Whether both sides have an answer for everything.
    pub fn is_answered(&self) -> bool {
        !self.products.is_empty() && self.products.iter().all(|of| !of.hip.is_empty() && !of.vulkan.is_empty())
    }
}

fn product(
    kind: &str,
    hip: &Cell,
    vulkan: &VulkanCell,
    code: (&BTreeMap<String, KernelMix>, bool),
    target: &str,
) -> Product {
    let of = hip.of_kind(kind);
    let left = if hip.kind.is_empty() { &of } else { hip };
    let mine = |row: &&VulkanRow| row.kind.as_deref() == Some(kind);
    let none = |problem: &Option<Message>| Some(problem.clone().unwrap_or_else(|| say!("missed-no-product")));
    let hip_taken =
        merged(left.products().into_iter().filter(|row| row.family != Family::MmqFixup).map(|row| launched(row, code)));
    let vulkan_taken = merged(vulkan.products().filter(mine).map(|row| dispatched(row, target)));
    Product {
        kind: kind.to_owned(),
        columns: hip.columns,
        hip_problem: if hip_taken.is_empty() { none(&hip.problem) } else { None },
        vulkan_problem: if vulkan_taken.is_empty() { none(&vulkan.problem) } else { None },
        hip: hip_taken,
        vulkan: vulkan_taken,
    }
}

/// Merges rows that are equal in everything shown here.
fn merged(rows: impl Iterator<Item = Taken>) -> Vec<Taken> {
    let mut list: Vec<Taken> = Vec::new();
    for row in rows {
        match list
            .iter_mut()
            .find(|known| Taken { launches: 0, ..(*known).clone() } == Taken { launches: 0, ..row.clone() })
        {
            Some(known) => known.launches += row.launches,
            None => list.push(row),
        }
    }
    list.sort_by_key(|row| std::cmp::Reverse(row.launches));
    list
}

/// SIMDs per HIP multiprocessor, which is a compute unit on GCN and CDNA and a pair of them (a workgroup processor) on
/// RDNA. Both generations have four.
const SIMDS: u64 = 4;

fn launched(row: &Selected, (code, ships): (&BTreeMap<String, KernelMix>, bool)) -> Taken {
    let path = row.path.map(|path| path.to_string()).unwrap_or_default();
    let mut taken = Taken { kernel: row.title(), path, launches: row.count, ..Taken::default() };
    // Registers of another target do not apply to this one.
    let Some(needs) = row.needs.as_ref().filter(|_| ships && !row.foreign) else { return taken };
    let threads: u64 = row.block.iter().map(|&n| u64::from(n.max(1))).product();
    let waves_of_block = threads.div_ceil(u64::from(needs.wavefront.max(1)));
    taken.vgprs = Some(needs.vgprs.into());
    taken.sgprs = Some(needs.sgprs.into());
    taken.lds = Some(needs.lds);
    taken.spilled = Some(needs.scratch.into());
    taken.waves = needs.occupancy.map(|blocks| u64::from(blocks) * waves_of_block / SIMDS);
    if let Some(mix) = code.get(&row.mangled) {
        taken.instructions = Some(mix.instructions);
        for (name, count) in &mix.mnemonics {
            if crate::vulkan::is_matrix(name) {
                taken.matrix.insert(name.clone(), *count);
            } else if crate::vulkan::is_dot(name) {
                taken.dot.insert(name.clone(), *count);
            }
        }
    }
    taken
}

/// Since RDNA, RADV counts waves of 32 threads, whatever the wave size is (`radv_get_max_waves`).
fn waves(counted: u64, subgroup: u32, target: &str) -> Option<u64> {
    match target.strip_prefix("gfx").map(str::len) {
        Some(3) => Some(counted),
        // If the program requested no subgroup size, the driver's choice is unknown.
        _ => (subgroup > 0).then(|| counted * 32 / u64::from(subgroup)),
    }
}

fn dispatched(row: &VulkanRow, target: &str) -> Taken {
    let code = row.code.clone().unwrap_or_default();
    let Code { vgprs, sgprs, lds, spilled_vgprs, spilled_sgprs, matrix, dot, instructions, waves: counted } = code;
    Taken {
        kernel: row.kernel.clone(),
        path: row.path.clone().unwrap_or_default(),
        launches: row.launches,
        vgprs,
        sgprs,
        lds,
        spilled: spilled_vgprs.zip(spilled_sgprs).map(|(v, s)| v + s),
        waves: counted.and_then(|counted| waves(counted, row.subgroup, target)),
        instructions: row.code.as_ref().map(|_| instructions),
        matrix,
        dot,
    }
}

/// The code of every product's kernel, read from the files that the map names.
fn code(place: &RunRoot, map: &Map) -> BTreeMap<String, KernelMix> {
    let mut wanted: BTreeMap<&str, BTreeSet<(usize, String)>> = BTreeMap::new();
    for row in map.cells.iter().flat_map(Cell::products) {
        if let Some(bundle) = row.bundle.filter(|_| !row.mangled.is_empty() && !row.file.is_empty()) {
            wanted.entry(&row.file).or_default().insert((bundle as usize, row.mangled.clone()));
        }
    }
    let Some(target) = TargetId::parse(map.plan.card.profile.processor()) else { return BTreeMap::new() };
    // A row names the file by the program's path.
    let libraries = place.libraries(false, None).unwrap_or_default();
    let host = |file: &str| libraries.iter().find(|(_, inside)| inside == file).map(|(path, _)| path.clone());
    let read =
        |(file, kernels): (&str, BTreeSet<_>)| mixes(&host(file).unwrap_or_else(|| file.into()), &target, &kernels);
    wanted.into_iter().flat_map(read).collect()
}
