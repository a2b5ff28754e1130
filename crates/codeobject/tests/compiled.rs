//! Tests constructors compiled with flags that distributions do not use: without optimisation, without a procedure
//! linkage table, with the large code model, with packed relocations, and as a loop over an entry table.

use std::{fs, path::Path, process::Command};

use codeobject::launch_map::{Image, LaunchMap, launch_map};

/// The source of one of two translation units, which share ten template instances. Each has a kernel, a hidden kernel
/// and two variables.
fn source(unit: usize) -> String {
    let launches: String = (0..10).map(|n| format!("k<{n}><<<a, a>>>(p); ")).collect();
    format!(
        "struct dim3 {{ unsigned x, y, z; }};
         extern \"C\" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
         extern \"C\" int __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, void * = 0);
         extern \"C\" int __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, void **);
         __attribute__((constant)) int table{unit}[4];
         __attribute__((device)) int counter{unit};
         template <int N> __attribute__((global)) void k(int *p) {{ p[0] = N; }}
         __attribute__((global)) void plain{unit}(int *p) {{ *p = table{unit}[0] + counter{unit}; }}
         static __attribute__((global)) void hidden(int *p) {{ *p = 2; }}
         void run{unit}(int *p) {{ dim3 a{{1, 1, 1}}; {launches} plain{unit}<<<a, a>>>(p); hidden<<<a, a>>>(p); }}"
    )
}

fn compiled(dir: &Path, flags: &[&str]) -> Option<LaunchMap> {
    let units: Vec<_> = (1..=2).map(|unit| dir.join(format!("{unit}.hip"))).collect();
    for (i, path) in units.iter().enumerate() {
        fs::write(path, source(i + 1)).expect("writable");
    }
    let library = dir.join("lib.so");
    let fixed =
        ["--offload-arch=gfx1201", "-nogpuinc", "-nogpulib", "-no-hip-rt", "-fPIC", "-shared", "-fuse-ld=lld", "-s"];
    let clang = test_artifacts::program("clang++-22", "install clang-22 and lld-22")?;
    let output = Command::new(clang)
        .args(["-x", "hip"])
        .args(&units)
        .args(fixed)
        .args(flags)
        .arg("-o")
        .arg(&library)
        .output()
        .expect("clang runs");
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    let data = fs::read(&library).expect("readable");
    let image = Image::read(&data).expect("an ELF file");
    let map = launch_map(&image);
    assert!(map.completeness.is_complete(), "{flags:?}: {:?}", map.completeness);
    Some(map)
}

#[test]
fn every_way_of_compiling_gives_the_same_map() {
    let dir = tempfile::tempdir().expect("a directory");
    let ways: [&[&str]; 5] = [
        &["-O0"],
        &["-O2", "-Wl,-z,pack-relative-relocs"],
        &["-O3", "-fno-plt", "-mcmodel=large"],
        &["-O2", "--offload-new-driver"],
        &["-O2", "-fgpu-rdc", "--offload-new-driver"],
    ];
    for flags in ways {
        let Some(map) = compiled(dir.path(), flags) else { return };
        let losers = map.kernels().filter(|k| !k.wins).count();
        let variables = map.registrations.len() - map.kernels().count();
        if flags.contains(&"-fgpu-rdc") {
            // The units are linked into one module: one loop registers everything, and each shared instance once.
            let counts = (map.wrappers.len(), map.kernels().count(), losers, map.completeness.sites);
            assert_eq!(counts, (1, 14, 0, 1), "{flags:?}");
        } else {
            let counts = (map.wrappers.len(), map.kernels().count(), losers, map.completeness.sites);
            assert_eq!(counts, (2, 24, 10, 24), "{flags:?}");
            assert_eq!(map.duplicates().len(), 11, "ten shared instances, and `hidden` twice: {flags:?}");
        }
        assert_eq!(variables, 4, "{flags:?}");
    }
}
