//! Tests that are compiled only here: what they need is too big for every machine, or only a person can name it.

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
