//! Tests what the loader needs from the shims: names, versions and addresses. The shims must not need anything that an
//! old system lacks.

use object::read::elf::{ElfFile64, Sym, VersionTable};
use object::{Endianness, elf};
use std::collections::{BTreeMap, BTreeSet};

type Header = elf::FileHeader64<Endianness>;

struct Dynamic {
    /// Name, version and address of each defined symbol.
    defined: Vec<(String, String, u64)>,
    /// Name and version of each needed symbol.
    needed: Vec<(String, String)>,
}

fn dynamic(bytes: &[u8]) -> Dynamic {
    let file = ElfFile64::<Endianness>::parse(bytes).expect("an ELF library");
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let symbols = sections.symbols(endian, bytes, elf::SHT_DYNSYM).expect("dynamic symbols");
    let versions: VersionTable<'_, Header> =
        sections.versions(endian, bytes).expect("version sections").unwrap_or_default();
    let (mut defined, mut needed) = (Vec::new(), Vec::new());
    for (index, symbol) in symbols.enumerate() {
        let name = String::from_utf8_lossy(symbols.symbol_name(endian, symbol).expect("a name")).into_owned();
        let version = versions.version(versions.version_index(endian, index).into()).ok().flatten();
        let version = version.map(|v| String::from_utf8_lossy(v.name()).into_owned()).unwrap_or_default();
        if name.is_empty() || symbol.st_shndx(endian) == elf::SHN_ABS {
            continue;
        }
        if symbol.is_undefined(endian) {
            needed.push((name, version));
        } else {
            defined.push((name, version, symbol.st_value(endian)));
        }
    }
    Dynamic { defined, needed }
}

fn all() -> [(&'static str, &'static [u8]); 9] {
    [
        ("nullgpu 5", embedded_shims::NULLGPU_5),
        ("nullgpu 6", embedded_shims::NULLGPU_6),
        ("nullgpu 7", embedded_shims::NULLGPU_7),
        ("nullcuda", embedded_shims::NULLCUDA),
        ("nullblas", embedded_shims::NULLBLAS),
        ("nullrocblas", embedded_shims::NULLROCBLAS),
        ("nullsolver", embedded_shims::NULLSOLVER),
        ("preload", embedded_shims::PRELOAD),
        ("sparse_read", embedded_shims::SPARSE_READ),
    ]
}

#[test]
fn the_stand_ins_export_every_hip_symbol_with_its_version() {
    for (library, list) in [
        (embedded_shims::NULLGPU_5, include_str!("../shims/nullgpu/hip5.symbols")),
        (embedded_shims::NULLGPU_6, include_str!("../shims/nullgpu/hip6.symbols")),
        (embedded_shims::NULLGPU_7, include_str!("../shims/nullgpu/hip7.symbols")),
    ] {
        let found: BTreeMap<String, String> =
            dynamic(library).defined.into_iter().map(|(name, version, _)| (name, version)).collect();
        let wanted: Vec<(&str, &str)> = list.lines().filter_map(|line| line.split_once(' ')).collect();
        assert!(wanted.len() > 450);
        for (name, version) in wanted {
            assert_eq!(found.get(name).map(String::as_str), Some(version), "{name}");
        }
    }
}

#[test]
fn the_cuda_stand_in_has_every_public_function_and_each_name_leads_to_it() {
    let found: BTreeSet<String> =
        dynamic(embedded_shims::NULLCUDA).defined.into_iter().map(|(name, ..)| name).collect();
    let list = include_str!("../shims/nullcuda/functions.txt");
    let wanted: Vec<&str> = list.lines().filter(|line| !line.starts_with(['#', '['])).collect();
    assert!(wanted.len() > 3000, "{}", wanted.len());
    for name in wanted {
        assert!(found.contains(name), "{name}");
    }
    assert!(!found.iter().any(|name| name.starts_with("hip")), "what both stand-ins share has no name outside");
    for (soname, carrier) in embedded_shims::CUDA_CARRIERS {
        let file = ElfFile64::<Endianness>::parse(*carrier).expect("an ELF library");
        let text = String::from_utf8_lossy(carrier);
        assert!(text.contains("libwhichkernel-cuda.so") && text.contains(soname), "{soname}");
        assert!(carrier.len() < 20_000 && dynamic(carrier).defined.is_empty(), "{soname} is empty");
        drop(file);
    }
    assert_eq!(embedded_shims::CUDA_CARRIERS.len(), 20);
}

#[test]
fn nothing_newer_than_glibc_2_17_is_needed() {
    for (name, library) in all() {
        for (symbol, version) in dynamic(library).needed {
            let Some(number) = version.strip_prefix("GLIBC_") else {
                // The BLAS stand-in needs these functions of the GPU stand-in, which is loaded before it.
                let of_nullgpu = ["whichkernel_blas", "whichkernel_unsupported", "hipGetDevice", "hipMalloc"];
                assert!(of_nullgpu.contains(&symbol.as_str()), "{name} needs {symbol}@{version}");
                continue;
            };
            let mut parts = number.split('.').map(|part| part.parse::<u32>().expect("a number"));
            let (major, minor) = (parts.next().expect("major"), parts.next().expect("minor"));
            assert!((major, minor) <= (2, 17), "{name} needs {symbol}@{version}");
        }
    }
}

#[test]
fn every_entry_point_has_an_address_of_its_own() {
    for (name, library) in all() {
        let mut seen = BTreeSet::new();
        // `_Exit` also shares its address with another name in the C library, and no launch goes through it.
        for (symbol, _, address) in dynamic(library).defined.into_iter().filter(|(name, ..)| name != "_Exit") {
            assert!(
                seen.insert(address),
                "{name}: {symbol} shares its address, so a probe on it would see other calls"
            );
        }
    }
}

#[test]
fn a_stand_in_is_known_by_its_build_id() {
    let id = embedded_shims::build_id_of(embedded_shims::NULLGPU_6).expect("a build id");
    assert!(embedded_shims::is_nullgpu(id));
    assert!(!embedded_shims::is_nullgpu(embedded_shims::build_id_of(embedded_shims::PRELOAD).expect("a build id")));
}
