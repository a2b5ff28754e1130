//! Appends a ledger to a lake: the rows since the last export of this ledger and machine, in one file for each table
//! and day, and the manifest that names them.
//!
//! A day with new rows gets a new file that replaces the old one and contains its rows too. So a row is in exactly one
//! file at any time: after a killed export, between two exports, and while files move. The manifest moves last. The
//! export after a killed one starts at the same row and replaces what the killed one left.

use crate::days::{Days, Runs};
use crate::error::{LakeError, fail};
use crate::manifest::{self, Manifest, Part, Place, State};
use crate::rows::{self, Whose};
use crate::staging::Staging;
use evidence::{Reading, Stated};
use ledger::Reader;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// How often an export starts again because another one of the same ledger was faster.
const ATTEMPTS: usize = 20;

/// The information that is written in addition to the rows.
#[derive(Debug)]
pub struct Origin<'a> {
    /// The name of the ledger's machine in the tables; by default the ids of the ledger and the machine.
    pub host: Option<&'a str>,
    /// The machine's id, from [`crate::machine`].
    pub machine: &'a str,
    pub title: &'a str,
    pub claims: &'a [(&'a Stated, &'a Reading)],
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub ledger: String,
    /// The base name of the manifest.
    pub stem: String,
    /// All rows of this ledger in the lake, and the new ones among them.
    pub rows: u64,
    pub new_rows: u64,
    pub launches: u64,
    pub claims: u64,
    /// The SHA-256 of the manifest, which covers every byte of every table.
    pub seal: String,
    /// The name of another ledger in the lake with the same id: a clone, or an earlier state of this one.
    pub beside: Option<String>,
    /// Whether the lake already has a later export of the same rows, so that nothing was written.
    pub kept_later: bool,
}

/// Whether a lake is at an address (`s3://bucket/lake`) instead of in a folder.
pub fn is_remote(lake: &Path) -> bool {
    lake.to_str().and_then(|text| text.split_once("://")).is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    })
}

/// Writes the rows that the lake does not have yet. If two exports run at the same time, both end with a complete lake.
pub fn write(reader: &Reader, origin: &Origin<'_>, dir: &Path) -> Result<Exported, LakeError> {
    if is_remote(dir) {
        return Err(LakeError::Remote(dir.to_owned()));
    }
    let empty = || LakeError::Empty(reader.dir().to_owned());
    let ledger = reader.id()?.ok_or_else(empty)?;
    let own = format!("{ledger}-{}", origin.machine);
    let host = origin.host.unwrap_or(&own);
    let mut last = None;
    reader.rows_back(|row| {
        last = Some(row);
        Ok(ControlFlow::Break(()))
    })?;
    let last = last.ok_or_else(empty)?;
    let state = State { ledger: &ledger, machine: origin.machine, host, rows: last.seq, head: last.hash };
    for _ in 0..ATTEMPTS {
        let place = manifest::place(dir, reader, &state)?;
        if place.later {
            return Ok(exported(&place, place.earlier.as_ref(), 0));
        }
        let made = stage(reader, origin, &state, &place, &manifest::day(&last.time), dir)?;
        if let Some(seal) = publish(dir, &place, &made)? {
            let from = place.earlier.as_ref().map_or(0, |(earlier, _)| earlier.rows);
            return Ok(exported(&place, Some(&(made.manifest, seal)), state.rows - from));
        }
    }
    Err(LakeError::Overtaken(dir.to_owned()))
}

fn exported(place: &Place, manifest: Option<&(Manifest, String)>, new_rows: u64) -> Exported {
    let count = |table| manifest.map_or(0, |(manifest, _)| manifest.count(table));
    Exported {
        ledger: manifest.map(|(manifest, _)| manifest.ledger.clone()).unwrap_or_default(),
        stem: place.stem.clone(),
        rows: count("observations"),
        new_rows,
        launches: count("launches"),
        claims: count("claims"),
        seal: manifest.map(|(_, seal)| seal.clone()).unwrap_or_default(),
        beside: place.beside.clone(),
        kept_later: place.later,
    }
}

