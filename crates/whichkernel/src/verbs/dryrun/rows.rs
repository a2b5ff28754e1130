//! Rows of what was selected, for machines: the contract of `--format csv` and `json`.

use super::plan::Plan;
use dryrun::{Selected, Standing};
use launch::blas::{bench_line, compute_type, data_type};
use launch::record::lane;
use report::{Column, Table};
use serde_json::{Value, json};

/// One row per card, type, column count and matmul kernel.
pub fn table() -> Table {
    let keys = [
        "gpu", "target", "type", "columns", "path", "kernel", "mangled", "ne11", "grid", "block", "shmem", "file",
        "bundle", "count", "grade",
    ];
    Table::new(keys.iter().map(|key| Column::left(key, *key)).collect())
}

pub fn add(table: &mut Table, plan: &Plan, standing: Standing, (kind, columns): (&str, u64), row: &Selected) {
    let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
    table.row([
        plan.card.given.clone(),
        plan.card.profile.processor().to_owned(),
        row.kind.clone().unwrap_or_else(|| kind.to_owned()),
        columns.to_string(),
        row.path.map(|path| path.to_string()).unwrap_or_default(),
        row.title(),
        row.mangled.clone(),
        number(row.ne11),
        row.grid_text(),
        row.block_text(),
        row.shared.to_string(),
        row.file.rsplit('/').next().unwrap_or_default().to_owned(),
        number(row.bundle.map(u64::from)),
        row.count.to_string(),
        standing.name().to_owned(),
    ]);
}

pub fn json(plan: &Plan, standing: Standing, row: &Selected) -> Value {
    let needs = row.needs.as_ref().map(|needs| {
        json!({
            "vgprs": needs.vgprs, "sgprs": needs.sgprs, "lds": needs.lds, "scratch": needs.scratch,
            "wavefront": needs.wavefront, "blocks_per_multiprocessor": needs.occupancy,
        })
    });
    let calls: Vec<Value> = row
        .calls
        .iter()
        .map(|call| {
            json!({
                "m": call.m, "n": call.n, "k": call.k, "batch": call.batch, "a": data_type(call.type_a),
                "b": data_type(call.type_b), "c": data_type(call.type_c), "compute": compute_type(call.compute),
                "lane": lane::name(call.lane), "status": call.status, "bench": bench_line(call),
            })
        })
        .collect();
    json!({
        "device": row.device, "gpu": plan.card.given, "target": plan.card.profile.processor(),
        "phase": row.phase.key(), "width": row.width, "columns": row.width, "experts": row.routed, "family": row.family.key(),
        "path": row.path.map(|path| path.to_string()), "kernel": row.kernel, "mangled": row.mangled, "type": row.kind,
        "ne11": row.ne11, "file": row.file, "bundle": row.bundle, "grids": row.grids, "block": row.block,
        "shmem": row.shared, "count": row.count, "stub": row.stub, "needs": needs, "solutions": row.solutions,
        "calls": calls,
        "grade": standing.name(),
    })
}

/// The BLAS calls as rocblas-bench lines; what was chosen for each stands behind it as a comment.
pub fn bench<'r>(rows: impl Iterator<Item = &'r Selected>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for row in rows {
        for call in &row.calls {
            let mut line = bench_line(call);
            if !row.mangled.is_empty() {
                line = format!("{line} # {} {} {}", lane::name(call.lane), row.title(), row.mangled);
            }
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What is true of the whole run on one card, in JSON.
pub fn head(plan: &Plan, standing: Standing) -> Value {
    json!({
        "gpu": plan.card.given, "card": plan.card.profile.name, "title": plan.card.profile.title,
        "target": plan.card.profile.gcn_arch_name, "overridden_from": plan.card.overridden,
        "strict": plan.strict, "ships": plan.described.ships, "metadata_of": plan.described.near,
        "shipped": plan.described.shipped, "grade": standing.name(), "rung": evidence::Rung::Selected, "device": "stand-in",
    })
}
