//! Tests NVIDIA fatbins of real libraries: LZ4, zstd and raw entries, and resources as `cuobjdump` prints them.

use std::{collections::BTreeSet, fs};

use codeobject::{
    launch_map::{Image, launch_map},
    nvidia::{Compression, EntryKind, Inventory, Region, host_sections, walk},
};

const LIMIT: usize = 64 << 20;

/// For each library and compute capability: registers, stack and static shared memory summed over its 202 kernels, from
/// `cuobjdump -res-usage` of CUDA 13.4 (without device functions that are not kernels). For `cuda121`, that `cuobjdump`
/// stops after the first image.
type Sums = &'static [(u32, u32, u32, u64)];
#[rustfmt::skip]
const RESOURCES: &[(&str, Sums)] = &[
    ("118", &[(60, 6791, 0, 1059512), (70, 7342, 0, 1059512), (75, 8036, 8, 1059512), (80, 9036, 8, 1059512), (86, 8975, 8, 1059512), (89, 8975, 8, 1059512), (90, 8101, 0, 1219256)]),
    ("121", &[(60, 6542, 0, 1059512)]),
    ("124", &[(60, 6623, 0, 1059512), (70, 7092, 0, 1059512), (75, 7996, 0, 1059512), (80, 8814, 0, 1059512), (86, 8778, 0, 1059512), (89, 8778, 0, 1059512), (90, 8182, 0, 1219256)]),
    ("126", &[(60, 6623, 0, 1059512), (70, 7092, 0, 1059512), (75, 7996, 0, 1059512), (80, 8814, 0, 1059512), (86, 8778, 0, 1059512), (89, 8778, 0, 1059512), (90, 8183, 0, 1219256)]),
    ("128", &[(70, 7093, 0, 1059512), (75, 7997, 0, 1059512), (80, 8814, 0, 1059512), (86, 8774, 0, 1059512), (89, 8774, 0, 1059512), (90, 8180, 0, 1219256), (100, 8407, 336, 1219256), (120, 9104, 336, 1229496)]),
    ("130", &[(75, 8404, 0, 1059512), (80, 9440, 0, 1059512), (86, 9286, 0, 1059512), (89, 9286, 0, 1059512), (90, 8164, 0, 1219256), (100, 8440, 336, 1219256), (120, 9241, 336, 1229496)]),
    ("132", &[(75, 9312, 0, 1059512), (80, 9568, 0, 1059512), (86, 9371, 0, 1059512), (89, 9371, 0, 1059512), (90, 8192, 0, 1219256), (100, 8404, 336, 1219256), (120, 9408, 336, 1229496)]),
];

/// From compute capability 9.0, `cuobjdump` counts the 1,024 bytes that the driver reserves in each shared section.
fn reserved(kernel: &codeobject::nvidia::CubinKernel, sm: u32) -> u64 {
    if sm >= 90 && kernel.shared_section.is_some() { 1024 } else { 0 }
}

fn check_resources(found: &Inventory, version: &str, sums: Sums) {
    for (sm, registers, stack, shared) in sums {
        let row = found.rows.iter().find(|r| r.region == Region::Linked && r.sm == *sm);
        let kernels = &row.and_then(|r| r.cubin.as_ref()).expect("a cubin").kernels;
        let add = |f: fn(&codeobject::nvidia::CubinKernel) -> Option<u32>| -> u32 {
            kernels.iter().map(|k| f(k).expect("stated")).sum()
        };
        let got =
            (add(|k| k.registers), add(|k| k.stack), kernels.iter().map(|k| k.shared + reserved(k, *sm)).sum::<u64>());
        assert_eq!((kernels.len(), got), (202, (*registers, *stack, *shared)), "cuda{version} sm_{sm}");
        // The older layout repeats the register count in sh_info, up to sm_89.
        for kernel in kernels {
            assert!(kernel.registers_section.is_none_or(|n| Some(n) == kernel.registers), "{}", kernel.name);
            assert_eq!(kernel.registers_section.is_some(), *sm < 90, "cuda{version} sm_{sm} {}", kernel.name);
        }
    }
}

