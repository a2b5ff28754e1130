//! Fingerprints of real files.

use runtime::{
    fingerprint::{
        Against, FingerprintTable, Shape, against_table, against_tree, ggml_kernels, kernel_names, shapes_in_tree,
        tools, window,
    },
    linkage::FileAt,
};
use std::{collections::BTreeSet, path::Path};

fn open(path: &Path) -> FileAt {
    FileAt::new(std::fs::File::open(path).unwrap()).unwrap()
}

/// The build that Debian states for its packages: `b11669`.
fn debian_build(root: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(root.join("usr/share/doc/libllama0/nightly-tag.txt")).ok()?;
    text.trim().strip_prefix('b')?.parse().ok()
}

#[test]
fn debians_ggml_lies_in_its_window() {
    let Some(dir) = test_artifacts::need("debian-sid") else { return };
    let root = dir.join("root");
    let library = test_artifacts::file("debian-sid", "root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so");
    let Some(path) = library else { return };
    let file = open(&path);
    let table = FingerprintTable::committed();
    let shapes = ggml_kernels(&kernel_names(&file).unwrap(), &table).expect("ggml's kernels");
    let found = window(&shapes, &table);
    println!("{found:?}");
    assert!(!found.conflict && !found.spans.is_empty());
    if let Some(build) = debian_build(&root) {
        assert!(found.spans.iter().any(|span| span.holds(build)), "b{build} is not in {:?}", found.spans);
    }
    // The build of the field notes' bundle is excluded by kernels that did not exist then.
    assert!(matches!(against_table(&shapes, &table, 6841), Against::Impossible { .. }));
    let found = tools(&file, "libggml-hip.so").unwrap();
    println!("{found:?}");
    assert!(found.host.iter().chain(&found.device).any(|tool| tool.contains("clang")), "{found:?}");
    assert!(found.required.iter().any(|need| need.starts_with("libamdhip64.so")), "{found:?}");
}

/// A release of llama.cpp in a crate, with a known build number: its own kernels fit it, and a kernel with one changed
/// number does not.
#[test]
fn a_source_tree_fits_itself_only() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let source = shapes_in_tree(&dir).unwrap();
    assert!(source.len() > 100, "{}", source.len());
    let fixed: BTreeSet<Shape> = source.iter().filter(|shape| shape.arguments.is_some()).cloned().collect();
    assert!(matches!(against_tree(&fixed, &source), Against::Possible { .. }));
    let mut other = fixed.clone();
    let mut changed = fixed.iter().next().cloned().unwrap();
    changed.parameters += 1;
    other.insert(changed.clone());
    assert_eq!(against_tree(&other, &source), Against::Impossible { missing: vec![changed.to_string()] });
}

#[test]
fn other_libraries_are_not_ggml() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let path = dir.join("bitsandbytes/libbitsandbytes_rocm72.so");
    let file = open(&path);
    let names = kernel_names(&file).unwrap();
    assert_eq!(names.len(), 175);
    assert_eq!(ggml_kernels(&names, &FingerprintTable::committed()), None);
    let found = tools(&file, "libbitsandbytes_rocm72.so").unwrap();
    println!("{found:?}");
    let releases: BTreeSet<&str> = found.releases.iter().map(|(release, _)| release.as_str()).collect();
    assert!(releases.iter().all(|release| release.starts_with("7.2")) && !releases.is_empty(), "{releases:?}");
}

/// The kernel of the field notes, `mul_mat_vec_q<Q4_K,1,false>`: three template arguments.
#[test]
fn the_field_notes_anchor_dates_their_bundle() {
    let table = FingerprintTable::committed();
    let text = "void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*, void const*, int const*, ggml_cuda_mm_fusion_args_device, float*, unsigned int, uint3, unsigned int, unsigned int, unsigned int, uint3, unsigned int, unsigned int, unsigned int, uint3, unsigned int, unsigned int, unsigned int)";
    let shape = Shape::of_demangled(text).unwrap();
    let found = window(&[shape].into(), &table);
    assert_eq!(found.spans.first().map(|span| span.from), Some(6841), "{found:?}");
}
