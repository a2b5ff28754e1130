//! The NVIDIA part of an overview: containers, entries, kernels and registers per compute capability.

use super::text::count;
use crate::context::Context;
use codeobject::ReadAt;
use codeobject::nvidia::{Compression, EntryKind, Inventory, Region, Row};
use inventory::File;
use report::{Column, Table};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// No image in real files comes near it.
const UNPACK_LIMIT: usize = 1 << 30;

/// What the file ships for NVIDIA GPUs; None where it has no such sections (or is no ELF file at all).
pub fn read(file: &File) -> Option<Inventory> {
    if file.len() < 64 || !codeobject::nvidia::host_sections(file).is_ok_and(|sections| !sections.is_empty()) {
        return None;
    }
    Inventory::read(file, UNPACK_LIMIT).ok()
}

/// What could not be read, with offsets in the section, on stderr.
pub fn complain(file: &File, found: &Inventory) {
    let inside = found.rows.iter().filter_map(|row| row.error.as_ref());
    for error in found.sections.iter().flat_map(|s| &s.errors).chain(inside).take(20) {
        eprintln!("whichkernel: {}: {error}", file.path().display());
    }
}

fn region(region: Region) -> &'static str {
    match region {
        Region::Linked => "linked",
        Region::Relocatable => "relocatable",
    }
}

struct Summary<'r> {
    images: usize,
    kernels: BTreeSet<&'r str>,
    registers: BTreeSet<u32>,
    stated: usize,
    stored: u64,
    size: u64,
    compression: BTreeSet<Compression>,
}

fn summaries(found: &Inventory) -> BTreeMap<(Region, u32, EntryKind), Summary<'_>> {
    let mut all = BTreeMap::new();
    for row in &found.rows {
        let summary = all.entry((row.region, row.sm, row.kind)).or_insert_with(|| Summary {
            images: 0,
            kernels: BTreeSet::new(),
            registers: BTreeSet::new(),
            stated: 0,
            stored: 0,
            size: 0,
            compression: BTreeSet::new(),
        });
        summary.images += 1;
        summary.kernels.extend(row.kernels());
        summary.stored += row.stored;
        summary.size += row.size;
        summary.compression.insert(row.compression);
        for registers in row.cubin.iter().flat_map(|c| &c.kernels).filter_map(|k| k.registers) {
            summary.registers.insert(registers);
            summary.stated += 1;
        }
    }
    all
}

pub fn text(found: &Inventory, context: &Context) -> String {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("target", title("inspect-column-target")),
        Column::left("kind", title("inspect-map-kind")),
        Column::left("region", title("inspect-nvidia-region")),
        Column::right("images", title("inspect-nvidia-images")),
        Column::right("kernels", title("inspect-column-kernels")),
        Column::right("registers", title("inspect-nvidia-registers")),
        Column::left("compression", title("inspect-nvidia-compression")),
        Column::right("stored", title("inspect-nvidia-stored")),
        Column::right("bytes", title("inspect-column-bytes")),
    ]);
    for ((place, sm, kind), summary) in summaries(found) {
        let registers = match (summary.registers.first(), summary.registers.last()) {
            (Some(low), Some(high)) => format!("{low}..{high}"),
            _ => "-".to_owned(),
        };
        let compression: Vec<String> = summary.compression.iter().map(ToString::to_string).collect();
        table.row([
            if kind == EntryKind::Ptx { format!("compute_{sm}") } else { format!("sm_{sm}") },
            kind.to_string(),
            region(place).to_owned(),
            count(summary.images as u64),
            count(summary.kernels.len() as u64),
            registers,
            compression.join(" "),
            count(summary.stored),
            count(summary.size),
        ]);
    }
    let containers: usize = found.sections.iter().map(|s| s.containers.len()).sum();
    let lost: u64 = found.sections.iter().flat_map(|s| &s.unknown).map(|(_, len)| len).sum();
    let failed = found.rows.iter().filter(|r| r.error.is_some()).count();
    let args = [
        ("containers", count(containers as u64).into()),
        ("entries", count(found.rows.len() as u64).into()),
        ("lost", count(lost).into()),
        ("failed", count(failed as u64).into()),
    ];
    format!("{}\n\n{}\n", context.lang.text_with("inspect-nvidia", &args), table.text(context.width))
}

pub fn json(found: &Inventory) -> Value {
    let entry = |row: &Row| {
        let mut value = json!({
            "entry": row.entry, "kind": row.kind.to_string(), "sm": row.sm, "version": format!("{}.{}", row.version.0, row.version.1),
            "compression": row.compression.to_string(), "stored": row.stored, "size": row.size, "kernels": row.kernels().count(),
        });
        if let Some(error) = &row.error {
            value["error"] = json!(error.to_string());
        }
        value
    };
    let mut sections = Vec::new();
    for section in &found.sections {
        let mut containers: Vec<Value> = section
            .containers
            .iter()
            .enumerate()
            .map(|(index, offset)| json!({ "index": index, "offset": section.section.offset + offset, "entries": [] }))
            .collect();
        for row in found.rows.iter().filter(|row| row.region == section.section.region) {
            if let Some(Value::Array(entries)) = containers.get_mut(row.container).map(|c| &mut c["entries"]) {
                entries.push(entry(row));
            }
        }
        sections.push(json!({
            "region": region(section.section.region), "offset": section.section.offset, "size": section.section.size,
            "padding": section.padding, "not_understood": section.unknown.iter().map(|(_, len)| len).sum::<u64>(),
            "errors": section.errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "containers": containers,
        }));
    }
    let targets: serde_json::Map<String, Value> = summaries(found)
        .into_iter()
        .map(|((place, sm, kind), s)| {
            let name = if kind == EntryKind::Ptx { format!("compute_{sm}") } else { format!("sm_{sm}") };
            let value = json!({
                "kind": kind.to_string(), "region": region(place), "images": s.images, "kernels": s.kernels.len(),
                "kernels_with_registers": s.stated, "registers_min": s.registers.first(), "registers_max": s.registers.last(),
            });
            (format!("{}:{name}", region(place)), value)
        })
        .collect();
    json!({ "sections": sections, "targets": targets, "complete": found.is_complete() })
}
