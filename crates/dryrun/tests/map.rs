//! Tests the real llama-bench of a real runtime, on simulated cards.

use dryrun::{Blas, Cell, RunRoot, Survey, describe};
use gguf::TensorType;

/// Six rows that were recorded with another stand-in: path and tile by type and prompt length.
const SEEN: &str = include_str!("data/dryrun-sample.tsv");

fn place() -> Option<RunRoot> {
    test_artifacts::need("debian-sid").map(|dir| RunRoot::Tree { name: "debian-sid".into(), root: dir.join("root") })
}

fn survey(place: &RunRoot, card: &str, shape: &str, kinds: &[&str], columns: &[u64]) -> Vec<Cell> {
    let profile = gpu::find(card).expect("a card");
    let libraries = place.libraries(false, None).expect("libraries with device code");
    let cache = runtime::Cache::from_env();
    let target = profile.target().expect("a target");
    let described = describe(&libraries, &target, true, cache.dir()).expect("a kernel table");
    let survey = Survey {
        place,
        profile: &profile,
        described: &described,
        strict: described.ships,
        shape: gguf::known(shape).expect("a shape"),
        layers: 2,
        blas: Blas::Recorded,
        variables: &[],
    };
    let kinds: Vec<TensorType> = kinds.iter().map(|kind| TensorType::parse(kind).expect("a type")).collect();
    survey.run(&kinds, columns, &|_| {}).expect("a survey")
}

#[test]
fn the_sample_is_reproduced_row_by_row() {
    let Some(place) = place() else { return };
    let mut lines = SEEN.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let columns: Vec<u64> = lines.next().expect("a header")[2..].iter().map(|n| n.parse().expect("a number")).collect();
    for line in lines {
        let cells = survey(&place, line[0], "qwen2-7b", &[line[1]], &columns);
        let labels: Vec<String> = cells.iter().map(Cell::label).collect();
        assert_eq!(labels, line[2..], "{} {}: {:?}", line[0], line[1], cells[0].problem);
    }
}

#[test]
fn experts_above_one_column_stand_in_the_map() {
    let Some(place) = place() else { return };
    let cells = survey(&place, "gfx1100", "qwen3-30b-a3b", &["Q4_K"], &[1, 12, 64]);
    for cell in &cells {
        assert!(cell.is_answered(), "{:?}", cell.problem);
        let (experts, dense): (Vec<_>, Vec<_>) = cell.products().into_iter().partition(|row| row.routed);
        // There are gate, up and down of each layer at this width. Those of the last layer run only for the last
        // column.
        assert!(!experts.is_empty() && !dense.is_empty(), "{}: {:?}", cell.columns, cell.label());
        assert!(cell.label().contains(",e:mm"), "{}", cell.label());
    }
    let wide = cells[2].products().into_iter().find(|row| row.routed).expect("experts");
    assert_eq!((wide.ne11, wide.served), (Some(64 * 8), Some(64)), "eight experts for each column");
}

/// No kernel handles these types for all experts at once: the host reads the routing back and multiplies expert by
/// expert.
#[test]
fn types_whose_experts_are_sorted_by_the_host_are_answered_too() {
    let Some(place) = place() else { return };
    for cell in survey(&place, "gfx1100", "qwen3-30b-a3b", &["F16", "BF16", "F32", "IQ1_M"], &[1, 4, 64, 290]) {
        assert!(cell.is_answered(), "{} {}: {:?}", cell.kind, cell.columns, cell.problem);
        assert!(cell.products().iter().any(|row| row.routed), "{} {}: {}", cell.kind, cell.columns, cell.label());
    }
}
