//! `explain gemm` and related commands, on the catalogs in the cache.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> Option<PathBuf> {
    let root = test_artifacts::cache().join("runtimes/debian-sid/root");
    let catalog = "usr/lib/x86_64-linux-gnu/hipblaslt/library/TensileLibrary_lazy_gfx1201.dat";
    if !root.join(catalog).is_file() {
        test_artifacts::skip("debian-sid", "cargo xtask fetch");
        return None;
    }
    Some(root)
}

fn whichkernel(arguments: &[&str]) -> Output {
    let mut command: Command = test_artifacts::alone(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(arguments).env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8").output().expect("run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn products(home: &Path, text: &str) -> String {
    let path = home.join("products.tsv");
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn many_products_are_answered_in_the_columns_that_scripts_read() {
    let Some(root) = root() else { return };
    let home = tempfile::tempdir().expect("a directory");
    let file = products(
        home.path(),
        "id\tm\tn\tk\ttype_a\tcompute\na\t4096\t290\t4096\tf16\t\nb\t4096\t290\t4096\tf16\tf128\nc\t64\t64\t64\ti8\ti32\n",
    );
    let root = root.display().to_string();
    let asked = ["explain", "gemm", "--from", &file, "--gpu", "rx-9070-xt", "--runtime", &root, "--format"];
    let csv = whichkernel(&[&asked[..], &["csv"]].concat());
    let out = text(&csv.stdout);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "id,verdict,index,kernel,candidates");
    let cells: Vec<&str> = lines[1].split(',').collect();
    assert_eq!(cells[..2], ["a", "determined"], "{out}");
    assert!(cells[2].parse::<i64>().is_ok() && cells[3].starts_with("Cijk_Ailk_Bljk_HHS_"), "{out}");
    assert_eq!(lines[2], "b,not-computed,,,compute f128");
    assert!(lines[3].starts_with("c,"), "{out}");
    // One row has no answer, and the exit code says so.
    assert_eq!(csv.status.code(), Some(1));
    let json =
        schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &whichkernel(&[&asked[..], &["json"]].concat()).stdout);
    assert_eq!(json["choices"][0]["verdict"], "determined");
}

#[test]
fn one_product_is_explained() {
    let Some(root) = root() else { return };
    let root = root.display().to_string();
    let out = whichkernel(&["explain", "gemm", "4096", "290", "4096", "--gpu", "rx-9070-xt", "--runtime", &root]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}{}", text(&out.stderr));
    for wanted in
        ["4096 x 290 x 4096 f16 NN", "hipblaslt 1.1", "Cijk_Ailk_Bljk_HHS_", "GridBased row", "VGPRs", "v_wmma"]
    {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let set = whichkernel(&["explain", "gemm", "8", "8", "8", "--type", "f64", "--gpu", "gfx1100", "--runtime", &root]);
    assert!(text(&set.stdout).contains("One of "), "{}", text(&set.stdout));
}

#[test]
fn a_release_does_not_differ_from_itself() {
    let Some(root) = root() else { return };
    let root = root.display().to_string();
    let home = tempfile::tempdir().expect("a directory");
    let file = products(home.path(), "m,n,k\n4096,290,4096\n64,64,64\n");
    let command = ["diff", &root, &root, "--library", "hipblaslt", "--gemm", &file, "--gpu", "rx-9070-xt"];
    let out = whichkernel(&command);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stdout).starts_with("2 products: 2 the same"), "{}", text(&out.stdout));
    let json = schema_check::answer(
        env!("CARGO_BIN_EXE_whichkernel"),
        &whichkernel(&[&command[..], &["--format", "json"]].concat()).stdout,
    );
    assert_eq!(json["same"], 2);
}

#[test]
fn a_map_and_the_lint_read_the_same_catalog() {
    let Some(root) = root() else { return };
    let root = root.display().to_string();
    let map = ["map", "--library", "hipblaslt", "--gpu", "rx-9070-xt", "--runtime", &root, "--format", "json"];
    let cells = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &whichkernel(&map).stdout)["cells"]
        .as_array()
        .expect("cells")
        .len();
    assert_eq!(cells, 121);
    let lint = whichkernel(&["inspect", &root, "--lint", "--gpu", "gfx1100", "--format", "json"]);
    let findings = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &lint.stdout);
    let kinds: Vec<&str> =
        findings["findings"].as_array().expect("findings").iter().filter_map(|one| one["kind"].as_str()).collect();
    assert!(kinds.contains(&"no-fallback"), "{kinds:?}");
    assert_eq!(lint.status.code(), Some(1));
}

/// From the tree's own BLAS call to the kernel: the product that `source` follows has the answer of `explain gemm`.
#[test]
fn a_blas_call_of_a_tree_is_followed_to_its_kernel() {
    let (Some(_), Some(tree)) = (test_artifacts::need("debian-sid"), test_artifacts::need("llama-cpp-sys-2-0.1.160"))
    else {
        return;
    };
    let tree = tree.display().to_string();
    let source = |gpu: &str, ty: &str| {
        let asked = cached(&["source", &tree, "--gpu", gpu, "--type", ty, "--columns", "512", "--rows", "3072"]);
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        String::from_utf8(asked.stdout).expect("text")
    };
    for (ty, name, compute) in [("F16", "f16", "f16"), ("F32", "f32", "f32")] {
        let text = source("rx-7900-xtx", ty);
        assert!(text.contains(&format!("3072 x 512 x 4096 {name} TN, rocblas")), "{text}");
        let ask = ["explain", "gemm", "3072", "512", "4096", "--trans", "TN", "--type", name, "--compute", compute];
        let same = cached(&[&ask[..], &["--library", "rocblas", "--gpu", "rx-7900-xtx", "--format", "csv"]].concat());
        let csv = String::from_utf8(same.stdout).expect("text");
        let (head, row) = csv.split_once('\n').expect("a row");
        let at = head.split(',').position(|column| column == "index").expect("index");
        let index = row.split(',').nth(at).expect("a number");
        assert!(text.contains(&format!("Solution {index} (")), "{index}\n{text}");
    }
    assert!(!source("rx-7900-xtx", "Q4_K").contains("rocblas"), "MMQ calls no library");
    // This rocBLAS has no catalog for the card, and NVIDIA's libraries have none at all.
    let none = source("rx-9070-xt", "F16");
    assert!(none.contains("Not computed") && !none.contains("Solution 1"), "{none}");
    assert!(!source("rtx-4090", "F16").contains("rocblas"));
}

/// With the runtimes of the tests' cache.
fn cached(arguments: &[&str]) -> Output {
    let mut command: Command = test_artifacts::alone(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(arguments).env("LC_ALL", "C.UTF-8").env("WHICHKERNEL_CACHE", test_artifacts::cache());
    command.output().expect("run")
}
