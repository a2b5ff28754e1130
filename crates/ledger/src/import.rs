//! Merges another ledger. Its content is checked before use, and the origin of each row is kept. The import is all or
//! nothing, and repeating it adds nothing.

use crate::archive;
use crate::blobs::Measured;
use crate::chain::{Hash, Row};
use crate::error::{LedgerError, unfinished};
use crate::open_regular;
use crate::origin::{Origin, is_id, received};
use crate::read::Reader;
use crate::schema::LONGEST;
use crate::spool::Spool;
use crate::write::{Draft, Ledger};
use evidence::Evidence;
use say::{Message, Say as _, say};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use sys::files;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The other ledger's id.
    pub from: String,
    pub added: u64,
    /// Rows that were here already.
    pub known: u64,
    /// Added rows that the other ledger had imported from a third one. Only the other ledger vouches for them.
    pub passed_on: u64,
}

/// Limits of an import. An archive is not compressed, so it cannot expand. A directory may contain sparse files, which
/// are larger than the data written to them.
#[derive(Debug, Clone)]
pub struct Limits {
    pub rows: u64,
    /// One piece of raw evidence.
    pub blob: u64,
    /// All rows and raw evidence together.
    pub total: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rows: 8_000_000, blob: 8 << 30, total: 64 << 30 }
    }
}

impl Ledger {
    /// Imports an archive written by `export --format json`, or the directory of another ledger.
    pub fn import(&mut self, path: &Path) -> Result<Imported, LedgerError> {
        self.import_within(path, &Limits::default())
    }

    pub fn import_within(&mut self, path: &Path, limits: &Limits) -> Result<Imported, LedgerError> {
        let bad = |what: say::Message| LedgerError::Archive { path: path.to_owned(), what };
        let meta = fs::symlink_metadata(path).map_err(|error| bad(error.message()))?;
        let spool = Spool::new(self.reader().dir())
            .map_err(|e| LedgerError::io(self.reader().dir(), say::key!("ledger-doing-importing"), e))?;
        let mut incoming = Incoming::new(self.reader(), spool, limits)?;
        if meta.is_dir() {
            incoming.directory(path).map_err(|error| match error {
                LedgerError::Archive { what, .. } => bad(what),
                other => bad(other.message()),
            })?;
        } else {
            let file = open_regular::open(path).map_err(|error| bad(error.message()))?;
            archive::read(file, &mut incoming).map_err(bad)?;
        }
        incoming.check_blobs().map_err(bad)?;
        let Incoming { from, known, passed_on, mut spool, .. } = incoming;
        let added = spool.count;
        self.take_in(&mut spool)?;
        Ok(Imported { from, added, known, passed_on })
    }

    /// Adds raw evidence, then rows. If the rows cannot be written, the raw evidence is removed again. Until then no
    /// other row can refer to it, because writers wait for this lock and check that their evidence exists.
    fn take_in(&mut self, spool: &mut Spool) -> Result<(), LedgerError> {
        let dir = self.reader().dir().to_owned();
        let fail = |error: io::Error| LedgerError::io(&dir, say::key!("ledger-doing-importing"), error);
        self.locked(|ledger| {
            let blobs = ledger.reader().blobs();
            let mut placed = Vec::new();
            let names: Vec<String> = spool.kept.keys().cloned().collect();
            let put = names.iter().try_for_each(|sha256| {
                if let Some(mut content) = spool.open_blob(sha256).map_err(fail)? {
                    let (found, _, new) = blobs.put(&mut content)?;
                    placed.extend(new.then_some(found));
                }
                Ok(())
            });
            let written = put.and_then(|()| {
                let rows = spool.rows().map_err(fail)?;
                ledger.write_locked(rows.map(|row| row.map_err(fail))).map(drop)
            });
            match written {
                // Here the rows were written and refer to the evidence, so the evidence must stay.
                Err(error @ LedgerError::HeadNotWritten { .. }) => Err(error),
                Err(error) => {
                    placed.iter().for_each(|sha256| blobs.remove(sha256));
                    Err(error)
                }
                Ok(()) => Ok(()),
            }
        })
    }
}

/// Another ledger while it is being imported.
#[derive(Debug)]
pub(crate) struct Incoming<'a> {
    here: &'a Reader,
    own: String,
    pub from: String,
    limits: &'a Limits,
    seq: u64,
    prev: Hash,
    bytes: u64,
    known: u64,
    passed_on: u64,
    /// The origins of rows from third ledgers, to reject duplicates.
    claimed: HashSet<[u8; 32]>,
    spool: Spool,
    /// The hash so far of the raw evidence being read.
    under_way: Sha256,
}

