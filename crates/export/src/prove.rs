//! Verifies a lake: recomputes the hash and link of every row, compares every column with its row, and compares every
//! table with the hash in the export's manifest.

use crate::manifest::{self, Manifest, TABLES};
use crate::parquet::{self, ParquetTable, Values};
use crate::rows::{self, Whose};
use ledger::{Hash, Row, RowKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The SHA-256 of the export's manifest, which has the hash of every table: what was kept of it elsewhere is held against it.
    pub seal: Option<String>,
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

/// A hash of a row or of a manifest that was kept elsewhere, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpectedHash {
    pub hash: String,
    /// The ledger; null where none of the lake has it.
    pub ledger: Option<String>,
    /// Null where it is the manifest's: then it covers every table of that ledger.
    pub row: Option<u64>,
}

impl ExpectedHash {
    pub fn find(hash: String, ledgers: &[ProvedLedger]) -> ExpectedHash {
        let at = |one: &ProvedLedger| {
            if one.seal.as_ref() == Some(&hash) {
                return Some((one.ledger.clone(), None));
            }
            let row = one.hashes.iter().position(|known| *known == hash)?;
            Some((one.ledger.clone(), Some(row as u64 + 1)))
        };
        let (ledger, row) = ledgers.iter().find_map(at).unzip();
        ExpectedHash { hash, ledger, row: row.flatten() }
    }

    pub fn is_there(&self) -> bool {
        self.ledger.is_some()
    }
}

/// The maximum size of a file that is read into memory.
const MOST: u64 = 4 << 30;

/// Verifies every ledger in the lake. Fails for a lake without ledgers, because there is nothing to prove.
pub fn prove(dir: &Path) -> io::Result<Vec<ProvedLedger>> {
    let folder = dir.join("observations");
    // The lock prevents an export from moving its files meanwhile. A folder that cannot be locked is read anyway; the
    // manifest shows whether it is consistent.
    let _unchanged = manifest::lock(dir, false);
    let about = |error: io::Error| io::Error::new(error.kind(), say::say!("about-why", what = folder, why = error));
    let files = tables(&folder).map_err(about)?;
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, say::say!("export-no-table", path = folder)));
    }
    let mut all: Vec<ProvedLedger> = files.iter().map(|file| one(dir, file)).collect();
    for beside in ["launches", "claims", manifest::FOLDER] {
        let found = match tables(&dir.join(beside)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            found => found?,
        };
        // A query over all tables of the folder also reads files that belong to no ledger.
        let foreign = found.into_iter().filter(|file| !files.iter().any(|known| known.file_stem() == file.file_stem()));
        all.extend(foreign.map(|file| {
            let problem = format!("{}: there is no table of observations for it", file.display());
            ProvedLedger { problems: vec![problem], ..ProvedLedger::of(&file) }
        }));
    }
    Ok(all)
}

