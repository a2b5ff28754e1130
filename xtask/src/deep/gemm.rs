//! Compares the computed choice of GEMM kernels with hipBLASLt and rocBLAS on the stand-in GPU, for every target of two
//! releases, which are fetched whole. The libraries' answers are cached, so that an interrupted run continues where it
//! stopped.

use anyhow::Context;
use std::{env, fs, process::Command};

/// The number of products per library, release and card.
const PRODUCTS: &str = "1000";

/// The releases that are compared.
const RUNTIMES: [&str; 2] = ["debian-sid", "debian-experimental"];

pub fn run() -> anyhow::Result<bool> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rows = env::current_dir()?.join("target/gemm-rows.md");
    fs::create_dir_all("target")?;
    let cache = test_artifacts::cache().join("gemm");
    for name in RUNTIMES {
        let mut fetch = Command::new(&cargo);
        fetch.args(["run", "-q", "--bin", "whichkernel", "--", "runtime", "fetch", name]);
        fetch.args(["--parts", "rocblas,hipblaslt", "--targets", "all", "--yes"]).env("WHICHKERNEL_CACHE", &cache);
        anyhow::ensure!(fetch.status()?.success(), "{name} could not be fetched");
    }
    let trees = env::join_paths(RUNTIMES.map(|name| cache.join("runtimes").join(name).join("root")))?;
    let mut test = Command::new(cargo);
    test.args(["test", "--workspace", "--test", "gemm_oracle", "--", "--nocapture"]);
    test.env("WHICHKERNEL_DEEP_GEMM", PRODUCTS).env("WHICHKERNEL_GEMM_TABLE", &rows);
    test.env("WHICHKERNEL_GEMM_TREES", trees);
    let agreed = test.status()?.success();
    let rows = fs::read_to_string(&rows).context("the comparison wrote no table")?;
    let text = format!(
        "# Computed GEMM kernels compared with hipBLASLt and rocBLAS\n\n`cargo xtask deep gemm` wrote this page on {}. The \
         comparison uses random products. Each is sent to the library on the stand-in GPU (`crates/dryrun/tests/gemm_oracle`), and its \
         kernel is also computed from the catalog. The sizes are those of models, powers of two and the numbers next to them, 1, and \
         values up to two million. All types, epilogues, strides, scales, values of beta and workspaces are included. Cards of one \
         target with different numbers of compute units are counted together.\n\nThe columns have these meanings. \"equal\": both \
         choose the same solution. \"none\": both have no solution, or the library refuses the call. \"gemv\": rocBLAS calls no \
         Tensile kernel. \"set\": the library's answer depends on memory addresses and is in the computed set.\n\n\
         | library | target | products | equal | none | gemv | set | not computed | different |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n{rows}",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    fs::write("docs/measurements/gemm.md", text)?;
    Ok(agreed)
}
