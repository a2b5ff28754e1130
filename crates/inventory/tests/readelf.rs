//! A seeded sample of the code objects of real files, compared field by field with `llvm-readelf`. `cargo xtask deep`
//! does the same for every object.

use codeobject::{CodeObject, Kernel, ReadAt};
use inventory::{File, Format, Found, Look, Options, inspect};
use std::path::{Path, PathBuf};
use std::{convert::Infallible, fs};
use sys::random::Seeded;

/// Selects about one in `every` of the device ELFs, always the same ones.
struct Sample<'a> {
    every: u64,
    dir: &'a Path,
}

impl Look for Sample<'_> {
    type Out = Vec<PathBuf>;

    fn entry(&self, found: &Found<'_>, out: &mut Vec<PathBuf>) -> bool {
        let number = found.bundle.unwrap_or(0) as u64 * 101 + found.entry as u64;
        if found.format == Format::Elf
            && found.kind != "host"
            && Seeded::new(number).number().is_multiple_of(self.every)
        {
            let path = self.dir.join(format!("{}-{}", found.bundle.unwrap_or(0), found.entry));
            let bytes = found.contents.bytes(0, found.contents.len(), "entry").unwrap();
            fs::write(&path, bytes).unwrap();
            out.push(path);
        }
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, _: &Kernel, _: &mut Vec<PathBuf>) {}
}

/// Reads the sampled objects of one file with both; returns how many kernels were compared.
fn compare(path: &Path, every: u64) -> usize {
    let Some(readelf) = llvm_oracle::need("llvm-readelf") else { return usize::MAX };
    let dir = tempfile::tempdir().unwrap();
    let file = File::open(path).unwrap();
    let mut objects = Vec::new();
    inspect(&file, &Options::default(), false, &Sample { every, dir: dir.path() }, |_, paths| {
        objects.extend(paths);
        Ok::<(), Infallible>(())
    })
    .unwrap();
    compare_objects(&readelf, &objects)
}

fn compare_objects(readelf: &Path, objects: &[PathBuf]) -> usize {
    assert!(!objects.is_empty());
    let mut kernels = 0;
    for batch in objects.chunks(32) {
        let paths: Vec<&Path> = batch.iter().map(PathBuf::as_path).collect();
        for (path, said) in batch.iter().zip(llvm_oracle::read(readelf, &paths).unwrap()) {
            let bytes = fs::read(path).unwrap();
            let object = CodeObject::parse(&bytes).unwrap();
            let wrong = llvm_oracle::differences(&object, &said);
            assert!(wrong.is_empty(), "{}: {:#?}", path.display(), &wrong[..wrong.len().min(5)]);
            kernels += said.kernels.len();
        }
    }
    kernels
}

#[test]
fn bitsandbytes_agrees_with_readelf() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    for library in ["libbitsandbytes_rocm64.so", "libbitsandbytes_rocm715.so"] {
        assert!(compare(&dir.join("bitsandbytes").join(library), 4) > 300);
    }
}

#[test]
fn the_zlib_bundle_agrees_with_readelf() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.49.2") else { return };
    assert!(compare(&dir.join("bitsandbytes/libbitsandbytes_rocm62.so"), 1) >= 682);
}

#[test]
fn onnxruntime_agrees_with_readelf() {
    let Some(dir) = test_artifacts::need("onnxruntime-rocm-1.22.2.post3") else { return };
    assert!(compare(&dir.join("onnxruntime/capi/libonnxruntime_providers_rocm.so"), 30) > 1000);
}

#[test]
fn debian_ggml_agrees_with_readelf() {
    let path = "root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so";
    let Some(library) = test_artifacts::file("debian-sid", path) else { return };
    assert!(compare(&library, 40) > 1000);
}

#[test]
fn bare_objects_of_aiter_agree_with_readelf() {
    let Some(dir) = test_artifacts::need("amd-aiter-0.1.7.post2.dev18") else { return };
    let Some(readelf) = llvm_oracle::need("llvm-readelf") else { return };
    let mut objects = Vec::new();
    test_artifacts::files(&dir, &mut |path| objects.push(path.to_owned()));
    objects.retain(|path| path.extension().is_some_and(|extension| extension == "co"));
    objects.sort();
    let sample: Vec<PathBuf> = objects.into_iter().step_by(16).collect();
    assert!(compare_objects(&readelf, &sample) >= 150);
}

/// Processor numbers and names are the same in readelf and here.
#[test]
fn processor_numbers_are_llvms() {
    let Some(readelf) = llvm_oracle::need("llvm-readelf") else { return };
    let dir = tempfile::tempdir().unwrap();
    let numbers: Vec<u32> = (1..=0xff).collect();
    let paths: Vec<PathBuf> = numbers
        .iter()
        .map(|number| {
            let path = dir.path().join(format!("{number:02x}"));
            fs::write(&path, made_files::elf(224, 64, 3, *number, &[])).unwrap();
            path
        })
        .collect();
    let output = std::process::Command::new(&readelf).arg("--file-header").args(&paths).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let flags: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix("Flags:")).collect();
    assert_eq!(flags.len(), numbers.len());
    for (number, flags) in numbers.iter().zip(flags) {
        let named = flags.split(',').map(str::trim).find(|word| word.starts_with("gfx"));
        let ours = codeobject::target::from_flags(*number, 5).map(|flags| flags.target.processor);
        match (ours.as_deref(), named) {
            // LLVM removed these two processors; old objects still name them.
            (Some("gfx940" | "gfx941"), None) => {}
            // LLVM 22 does not know these newer processors.
            (Some("gfx1170" | "gfx1171" | "gfx1172" | "gfx1310" | "gfx12-5-generic"), None) => {}
            // Another readelf may know processors that are newer than this table, or miss some.
            (None, Some(_)) | (Some(_), None) if !readelf.ends_with("llvm-readelf-22") => {}
            (ours, named) => assert_eq!(ours, named, "{number:#x}"),
        }
    }
}
