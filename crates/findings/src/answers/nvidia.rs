//! The NVIDIA part of an overview.

use codeobject::nvidia::{Inventory, Row};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The content of a file for NVIDIA GPUs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NvidiaAnswer {
    sections: Vec<Section>,
    /// The content by region and target: `linked:sm_90a`.
    targets: BTreeMap<String, Target>,
    complete: bool,
    /// SASS is listed, not decoded.
    machine_code_decoded: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Section {
    /// linked, relocatable or embedded (in no section for fatbins; offsets are in the file).
    region: &'static str,
    offset: u64,
    size: u64,
    padding: u64,
    not_understood: u64,
    errors: Vec<String>,
    containers: Vec<Container>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Container {
    index: usize,
    offset: u64,
    entries: Vec<Entry>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    entry: usize,
    kind: String,
    sm: u32,
    target: String,
    version: String,
    compression: String,
    stored: u64,
    size: u64,
    kernels: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Target {
    kind: String,
    region: &'static str,
    images: usize,
    kernels: usize,
    /// Kernels whose registers are stated; PTX states no registers.
    kernels_with_registers: usize,
    registers_min: Option<u32>,
    registers_max: Option<u32>,
}

impl NvidiaAnswer {
    pub(super) fn new(found: &Inventory, named: &dyn Fn(&str) -> bool) -> Self {
        let mut targets: BTreeMap<String, Target> = BTreeMap::new();
        for row in found.rows.iter().filter(|row| named(&row.target())) {
            let place = row.region.name();
            let target = targets.entry(format!("{place}:{}", row.target())).or_default();
            (target.kind, target.region) = (row.kind.to_string(), place);
            target.images += 1;
            target.kernels += row.kernels().count();
            for registers in row.cubin.iter().flat_map(|cubin| &cubin.kernels).filter_map(|kernel| kernel.registers) {
                target.kernels_with_registers += 1;
                target.registers_min = Some(target.registers_min.map_or(registers, |low| low.min(registers)));
                target.registers_max = target.registers_max.max(Some(registers));
            }
        }
        let sections = found.sections.iter().map(|walked| section(found, walked)).collect();
        NvidiaAnswer { sections, targets, complete: found.is_complete(), machine_code_decoded: false }
    }
}

fn section(found: &Inventory, walked: &codeobject::nvidia::Walked) -> Section {
    let mut entries: BTreeMap<usize, Vec<Entry>> = BTreeMap::new();
    for row in found.rows.iter().filter(|row| row.region == walked.section.region) {
        entries.entry(row.container).or_default().push(entry(row));
    }
    let container = |(index, offset): (usize, &u64)| Container {
        index,
        offset: walked.section.offset.saturating_add(*offset),
        entries: entries.remove(&index).unwrap_or_default(),
    };
    Section {
        region: walked.section.region.name(),
        offset: walked.section.offset,
        size: walked.section.size,
        padding: walked.padding,
        not_understood: walked.unknown.iter().map(|(_, len)| len).sum(),
        errors: walked.errors.iter().map(ToString::to_string).collect(),
        containers: walked.containers.iter().enumerate().map(container).collect(),
    }
}

fn entry(row: &Row) -> Entry {
    Entry {
        entry: row.entry,
        kind: row.kind.to_string(),
        sm: row.sm,
        target: row.target(),
        version: format!("{}.{}", row.version.0, row.version.1),
        compression: row.compression.to_string(),
        stored: row.stored,
        size: row.size,
        kernels: row.kernels().count(),
        error: row.error.as_ref().map(ToString::to_string),
    }
}
