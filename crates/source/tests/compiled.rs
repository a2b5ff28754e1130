//! The embedded tables of many versions against those versions' own dispatchers, compiled and called.
//!
//! `golden/compiled` was written by the programs that `cargo xtask deep source` builds. Each line has GPU, compute
//! capability, types, and for each range of column counts the path, the width or tile, and the bounds check. Versions
//! with ten GPUs were compiled for HIP only.

use source::{DEFAULT_COLUMNS, decision_table};
use std::path::Path;

#[test]
fn embedded_tables_are_what_the_compiled_dispatchers_chose() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/compiled");
    let mut compared = 0;
    for entry in std::fs::read_dir(dir).expect("goldens").flatten() {
        let path = entry.path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let table: decision_table::DecisionTable =
            serde_json::from_str(decision_table::text(&name).expect("every golden has a table")).expect("a table");
        for line in std::fs::read_to_string(&path).expect("text").lines() {
            compared += line_agrees(&name, &table, line);
        }
    }
    assert!(compared >= 12 * 2080, "{compared} rows");
}

fn line_agrees(name: &str, table: &decision_table::DecisionTable, line: &str) -> usize {
    let mut words = line.split(' ');
    let (arch, cc, types) = (words.next().expect("arch"), words.next().expect("cc"), words.next().expect("types"));
    let cc = i64::from_str_radix(cc.trim_start_matches("0x"), 16).ok();
    assert_eq!(table.targets[arch].cc, cc, "{name} {arch}");
    let steps: Vec<(i64, &str)> = words
        .map(|word| {
            word.split_once(':').map(|(from, answer)| (from.parse().expect("a number"), answer)).expect("a step")
        })
        .collect();
    let mut compared = 0;
    for ty in types.split(',') {
        for &columns in DEFAULT_COLUMNS {
            let (_, compiled) = steps.iter().rev().find(|(from, _)| *from <= columns).expect("from one on");
            let found = table.look_up(arch, ty, columns).expect("in the table");
            // No version checks bounds at 4096 rows, so the tables do not contain this.
            let ours = format!("{}/{}/0", found.path, found.tile.unwrap_or(0));
            assert_eq!(ours, **compiled, "{name} {arch} {ty} {columns}");
            compared += 1;
        }
    }
    compared
}
