//! The selections as rows for programs: the format of `--format csv`.

use dryrun::{Plan, Selected};
use evidence::Reach;
use launch::blas::bench_line;
use launch::record::lane;
use report::{Column, Table};

/// One row per card, type, column count and matmul kernel.
pub fn table() -> Table {
    let keys = [
        "card", "target", "type", "columns", "path", "kernel", "mangled", "ne11", "grid", "block", "shmem", "file",
        "bundle", "count", "reach",
    ];
    Table::new(keys.iter().map(|key| Column::left(key, *key)).collect())
}

pub fn add(table: &mut Table, plan: &Plan, reach: Reach, (kind, columns): (&str, u64), row: &Selected) {
    let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
    table.row([
        plan.card.profile.name.clone(),
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
        reach.name().to_owned(),
    ]);
}

/// The BLAS calls as rocblas-bench lines, each followed by the selection as a comment.
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