fn tables(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "parquet" || extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl ProvedLedger {
    /// The initial state, before anything is verified.
    fn of(file: &Path) -> ProvedLedger {
        ProvedLedger {
            file: file.to_owned(),
            ledger: String::new(),
            rows: 0,
            head: None,
            seal: None,
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

/// The table, and the SHA-256 of the file.
fn table(file: &Path) -> Result<(ParquetTable, String), String> {
    let bytes = sys::regular_file::whole(file, MOST).map_err(|error| format!("{}: {error}", file.display()))?;
    let table = parquet::read(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok((table, manifest::sha256(&bytes)))
}

fn check(dir: &Path, file: &Path, proved: &mut ProvedLedger) -> Result<(), String> {
    let (found, sha256) = table(file)?;
    let said =
        |key: &str| found.about(key).map(str::to_owned).ok_or_else(|| format!("{}: it names no {key}", file.display()));
    let whose = Whose { ledger: said("ledger")?, machine: said("machine")?, host: said("host")? };
    let head = said("head")?;
    proved.ledger.clone_from(&whose.ledger);
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let own = format!("{}-{}", whose.ledger, whose.machine);
    if stem != own && !stem.starts_with(&format!("{own}-")) {
        proved.problems.push(format!("{}: the file belongs to the ledger {}", file.display(), whose.ledger));
    }
    let rows = chain(&found)?;
    links(&whose, &rows, &head, proved);
    // The columns must match the rows.
    proved.problems.extend(differences("observations", &found, &rows::observations(&whose, &rows)));
    let mut seals = BTreeMap::from([("observations", sha256)]);
    for name in ["launches", "claims"] {
        let beside = dir.join(name).join(format!("{stem}.parquet"));
        if beside.symlink_metadata().is_ok() {
            let (table, sha256) = table(&beside)?;
            seals.insert(name, sha256);
            proved.problems.extend(beside_of(name, &table, &whose, &head, &rows));
        } else if name == "launches" && rows::launches(&whose, &rows).rows() > 0 {
            proved.problems.push(format!("{}: the table is missing", beside.display()));
        }
    }
    sealed(dir, &stem, &whose, (&head, rows.len() as u64), &seals, proved)
}

/// Checks that every row follows from the previous one, from the ledger's id to the head.
fn links(whose: &Whose, rows: &[Row], head: &str, proved: &mut ProvedLedger) {
    let mut last = Hash::genesis(&whose.ledger);
    for (at, row) in rows.iter().enumerate() {
        let seq = at as u64 + 1;
        if row.seq != seq {
            proved.problems.push(format!("row {seq} is missing; row {} is in its place", row.seq));
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
    if proved.head.as_deref() != Some(head) {
        proved.problems.push("rows are missing at the end: the file names another last row".to_owned());
    }
}

/// Checks a table against the rows: the launches completely, and for the claims their ledger and their citations.
fn beside_of(name: &str, found: &ParquetTable, whose: &Whose, head: &str, rows: &[Row]) -> Vec<String> {
    let mut problems = Vec::new();
    if found.about("head") != Some(head) {
        problems.push(format!("the {name} are of another export than the observations"));
    }
    if name == "launches" {
        problems.extend(differences(name, found, &rows::launches(whose, rows)));
        return problems;
    }
    let ids: BTreeSet<String> =
        rows.iter().filter_map(|row| row.observation().ok().flatten()).map(|seen| seen.id().to_string()).collect();
    let cells = |column: &str| rows::texts(found, column).into_iter().flatten().flatten().map(String::as_str);
    for (column, is) in [("ledger", whose.ledger.as_str()), ("host", &whose.host), ("head", head)] {
        if cells(column).any(|cell| cell != is) {
            problems.push(format!("claims: the column '{column}' is not what the observations say"));
        }
    }
    if let Some(cited) = cells("cites").flat_map(|cell| cell.split(' ')).find(|id| !id.is_empty() && !ids.contains(*id))
    {
        problems.push(format!("claims: no row has the observation {cited} that a claim cites"));
    }
    problems
}

/// Checks that every table has exactly the bytes recorded in the export's manifest.
fn sealed(
    dir: &Path,
    stem: &str,
    whose: &Whose,
    (head, rows): (&str, u64),
    seals: &BTreeMap<&str, String>,
    proved: &mut ProvedLedger,
) -> Result<(), String> {
    let path = Manifest::path(dir, stem);
    let read = Manifest::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let Some((manifest, seal)) = read else {
        return Err(format!(
            "{}: the manifest is missing, without which no grade is proved; export again",
            path.display()
        ));
    };
    let same = (&manifest.ledger, &manifest.machine, &manifest.host) == (&whose.ledger, &whose.machine, &whose.host);
    if !same || manifest.head != head || manifest.rows != rows {
        proved.problems.push(format!("{}: the manifest is of another export than the observations", path.display()));
    }
    for name in TABLES {
        let problem = match (manifest.tables.get(name), seals.get(name)) {
            (Some(named), Some(sha256)) if named.sha256 == *sha256 => continue,
            (None, None) => continue,
            (Some(_), Some(_)) => "the table was altered: its SHA-256 is not the one in the manifest",
            (Some(_), None) => "the manifest names a table that is missing",
            (None, Some(_)) => "the manifest does not name this table",
        };
        proved.problems.push(format!("{name}: {problem}"));
    }
    proved.seal = Some(seal);
    Ok(())
}

/// Rebuilds the chain from its columns.
fn chain(table: &ParquetTable) -> Result<Vec<Row>, String> {
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

/// Columns that differ from what the rows give.
fn differences(name: &str, found: &ParquetTable, made: &ParquetTable) -> Vec<String> {
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
