//! Code that was moved out of a library is found in its archives, including every kernel.

use codeobject::{CodeObject, Kernel, ReadAt};
use inventory::{File, FileReport, Found, Look, Options, inspect};
use made_files as make;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every code object with its bytes, and every kernel with its metadata.
struct All;

#[derive(Default)]
struct Seen {
    objects: Vec<(usize, String, Vec<u8>)>,
    kernels: Vec<(usize, String, String, String)>,
}

impl Look for All {
    type Out = Seen;

    fn entry(&self, found: &Found<'_>, out: &mut Seen) -> bool {
        let Some(target) = found.target.filter(|_| found.kind != "host") else { return false };
        let bytes = found.contents.bytes(0, found.contents.len(), "object").expect("readable").into_owned();
        out.objects.push((found.bundle.unwrap_or(0), target.to_string(), bytes));
        true
    }

    fn kernel(&self, found: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Seen) {
        let target = found.target.map(ToString::to_string).unwrap_or_default();
        let told = format!("{:?} {:?} {:?}", kernel.metadata, kernel.descriptor, kernel.stub);
        out.kernels.push((found.bundle.unwrap_or(0), target, kernel.mangled().to_owned(), told));
    }
}

fn read(path: &Path) -> (FileReport, Seen) {
    let file = File::open(path).expect("a file");
    let mut seen = Seen::default();
    let report = inspect(&file, &Options::all(), false, &All, |_, out: Seen| {
        seen.objects.extend(out.objects);
        seen.kernels.extend(out.kernels);
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(report) = report;
    seen.kernels.sort();
    (report, seen)
}

/// `lib/NAME` and `.kpack/test_TARGET.kpack`, one for each target.
fn split(library: &[u8], name: &str, objects: Vec<(usize, String, Vec<u8>)>, zstd: bool, root: &Path) {
    fs::create_dir_all(root.join("lib")).expect("a directory");
    fs::create_dir_all(root.join(".kpack")).expect("a directory");
    let reference = make::kpack_reference(&format!("lib/{name}"), &["../.kpack/test_@GFXARCH@.kpack"]);
    fs::write(root.join("lib").join(name), make::split(library, &reference).expect("split")).expect("written");
    let mut by_target: BTreeMap<String, Vec<(String, String, Vec<u8>)>> = BTreeMap::new();
    for (bundle, target, bytes) in objects {
        by_target.entry(target.clone()).or_default().push((format!("lib/{name}#{bundle}"), target, bytes));
    }
    for (target, entries) in by_target {
        fs::write(root.join(format!(".kpack/test_{target}.kpack")), make::kpack(&entries, zstd)).expect("written");
    }
}

fn same_before_and_after(library: &Path, zstd: bool) {
    let (before, seen) = read(library);
    assert!(before.all_problems().next().is_none() && !seen.kernels.is_empty());
    let dir = tempfile::tempdir().expect("a directory");
    let name = library.file_name().expect("a name").to_string_lossy().into_owned();
    split(&fs::read(library).expect("readable"), &name, seen.objects, zstd, dir.path());
    let (after, again) = read(&dir.path().join("lib").join(&name));
    let problems: Vec<String> = after.all_problems().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(after.targets().len(), before.targets().len());
    for (target, summary) in before.targets() {
        let packed = after.targets().get(&target).copied().unwrap_or_default();
        assert_eq!(
            (packed.objects, packed.kernels, packed.stubs),
            (summary.objects, summary.kernels, summary.stubs),
            "{target}"
        );
    }
    assert!(again.kernels == seen.kernels, "{} kernels, then {}", seen.kernels.len(), again.kernels.len());
    let archives = after.kpack.map(|kpack| kpack.archives.len());
    assert_eq!(archives, Some(before.targets().len()));
}

#[test]
fn a_made_library_has_the_same_kernels_before_and_after() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut fatbin = make::usual_bundle();
    fatbin.resize(fatbin.len().next_multiple_of(4096), 0);
    let second = fatbin.len() as u64;
    fatbin.extend_from_slice(&make::ccob(3, 1, &make::usual_bundle()));
    let path = dir.path().join("libx.so");
    fs::write(&path, make::host(&fatbin, &[0, second])).expect("written");
    same_before_and_after(&path, true);
    same_before_and_after(&path, false);
}

#[test]
fn a_real_library_has_the_same_kernels_before_and_after() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    same_before_and_after(&dir.join("bitsandbytes/libbitsandbytes_rocm72.so"), true);
}

#[test]
fn without_its_archives_nothing_is_said_of_the_code() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("libx.so");
    let reference = make::kpack_reference("lib/libx.so", &["../.kpack/x_@GFXARCH@.kpack"]);
    fs::write(&path, make::packed_host(2, &reference)).expect("written");
    let (report, _) = read(&path);
    assert!(!report.is_complete());
    let gfx1201 = gpu::Arch::parse("gfx1201").expect("a target");
    assert_eq!(report.serves(&gfx1201).answer(), None);
    let told: Vec<String> = report.all_problems().map(ToString::to_string).collect();
    assert!(told.iter().any(|problem| problem.contains("../.kpack/x_@GFXARCH@.kpack")), "{told:?}");
}

#[test]
fn a_damaged_archive_is_named_and_the_others_are_read() {
    let dir = tempfile::tempdir().expect("a directory");
    let object = |number: u32, target: &str| (format!("lib/libx.so#{number}"), target.to_owned(), make::two_kernels());
    let path = dir.path().join("libx.so");
    fs::write(&path, make::packed_host(1, &make::kpack_reference("lib/libx.so", &["a.kpack", "b.kpack"])))
        .expect("written");
    fs::write(dir.path().join("a.kpack"), make::kpack(&[object(0, "gfx1201")], true)).expect("written");
    fs::write(dir.path().join("b.kpack"), b"KPAK\x01\0\0\0\xff\xff\xff\xff\0\0\0\0").expect("written");
    let (report, seen) = read(&path);
    assert_eq!(seen.kernels.len(), 2);
    assert!(!report.is_complete());
    assert!(report.all_problems().any(|problem| problem.to_string().contains("b.kpack")));
    let gfx1201 = gpu::Arch::parse("gfx1201").expect("a target");
    assert_eq!(report.serves(&gfx1201).answer(), Some(true));
    let gfx1100 = gpu::Arch::parse("gfx1100").expect("a target");
    assert_eq!(report.serves(&gfx1100).answer(), None);
}

#[test]
fn an_archive_by_itself_is_listed() {
    let dir = tempfile::tempdir().expect("a directory");
    let object = |number: u32, target: &str| (format!("lib/libx.so#{number}"), target.to_owned(), make::two_kernels());
    let path = dir.path().join("x.kpack");
    fs::write(&path, make::kpack(&[object(0, "gfx1201"), object(1, "gfx1201")], true)).expect("written");
    let (report, seen) = read(&path);
    assert_eq!((report.bundles.len(), seen.kernels.len()), (2, 4));
    assert!(report.coverage.is_complete());
}
