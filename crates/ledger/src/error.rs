//! The errors of a ledger, each with its location and a remedy.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum LedgerError {
    Io { path: PathBuf, source: io::Error },
    Full { path: PathBuf, doing: say::Key },
    ReadOnly { path: PathBuf, source: io::Error },
    Newer { path: PathBuf, found: u32, known: u32 },
    NotALedger { path: PathBuf, what: say::Message },
    Damaged { path: PathBuf, what: say::Message },
    BrokenChain { path: PathBuf, what: say::Message },
    HeadNotWritten { path: PathBuf, source: io::Error },
    Unfinished { path: PathBuf },
    Busy { path: PathBuf, seconds: u64 },
    Database { path: PathBuf, source: rusqlite::Error },
    Row { path: PathBuf, seq: u64, what: say::Message },
    TooLong { path: PathBuf, size: usize, most: usize },
    Archive { path: PathBuf, what: say::Message },
}

say::worded! { LedgerError {
    Io { path, source } => "ledger-io",
    Full { path, doing } => "ledger-full",
    ReadOnly { path, source } => "ledger-read-only",
    Newer { path, found, known } => "ledger-newer",
    NotALedger { path, what } => "ledger-not-a-ledger",
    Damaged { path, what } => "ledger-damaged",
    BrokenChain { path, what } => "ledger-broken-chain",
    HeadNotWritten { path, source } => "ledger-head-not-written",
    Unfinished { path } => "ledger-unfinished",
    Busy { path, seconds } => "ledger-busy",
    Database { path, source } => "ledger-database" (path, source = source.to_string()),
    Row { path, seq, what } => "ledger-row",
    TooLong { path, size, most } => "ledger-too-long",
    Archive { path, what } => "ledger-archive",
}}

impl LedgerError {
    /// Turns an I/O error of a plain file into an error with a cause that the user can act on.
    pub(crate) fn io(path: &Path, doing: say::Key, source: io::Error) -> Self {
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
            Some(ErrorCode::DiskFull) => LedgerError::Full { path, doing: say::key!("ledger-doing-writing") },
            // SQLite reports this when a write exceeds RLIMIT_FSIZE; treat it like a full disk.
            Some(ErrorCode::SystemIoFailure) if file_limit() => {
                LedgerError::Full { path, doing: say::key!("ledger-doing-writing") }
            }
            Some(ErrorCode::DatabaseCorrupt) => LedgerError::Damaged { path, what: say::Message::verbatim(source) },
            Some(ErrorCode::NotADatabase) => LedgerError::NotALedger { path, what: say::Message::verbatim(source) },
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

/// Whether SQLite's rollback journal exists. It does during a write and after a killed write.
pub(crate) fn unfinished(database: &Path) -> bool {
    let mut journal = database.as_os_str().to_owned();
    journal.push("-journal");
    Path::new(&journal).exists()
}

fn file_limit() -> bool {
    sys::host::limits_files()
}
