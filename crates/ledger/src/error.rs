//! What can go wrong with a ledger, each with its place and what to do.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("{}: {source}; nothing was changed", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: no space left while {doing}; the ledger is intact, free some space and run it again", .path.display())]
    Full { path: PathBuf, doing: &'static str },
    #[error(
        "the ledger in {} cannot be written: {source}; reading works, `--ledger DIR` or $WHICHKERNEL_LEDGER chooses another",
        .path.display()
    )]
    ReadOnly { path: PathBuf, source: io::Error },
    #[error(
        "{}: the ledger has format {found}, and this whichkernel knows up to {known}; it was made by a newer version and \
         is left untouched: use that version, or `--ledger DIR` for another ledger",
        .path.display()
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("{}: not a whichkernel ledger ({what}); it is left untouched", .path.display())]
    NotALedger { path: PathBuf, what: String },
    #[error("{}: the database is damaged ({what}); `whichkernel ledger verify` names the place, nothing was changed", .path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{}: {what}; nothing was written, `whichkernel ledger verify` tells more", .path.display())]
    BrokenChain { path: PathBuf, what: String },
    #[error(
        "{}: the rows were recorded, but the head could not be written ({source}); the next write repairs it",
        .path.display()
    )]
    HeadNotWritten { path: PathBuf, source: io::Error },
    #[error(
        "{}: a writer was killed in the middle, and what it left must be rolled back before anyone can read; that needs a \
         directory that can be written: make it writable, or read a copy of it",
        .path.display()
    )]
    Unfinished { path: PathBuf },
    #[error("{}: another process has held the ledger for {seconds} s; try again when it is done", .path.display())]
    Busy { path: PathBuf, seconds: u64 },
    #[error("{}: database error: {source}", .path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
    #[error("row {seq} of {}: {what}", .path.display())]
    Row { path: PathBuf, seq: u64, what: String },
    #[error("{}: a row of {size} bytes is too long, the most is {most}; nothing was written", .path.display())]
    TooLong { path: PathBuf, size: usize, most: usize },
    #[error("archive {}: {what}; nothing was imported", .path.display())]
    Archive { path: PathBuf, what: String },
}

say::in_english!(LedgerError);

impl LedgerError {
    /// An error of a plain file, told apart where a person would.
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                LedgerError::Full { path, doing }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                LedgerError::ReadOnly { path, source }
            }
            _ => LedgerError::Io { path, source },
        }
    }

    pub(crate) fn database(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => LedgerError::Full { path, doing: "writing rows" },
            // What SQLite says when a write beyond RLIMIT_FSIZE fails: the limit is a full disk of another kind.
            Some(ErrorCode::SystemIoFailure) if file_limit() => LedgerError::Full { path, doing: "writing rows" },
            Some(ErrorCode::DatabaseCorrupt) => LedgerError::Damaged { path, what: source.to_string() },
            Some(ErrorCode::NotADatabase) => LedgerError::NotALedger { path, what: source.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                LedgerError::Busy { path, seconds: crate::schema::PATIENCE.as_secs() }
            }
            Some(ErrorCode::ReadOnly) if unfinished(&path) => LedgerError::Unfinished { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                LedgerError::ReadOnly { path, source: io::Error::other(source.to_string()) }
            }
            _ => LedgerError::Database { path, source },
        }
    }
}

/// SQLite's rollback journal lies beside the database while a write is under way.
pub(crate) fn unfinished(database: &Path) -> bool {
    let mut journal = database.as_os_str().to_owned();
    journal.push("-journal");
    Path::new(&journal).exists()
}

fn file_limit() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some()
}
