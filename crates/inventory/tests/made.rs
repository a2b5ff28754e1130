//! Real HIP libraries, compiled during the test without ROCm: every bundle form, id form and code object version that
//! clang writes. Skipped if clang with the AMDGPU target and lld are not installed.

use codeobject::ReadAt;
use inventory::{File, FileReport, Nothing, Options, inspect};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{convert::Infallible, fs};

const SOURCE: &str = r#"
#define GLOBAL __attribute__((global))
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);
extern "C" unsigned __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, void* = 0);
extern "C" unsigned __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, void**);
GLOBAL void scale(float* x, float k) { x[__builtin_amdgcn_workitem_id_x()] *= k; }
GLOBAL void empty() {}
GLOBAL void trap() { __builtin_trap(); }
void run(float* x) { scale<<<dim3{1, 1, 1}, dim3{64, 1, 1}>>>(x, 2.f); }
"#;

struct Made {
    clang: PathBuf,
    dir: tempfile::TempDir,
}

impl Made {
    fn new() -> Option<Self> {
        let clang = llvm_oracle::need("clang++")?;
        llvm_oracle::need("ld.lld")?;
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("made.hip"), SOURCE).unwrap();
        Some(Made { clang, dir })
    }

    /// A shared library for gfx900 and gfx1201 with these flags; None if this clang does not support them.
    fn library(&self, version: Option<&str>, flags: &[&str]) -> Option<PathBuf> {
        let path = self.dir.path().join("made.so");
        let mut clang = Command::new(&self.clang);
        clang.current_dir(&self.dir).args(["-x", "hip", "made.hip", "-O3", "-nogpuinc", "-nogpulib", "-no-hip-rt"]);
        clang.args(["-fPIC", "-shared", "-fuse-ld=lld", "--offload-arch=gfx900", "--offload-arch=gfx1201"]);
        clang.args(flags).arg("-o").arg(&path);
        if let Some(version) = version {
            clang.env("COMPRESSED_BUNDLE_FORMAT_VERSION", version);
        }
        let output = clang.output().unwrap();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            test_artifacts::skip(&format!("a clang with {flags:?}"), said.lines().next().unwrap_or("install clang-22"));
            return None;
        }
        Some(path)
    }
}

fn report(path: &Path) -> FileReport {
    let file = File::open(path).unwrap();
    assert!(!file.is_empty());
    inspect(&file, &Options::default(), true, &Nothing, |_, ()| Ok::<(), Infallible>(())).unwrap()
}

/// Three kernels for each target, two of them without device code; everything is read.
fn check(report: &FileReport, targets: &[&str]) {
    assert!(report.is_complete(), "{:?}", report.all_problems().collect::<Vec<_>>());
    assert_eq!(report.kind, "shared library");
    assert_eq!((report.wrappers, report.bundles.len()), (1, 1));
    let found = report.targets();
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), targets);
    assert!(found.values().all(|t| (t.kernels, t.stubs, t.differing) == (3, 2, 0)), "{found:?}");
    assert!(report.objects().all(|object| object.contradictions.is_empty()));
}

#[test]
fn every_bundle_form_of_clang_is_read() {
    let Some(made) = Made::new() else { return };
    let plain = report(&made.library(None, &[]).unwrap());
    check(&plain, &["gfx1201", "gfx900"]);
    assert_eq!(plain.bundles[0].bundle.ccob_version(), None);
    for version in ["2", "3"] {
        let Some(path) = made.library(Some(version), &["--offload-compress"]) else { continue };
        let packed = report(&path);
        check(&packed, &["gfx1201", "gfx900"]);
        let written = packed.bundles[0].bundle.ccob_version().map(|version| version.to_string());
        // Older clangs do not know the variable and write version 1 or 2.
        if made.clang.ends_with("clang++-22") {
            assert_eq!(written.as_deref(), Some(version));
        }
    }
}

#[test]
fn both_id_forms_and_relocatable_device_code_are_read() {
    let Some(made) = Made::new() else { return };
    for (flags, kind) in
        [(&["--no-offload-new-driver"][..], "hipv4"), (&["--offload-new-driver"], "hip"), (&["-fgpu-rdc"], "hip")]
    {
        let Some(path) = made.library(None, flags) else { continue };
        let report = report(&path);
        check(&report, &["gfx1201", "gfx900"]);
        let kinds: Vec<&str> = report.objects().filter(|o| o.is_device()).map(|o| o.kind.as_str()).collect();
        assert!(kinds.iter().all(|found| found.starts_with(kind)), "{flags:?} {kinds:?}");
    }
}

#[test]
fn code_object_versions_features_and_generic_targets_are_read() {
    let Some(made) = Made::new() else { return };
    for version in [4, 5, 6] {
        let Some(path) = made.library(None, &[&format!("-mcode-object-version={version}")]) else { continue };
        let report = report(&path);
        check(&report, &["gfx1201", "gfx900"]);
        assert!(report.targets().values().all(|t| t.versions == Some((version, version))));
    }
    if let Some(path) = made.library(None, &["--offload-arch=gfx90a:sramecc+:xnack-"]) {
        check(&report(&path), &["gfx1201", "gfx900", "gfx90a:sramecc+:xnack-"]);
    }
    if let Some(path) = made.library(None, &["-mcode-object-version=6", "--offload-arch=gfx12-generic"]) {
        check(&report(&path), &["gfx12-generic", "gfx1201", "gfx900"]);
    }
}
