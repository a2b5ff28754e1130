//! Choices from damaged, partial and unusual catalogs: the answer is "not computed", never a wrong kernel.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tensile::select::{Call, Choice, DataType, Hardware, Library, NotComputed, Selector};
use tensile::{Files, Listing};

/// Files in memory.
struct Memory {
    listing: Listing,
    files: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    fn new(files: BTreeMap<String, Vec<u8>>) -> Memory {
        Memory { listing: Listing::new(files.keys().cloned()), files }
    }
}

impl Files for Memory {
    fn listing(&self) -> &Listing {
        &self.listing
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        self.files.get(name).cloned().ok_or_else(|| "gone".to_owned())
    }

    fn kernels(&self, _: &str, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }
}

const ROOT: &str = "TensileLibrary_lazy_gfx1100.dat";
const LEAF: &str = "TensileLibrary_HH_HH_HA_Bias_SAV_UA_Type_HH_HPA_Contraction_l_Ailk_Bljk_Cijk_Dijk_gfx1100.dat";

/// hipBLASLt's catalog for gfx1100 from the cache: the files that an f16 product needs.
fn real() -> Option<BTreeMap<String, Vec<u8>>> {
    let dir = "runtimes/debian-sid/root/usr/lib/x86_64-linux-gnu/hipblaslt/library";
    let dir: PathBuf = test_artifacts::cache().join(dir);
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).ok()?.flatten() {
        let name = entry.file_name().into_string().ok()?;
        if name == ROOT || (name.contains("_HH_HH_") && name.ends_with("_gfx1100.dat")) {
            files.insert(name, std::fs::read(entry.path()).ok()?);
        }
    }
    (files.contains_key(ROOT) && files.contains_key(LEAF)).then_some(files)
}

fn choose(files: &Memory, version: &str, processor: &str) -> Choice {
    let hardware = Hardware { processor: processor.to_owned(), compute_units: 48, is_apu: false };
    Selector::new(files, Library::HipBlasLt, version, hardware).choose(&Call::plain(4096, 290, 4096, DataType::Half))
}

#[test]
fn a_catalog_that_is_not_whole_gives_no_kernel() {
    let Some(files) = real() else { return test_artifacts::skip("debian-sid", "cargo xtask fetch") };
    let Choice::Determined(right) = choose(&Memory::new(files.clone()), "1.1", "gfx1100") else {
        panic!("the real catalog has an answer")
    };
    assert!(right.kernel.starts_with("Cijk_Ailk_Bljk_HHS_BH_"), "{}", right.kernel);
    let without = |name: &str| {
        let mut files = files.clone();
        files.remove(name);
        Memory::new(files)
    };
    let leaf = NotComputed::Missing(LEAF.to_owned());
    assert_eq!(choose(&without(LEAF), "1.1", "gfx1100"), Choice::NotComputed(leaf));
    assert_eq!(choose(&without(ROOT), "1.1", "gfx1100"), Choice::NotComputed(NotComputed::Missing(ROOT.to_owned())));
    assert_eq!(
        choose(&Memory::new(files.clone()), "1.1", "gfx1101"),
        Choice::NotComputed(NotComputed::Missing("TensileLibrary_lazy_gfx1101.dat".to_owned()))
    );
    let version = NotComputed::Version("hipblaslt 1.3".to_owned());
    assert_eq!(choose(&Memory::new(files.clone()), "1.3", "gfx1100"), Choice::NotComputed(version));
    let len = files[LEAF].len();
    for at in (0..len).step_by(len / 40).chain([len - 1]) {
        let mut cut = files.clone();
        cut.get_mut(LEAF).expect("there").truncate(at);
        let choice = choose(&Memory::new(cut), "1.1", "gfx1100");
        assert!(matches!(choice, Choice::NotComputed(NotComputed::Damaged(..))), "{at}: {choice:?}");
    }
}

/// Replaces a name in the catalog by one that this program does not know.
fn renamed(files: &BTreeMap<String, Vec<u8>>, file: &str, from: &[u8], to: &[u8]) -> Memory {
    assert_eq!(from.len(), to.len());
    let mut files = files.clone();
    let data = files.get_mut(file).expect("there");
    let places: Vec<usize> = (0..=data.len() - from.len()).filter(|at| data[*at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        data[at..at + to.len()].copy_from_slice(to);
    }
    Memory::new(files)
}

#[test]
fn names_that_are_not_known_are_named() {
    let Some(files) = real() else { return test_artifacts::skip("debian-sid", "cargo xtask fetch") };
    let predicate = renamed(&files, LEAF, b"WorkgroupNumberCheck", b"WorkgroupNumberQuota");
    let unknown = NotComputed::Predicate("WorkgroupNumberQuota".to_owned());
    assert_eq!(choose(&predicate, "1.1", "gfx1100"), Choice::NotComputed(unknown));
    let distance = renamed(&files, LEAF, b"GridBased", b"GridFaced");
    let unknown = NotComputed::Node("Matching GridFaced".to_owned());
    assert_eq!(choose(&distance, "1.1", "gfx1100"), Choice::NotComputed(unknown));
    let node = renamed(&files, ROOT, b"ProblemMap", b"ProblemNap");
    assert_eq!(choose(&node, "1.1", "gfx1100"), Choice::NotComputed(NotComputed::Node("ProblemNap".to_owned())));
}

#[test]
fn a_product_without_size_is_not_computed() {
    let Some(files) = real() else { return test_artifacts::skip("debian-sid", "cargo xtask fetch") };
    let memory = Memory::new(files);
    let hardware = Hardware { processor: "gfx1100".to_owned(), compute_units: 48, is_apu: false };
    let selector = Selector::new(&memory, Library::HipBlasLt, "1.1", hardware);
    for (m, n, k) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        let choice = selector.choose(&Call::plain(m, n, k, DataType::Half));
        assert!(matches!(choice, Choice::NotComputed(NotComputed::Call(_))), "{choice:?}");
    }
    // Sizes whose products overflow cause no panic, and wrapped arithmetic finds no kernel.
    let choice = selector.choose(&Call::plain(u64::MAX, u64::MAX, u64::MAX, DataType::Half));
    assert!(!matches!(choice, Choice::Determined(_)), "{choice:?}");
}
