//! The ready queries on a lake of 200 machines with planted changes, in DuckDB, ClickHouse and Spark. Spark takes
//! minutes for the many small files of the lake, so the ordinary test leaves it out.

use anyhow::Context;
use std::{env, fs, process::Command};

pub fn run() -> anyhow::Result<bool> {
    for package in [test_artifacts::DUCKDB, test_artifacts::SPARK] {
        crate::python::ensure(package);
    }
    crate::fetch::run(false)?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let table = env::current_dir()?.join("target/fleet-rows.md");
    fs::create_dir_all("target")?;
    let mut test = Command::new(cargo);
    test.args(["test", "--workspace", "--test", "fleet", "--", "--nocapture"]).env("WHICHKERNEL_FLEET_TABLE", &table);
    let agreed = test.status()?.success();
    let rows = fs::read_to_string(&table).context("the comparison wrote no table")?;
    let text = format!(
        "# Ready queries on a lake of 200 machines\n\n`cargo xtask deep fleet` wrote this page on {}. The lake has the ledgers of 200 \
         synthetic machines with planted changes (`crates/export/tests/fleet/made.rs`). Each engine runs the queries of `fleet diff` and \
         `fleet alerts` (`crates/export/queries`). A row means that the engine found exactly the planted changes. The \
         seconds are the wall time of all six queries, including the start of the engine; the lake has about 1,600 small files.\n\n\
         | engine | seconds |\n|---|---:|\n{rows}",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    fs::write("docs/measurements/fleet.md", text)?;
    Ok(agreed)
}