#[test]
fn bitsandbytes_cuda_libraries_to_the_last_entry() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    for (version, sums) in RESOURCES {
        let data = fs::read(dir.join(format!("bitsandbytes/libbitsandbytes_cuda{version}.so"))).expect("readable");
        let found = Inventory::read(&data, LIMIT).expect("an ELF file");
        assert!(found.is_complete() && found.sections.iter().all(|s| s.padding == 0), "cuda{version}");
        let containers: Vec<(Region, usize)> =
            found.sections.iter().map(|s| (s.section.region, s.containers.len())).collect();
        assert_eq!(containers, [(Region::Relocatable, 6), (Region::Linked, 1)], "cuda{version}");
        assert!(found.rows.iter().all(|r| r.error.is_none() && (r.cubin.is_some() || r.ptx.is_some())));

        let image = Image::parse(&data).expect("an ELF file");
        let map = launch_map(&image);
        let linked = found.sections.iter().find(|s| s.section.region == Region::Linked).expect("one");
        assert!(map.kernels().all(|k| linked.container_at(map.wrappers[k.wrapper].image) == Some(0)), "cuda{version}");
        let registered: BTreeSet<&str> = map.kernels().map(|k| k.name.as_str()).collect();
        for ((region, kind, sm), kernels) in found.kernels() {
            assert_eq!(kernels, registered, "cuda{version} {region:?} {kind} sm_{sm}");
        }
        check_resources(&found, version, sums);

        let linked = found.rows.iter().filter(|r| r.region == Region::Linked);
        let packed = if matches!(*version, "130" | "132") { Compression::Zstd } else { Compression::None };
        assert!(linked.clone().all(|r| r.compression == packed && r.kind == EntryKind::Cubin), "cuda{version}");
        let relocatable = found.rows.iter().filter(|r| r.region == Region::Relocatable);
        let packed = if matches!(*version, "130" | "132") { Compression::Zstd } else { Compression::Lz4 };
        assert!(relocatable.clone().all(|r| r.compression == packed), "cuda{version}");
        // PTX for the newest capability only, one per translation unit.
        let ptx: BTreeSet<u32> = relocatable.filter(|r| r.kind == EntryKind::Ptx).map(|r| r.sm).collect();
        let newest = linked.map(|r| r.sm).max().expect("some");
        assert_eq!(ptx, BTreeSet::from([newest]), "cuda{version}");
    }
}

#[test]
fn damaged_containers_are_errors_with_offsets_never_panics() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let data = fs::read(dir.join("bitsandbytes/libbitsandbytes_cuda132.so")).expect("readable");
    let sections = host_sections(&data).expect("an ELF file");
    let section = sections.iter().find(|s| s.region == Region::Relocatable).expect("one");
    let section = &data[section.offset as usize..(section.offset + section.size) as usize];
    // The first container has only a few kilobytes, so the test tries every truncation and damages every byte.
    let whole = walk(section).containers[0].size;
    let small = &section[..whole];
    for keep in 0..whole {
        let found = walk(&small[..keep]);
        assert!(found.containers.is_empty() && (keep < 4 || !found.errors.is_empty()), "{keep}");
    }
    for at in 0..whole {
        let mut copy = small.to_vec();
        copy[at] ^= 0xff;
        for container in walk(&copy).containers {
            for entry in container.entries {
                if let Ok(image) = entry.image(&copy, 1 << 20) {
                    codeobject::nvidia::cubin(&image);
                }
            }
        }
    }
}

#[test]
fn a_claim_of_four_gigabytes_in_a_kilobyte_is_refused() {
    let mut container = vec![0u8; 16 + 64 + 8];
    container[..4].copy_from_slice(&0xba55_ed50u32.to_le_bytes());
    container[4] = 1;
    container[6] = 16;
    container[8] = 72;
    let entry = &mut container[16..];
    entry[0] = 2;
    entry[4] = 64;
    entry[8] = 8;
    entry[16] = 8;
    entry[40..48].copy_from_slice(&0x2011u64.to_le_bytes());
    entry[56..64].copy_from_slice(&u64::from(u32::MAX).to_le_bytes());
    let found = walk(&container);
    let error = found.containers[0].entries[0].image(&container, usize::MAX).expect_err("refused");
    assert!(error.to_string().contains("offset 0x10"), "{error}");
}
