//! SPIR-V in host files: found at any position, named if the file has names, and rejected if it is not valid.

use inventory::{File, FileReport, Form, Nothing, Options, inspect};
use made_files as make;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn report(path: &Path) -> FileReport {
    let file = File::open(path).expect("there");
    inspect::<_, std::convert::Infallible>(&file, &Options::all(), false, &Nothing, |_, ()| Ok(())).expect("read")
}

/// A C library with these modules, by name.
fn library(dir: &Path, modules: &[(&str, Vec<u8>)], strip: bool) -> PathBuf {
    let mut text = String::new();
    for (name, bytes) in modules {
        let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
        text += &format!(
            "__attribute__((visibility(\"hidden\"), used)) const unsigned char {name}_data[] = {{{}}};\n",
            list.join(",")
        );
    }
    let (source, library) = (dir.join("shaders.c"), dir.join("libshaders.so"));
    fs::write(&source, text).expect("written");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    compile.args(strip.then_some("-s"));
    assert!(compile.status().expect("a C compiler").success());
    library
}

/// Debian's own library: the same modules as a search through all of its bytes finds, each a kernel.
#[test]
fn ggml_ships_its_kernels_as_modules() {
    let name = "root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-vulkan.so";
    let Some(path) = test_artifacts::file("debian-sid-vulkan", name) else { return };
    let report = report(&path);
    assert!(report.is_complete() && report.searched_spirv, "{:?}", report.problems);
    let bytes = fs::read(&path).expect("read");
    let expected: Vec<(u64, Option<usize>)> =
        spirv_modules::find(&bytes).iter().map(|found| (found.offset as u64, found.length)).collect();
    let found: Vec<(u64, Option<usize>)> =
        report.modules.iter().map(|of| (of.offset, usize::try_from(of.size).ok())).collect();
    assert_eq!(found, expected);
    assert!(found.len() > 1000, "{}", found.len());
    let kernel = |entry: &spirv_modules::EntryPoint| entry.model == "GLCompute" && entry.name == "main";
    assert!(report.modules.iter().all(|of| matches!(of.module.entry_points.as_slice(), [entry] if kernel(entry))));
    let features = |name: &str| report.modules.iter().filter(|of| of.module.features().contains(&name)).count();
    assert!(features("matrix") > 100 && features("dot") > 10, "{} {}", features("matrix"), features("dot"));
    assert!(report.modules.iter().all(|of| of.name.is_none()), "Debian strips it, and nothing is guessed");
    // Any Vulkan driver compiles the modules for its GPU.
    let serves = report.serves(&gpu::Arch::parse("gfx1201").expect("known"));
    assert_eq!(serves.answer(), Some(true), "{serves:?}");
}

#[test]
fn symbols_name_modules_and_a_stripped_file_has_none() {
    let dir = tempfile::tempdir().expect("a directory");
    let modules = [("matmul_q4_k_f32", make::spirv(1)), ("add_f32", make::spirv(2))];
    for strip in [false, true] {
        let report = report(&library(dir.path(), &modules, strip));
        let mut names: Vec<Option<&str>> = report.modules.iter().map(|of| of.name.as_deref()).collect();
        names.sort_unstable();
        let expected = if strip { [None, None] } else { [Some("add_f32"), Some("matmul_q4_k_f32")] };
        assert_eq!(names, expected);
        assert!(report.is_complete() && report.form == Form::Host, "{:?}", report.problems);
        let constants: Vec<u32> = report.modules.iter().map(|of| of.module.constants[&3].default).collect();
        assert!(constants == [1, 2] || constants == [2, 1], "{constants:?}");
    }
}

#[test]
fn what_begins_like_a_module_and_is_none_leaves_the_list_open() {
    let dir = tempfile::tempdir().expect("a directory");
    let whole = make::spirv(1);
    let cut = whole[..whole.len() - 8].to_vec();
    let report = report(&library(dir.path(), &[("a", cut), ("b", whole)], false));
    assert_eq!(report.modules.len(), 1);
    assert!(!report.is_complete());
    assert!(report.problems[0].to_string().contains("not followed by a complete module"), "{}", report.problems[0]);
}

/// A header every 20 bytes: each could be the start of a module that reaches to the end.
#[test]
fn a_file_of_headers_alone_is_given_up_in_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let header = &make::spirv(1)[..20];
    let path = library(dir.path(), &[("a", header.repeat(4000))], true);
    let mut bytes = fs::read(&path).expect("read");
    bytes.extend(header.repeat(200_000));
    fs::write(&path, bytes).expect("written");
    let report = report(&path);
    assert!(report.modules.is_empty() && !report.is_complete());
}

#[test]
fn a_module_by_itself_is_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("kernel.spv");
    fs::write(&path, make::spirv(7)).expect("written");
    let report = report(&path);
    assert_eq!((report.form, report.kind, report.modules.len()), (Form::Spirv, "SPIR-V module", 1));
    assert!(report.is_complete(), "{:?}", report.problems);
    // A header and nothing else.
    fs::write(&path, &make::spirv(7)[..20]).expect("written");
    assert!(!self::report(&path).is_complete());
}