impl<'a> Incoming<'a> {
    fn new(here: &'a Reader, spool: Spool, limits: &'a Limits) -> Result<Self, LedgerError> {
        Ok(Incoming {
            here,
            own: here.id()?.unwrap_or_default(),
            from: String::new(),
            limits,
            seq: 0,
            prev: Hash([0; 32]),
            bytes: 0,
            known: 0,
            passed_on: 0,
            claimed: HashSet::new(),
            spool,
            under_way: Sha256::new(),
        })
    }

    pub fn ledger(&mut self, id: &str) -> Result<(), Message> {
        if !is_id(id) {
            return Err(say!("ledger-import-id", id = crate::blobs::shown(id)));
        }
        self.from = id.to_owned();
        self.prev = Hash::genesis(id);
        Ok(())
    }

    /// Takes the next row. It must follow from the previous row and be an observation that this version can read.
    pub fn row(&mut self, row: Row) -> Result<(), Message> {
        self.seq += 1;
        let seq = self.seq;
        if seq > self.limits.rows {
            return Err(say!("ledger-import-rows", most = self.limits.rows));
        }
        if row.seq != seq {
            return Err(say!("ledger-import-row-missing", seq, found = row.seq));
        }
        if row.prev != self.prev || row.hash != row.expected_hash() {
            return Err(say!("ledger-import-chain", seq));
        }
        self.prev = row.hash;
        if row.body.len() > LONGEST || row.time.len() > 64 {
            return Err(say!("ledger-import-long", seq, bytes = row.body.len(), most = LONGEST));
        }
        self.bytes += row.body.len() as u64;
        self.within(self.bytes)?;
        let observation = row.observation().map_err(|error| say!("ledger-import-no-observation", seq, error))?;
        let evidence: &[Evidence] = observation.as_ref().map(|one| one.raw_evidence()).unwrap_or_default();
        self.spool.want(evidence).map_err(|what| say!("ledger-import-row", seq, what))?;
        let origin = received(&self.from, seq, &row.hash.to_string(), row.origin.as_deref());
        if self.is_here(&row, &origin)? {
            self.known += 1;
            return Ok(());
        }
        self.passed_on += u64::from(row.origin.is_some());
        let draft = Draft { kind: row.kind, origin: Some(origin), time: row.time, body: row.body };
        self.spool.row(&draft).map_err(|error| error.message())
    }

    /// Whether the row is already here. If a row claims this ledger as its origin but is not here, it was forged.
    fn is_here(&mut self, row: &Row, origin: &str) -> Result<bool, Message> {
        let seq = row.seq;
        let Some(parsed) = Origin::parse(origin) else {
            let what = crate::blobs::shown(row.origin.as_deref().unwrap_or(origin));
            return Err(say!("ledger-import-origin", seq, what));
        };
        let failed = |error: LedgerError| error.message();
        let ours = |number: u64, hash: &str| -> Result<bool, Message> {
            let same = |own: &Row| {
                own.hash.to_string() == hash && own.kind == row.kind && own.time == row.time && own.body == row.body
            };
            match self.here.row(number).map_err(failed)? {
                Some(own) if same(&own) => Ok(true),
                _ => Err(say!("ledger-import-forged", seq, number)),
            }
        };
        if self.from == self.own {
            return ours(seq, &row.hash.to_string());
        }
        if parsed.ledger == self.own {
            return ours(parsed.seq, parsed.hash);
        }
        if row.origin.is_some() && !self.claimed.insert(Sha256::digest(parsed.first.as_bytes()).into()) {
            return Err(say!("ledger-import-twice", seq, from = parsed.first));
        }
        self.here.has_received(parsed.first, row).map_err(failed)
    }

    /// Takes a piece of raw evidence. With `last`, completes the evidence and checks its hash.
    pub fn piece(&mut self, sha256: &str, data: &[u8], last: bool) -> Result<(), Message> {
        let failed = |error: io::Error| error.message();
        let Some(size) = self.spool.wanted.get(sha256).copied() else {
            return Err(say!("ledger-import-unnamed", sha256 = crate::blobs::shown(sha256)));
        };
        self.under_way.update(data);
        self.spool.piece(data).map_err(failed)?;
        let (here, all) = self.spool.written().map_err(failed)?;
        if here > size || here > self.limits.blob {
            return Err(say!("ledger-import-raw-long", sha256, most = size.min(self.limits.blob)));
        }
        self.within(self.bytes + all)?;
        if last {
            let found = hex::encode(std::mem::take(&mut self.under_way).finalize());
            if found != sha256 || here != size {
                return Err(say!("ledger-import-raw-altered", sha256, found, here, size));
            }
            self.spool.blob(sha256).map_err(failed)?;
        }
        Ok(())
    }

