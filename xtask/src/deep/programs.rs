//! Real HIP programs on the stand-in GPU, each against its own statement of what it launches: a program of Debian's clang,
//! hipblaslt-bench, rocblas-bench, MIOpenDriver, tinygrad, bitsandbytes, RCCL on two cards, and JAX against XLA's plan.
//! Downloads are kept, so an interrupted run continues.

use std::env;
use std::path::Path;
use std::process::Command;

/// JAX and its dependencies, for the Python of Debian's experimental suite.
const PACKAGES: [&str; 7] = [
    "jax==0.12.0",
    "jaxlib==0.12.0",
    "jax-rocm7-plugin==0.12.0",
    "jax-rocm7-pjrt==0.12.0",
    "ml_dtypes",
    "numpy",
    "opt_einsum",
];
const PYTHON: &str = "3.14";

pub fn run() -> anyhow::Result<bool> {
    crate::fetch::run(true)?;
    let packages = test_artifacts::cache().join("python-jax-0.12.0");
    if !packages.join("complete").is_file() {
        install(&packages)?;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tests = Command::new(cargo);
    tests.args(["test", "-p", "whichkernel-dryrun", "--test", "programs", "--", "--nocapture"]);
    tests.env("WHICHKERNEL_DEEP_JAX", packages).env("CI", "true");
    Ok(tests.status()?.success())
}

fn install(packages: &Path) -> anyhow::Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--only-binary", ":all:", "--python-version", PYTHON]);
    pip.args(["--implementation", "cp", "--target"]).arg(packages);
    for platform in ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"]
    {
        pip.args(["--platform", platform]);
    }
    anyhow::ensure!(pip.args(["--no-deps"]).args(PACKAGES).status()?.success(), "pip could not bring JAX");
    Ok(std::fs::write(packages.join("complete"), "")?)
}
