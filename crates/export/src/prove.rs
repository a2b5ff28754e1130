//! Proving a lake: every row's hash and link is computed again, and every column is held against the row that it was made of.

use crate::parquet::{self, Table, Values};
use crate::rows::{self, Whose};
use ledger::{Hash, Row, RowKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One ledger's part of a lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProvedLedger {
    /// The table of its observations, or one of another kind that has none beside it.
    pub file: PathBuf,
    /// The ledger's id; empty where the file could not be read.
    pub ledger: String,
    pub rows: u64,
    /// The hash of the last row: what a checkpoint kept elsewhere is held against.
    pub head: Option<String>,
    /// The hash of each row, in their order.
    #[serde(skip)]
    pub hashes: Vec<String>,
    /// What was altered, lost or moved, a sentence each.
    pub problems: Vec<String>,
}

/// What could be proved of a lake by itself, and a hash that was kept elsewhere held against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LakeVerdict {
    pub ledgers: Vec<ProvedLedger>,
    /// The hash that must be there, where one was given.
    pub expected: Option<ExpectedHash>,
    /// What that proves, in words; null where something is wrong.
    pub proved: Option<String>,
    /// What it does not prove, in words.
    pub not_proved: String,
}

impl answer::Answer for LakeVerdict {
    const SCHEMA: &'static str = "whichkernel.lake-verify/1";
}

/// A row's hash that was kept elsewhere, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpectedHash {
    pub hash: String,
    /// The ledger and row; null where no ledger of the lake has it.
    pub ledger: Option<String>,
    pub row: Option<u64>,
}

impl ExpectedHash {
    pub fn find(hash: String, ledgers: &[ProvedLedger]) -> ExpectedHash {
        let at = |one: &ProvedLedger| {
            let row = one.hashes.iter().position(|known| *known == hash)?;
            Some((one.ledger.clone(), row as u64 + 1))
        };
        let (ledger, row) = ledgers.iter().find_map(at).unzip();
        ExpectedHash { hash, ledger, row }
    }
}

/// Longer files are not read at once.
const MOST: u64 = 4 << 30;

/// Every ledger in the lake. That it has none at all is an error: a proof of nothing proves nothing.
pub fn prove(dir: &Path) -> io::Result<Vec<ProvedLedger>> {
    let folder = dir.join("observations");
    let files =
        tables(&folder).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{}: no table of observations", folder.display())));
    }
    let mut all: Vec<ProvedLedger> = files.iter().map(|file| one(dir, file)).collect();
    for beside in ["launches", "claims"] {
        let found = match tables(&dir.join(beside)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            found => found?,
        };
        // Whoever reads all tables of the folder reads these too.
        let foreign = found.into_iter().filter(|file| !files.iter().any(|known| known.file_name() == file.file_name()));
        all.extend(foreign.map(|file| {
            let problem = format!("{}: no table of observations stands behind it", file.display());
            ProvedLedger { problems: vec![problem], ..ProvedLedger::of(&file) }
        }));
    }
    Ok(all)
}

