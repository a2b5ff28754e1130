//! Verifies a lake: recomputes the hash and link of every row, compares every column with its row, and compares every
//! table with the hash in the export's manifest.

use crate::days::Runs;
use crate::files::LakeFiles;
use crate::manifest::{self, Manifest, Part, TABLES};
use crate::parquet::{self, ParquetTable, Values};
use crate::rows::{self, Whose};
use ledger::{Hash, LedgerError, Reader, Row, RowKind};
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// One ledger's part of a lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProvedLedger {
    /// The manifest of its export, or a table that no manifest names.
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
    /// The comparison with this machine's ledger; null if the lake has no rows of it.
    pub own: Option<OwnLedger>,
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

/// The rows of this machine's own ledger in the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnLedger {
    pub ledger: String,
    /// The rows of the ledger.
    pub rows: u64,
    /// The first rows, up to this number, are in the lake with the same hashes.
    pub exported: u64,
    /// The number of the first row that differs between the lake and the ledger; null if none does.
    pub differs_at: Option<u64>,
}

impl OwnLedger {
    /// Compares every exported row with the ledger. None if the lake has no rows of this ledger.
    pub fn compare(reader: &Reader, ledgers: &[ProvedLedger]) -> Result<Option<OwnLedger>, LedgerError> {
        let Some(ledger) = reader.id()? else { return Ok(None) };
        let ours: Vec<&ProvedLedger> = ledgers.iter().filter(|one| one.ledger == ledger).collect();
        if ours.is_empty() {
            return Ok(None);
        }
        let (mut rows, mut same) = (0u64, vec![0usize; ours.len()]);
        reader.rows(1, |row| {
            let (at, hash) = (rows as usize, row.hash.to_string());
            rows += 1;
            for (same, one) in same.iter_mut().zip(&ours) {
                *same += usize::from(*same == at && one.hashes.get(at) == Some(&hash));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        // A clone of this machine has other rows at the end. The copy that agrees longest is ours.
        let Some((exported, one)) = same.into_iter().zip(&ours).max_by_key(|(same, _)| *same) else { return Ok(None) };
        let differs_at = (exported < one.hashes.len()).then_some(exported as u64 + 1);
        Ok(Some(OwnLedger { ledger, rows, exported: exported as u64, differs_at }))
    }
}

/// The maximum size of a file that is read into memory.
const MOST: u64 = 4 << 30;

/// Verifies every ledger in the lake. Fails for a lake without ledgers, because there is nothing to prove.
pub fn prove(dir: &Path) -> io::Result<Vec<ProvedLedger>> {
    // The lock prevents an export from moving its files meanwhile. A folder that cannot be locked is read anyway; the
    // manifest shows whether it is consistent.
    let _unchanged = manifest::lock(dir, false);
    let about = |error: io::Error| io::Error::new(error.kind(), say::say!("about-why", what = dir, why = error));
    let files = LakeFiles::list(dir).map_err(about)?;
    let (manifests, mut left) = (&files.manifests, files.tables.clone());
    if manifests.is_empty() && left.is_empty() {
        let folder = dir.join(TABLES[0]);
        return Err(io::Error::new(io::ErrorKind::NotFound, say::say!("export-no-table", path = folder)));
    }
    let mut all = Vec::new();
    for path in manifests {
        let mut proved = ProvedLedger::of(path);
        match Manifest::read(path) {
            Ok(Some((manifest, seal))) => {
                proved.seal = Some(seal);
                proved.ledger.clone_from(&manifest.ledger);
                check(dir, path, &manifest, &mut proved);
                left.retain(|file| !lists(&manifest, dir, file));
            }
            Ok(None) => continue,
            Err(why) => proved.problems.push(say!("about-why", what = path, why).into()),
        }
        all.push(proved);
    }
    // A query over all tables of the folder also reads files that no manifest names.
    all.extend(left.iter().map(|file| {
        let problem = say!("export-lake-unlisted", path = file);
        ProvedLedger { problems: vec![problem.into()], ..ProvedLedger::of(file) }
    }));
    Ok(all)
}

fn lists(manifest: &Manifest, dir: &Path, file: &Path) -> bool {
    let days = manifest.tables.iter().flat_map(|(table, days)| days.keys().map(move |day| (table, day)));
    days.into_iter().any(|(table, day)| dir.join(manifest.file(table, day)) == *file)
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

/// The table, and the SHA-256 of the file.
fn table(file: &Path) -> Result<(ParquetTable, String), Message> {
    let bytes = sys::regular_file::whole(file, MOST).map_err(|why| say!("about-why", what = file, why))?;
    let table = parquet::read(&bytes).map_err(|why| say!("about-why", what = file, why))?;
    Ok((table, manifest::sha256(&bytes)))
}

/// Checks every file of a manifest, and that their rows are one chain.
fn check(dir: &Path, path: &Path, manifest: &Manifest, proved: &mut ProvedLedger) {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem != format!("{}-{}", manifest.ledger, manifest.machine.strip_prefix('m').unwrap_or_default()) {
        proved.problems.push(say!("export-lake-other-ledger", path, ledger = manifest.ledger).into());
    }
    let mut all: Vec<Row> = Vec::new();
    let days: BTreeSet<&String> = ["observations", "launches"]
        .into_iter()
        .filter_map(|table| manifest.tables.get(table))
        .flat_map(BTreeMap::keys)
        .collect();
    for day in days {
        match checked_day(dir, manifest, day, proved) {
            Ok(rows) => all.extend(rows),
            Err(problem) => proved.problems.push(problem.into()),
        }
    }
    all.sort_by_key(|row| row.seq);
    links(manifest, &all, proved);
    let graded: BTreeMap<u64, String> = all.iter().map(|row| (row.seq, row.hash.to_string())).collect();
    let ids: BTreeSet<String> =
        all.iter().filter_map(|row| row.observation().ok().flatten()).map(|seen| seen.id().to_string()).collect();
    for (day, part) in manifest.tables.get("claims").into_iter().flatten() {
        match part_of(dir, manifest, ("claims", day), part, proved) {
            Ok((found, _)) => proved.problems.extend(claims(manifest, &found, &graded, &ids)),
            Err(problem) => proved.problems.push(problem.into()),
        }
    }
}

/// Reads a file and compares it with its entry in the manifest. Also returns whose rows they are.
fn part_of(
    dir: &Path,
    manifest: &Manifest,
    (name, day): (&str, &str),
    part: &Part,
    proved: &mut ProvedLedger,
) -> Result<(ParquetTable, Whose), Message> {
    let file = dir.join(manifest.file(name, day));
    if file.symlink_metadata().is_err() {
        return Err(say!("export-lake-no-table", path = file));
    }
    let (found, sha256) = table(&file)?;
    if sha256 != part.sha256 {
        proved.problems.push(say!("export-lake-table-altered", table = format!("{name} {day}")).into());
    }
    let said = |name: &str| {
        let text = found.about(name).map(str::to_owned);
        text.ok_or_else(|| say!("export-lake-no-entry", path = file, name))
    };
    let whose = Whose { ledger: said("ledger")?, machine: said("machine")?, host: said("host")? };
    if (&whose.ledger, &whose.machine) != (&manifest.ledger, &manifest.machine) {
        proved.problems.push(say!("export-lake-other-ledger", path = file, ledger = whose.ledger).into());
    }
    Ok((found, whose))
}

/// The rows of one day: their columns must be those that the rows give, and the launches those of the rows.
fn checked_day(dir: &Path, manifest: &Manifest, day: &str, proved: &mut ProvedLedger) -> Result<Vec<Row>, Message> {
    let Some(part) = manifest.part("observations", day) else {
        return Err(say!("export-lake-no-observations", path = manifest.file("launches", day)));
    };
    let (found, whose) = part_of(dir, manifest, ("observations", day), part, proved)?;
    let rows = chain(&found)?;
    let mut runs = Runs::default();
    rows.iter().for_each(|row| runs.push(row.seq));
    if runs.0 != part.runs || rows.iter().any(|row| manifest::day(&row.time) != day) {
        proved.problems.push(say!("export-lake-runs", day).into());
    }
    proved.problems.extend(differences("observations", &found, &rows::observations(&whose, &rows)));
    let launches = rows::launches(&whose, &rows);
    match manifest.part("launches", day) {
        Some(part) => {
            let (found, _) = part_of(dir, manifest, ("launches", day), part, proved)?;
            proved.problems.extend(differences("launches", &found, &launches));
        }
        None if launches.rows() > 0 => {
            let path = dir.join(manifest.file("launches", day));
            proved.problems.push(say!("export-lake-no-table", path).into());
        }
        None => {}
    }
    Ok(rows)
}

/// Checks that every row follows from the previous one, from the ledger's id to the head.
fn links(manifest: &Manifest, rows: &[Row], proved: &mut ProvedLedger) {
    let mut last = Hash::genesis(&manifest.ledger);
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
    if proved.head.as_deref() != Some(&manifest.head) || proved.rows != manifest.rows {
        proved.problems.push(say!("export-lake-end-missing").into());
    }
}

/// Checks the claims' ledger, the row up to which they were graded, and their citations.
fn claims(
    manifest: &Manifest,
    found: &ParquetTable,
    graded: &BTreeMap<u64, String>,
    ids: &BTreeSet<String>,
) -> Vec<Kept> {
    let mut problems = Vec::new();
    let cells = |column: &str| rows::texts(found, column).into_iter().flatten().flatten().map(String::as_str);
    if cells("ledger").any(|cell| cell != manifest.ledger) {
        problems.push(say!("export-lake-claims-column", column = "ledger").into());
    }
    let rows = match found.column("row") {
        Some(Values::Number(rows)) => rows.iter().map(|row| row.and_then(|row| u64::try_from(row).ok())).collect(),
        _ => Vec::new(),
    };
    let heads = rows::texts(found, "head").into_iter().flatten();
    let right = |row: &Option<u64>, head: &Option<String>| row.and_then(|row| graded.get(&row)) == head.as_ref();
    if rows.len() != found.rows() || !rows.iter().zip(heads).all(|(row, head)| right(row, head)) {
        problems.push(say!("export-lake-claims-column", column = "head").into());
    }
    let host = found.about("host").unwrap_or_default();
    if cells("host").any(|cell| cell != host) {
        problems.push(say!("export-lake-claims-column", column = "host").into());
    }
    if let Some(cited) = cells("cites").flat_map(|cell| cell.split(' ')).find(|id| !id.is_empty() && !ids.contains(*id))
    {
        problems.push(say!("export-lake-not-cited", observation = cited).into());
    }
    problems
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
