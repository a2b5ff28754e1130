//! Verifies a lake: recomputes the hash and link of every row, compares every column with its row, and compares every
//! table with the hash in the export's manifest.

use crate::manifest::{self, Manifest, TABLES};
use crate::parquet::{self, ParquetTable, Values};
use crate::rows::{self, Whose};
use ledger::{Hash, Row, RowKind};
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One ledger's part of a lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProvedLedger {
    /// The table of its observations, or a table of another kind that has no observations next to it.
    pub file: PathBuf,
    /// The ledger's ID; empty if the file could not be read.
    pub ledger: String,
    pub rows: u64,
    /// The hash of the last row. Compare it with a checkpoint that is kept elsewhere.
    pub head: Option<String>,
    /// The SHA-256 of the export's manifest, which has the hash of every table. Compare it with a copy that is kept elsewhere.
    pub seal: Option<String>,
    /// The hash of each row, in order.
    #[serde(skip)]
    pub hashes: Vec<String>,
    /// The rows and tables that were altered, lost or moved: one sentence each.
    pub problems: Vec<Kept>,
}

/// The result of verifying a lake: what was proved, and whether a hash that was kept elsewhere was found in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LakeVerdict {
    pub ledgers: Vec<ProvedLedger>,
    /// The expected hash, if one was given.
    pub expected: Option<ExpectedHash>,
    /// What this proves, in words; null if there is a problem.
    pub proved: Option<String>,
    /// What this does not prove, in words.
    pub not_proved: String,
}

impl answer::Answer for LakeVerdict {
    const SCHEMA: &'static str = "whichkernel.lake-verify/1";
}

/// A hash of a row or a manifest that was kept elsewhere, and where it was found in the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpectedHash {
    pub hash: String,
    /// The ledger; null if no ledger of the lake has it.
    pub ledger: Option<String>,
    /// Null if it is the hash of the manifest, which covers every table of that ledger.
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
            let problem = say!("export-lake-no-observations", path = file);
            ProvedLedger { problems: vec![problem.into()], ..ProvedLedger::of(&file) }
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
        proved.problems.push(problem.into());
    }
    proved
}

/// The table, and the SHA-256 of the file.
fn table(file: &Path) -> Result<(ParquetTable, String), Message> {
    let bytes = sys::regular_file::whole(file, MOST).map_err(|why| say!("about-why", what = file, why))?;
    let table = parquet::read(&bytes).map_err(|why| say!("about-why", what = file, why))?;
    Ok((table, manifest::sha256(&bytes)))
}

fn check(dir: &Path, file: &Path, proved: &mut ProvedLedger) -> Result<(), Message> {
    let (found, sha256) = table(file)?;
    let unnamed = |name: &str| say!("export-lake-no-entry", path = file, name);
    let said = |name: &str| found.about(name).map(str::to_owned).ok_or_else(|| unnamed(name));
    let whose = Whose { ledger: said("ledger")?, machine: said("machine")?, host: said("host")? };
    let head = said("head")?;
    proved.ledger.clone_from(&whose.ledger);
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let own = format!("{}-{}", whose.ledger, whose.machine);
    if stem != own && !stem.starts_with(&format!("{own}-")) {
        proved.problems.push(say!("export-lake-other-ledger", path = file, ledger = whose.ledger).into());
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
            proved.problems.push(say!("export-lake-no-table", path = beside).into());
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
            proved.problems.push(say!("export-lake-row-missing", row = seq, found = row.seq).into());
            break;
        }
        if row.prev != last {
            proved.problems.push(say!("export-lake-row-unlinked", row = seq).into());
        }
        if row.expected_hash() != row.hash {
            proved.problems.push(say!("export-lake-row-altered", row = seq).into());
        }
        last = row.hash;
        proved.hashes.push(row.hash.to_string());
    }
    proved.rows = rows.len() as u64;
    proved.head = rows.last().map(|row| row.hash.to_string());
    if proved.head.as_deref() != Some(head) {
        proved.problems.push(say!("export-lake-end-missing").into());
    }
}

