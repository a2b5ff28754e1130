//! Tests the launch map of real libraries: every registration call of the file is read, and the numbers are exact.

use std::{collections::HashSet, fs, path::Path};

use codeobject::launch_map::{Image, Kind, LaunchMap, Vendor, launch_map};

fn map_of(path: &Path) -> LaunchMap {
    let data = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let image = Image::read(&data).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let map = launch_map(&image);
    assert!(map.completeness.is_complete(), "{}: {:?}", path.display(), map.completeness);
    map
}

#[test]
fn every_rocm_bitsandbytes_registers_its_175_kernels() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    for version in ["64", "70", "71", "72", "714", "715"] {
        let map = map_of(&dir.join(format!("bitsandbytes/libbitsandbytes_rocm{version}.so")));
        let handles: HashSet<u64> = map.kernels().map(|k| k.handle).collect();
        assert_eq!((map.kernels().count(), handles.len(), map.wrappers.len()), (175, 175, 2), "rocm{version}");
        assert!(map.wrappers.iter().all(|w| w.vendor == Vendor::Amd && w.version == 1));
        assert!(map.completeness.wrappers_unregistered.is_empty());
    }
}

/// Relocatable device code: kernels register through callbacks that six linked binaries gather in memory.
#[test]
fn every_cuda_bitsandbytes_registers_its_202_kernels_through_callbacks() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    for version in ["118", "121", "124", "126", "128", "130", "132"] {
        let map = map_of(&dir.join(format!("bitsandbytes/libbitsandbytes_cuda{version}.so")));
        let handles: HashSet<u64> = map.kernels().map(|k| k.handle).collect();
        assert_eq!((map.kernels().count(), handles.len(), map.wrappers.len()), (202, 202, 7), "cuda{version}");
        let linked = map.wrappers.iter().filter(|w| w.version == 2).count();
        assert_eq!((linked, map.completeness.wrappers_unregistered.len()), (1, 6), "cuda{version}");
    }
}

#[test]
fn onnxruntime_registers_weak_templates_twice_and_the_first_wins() {
    let Some(dir) = test_artifacts::need("onnxruntime-rocm-1.22.2.post3") else { return };
    let map = map_of(&dir.join("onnxruntime/capi/libonnxruntime_providers_rocm.so"));
    assert_eq!((map.wrappers.len(), map.kernels().count()), (95, 10081));
    let variables = map.registrations.iter().filter(|r| r.kind == Kind::Variable).count();
    assert_eq!((variables, map.duplicates().len()), (1, 188));
    let losers: Vec<_> = map.kernels().filter(|k| !k.wins).collect();
    assert_eq!(losers.len(), 353);
    for loser in losers {
        let winner = map.kernel(loser.handle).expect("a handle that lost has a winner");
        assert!(winner.constructor < loser.constructor && winner.name == loser.name, "{}", loser.name);
    }
}

#[test]
fn jax_plugins_register_a_handful_each() {
    let Some(dir) = test_artifacts::need("jax-rocm7-plugin-0.12.0") else { return };
    for (name, kernels) in [("_linalg", 7), ("_prng", 1), ("_solver", 13), ("_sparse", 0), ("_triton", 0)] {
        let map = map_of(&dir.join(format!("jax_rocm7_plugin/{name}.so")));
        assert_eq!(map.kernels().count(), kernels, "{name}");
    }
    let Some(dir) = test_artifacts::need("jax-rocm60-plugin-0.5.0") else { return };
    for (name, kernels) in [("_blas", 1), ("_linalg", 3), ("_prng", 1), ("_solver", 1), ("_rnn", 0)] {
        let map = map_of(&dir.join(format!("jax_rocm60_plugin/{name}.so")));
        assert_eq!(map.kernels().count(), kernels, "{name}");
    }
}

#[test]
fn damaged_hosts_are_errors_or_partial_maps_never_panics() {
    let Some(dir) = test_artifacts::need("jax-rocm7-plugin-0.12.0") else { return };
    let data = fs::read(dir.join("jax_rocm7_plugin/_prng.so")).expect("readable");
    let whole = launch_map(&Image::parse(&data).expect("a library")).kernels().count();
    assert!(whole > 0);
    for keep in (0..data.len()).step_by(data.len() / 97) {
        if let Ok(image) = Image::parse(&data[..keep]) {
            assert!(launch_map(&image).kernels().count() <= whole, "{keep} bytes");
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..200 {
        let mut copy = data.clone();
        for _ in 0..64 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = state as usize % copy.len();
            copy[at] = (state >> 32) as u8;
        }
        if let Ok(image) = Image::parse(&copy) {
            launch_map(&image);
        }
    }
}
