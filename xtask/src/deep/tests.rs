//! Tests that are compiled only here: what they need is too big for every machine, or only a person can name it.

use std::env;
use std::process::Command;

pub fn run() -> anyhow::Result<bool> {
    crate::fetch::run(true)?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let packages = ["-p", "runtime", "-p", "source", "--features", "runtime/deep,source/deep"];
    let mut tests = Command::new(cargo);
    tests.arg("test").args(packages).args(["--test", "catalogs", "--test", "tables"]);
    Ok(tests.status()?.success())
}
