//! `inspect` and `isa` answer yes and no only if they know: targets of every kind, stubs, other formats, damaged files.

use made_files::{self as make, Kernel};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn run(verb: &str, path: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let output: Output = command.args(["--lang", "en", verb]).arg(path).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A library with one bundle of these code objects.
fn library(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut all: Vec<(&str, &[u8])> = vec![("host-x86_64-unknown-linux-gnu-", &[])];
    all.extend(entries.iter().map(|(id, object)| (*id, object.as_slice())));
    make::host(&make::bundle(&all, 256), &[0])
}

fn generic() -> Vec<u8> {
    // e_flags of gfx12-generic, version 1. The generator does not write code object V6; V5 has the same features.
    let kernels = [Kernel::live("_Z4livePf"), Kernel::stub("_Z4stubPf")];
    make::code_object(0x0100_0059, Some("amdgcn-amd-amdhsa--gfx12-generic"), &kernels)
}

#[test]
fn a_generic_target_serves_its_cards() {
    let place = Place::new();
    let path = place.file("lib.so", &library(&[("hipv4-amdgcn-amd-amdhsa--gfx12-generic", generic())]));
    for target in ["gfx1201", "GFX1200", "rx-9070-xt"] {
        let (code, out, _) = run("inspect", &path, &["--has-target", target]);
        assert_eq!(code, 0, "{target}: {out}");
        assert!(out.starts_with("Yes: ") && out.contains("gfx12-generic"), "{out}");
    }
    assert_eq!(run("inspect", &path, &["--has-target", "gfx1250"]).0, 1);
    assert_eq!(run("inspect", &path, &["--has-target", "gfx1100"]).0, 1);
    let (_, out, _) = run("inspect", &path, &["--has-target", "gfx1201", "--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["has_target"]["taken"], "gfx12-generic");
    assert_eq!(value["has_target"]["kernels"], 2);
    assert_eq!(value["has_target"]["stubs"], 1);
    let (_, out, _) = run("inspect", path.parent().unwrap(), &["--gpu", "gfx1201", "--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["libraries"][0]["serves"], true);
    assert_eq!(value["libraries"][0]["taken"], "gfx12-generic");
}

#[test]
fn a_target_that_nobody_knows_is_an_error_with_a_suggestion() {
    let place = Place::new();
    let path = place.file("lib.so", &library(&[("hipv4-amdgcn-amd-amdhsa--gfx1201", make::two_kernels())]));
    for verb in ["inspect", "isa"] {
        let (code, _, errors) = run(verb, &path, &["--target", "gfx1202"]);
        assert_eq!(code, 2);
        assert!(errors.contains("did you mean gfx120"), "{errors}");
    }
    assert_eq!(run("inspect", &path, &["--has-target", "sm_91"]).0, 2);
}

#[test]
fn a_library_of_stubs_serves_nobody() {
    let place = Place::new();
    let stubs = make::code_object(make::GFX1201, None, &[Kernel::stub("_Z1aPf"), Kernel::stub("_Z1bPf")]);
    let path = place.file("lib.so", &library(&[("hipv4-amdgcn-amd-amdhsa--gfx1201", stubs)]));
    let (code, out, _) = run("inspect", &path, &["--has-target", "gfx1201"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("No: ") && out.contains("stubs"), "{out}");
    let (_, out, _) = run("inspect", path.parent().unwrap(), &["--gpu", "gfx1201", "--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&value["libraries"][0]["serves"], &value["libraries"][0]["stubs"]), (&Value::from(false), &2.into()));
    assert_eq!(run("inspect", path.parent().unwrap(), &["--gpu", "gfx1201", "--strict"]).0, 1);
}

#[test]
fn nvidia_code_is_there_by_its_full_name() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let path = dir.join("bitsandbytes/libbitsandbytes_cuda124.so");
    let (code, out, _) = run("inspect", &path, &["--has-target", "sm_90"]);
    assert!(code == 0 && out.contains("202 kernels with code for sm_90"), "{out}");
    assert_eq!(run("inspect", &path, &["--has-target", "SM_90A"]).0, 0, "sm_90 code runs on a chip of that number");
    assert_eq!(run("inspect", &path, &["--has-target", "gfx1201"]).0, 1);
    let (code, out, _) = run("inspect", &path, &["--kernels", "--target", "sm_90", "--format", "csv"]);
    assert_eq!((code, out.lines().count()), (0, 203));
    assert!(out.lines().nth(1).is_some_and(|row| row.contains(",sm_90,")), "{out}");
    let (code, _, errors) = run("isa", &path, &[]);
    assert!(code == 2 && errors.contains("SASS"), "{errors}");
}

#[test]
fn a_directory_names_what_it_does_not_look_into() {
    let place = Place::new();
    place.file("libx.a", b"!<arch>\n");
    place.file("x.whl", b"PK\x03\x04rest");
    let (code, out, errors) = run("inspect", place.0.path(), &[]);
    assert_eq!(code, 0, "{errors}");
    assert!(out.contains("were not opened: libx.a (ar), x.whl (zip)"), "{out}");
}

#[test]
fn kernels_that_the_notes_leave_out_are_missed() {
    let place = Place::new();
    let mut object = make::two_kernels();
    // The note has another type, so its kernels are no longer read, but the descriptors are still there.
    let at = object.windows(8).position(|w| w == b"AMDGPU\0\0").unwrap();
    object[at - 4] = 99;
    let path = place.file("object.hsaco", &object);
    let (code, out, errors) = run("isa", &path, &[]);
    assert!(!out.contains("that are not counted here are not in the file"), "{out}");
    assert!(out.contains("0 of 2 kernel descriptors") || errors.contains("0 of 2 kernel descriptors"), "{out}{errors}");
    assert_eq!(run("isa", &path, &["--has", "v_mfma"]).0, 2);
    assert_eq!(code, 1, "not everything was decoded");
    assert_eq!(run("inspect", &path, &["--has-target", "gfx942"]).0, 2);
}

#[test]
fn what_cannot_be_read_is_not_called_empty() {
    let place = Place::new();
    let (code, _, errors) = run("isa", &place.file("x.so", b"rubbish"), &[]);
    assert!(code == 2 && !errors.contains("has no AMD GPU code") && errors.contains("could not be read"), "{errors}");
}

#[test]
fn a_filter_that_matches_nothing_names_what_is_near() {
    let place = Place::new();
    let kernel = Kernel::live("_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb0ELb0EEvPKvS2_PKi");
    let object = make::code_object(make::GFX1201, None, &[kernel]);
    let path = place.file("lib.so", &library(&[("hipv4-amdgcn-amd-amdhsa--gfx1201", object)]));
    for args in [&["isa"][..], &["inspect", "--kernels"]] {
        let (code, _, errors) = run(args[0], &path, &[&args[1..], &["--kernel", "mul_mat_vec_q<Q4_0"]].concat());
        assert_eq!(code, 2, "{args:?}");
        assert!(errors.contains("similar: mul_mat_vec_q<Q4_K,1"), "{errors}");
        let (code, out, errors) = run(args[0], &path, &[&args[1..], &["--kernel", "mul_mat_vec_q<Q4_K"]].concat());
        assert_eq!(code, 0, "{args:?}: {errors}");
        assert!(out.contains("mul_mat_vec_q"), "{out}");
    }
}

#[test]
fn a_name_gives_no_orders_to_the_terminal() {
    let place = Place::new();
    let object = make::code_object(make::GFX1201, None, &[Kernel::live("=evil\u{1b}]0;x\u{7}\u{9b}2J\nfake")]);
    let path = place.file("lib\u{1b}[2J.so", &library(&[("hipv4-amdgcn-amd-amdhsa--gfx1201", object)]));
    for format in ["text", "csv", "md", "json"] {
        for lang in ["en", "ja"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
            command.args(["--lang", lang, "inspect"]).arg(&path).args(["--kernels", "--format", format]);
            let output = command.output().unwrap();
            let all = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&all);
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{format} {lang}: {text:?}");
            assert!(text.contains("u001b"), "{format} {lang}: {text:?}");
        }
    }
    for args in [&[][..], &["--bundles"], &["--has-target", "gfx1201"], &["--kernel", "no such"]] {
        let (_, out, errors) = run("inspect", &path, args);
        assert!(!out.contains('\u{1b}') && !errors.contains('\u{1b}'), "{args:?}: {out:?} {errors:?}");
    }
}

#[test]
fn code_of_version_2_is_listed_and_counted() {
    let place = Place::new();
    let path = place.file("old.hsaco", &make::old_code_object("_Z3oldPf"));
    let (code, out, errors) = run("inspect", &path, &["--kernels", "--format", "csv"]);
    assert_eq!(code, 0, "{errors}");
    assert!(out.contains("old(float*),_Z3oldPf,,16,8,"), "{out}");
    let (_, out, _) = run("isa", &path, &["--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&value["complete"], &value["kernels"]), (&Value::from(true), &1.into()), "{out}");
    assert_eq!(value["groups"][0]["instructions"], 2, "the kernel's header is no code");
}

#[test]
fn a_cubin_by_itself_is_no_empty_file() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let data = fs::read(dir.join("bitsandbytes/libbitsandbytes_cuda124.so")).unwrap();
    let sections = codeobject::nvidia::host_sections(&data).unwrap();
    let linked = sections.iter().find(|s| s.region == codeobject::nvidia::Region::Linked).unwrap();
    let place = Place::new();
    let fatbin = &data[linked.offset as usize..(linked.offset + linked.size) as usize];
    let path = place.file("all.fatbin", fatbin);
    let (code, out, errors) = run("inspect", &path, &["--has-target", "sm_90"]);
    assert!(code == 0 && out.contains("202 kernels"), "{out}{errors}");
}

#[test]
fn several_inputs_patterns_and_packages_are_read_at_once() {
    let place = Place::new();
    let bytes = library(&[("hipv4-amdgcn-amd-amdhsa--gfx1201", make::two_kernels())]);
    let one = place.file("liba.so", &bytes);
    place.file("libb.so", &library(&[("hipv4-amdgcn-amd-amdhsa--gfx12-generic", generic())]));
    place.file("libc.a", &make::ar(&[("a.o", &bytes), ("text.o", b"nothing")]));
    place.file("d.dll", &make::windows(&make::usual_bundle()));
    let pattern = one.with_file_name("lib*.so");
    assert_eq!(run("inspect", &pattern, &["--has-target", "gfx1201"]).0, 0);
    assert_eq!(run("inspect", &pattern, &["--has-target", "gfx1100"]).0, 1);
    let (code, out, _) = run("inspect", &pattern, &["--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, value["answers"].as_array().map(Vec::len)), (0, Some(2)), "{out}");
    let (code, out, errors) = run("inspect", &one.with_file_name("libc.a"), &["--has-target", "gfx1201"]);
    assert!(
        code == 0 && out.contains("libc.a(a.o)") && errors.contains("1 member with GPU code, 1 without"),
        "{out}{errors}"
    );
    assert_eq!(run("inspect", &one.with_file_name("d.dll"), &["--has-target", "gfx1201"]).0, 0);
    assert_eq!(run("inspect", &one.with_file_name("nothing*.so"), &[]).0, 2);
    let (code, out, _) = run("isa", &pattern, &["--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, value["answers"].as_array().map(Vec::len)), (0, Some(2)), "{out}");
}
