//! Tests rocBLAS' own sources, from Debian's source package. The package changes over time, so the tests extract the
//! expected values from the text in another way.

use callchain::File;
use callchain::rocblas::{Rocblas, read, wanted};
use source::Tree;
use std::collections::BTreeMap;

fn sources() -> Option<(Rocblas, Vec<File>)> {
    let place = test_artifacts::need("rocblas-sid")?;
    let tree = Tree::open(place.to_str().expect("a cache path in UTF-8")).expect("the tree opens");
    let file = |path: &str| File { path: path.to_owned(), text: tree.text(path).expect("it reads").to_string() };
    let files: Vec<File> = tree.paths().filter(|path| wanted(path)).map(file).collect();
    Some((read(&files).expect("a Processor enumeration"), files))
}

/// The `gfx90a = 910,` lines of the header, found by pattern.
fn enumerators(files: &[File]) -> BTreeMap<String, i64> {
    let header = files.iter().find(|file| file.path.ends_with("include/handle.hpp")).expect("handle.hpp");
    let pair = |line: &str| {
        let (name, value) = line.trim().trim_end_matches(',').split_once('=')?;
        name.trim().starts_with("gfx").then_some((name.trim().to_owned(), value.trim().parse().ok()?))
    };
    header.text.lines().filter_map(pair).collect()
}

#[test]
fn every_enumerator_is_found_with_its_value() {
    let Some((found, files)) = sources() else { return };
    let expected = enumerators(&files);
    let got: BTreeMap<String, i64> = found.processors.iter().map(|p| (p.target.clone(), p.value)).collect();
    assert!(expected.len() > 15, "the header should name more GPUs than {}", expected.len());
    assert_eq!(got, expected);
    assert_eq!((got["gfx900"], got["gfx90a"]), (900, 910));
}

#[test]
fn every_branch_stands_on_the_lines_it_names() {
    let Some((found, files)) = sources() else { return };
    assert!(!found.branches.is_empty());
    for branch in &found.branches {
        let file = files.iter().find(|file| file.path == branch.file).expect("the file of the branch");
        let line = |number: u32| file.text.lines().nth(number as usize - 1).unwrap_or("");
        assert!(line(branch.first_line).contains(&format!("\"{}\"", branch.matches)), "{branch:?}");
        assert!(line(branch.last_line).contains(&format!("Processor::{}", branch.returns)), "{branch:?}");
    }
}

#[test]
fn the_library_path_begins_with_the_variable() {
    let Some((found, _)) = sources() else { return };
    assert!(found.paths.first().is_some_and(|rule| rule.text.contains("ROCBLAS_TENSILE_LIBPATH")), "{:?}", found.paths);
    assert!(found.paths.iter().any(|rule| rule.text.contains("TensileLibrary_lazy_")));
}

#[test]
fn initialize_is_defined_and_its_callers_are_counted_by_text_too() {
    let Some((found, files)) = sources() else { return };
    assert!(found.initialize.iter().any(|(_, does)| *does));
    let called = |line: &&str| line.trim_start().starts_with("rocblas_initialize();");
    let by_text = files.iter().flat_map(|file| file.text.lines()).filter(called).count();
    assert_eq!(found.initialize_callers.len(), by_text);
}
