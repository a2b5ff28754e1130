//! Why an export failed.

use ledger::LedgerError;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum LakeError {
    Ledger(LedgerError),
    Empty(PathBuf),
    Full(PathBuf),
    Forks { ledger: String, most: usize },
    Overtaken(PathBuf),
    Remote(PathBuf),
    Io { path: PathBuf, source: io::Error },
}

say::worded! { LakeError {
    Ledger(error) => error,
    Empty(path) => "export-empty",
    Full(path) => "export-full",
    Forks { ledger, most } => "export-forks",
    Overtaken(path) => "export-overtaken",
    Remote(path) => "export-remote",
    Io { path, source } => "about-why" (what = path, why = source),
}}

say::wraps! { LakeError { Ledger(LedgerError) }}

pub(crate) fn fail(path: &Path, error: io::Error) -> LakeError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LakeError::Full(path.to_owned()),
        _ => LakeError::Io { path: path.to_owned(), source: error },
    }
}
