//! Hostile catalogs: bombs, cycles, truncation. Each gives a typed error with offset and field, or a correct answer;
//! never a panic.

use std::collections::HashMap;
use tensile::{Catalog, Files, Listing, Verdict, serve};

/// A tiny MessagePack writer: enough for catalogs.
fn text(out: &mut Vec<u8>, value: &str) {
    out.push(0xd9);
    out.push(value.len() as u8);
    out.extend_from_slice(value.as_bytes());
}

fn placeholder(name: &str) -> Vec<u8> {
    let mut out = vec![0x82];
    text(&mut out, "type");
    text(&mut out, "Placeholder");
    text(&mut out, "value");
    text(&mut out, name);
    out
}

fn catalog(node: &[u8]) -> Vec<u8> {
    let mut out = vec![0x82];
    text(&mut out, "solutions");
    out.push(0x90);
    text(&mut out, "library");
    out.extend_from_slice(node);
    out
}

struct Memory {
    listing: Listing,
    files: HashMap<String, Vec<u8>>,
}

impl Memory {
    fn new(files: Vec<(&str, Vec<u8>)>) -> Self {
        let files: HashMap<String, Vec<u8>> = files.into_iter().map(|(name, data)| (name.to_owned(), data)).collect();
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

#[test]
fn leaves_that_name_each_other_are_walked_once() {
    let files = Memory::new(vec![
        ("TensileLibrary_lazy_gfx1201.dat", catalog(&placeholder("TensileLibrary_a"))),
        ("TensileLibrary_a.dat", catalog(&placeholder("TensileLibrary_b"))),
        ("TensileLibrary_b.dat", catalog(&placeholder("TensileLibrary_a"))),
    ]);
    let service = serve(&files, "gfx1201", &mut |_| ());
    assert_eq!(service.leaves.len(), 2);
    assert_eq!(service.verdict(), Verdict::No, "there is no solution in it");
}

#[test]
fn of_a_root_or_leaf_that_cannot_be_read_nothing_is_known() {
    let root = catalog(&placeholder("TensileLibrary_a"));
    let cut = root[..root.len() - 3].to_vec();
    let broken = [
        vec![("TensileLibrary_lazy_gfx1201.dat", cut.clone())],
        vec![("TensileLibrary_lazy_gfx1201.dat", root.clone()), ("TensileLibrary_a.dat", cut)],
    ];
    for files in broken {
        let service = serve(&Memory::new(files), "gfx1201", &mut |_| ());
        assert_eq!(service.verdict(), Verdict::NotKnown, "{service:?}");
        assert!(service.troubles().any(|it| it.is_unreadable() && it.to_string().contains(".dat: ")), "{service:?}");
    }
    // An unknown kind of node may lead to solutions; a missing leaf leads to none.
    let mut strange = vec![0x81];
    text(&mut strange, "type");
    text(&mut strange, "Oracle");
    let service =
        serve(&Memory::new(vec![("TensileLibrary_lazy_gfx1201.dat", catalog(&strange))]), "gfx1201", &mut |_| ());
    assert_eq!(service.verdict(), Verdict::NotKnown, "{service:?}");
    let service = serve(&Memory::new(vec![("TensileLibrary_lazy_gfx1201.dat", root)]), "gfx1201", &mut |_| ());
    assert_eq!(service.verdict(), Verdict::No, "{service:?}");
}

#[test]
fn a_claim_of_four_billion_solutions_costs_nothing() {
    let mut bomb = vec![0x81];
    text(&mut bomb, "solutions");
    bomb.extend_from_slice(&[0xdd, 0xff, 0xff, 0xff, 0xff]);
    assert!(Catalog::parse(&bomb).is_err());
    let mut map = vec![0x81];
    text(&mut map, "library");
    map.extend_from_slice(&[0xdf, 0xff, 0xff, 0xff, 0xff]);
    assert!(Catalog::parse(&map).is_err());
}

#[test]
fn nesting_without_end_is_an_error_not_a_stack_overflow() {
    let mut out = vec![0x81];
    text(&mut out, "library");
    for _ in 0..100_000 {
        out.push(0x81);
        text(&mut out, "rows");
        out.extend_from_slice(&[0x91, 0x81]);
        text(&mut out, "library");
    }
    out.push(0x80);
    let error = Catalog::parse(&out).unwrap_err();
    assert!(error.to_string().contains("nested deeper"), "{error}");
    let mut predicate = vec![0x81];
    text(&mut predicate, "library");
    predicate.push(0x81);
    text(&mut predicate, "property");
    for _ in 0..100_000 {
        predicate.push(0x81);
        text(&mut predicate, "value");
    }
    predicate.push(0x80);
    assert!(Catalog::parse(&predicate).is_err());
}

#[test]
fn every_cut_of_a_catalog_is_an_error() {
    let whole = catalog(&placeholder("TensileLibrary_leaf_gfx1201"));
    assert_eq!(Catalog::parse(&whole).unwrap().leaves(None), ["TensileLibrary_leaf_gfx1201"]);
    for end in 0..whole.len() {
        assert!(Catalog::parse(&whole[..end]).is_err(), "cut at {end}");
    }
    let more = [whole, vec![0]].concat();
    assert!(Catalog::parse(&more).is_err(), "bytes after the end");
}

#[test]
fn every_changed_byte_is_survived() {
    let whole = catalog(&placeholder("TensileLibrary_leaf_gfx1201"));
    let (mut read, mut refused) = (0, 0);
    for at in 0..whole.len() {
        for value in [0x00, 0x7f, 0x80, 0x8f, 0x90, 0xc1, 0xdb, 0xdd, 0xdf, 0xff] {
            let mut changed = whole.clone();
            changed[at] = value;
            match Catalog::parse(&changed) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 0 && refused > 0, "{read} catalogs were read, {refused} refused");
}