/// Checks a table against the rows: the launches completely, and for the claims their ledger and their citations.
fn beside_of(name: &str, found: &ParquetTable, whose: &Whose, head: &str, rows: &[Row]) -> Vec<Kept> {
    let mut problems = Vec::new();
    if found.about("head") != Some(head) {
        problems.push(say!("export-lake-other-export", table = name).into());
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
            problems.push(say!("export-lake-claims-column", column).into());
        }
    }
    if let Some(cited) = cells("cites").flat_map(|cell| cell.split(' ')).find(|id| !id.is_empty() && !ids.contains(*id))
    {
        problems.push(say!("export-lake-not-cited", observation = cited).into());
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
) -> Result<(), Message> {
    let path = Manifest::path(dir, stem);
    let read = Manifest::read(&path).map_err(|why| say!("about-why", what = path, why))?;
    let Some((manifest, seal)) = read else {
        return Err(say!("export-lake-no-manifest", path));
    };
    let same = (&manifest.ledger, &manifest.machine, &manifest.host) == (&whose.ledger, &whose.machine, &whose.host);
    if !same || manifest.head != head || manifest.rows != rows {
        proved.problems.push(say!("export-lake-manifest-other", path).into());
    }
    for name in TABLES {
        let problem = match (manifest.tables.get(name), seals.get(name)) {
            (Some(named), Some(sha256)) if named.sha256 == *sha256 => continue,
            (None, None) => continue,
            (Some(_), Some(_)) => say!("export-lake-table-altered", table = name),
            (Some(_), None) => say!("export-lake-table-missing", table = name),
            (None, Some(_)) => say!("export-lake-table-unlisted", table = name),
        };
        proved.problems.push(problem.into());
    }
    proved.seal = Some(seal);
    Ok(())
}

/// Rebuilds the chain from its columns.
fn chain(table: &ParquetTable) -> Result<Vec<Row>, Message> {
    let lacks = |column: &str| say!("export-lake-column-lacks", column);
    let texts = |name: &str| rows::texts(table, name).ok_or_else(|| lacks(name));
    let Some(Values::Number(seqs)) = table.column("row") else { return Err(lacks("row")) };
    let Some(Values::Bytes(bodies)) = table.column("body") else { return Err(lacks("body")) };
    let (kinds, origins, times) = (texts("kind")?, texts("origin")?, texts("recorded")?);
    let (prevs, hashes) = (texts("prev")?, texts("hash")?);
    let mut rows = Vec::new();
    for (at, seq) in seqs.iter().enumerate() {
        let bad = |column: &str| say!("export-lake-cell", row = at + 1, column);
        let text = |column: &Vec<Option<String>>| column.get(at).cloned().flatten();
        let hash = |column: &Vec<Option<String>>, name| {
            text(column).and_then(|hex| Hash::parse(&hex)).ok_or_else(|| bad(name))
        };
        rows.push(Row {
            seq: seq.and_then(|seq| u64::try_from(seq).ok()).ok_or_else(|| bad("row"))?,
            kind: text(kinds).and_then(|kind| RowKind::parse(&kind)).ok_or_else(|| bad("kind"))?,
            origin: text(origins),
            time: text(times).ok_or_else(|| bad("recorded"))?,
            body: bodies.get(at).cloned().flatten().ok_or_else(|| bad("body"))?,
            prev: hash(prevs, "prev")?,
            hash: hash(hashes, "hash")?,
        });
    }
    Ok(rows)
}

/// Columns that differ from those computed from the rows.
fn differences(name: &str, found: &ParquetTable, made: &ParquetTable) -> Vec<Kept> {
    let mut all = Vec::new();
    for column in &made.columns {
        match found.column(&column.name) {
            Some(values) if *values == column.values => {}
            Some(_) => all.push(say!("export-lake-column-differs", table = name, column = column.name).into()),
            None => all.push(say!("export-lake-column-missing", table = name, column = column.name).into()),
        }
    }
    for column in &found.columns {
        if !made.columns.iter().any(|known| known.name == column.name) && made.rows() > 0 {
            all.push(say!("export-lake-column-foreign", table = name, column = column.name).into());
        }
    }
    if found.rows() != made.rows() {
        all.push(say!("export-lake-row-count", table = name, found = found.rows(), expected = made.rows()).into());
    }
    all
}
