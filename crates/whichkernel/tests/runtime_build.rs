//! `runtime build`: a small part of a real libggml-hip, compiled for a target that no available package ships.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.env_remove("COLUMNS").env("LC_ALL", "C.UTF-8").args(args).output().expect("it runs")
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", words(output));
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
}

#[test]
fn two_units_for_gfx1201_are_compiled_once_linked_and_read() {
    let Some(tree) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    for (program, package) in [("clang++-22", "clang-22"), ("ld.lld-22", "lld-22")] {
        if test_artifacts::program(program, &format!("apt-get install {package}")).is_none() {
            return;
        }
    }
    let tree = tree.display().to_string();
    let ask = ["runtime", "build", "--source", &tree, "--gpu", "rx-9070-xt", "--only", "scale,acc"];
    let first = run(&[&ask[..], &["--format", "json"]].concat());
    if words(&first).contains("apt-get") && first.status.code() == Some(2) {
        return test_artifacts::skip("Debian's HIP headers", &words(&first));
    }
    let first = json(&first);
    assert_eq!((&first["units"], &first["target"]), (&2.into(), &"gfx1201".into()), "{first}");
    assert!(first["units_of_tree"].as_u64() > Some(100), "{first}");
    let library = first["library"].as_str().expect("a path");
    // Nothing is compiled the second time.
    let again = json(&run(&[&ask[..], &["--format", "json"]].concat()));
    assert_eq!((&again["compiled"], &again["library"]), (&0.into(), &first["library"]), "{again}");
    // The result is a HIP library like a packaged one: one bundle per unit, for this target only.
    let seen = json(&run(&["inspect", library, "--format", "json"]));
    let text = seen.to_string();
    assert!(text.contains("gfx1201") && !text.contains("gfx1100"), "{text}");
    let kernels = words(&run(&["inspect", library, "--kernels"]));
    assert!(kernels.contains("scale_f32") && kernels.contains("acc_f32"), "{kernels}");
    let listed = words(&run(&["runtime", "list"]));
    assert!(listed.contains(first["name"].as_str().expect("a name")), "{listed}");
}

#[test]
fn what_cannot_be_built_is_said_before_anything_is_fetched() {
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path().display().to_string();
    let none = run(&["runtime", "build", "--source", &place, "--gpu", "gfx1201"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(words(&none).contains("no ggml"), "{}", words(&none));
    let backend = home.path().join("src/ggml-cuda");
    std::fs::create_dir_all(backend.join("template-instances")).expect("a directory");
    std::fs::write(backend.join("ggml-cuda.cu"), "").expect("a file");
    let wrong = run(&["runtime", "build", "--source", &place, "--gpu", "gfx1201", "--only", "spam"]);
    assert!(words(&wrong).contains("no translation unit matches spam"), "{}", words(&wrong));
    assert!(!Path::new(&place).join("objects").exists());
}