    fn within(&self, bytes: u64) -> Result<(), Message> {
        if bytes > self.limits.total { Err(say!("ledger-import-bytes", most = self.limits.total)) } else { Ok(()) }
    }

    /// Checks that all raw evidence that a row refers to was received or was already here, and is complete.
    fn check_blobs(&self) -> Result<(), Message> {
        let mut missing = Vec::new();
        for (sha256, &size) in self.spool.wanted.iter().filter(|(sha256, _)| !self.spool.kept.contains_key(*sha256)) {
            let evidence = Evidence { sha256: sha256.clone(), size, kind: String::new() };
            if !matches!(self.here.blobs().measure(&evidence), Ok(Measured::Same)) {
                missing.push(sha256.as_str());
            }
        }
        match missing.as_slice() {
            [] => Ok(()),
            [one] => Err(say!("ledger-import-raw-missing", sha256 = *one, more = 0)),
            [one, more @ ..] => Err(say!("ledger-import-raw-missing", sha256 = *one, more = more.len())),
        }
    }

    /// Imports a directory that anyone may have written. The database is copied before it is opened, and a journal next
    /// to it is ignored: SQLite would replay the journal and delete files that it names.
    fn directory(&mut self, path: &Path) -> Result<(), LedgerError> {
        let bad = |what: say::Message| LedgerError::Archive { path: path.to_owned(), what };
        let database = path.join("ledger.sqlite");
        if unfinished(&database) {
            let what = say::say!("ledger-import-busy");
            return Err(bad(what.to_owned()));
        }
        let copy = match open_regular::open(&database) {
            Ok(file) => copied(file, self.here.dir(), self.limits.total).map_err(|error| bad(error.message()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(bad(say::say!("ledger-import-none")));
            }
            Err(error) => return Err(bad(say::say!("ledger-import-database", error))),
        };
        let other = Reader::of_copy(path, &copy.file, &copy.path)?;
        let proof = other.verify_rows_only()?;
        if let Some(problem) = proof.problems.first() {
            return Err(bad(problem.message()));
        }
        let Some(from) = proof.ledger else { return Err(bad(say::say!("ledger-import-none"))) };
        self.ledger(&from).map_err(bad)?;
        other.rows(0, |row| self.row(row).map(ControlFlow::Continue).map_err(bad))?;
        let wanted: Vec<Evidence> = self
            .spool
            .wanted
            .iter()
            .map(|(sha256, &size)| Evidence { sha256: sha256.clone(), size, kind: String::new() })
            .collect();
        for evidence in wanted {
            let sha256 = &evidence.sha256;
            let found = other.blobs().read(&evidence, |data| self.piece(sha256, data, false).map_err(io::Error::other));
            match found.map_err(|error| bad(say::say!("ledger-import-raw", sha256, error)))? {
                Measured::Missing => {}
                _ => self.piece(sha256, b"", true).map_err(bad)?,
            }
        }
        Ok(())
    }
}

/// A copy of the database, because SQLite opens files only by name. It is deleted when dropped.
struct Copy {
    path: PathBuf,
    file: File,
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = files::remove(&self.path);
    }
}

fn copied(from: File, dir: &Path, most: u64) -> io::Result<Copy> {
    sweep(dir);
    let path = dir.join(format!("{COPY}{}", std::process::id()));
    let mut copy = Copy { file: open_regular::create(&path)?, path };
    if io::copy(&mut from.take(most.saturating_add(1)), &mut copy.file)? > most {
        return Err(io::Error::other(say!("ledger-import-sqlite", most)));
    }
    Ok(copy)
}

const COPY: &str = "import-database-";

/// Removes copies left by killed imports, and a copy with our own process id.
fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let of = name.to_str().and_then(|name| name.strip_prefix(COPY)).and_then(|pid| pid.parse::<u32>().ok());
        if of.is_some_and(|pid| pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = files::remove(&entry.path());
        }
    }
}
