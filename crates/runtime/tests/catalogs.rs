//! Real catalogs: rocBLAS and hipBLASLt of Debian sid; with the feature `deep`, which `cargo xtask deep tests` sets, also
//! rocBLAS 7.2 with gfx1201 and the single-file rocBLAS 5.5.

use runtime::catalogs::{LibraryDir, find};
use std::path::Path;
use tensile::{Files, Layout, Listing, Service, Verdict, serve};

fn library(runtime: &str, name: &str) -> Option<LibraryDir> {
    Some(catalog(&test_artifacts::need(runtime)?, name))
}

fn catalog(runtime: &Path, name: &str) -> LibraryDir {
    let found = find(&runtime.join("root")).unwrap().into_iter().find(|dir| dir.library() == name);
    found.unwrap_or_else(|| panic!("no {name} in {}", runtime.display()))
}

fn complete(service: &Service) {
    assert!(service.problems.is_empty(), "{}: {:?}", service.target, service.problems);
    assert!(service.unknown_nodes.is_empty(), "{:?}", service.unknown_nodes);
    for leaf in &service.leaves {
        assert!(leaf.problems.is_empty(), "{}: {:?}", leaf.name, leaf.problems);
        assert_eq!(leaf.absent, [""; 0], "{}", leaf.name);
    }
}

#[test]
fn rocblas_of_sid_serves_two_targets() {
    let Some(dir) = library("debian-sid", "rocblas") else { return };
    assert_eq!(dir.listing().layout(), Layout::Lazy);
    for target in ["gfx1100", "gfx900"] {
        let service = serve(&dir, target, &mut |_| ());
        complete(&service);
        assert_eq!(service.verdict(), Verdict::Yes, "{target}");
        assert_eq!(service.files, dir.listing().per_target()[target]);
        assert!(service.leaves.len() > 50 && service.families.contains_key("Float"), "{target}");
        println!("{target}: {} files, {} leaves, {:?}", service.files, service.leaves.len(), service.families);
    }
    let absent = serve(&dir, "gfx1201", &mut |_| ());
    assert_eq!((absent.verdict(), absent.files), (Verdict::No, 0));
}

/// If a file is missing, it is named and the rest is still shown.
#[test]
fn a_missing_object_and_a_missing_leaf_are_named() {
    struct Without {
        dir: LibraryDir,
        listing: Listing,
    }
    impl Files for Without {
        fn listing(&self) -> &Listing {
            &self.listing
        }
        fn read(&self, name: &str) -> Result<Vec<u8>, String> {
            self.dir.read(name)
        }
        fn kernels(&self, name: &str, target: &str) -> Result<Vec<String>, String> {
            self.dir.kernels(name, target)
        }
    }
    let Some(dir) = library("debian-sid", "rocblas") else { return };
    let all: Vec<String> = dir.listing().names().map(str::to_owned).collect();
    let object = all.iter().find(|name| name.ends_with("gfx1100.co")).unwrap().clone();
    let leaf = all.iter().find(|name| name.ends_with("_gfx1100.dat") && !name.contains("lazy")).unwrap().clone();
    let listing = Listing::new(all.into_iter().filter(|name| *name != object && *name != leaf));
    let service = serve(&Without { dir, listing }, "gfx1100", &mut |_| ());
    assert_eq!(service.verdict(), Verdict::Partly);
    let said: Vec<String> = service.troubles().map(ToString::to_string).collect();
    assert!(said.iter().any(|text| text.contains(&format!("{leaf} is missing"))), "{said:?}");
    let stem = object.trim_end_matches(".co");
    assert!(said.iter().any(|text| text.contains(stem)), "{said:?}");
}

#[cfg(feature = "deep")]
#[test]
fn rocblas_of_experimental_has_gfx1201_by_fallback_only() {
    let Some(runtime) = test_artifacts::need_deep("debian-experimental") else { return };
    let dir = catalog(&runtime, "rocblas");
    let service = serve(&dir, "gfx1201", &mut |_| ());
    complete(&service);
    assert_eq!((service.verdict(), service.files), (Verdict::FallbackOnly, 56));
    let service = serve(&dir, "gfx942", &mut |_| ());
    complete(&service);
    assert_eq!(service.verdict(), Verdict::Yes);
}

#[test]
fn hipblaslt_of_sid() {
    let Some(dir) = library("debian-sid", "hipblaslt") else { return };
    let service = serve(&dir, "gfx1201", &mut |_| ());
    complete(&service);
    assert_eq!(service.verdict(), Verdict::Yes);
    let table = tensile::extop::parse(&dir.read("hipblasltExtOpLibrary.dat").unwrap()).unwrap();
    let kernels = dir.kernels("extop_gfx1201.co", "gfx1201").unwrap();
    for op in table.iter().filter(|op| op.target == "gfx1201") {
        assert!(op.object == "extop_gfx1201.co" && kernels.contains(&op.kernel), "{op:?}");
    }
}

#[cfg(feature = "deep")]
#[test]
fn the_single_file_catalog_of_trixie() {
    let Some(runtime) = test_artifacts::need_deep("debian-trixie") else { return };
    let dir = catalog(&runtime, "rocblas");
    assert_eq!(dir.listing().layout(), Layout::Single);
    let service = serve(&dir, "gfx900", &mut |_| ());
    assert_eq!(service.leaves.len(), 1);
    complete(&service);
    assert_eq!(service.verdict(), Verdict::Yes);
    assert!(service.leaves[0].kernels > 0);
    println!("{} solutions, {} kernels", service.leaves[0].solutions, service.leaves[0].kernels);
}
