//! Tests the grammar on every distinct kernel name of the real files: counts per library and family, and a sample of
//! names with all their facts. `BLESS=1 cargo test -p whichkernel-launch --test grammar` rewrites the goldens.
//!
//! The sample lines in the goldens contain the names, so they are checked even if the real files are not available.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use codeobject::{
    CodeObject,
    launch_map::{Image, launch_map},
};
use launch::grammar::{Family, Library, read};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"))
}

fn files_under(dir: &Path, accept: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            files_under(&path, accept, found);
        } else if path.file_name().and_then(|n| n.to_str()).is_some_and(accept) {
            found.push(path);
        }
    }
}

/// The names that the host files of a directory register, and those in bare code objects.
fn names_in(dir: &Path) -> BTreeSet<String> {
    let mut files = Vec::new();
    files_under(dir, &|name| [".so", ".co", ".hsaco"].iter().any(|end| name.ends_with(end)), &mut files);
    let mut names = BTreeSet::new();
    for path in files {
        let data = fs::read(&path).expect("readable");
        if path.extension().is_some_and(|e| e == "so") {
            if let Ok(image) = Image::parse(&data) {
                names.extend(launch_map(&image).kernels().map(|k| k.name.clone()));
            }
        } else if let Ok(object) = CodeObject::parse(&data) {
            names.extend(object.kernels().filter_map(Result::ok).map(|k| k.mangled().to_owned()));
        }
    }
    names
}

/// Counts per library and family, then about `keep` of the names with their facts.
fn report(names: &BTreeSet<String>, keep: usize) -> String {
    let mut counts: BTreeMap<(Library, Family), usize> = BTreeMap::new();
    for name in names {
        let facts = read(name);
        *counts.entry((facts.library, facts.family)).or_default() += 1;
    }
    let unread = names.iter().filter(|name| !read(name).unread.is_empty()).count();
    let mut text = format!("{} names, {unread} with parts that have no meaning\n", names.len());
    for ((library, family), count) in counts {
        text += &format!("{count} {} {family}\n", library.key());
    }
    text += "\n";
    let step = (names.len() / keep).max(1);
    let unknown = names.iter().filter(|name| !read(name).is_known());
    let sample: BTreeSet<&String> = names.iter().step_by(step).filter(|n| n.len() < 800).chain(unknown).collect();
    for name in sample {
        text += &format!("{name}\t{}\n", read(name));
    }
    text
}

fn check(file: &str, names: Option<BTreeSet<String>>, keep: usize) {
    let path = golden(file);
    if let Some(names) = &names
        && env::var_os("BLESS").is_some()
    {
        fs::write(&path, report(names, keep)).expect("writable");
    }
    let expected = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for line in expected.lines() {
        if let Some((name, facts)) = line.split_once('\t') {
            assert_eq!(read(name).to_string(), facts, "{file}: {name}");
        }
    }
    if let Some(names) = names {
        let found = report(&names, keep);
        let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert!(found == expected, "{file}: bless after looking at the difference, which starts at {differs:?}");
    }
}

#[test]
fn bitsandbytes() {
    check("bitsandbytes-0.50.2", test_artifacts::need("bitsandbytes-0.50.2").map(|dir| names_in(&dir)), 40);
    check("bitsandbytes-0.49.2", test_artifacts::need("bitsandbytes-0.49.2").map(|dir| names_in(&dir)), 20);
}

#[test]
fn jax() {
    check("jax-rocm7-plugin-0.12.0", test_artifacts::need("jax-rocm7-plugin-0.12.0").map(|dir| names_in(&dir)), 20);
    check("jax-rocm60-plugin-0.5.0", test_artifacts::need("jax-rocm60-plugin-0.5.0").map(|dir| names_in(&dir)), 20);
}

#[test]
fn onnxruntime() {
    check(
        "onnxruntime-rocm-1.22.2",
        test_artifacts::need("onnxruntime-rocm-1.22.2.post3").map(|dir| names_in(&dir)),
        200,
    );
}

#[test]
fn aiter() {
    check("amd-aiter-0.1.7", test_artifacts::need("amd-aiter-0.1.7.post2.dev18").map(|dir| names_in(&dir)), 80);
}

/// The names in files of distribution packages, which are not part of the quick set. `WHICHKERNEL_NAMES_GGML` and
/// `WHICHKERNEL_NAMES_ROCBLAS` give a directory with them.
fn given(variable: &str) -> Option<BTreeSet<String>> {
    env::var_os(variable).map(|dir| names_in(Path::new(&dir)))
}

#[test]
fn ggml_of_debian() {
    check("ggml-hip-0.27", given("WHICHKERNEL_NAMES_GGML"), 250);
}

#[test]
fn ggml_cuda_of_debian() {
    check("ggml-cuda-0.27", given("WHICHKERNEL_NAMES_GGML_CUDA"), 120);
}

#[test]
fn rocblas_of_debian() {
    check("rocblas-4.4.1", given("WHICHKERNEL_NAMES_ROCBLAS"), 12);
}

/// Tests names of older releases, whose templates had a different number of arguments.
#[test]
fn ggml_names_of_every_arity() {
    for (name, readable, columns, tile) in [
        ("void mul_mat_vec_q<(ggml_type)12, 1>(void const*)", "mul_mat_vec_q<Q4_K,1>", Some(1), None),
        ("void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*)", "mul_mat_vec_q<Q4_K,1,false>", Some(1), None),
        ("_ZL13mul_mat_vec_qIL9ggml_type12ELi8ELb0EEvPKv", "mul_mat_vec_q<Q4_K,8,false>", Some(8), None),
        ("void mul_mat_q<(ggml_type)12, 8, 8, true>(char const*)", "mul_mat_q<Q4_K,8,8,true>", None, Some("?x8")),
        ("void mul_mat_q<(ggml_type)12, 112, false>(char const*)", "mul_mat_q<Q4_K,112,false>", None, Some("?x112")),
        (
            "void flash_attn_ext_f16<128, 128, 8, 1, false, false>(char const*)",
            "flash_attn_ext_f16<128,128,8,1,false,false>",
            None,
            Some("?x8"),
        ),
        ("void quantize_mmq_q8_1<(mmq_q8_1_ds_layout)1>(float const*)", "quantize_mmq_q8_1<layout1>", None, None),
        ("void cpy_f32_q<&(cpy_blck_f32_q4_0(char const*, char*)), 32>(char const*)", "cpy_f32_q<q4_0,32>", None, None),
        ("void dequantize_block_q4_K<float>(void const*, float*)", "dequantize_block_q4_K<float>", None, None),
    ] {
        let facts = read(name);
        assert_eq!(facts.readable, readable, "{facts}");
        assert_eq!((facts.columns, facts.tile.map(|t| t.to_string()).as_deref()), (columns, tile), "{facts}");
        assert!(facts.unread.is_empty() && facts.library == Library::Ggml, "{facts}");
    }
    let nwarps = read("void mul_mat_q<(ggml_type)12, 8, 8, true>(char const*)");
    assert_eq!((nwarps.parameter("nwarps"), nwarps.parameter("need_check")), (Some("8"), Some("true")));
    // This parameter was renamed between releases while the form stayed the same, so both names are given.
    let check = read("void mul_mat_q<(ggml_type)12, 112, false>(char const*)");
    assert_eq!(check.parameter("need_check/fallback"), Some("false"));
}
