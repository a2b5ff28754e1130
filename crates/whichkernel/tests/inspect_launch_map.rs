//! `inspect --launch-map`, `--bundles` and the NVIDIA part of the overview, on real libraries.

use serde_json::Value;
use std::{path::Path, process::Command};

fn run(file: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_whichkernel"))
        .args(["--lang", "en", "inspect"])
        .arg(file)
        .args(arguments)
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(file: &Path, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), run(file, &all).as_bytes())
}

/// The strong check: every registered name is a kernel of exactly the bundle that its wrapper points to, on every
/// target.
#[test]
fn every_registered_kernel_is_in_its_bundle() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let file = dir.join("bitsandbytes/libbitsandbytes_rocm72.so");
    let targets = json(&file, &[])["targets"].as_object().expect("targets").clone();
    assert!(targets.len() >= 14 && targets.contains_key("gfx1201"));
    for target in ["gfx90a", "gfx942", "gfx1100", "gfx1201"] {
        let map = json(&file, &["--launch-map", "--target", target]);
        assert_eq!(map["schema"], "whichkernel.inspect-launch-map/1");
        let rows = map["launch_map"].as_array().expect("rows");
        assert_eq!(rows.len(), 175, "{target}");
        assert!(rows.iter().all(|row| row["in_target"] != "absent" && row["winner"] == true), "{target}");
        assert_eq!(map["unregistered"].as_array().map(Vec::len), Some(0), "{target}");
        assert_eq!(map["completeness"]["complete"], true);
    }
}

#[test]
fn a_large_library_agrees_too() {
    let Some(dir) = test_artifacts::need("onnxruntime-rocm-1.22.2.post3") else { return };
    let file = dir.join("onnxruntime/capi/libonnxruntime_providers_rocm.so");
    let map = json(&file, &["--launch-map", "--target", "gfx1100"]);
    let rows = map["launch_map"].as_array().expect("rows");
    let kernels: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "kernel").collect();
    assert_eq!(kernels.len(), 10081);
    let absent: Vec<&&Value> = kernels.iter().filter(|row| row["in_target"] == "absent").collect();
    assert!(absent.is_empty(), "{:?}", absent.first());
}

#[test]
fn csv_has_the_columns_that_scripts_rely_on() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    for (name, rows) in [("rocm64", 175), ("cuda118", 223)] {
        let text =
            run(&dir.join(format!("bitsandbytes/libbitsandbytes_{name}.so")), &["--launch-map", "--format", "csv"]);
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|header| header.starts_with("handle,mangled,bundle,")));
        let found: Vec<&str> = lines.collect();
        assert_eq!(found.len(), rows, "{name}");
        let bundles: Vec<&str> = found.iter().filter_map(|line| line.split(',').nth(2)).collect();
        assert!(bundles.iter().all(|bundle| bundle.parse::<usize>().is_ok()), "{name}");
    }
}

#[test]
fn the_bundle_table_tells_families_and_counts() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let file = dir.join("bitsandbytes/libbitsandbytes_rocm72.so");
    let table = json(&file, &["--bundles", "--target", "gfx1201"]);
    let rows = table["bundle_table"].as_array().expect("rows");
    let kernels: u64 = rows.iter().filter_map(|row| row["kernels"].as_u64()).sum();
    assert_eq!((rows.len(), kernels, table["unknown_names"].as_u64()), (2, 175, Some(0)));
    let families: Vec<&str> =
        rows.iter().flat_map(|row| row["families"].as_array().expect("families")).filter_map(Value::as_str).collect();
    for family in ["quantize", "optimizer", "gemm", "dequantize"] {
        assert!(families.contains(&family), "{family} in {families:?}");
    }
    for format in ["text", "csv", "md"] {
        assert!(run(&file, &["--bundles", "--format", format]).contains("kQuantizeBlockwise"), "{format}");
    }
}

#[test]
fn nvidia_code_is_part_of_the_overview() {
    let Some(dir) = test_artifacts::need("bitsandbytes-0.50.2") else { return };
    let file = dir.join("bitsandbytes/libbitsandbytes_cuda130.so");
    let nvidia = json(&file, &[])["nvidia"].clone();
    assert_eq!(nvidia["complete"], true);
    let sm = &nvidia["targets"]["linked:sm_120"];
    assert_eq!((sm["kernels"].as_u64(), sm["kernels_with_registers"].as_u64()), (Some(202), Some(202)));
    assert_eq!(nvidia["targets"]["relocatable:compute_120"]["kernels"], 202);
    let text = run(&file, &[]);
    assert!(text.contains("sm_120") && !text.contains("no GPU code"), "{text}");
}
