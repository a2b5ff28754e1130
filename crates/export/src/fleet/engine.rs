//! An installed SQL engine: found, asked, and its rows read.

use super::query::Dialect;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// One row of a result, by column. Every value is text; null is empty.
pub type ResultRow = BTreeMap<String, String>;

#[derive(Debug)]
pub enum FleetError {
    Remote(PathBuf),
    Lake { path: PathBuf, source: io::Error },
    Empty(PathBuf),
    NoLaunches(PathBuf),
    NoEngine,
    NotRun { engine: &'static str },
    Start { engine: &'static str, source: io::Error },
    Failed { engine: &'static str, said: String },
}

say::worded! { FleetError {
    Remote(path) => "fleet-remote",
    Lake { path, source } => "about-why" (what = path, why = source),
    Empty(path) => "fleet-empty",
    NoLaunches(path) => "fleet-no-launches",
    NoEngine => "fleet-no-engine",
    NotRun { engine } => "fleet-not-run",
    Start { engine, source } => "about-why" (what = engine, why = source),
    Failed { engine, said } => "fleet-engine-failed",
}}

/// Where the engine was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB's command line.
    DuckdbProgram(PathBuf),
    /// The Python package `duckdb`.
    DuckdbPython(PathBuf),
    /// The Python package `chdb`: ClickHouse in a process.
    Chdb(PathBuf),
}

/// Runs a query in Python. The lake is another user's perhaps, so nothing is imported from the current folder.
const PYTHON: &str = "import sys\nsys.path = [p for p in sys.path if p]\nimport json, os\nengine = sys.argv[1]\n\
    if engine == 'duckdb':\n    import duckdb\nelse:\n    import chdb\n\
    if len(sys.argv) > 3:\n    os.chdir(sys.argv[2])\n\
    \x20   if engine == 'duckdb':\n\
    \x20       lake = duckdb.connect()\n\
    \x20       lake.execute('SET enable_progress_bar = false')\n\
    \x20       done = lake.execute(sys.argv[3])\n\
    \x20       names = [column[0] for column in done.description]\n\
    \x20       print(json.dumps([dict(zip(names, row)) for row in done.fetchall()]))\n\
    \x20   else:\n\
    \x20       lines = chdb.query(sys.argv[3], 'JSONEachRow').bytes().decode().splitlines()\n\
    \x20       print('[' + ','.join(lines) + ']')\n";

impl Engine {
    /// The first installed engine, or an installed one of this kind.
    pub fn find(wanted: Option<Dialect>) -> Result<Engine, FleetError> {
        if wanted == Some(Dialect::Spark) {
            return Err(FleetError::NotRun { engine: Dialect::Spark.name() });
        }
        let python = sys::program::on_path(OsStr::new("python3"));
        let has = |package: &str| {
            let probe = sys::program::command(python.as_ref()?).ok()?.args(["-c", PYTHON, package]).output().ok()?;
            probe.status.success().then(|| python.clone()).flatten()
        };
        let duckdb = || {
            let program = sys::program::on_path(OsStr::new("duckdb")).map(Engine::DuckdbProgram);
            program.or_else(|| has("duckdb").map(Engine::DuckdbPython))
        };
        let chdb = || has("chdb").map(Engine::Chdb);
        let found = match wanted {
            Some(Dialect::Duckdb) => duckdb(),
            Some(_) => chdb(),
            None => duckdb().or_else(chdb),
        };
        found.ok_or(FleetError::NoEngine)
    }

    pub fn name(&self) -> &'static str {
        match self {
            Engine::DuckdbProgram(_) => "duckdb",
            Engine::DuckdbPython(_) => "python3 duckdb",
            Engine::Chdb(_) => "python3 chdb",
        }
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            Engine::DuckdbProgram(_) | Engine::DuckdbPython(_) => Dialect::Duckdb,
            Engine::Chdb(_) => Dialect::Clickhouse,
        }
    }

    /// The rows of a query that runs in the lake's folder.
    pub(crate) fn run(&self, lake: &Path, sql: &str) -> Result<Vec<ResultRow>, FleetError> {
        let engine = self.name();
        let start = |source| FleetError::Start { engine, source };
        let mut command = match self {
            Engine::DuckdbProgram(program) => {
                let mut command = sys::program::command(program).map_err(start)?;
                // Without the user's start-up file, which may print or change settings, and without a progress bar, which
                // slow queries print between the rows.
                let quiet = "SET enable_progress_bar = false";
                command.args(["-init", "/dev/null", "-json", "-c", quiet, "-c", sql]).current_dir(lake);
                command
            }
            Engine::DuckdbPython(python) | Engine::Chdb(python) => {
                let package = if self.dialect() == Dialect::Duckdb { "duckdb" } else { "chdb" };
                let mut command = sys::program::command(python).map_err(start)?;
                command.args(["-c", PYTHON, package]).arg(lake).arg(sql);
                command
            }
        };
        let output = command.output().map_err(start)?;
        let failed = |said: &[u8]| FleetError::Failed { engine, said: last_lines(&String::from_utf8_lossy(said)) };
        if !output.status.success() {
            return Err(failed(&output.stderr));
        }
        if output.stdout.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<BTreeMap<String, Value>> =
            serde_json::from_slice(&output.stdout).map_err(|_| failed(&output.stdout))?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(|(name, value)| (name, text(value))).collect()).collect())
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The end of an error message, where engines name the cause.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.get(lines.len().saturating_sub(4)..).unwrap_or_default().join("\n")
}