/// Complete files under temporary names, and the manifest that names them.
struct Made {
    manifest: Manifest,
    staging: Staging,
    /// Table and day of each new file.
    files: Vec<(&'static str, String)>,
}

/// Writes the files of every day that has new rows.
fn stage(
    reader: &Reader,
    origin: &Origin<'_>,
    state: &State<'_>,
    place: &Place,
    last_day: &str,
    dir: &Path,
) -> Result<Made, LakeError> {
    let (from, tables) = match &place.earlier {
        Some((earlier, _)) => (earlier.rows, earlier.tables.clone()),
        None => (0, BTreeMap::new()),
    };
    let manifest = Manifest {
        schema: manifest::SCHEMA.to_owned(),
        ledger: state.ledger.to_owned(),
        machine: place.partition.clone(),
        host: state.host.to_owned(),
        rows: state.rows,
        head: state.head.to_string(),
        tables,
    };
    let whose =
        Whose { ledger: state.ledger.to_owned(), machine: place.partition.clone(), host: state.host.to_owned() };
    let mut made = Made { manifest, staging: Staging::new(dir)?, files: Vec::new() };
    for (day, new) in Days::read(reader, from + 1, state.rows)?.0 {
        let mut runs = made.manifest.part("observations", &day).map(|part| Runs(part.runs.clone())).unwrap_or_default();
        runs.extend(&new);
        let mut observations = made.staging.table("observations", &day, &whose)?;
        let mut launches = made.staging.table("launches", &day, &whose)?;
        runs.batches(reader, &day, |batch| {
            observations.put(&rows::observations(&whose, batch))?;
            launches.put(&rows::launches(&whose, batch))
        })?;
        let launches = launches.seal()?;
        let observations = observations.seal()?.map(|part| Part { runs: runs.0, ..part });
        made.add("observations", &day, observations);
        made.add("launches", &day, launches);
    }
    let mut claims = made.staging.table("claims", last_day, &whose)?;
    claims.put(&rows::claims(&whose, state, origin.claims, origin.title))?;
    let claims = claims.seal()?;
    if claims.as_ref() != made.manifest.part("claims", last_day) {
        made.add("claims", last_day, claims);
    }
    Ok(made)
}

impl Made {
    fn add(&mut self, table: &'static str, day: &str, part: Option<Part>) {
        let Some(part) = part else { return };
        self.manifest.tables.entry(table.to_owned()).or_default().insert(day.to_owned(), part);
        self.files.push((table, day.to_owned()));
    }
}

/// Moves every file into place, the manifest last. None if another export has changed the manifest since it was read.
fn publish(dir: &Path, place: &Place, made: &Made) -> Result<Option<String>, LakeError> {
    let _alone = manifest::lock(dir, true).map_err(|error| fail(dir, error))?;
    let path = Manifest::path(dir, &place.stem);
    let now = Manifest::read(&path).map_err(|error| fail(&path, error))?;
    if now.as_ref().map(|(_, seal)| seal) != place.earlier.as_ref().map(|(_, seal)| seal) {
        return Ok(None);
    }
    let bytes = made.manifest.bytes();
    let seal = manifest::sha256(&bytes);
    // Without new rows and with the same grades there is nothing to write.
    if place.earlier.as_ref().is_some_and(|(_, earlier)| *earlier == seal) {
        crate::staging::sweep(dir, &made.manifest);
        return Ok(Some(seal));
    }
    let place = |(table, day): &(&'static str, String)| (*table, day.clone(), dir.join(made.manifest.file(table, day)));
    let files: Vec<(&str, String, PathBuf)> = made.files.iter().map(place).collect();
    for to in files.iter().map(|(.., to)| to).chain([&path]) {
        made.staging.make_room(to)?;
    }
    for (table, day, to) in &files {
        made.staging.keep(table, day, to)?;
    }
    made.staging.settle(files.iter().map(|(.., to)| to.as_path()))?;
    made.staging.replace(&path, &bytes)?;
    crate::staging::sweep(dir, &made.manifest);
    Ok(Some(seal))
}
