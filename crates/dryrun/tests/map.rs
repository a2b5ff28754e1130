//! The real llama-bench of a real runtime, on cards that are not there.

use dryrun::{Blas, Cell, Place, Survey, describe};
use gguf::TensorType;

/// Six rows of what was seen with another stand-in: path and tile by type and prompt length.
const SEEN: &str = include_str!("data/dryrun-sample.tsv");

fn place() -> Option<Place> {
    test_artifacts::need("debian-sid").map(|dir| Place::Tree { name: "debian-sid".into(), root: dir.join("root") })
}

fn survey(place: &Place, card: &str, kinds: &[&str], columns: &[u64]) -> Vec<Cell> {
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
        shape: gguf::known("qwen2-7b").expect("a shape"),
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
        let cells = survey(&place, line[0], &[line[1]], &columns);
        let labels: Vec<String> = cells.iter().map(Cell::label).collect();
        assert_eq!(labels, line[2..], "{} {}: {:?}", line[0], line[1], cells[0].problem);
    }
}
