//! Tests that are compiled only here: their inputs are too large for every machine, or must be provided by the user.

use std::env;
use std::process::Command;

pub fn run() -> anyhow::Result<bool> {
    crate::fetch::run(true)?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tests = Command::new(cargo);
    tests.args(["test", "-p", "whichkernel-runtime", "-p", "whichkernel-source"]);
    tests.args(["--features", "whichkernel-runtime/deep,whichkernel-source/deep"]);
    tests.args(["--test", "catalogs", "--test", "tables"]);
    Ok(tests.status()?.success())
}
