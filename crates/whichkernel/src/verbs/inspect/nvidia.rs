//! The NVIDIA part of an overview: containers, entries, kernels and registers per compute capability.

use super::text::count;
use crate::context::Context;
use codeobject::nvidia::{Compression, EntryKind, Inventory, Region};
use findings::select::Select;
use inventory::File;
use report::{Column, Table};
use say::Say as _;
use std::collections::{BTreeMap, BTreeSet};

/// Reports unreadable parts, with offsets in the section, on stderr.
pub fn complain(file: &File, found: &Inventory, context: &Context) {
    let inside = found.rows.iter().filter_map(|row| row.error.as_ref());
    for error in found.sections.iter().flat_map(|s| &s.errors).chain(inside).take(20) {
        let said = context.lang.written(&error.message());
        crate::context::tell(format_args!(
            "whichkernel: {}",
            report::plain(&format!("{}: {said}", file.path().display()))
        ));
    }
}

struct Summary {
    kind: EntryKind,
    images: usize,
    /// Counts over all images, as for AMD over all code objects: a kernel that occurs twice counts twice.
    kernels: usize,
    registers: BTreeSet<u32>,
    stored: u64,
    size: u64,
    compression: BTreeSet<Compression>,
}

/// Keyed by region and number; the name contains the number's suffix.
fn summaries(found: &Inventory, select: &Select) -> BTreeMap<(Region, u32, String), Summary> {
    let mut all = BTreeMap::new();
    for row in found.rows.iter().filter(|row| select.named(&row.target())) {
        let summary = all.entry((row.region, row.sm, row.target())).or_insert_with(|| Summary {
            kind: row.kind,
            images: 0,
            kernels: 0,
            registers: BTreeSet::new(),
            stored: 0,
            size: 0,
            compression: BTreeSet::new(),
        });
        summary.images += 1;
        summary.kernels += row.kernels().count();
        summary.stored += row.stored;
        summary.size += row.size;
        summary.compression.insert(row.compression);
        for registers in row.cubin.iter().flat_map(|c| &c.kernels).filter_map(|k| k.registers) {
            summary.registers.insert(registers);
        }
    }
    all
}

pub fn text(found: &Inventory, select: &Select, context: &Context) -> String {
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
    for ((place, _, target), summary) in summaries(found, select) {
        let registers = match (summary.registers.first(), summary.registers.last()) {
            (Some(low), Some(high)) => format!("{low}..{high}"),
            _ => "-".to_owned(),
        };
        let compression: Vec<String> = summary.compression.iter().map(ToString::to_string).collect();
        table.row([
            target,
            summary.kind.to_string(),
            place.name().to_owned(),
            count(summary.images as u64),
            count(summary.kernels as u64),
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
    let account = context.lang.text_with("inspect-nvidia", &args);
    format!("{account}\n\n{}{}\n\n", table.text(context.width), context.lang.text("inspect-nvidia-sass"))
}