fn tables(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl ProvedLedger {
    /// Nothing is known of it yet.
    fn of(file: &Path) -> ProvedLedger {
        ProvedLedger {
            file: file.to_owned(),
            ledger: String::new(),
            rows: 0,
            head: None,
            hashes: Vec::new(),
            problems: Vec::new(),
        }
    }
}

fn one(dir: &Path, file: &Path) -> ProvedLedger {
    let mut proved = ProvedLedger::of(file);
    if let Err(problem) = check(dir, file, &mut proved) {
        proved.problems.push(problem);
    }
    proved
}

fn table(file: &Path) -> Result<Table, String> {
    let bytes = sys::regular_file::whole(file, MOST).map_err(|error| format!("{}: {error}", file.display()))?;
    parquet::read(&bytes).map_err(|error| format!("{}: {error}", file.display()))
}

fn check(dir: &Path, file: &Path, proved: &mut ProvedLedger) -> Result<(), String> {
    let found = table(file)?;
    let said =
        |key: &str| found.about(key).map(str::to_owned).ok_or_else(|| format!("{}: it names no {key}", file.display()));
    let whose = Whose { ledger: said("ledger")?, host: said("host")? };
    let head = said("head")?;
    proved.ledger.clone_from(&whose.ledger);
    let named = file.file_stem().is_some_and(|stem| stem.to_string_lossy() == whose.ledger);
    if !named {
        proved.problems.push(format!("{}: the file belongs to the ledger {}", file.display(), whose.ledger));
    }
    let rows = chain(&found)?;
    let mut last = Hash::genesis(&whose.ledger);
    for (at, row) in rows.iter().enumerate() {
        let seq = at as u64 + 1;
        if row.seq != seq {
            proved.problems.push(format!("row {seq} is missing; row {} stands in its place", row.seq));
            break;
        }
        if row.prev != last {
            proved.problems.push(format!("row {seq} does not follow from the row before it"));
        }
        if row.expected_hash() != row.hash {
            proved.problems.push(format!("row {seq} was altered"));
        }
        last = row.hash;
        proved.hashes.push(row.hash.to_string());
    }
    proved.rows = rows.len() as u64;
    proved.head = rows.last().map(|row| row.hash.to_string());
    if proved.head.as_deref() != Some(&head) {
        proved.problems.push("rows are missing at the end: the file names another last row".to_owned());
    }
    // What stands in the columns must be what the rows say.
    proved.problems.extend(differences("observations", &found, &rows::observations(&whose, &rows)));
    let beside = dir.join("launches").join(format!("{}.parquet", whose.ledger));
    let made = rows::launches(&whose, &rows);
    match table(&beside) {
        Ok(launches) => {
            if launches.about("head") != Some(&head) {
                proved.problems.push("the launches are of another export than the observations".to_owned());
            }
            proved.problems.extend(differences("launches", &launches, &made));
        }
        Err(problem) if made.rows() > 0 || beside.symlink_metadata().is_ok() => proved.problems.push(problem),
        Err(_) => {}
    }
    Ok(())
}

/// The chain, out of the columns that hold it.
fn chain(table: &Table) -> Result<Vec<Row>, String> {
    let lacks = |name: &str| format!("the column '{name}' is missing or of another type");
    let texts = |name: &str| rows::texts(table, name).ok_or_else(|| lacks(name));
    let Some(Values::Number(seqs)) = table.column("row") else { return Err(lacks("row")) };
    let Some(Values::Bytes(bodies)) = table.column("body") else { return Err(lacks("body")) };
    let (kinds, origins, times) = (texts("kind")?, texts("origin")?, texts("recorded")?);
    let (prevs, hashes) = (texts("prev")?, texts("hash")?);
    let mut rows = Vec::new();
    for (at, seq) in seqs.iter().enumerate() {
        let bad = |what: &str| format!("row {}: {what}", at + 1);
        let text = |column: &Vec<Option<String>>| column.get(at).cloned().flatten();
        let hash =
            |column: &Vec<Option<String>>| text(column).and_then(|hex| Hash::parse(&hex)).ok_or_else(|| bad("no hash"));
        rows.push(Row {
            seq: seq.and_then(|seq| u64::try_from(seq).ok()).ok_or_else(|| bad("no number"))?,
            kind: text(kinds).and_then(|kind| RowKind::parse(&kind)).ok_or_else(|| bad("no kind"))?,
            origin: text(origins),
            time: text(times).ok_or_else(|| bad("no time"))?,
            body: bodies.get(at).cloned().flatten().ok_or_else(|| bad("no body"))?,
            prev: hash(prevs)?,
            hash: hash(hashes)?,
        });
    }
    Ok(rows)
}

/// Columns that are not what the rows make of them.
fn differences(name: &str, found: &Table, made: &Table) -> Vec<String> {
    let mut all = Vec::new();
    for column in &made.columns {
        match found.column(&column.name) {
            Some(values) if *values == column.values => {}
            Some(_) => all.push(format!("{name}: the column '{}' is not what its rows say", column.name)),
            None => all.push(format!("{name}: the column '{}' is missing", column.name)),
        }
    }
    for column in &found.columns {
        if !made.columns.iter().any(|known| known.name == column.name) && made.rows() > 0 {
            all.push(format!("{name}: the column '{}' is not ours", column.name));
        }
    }
    if found.rows() != made.rows() {
        all.push(format!("{name}: {} rows, where the chain makes {}", found.rows(), made.rows()));
    }
    all
}
