//! Errors of runtimes, with the path and a remedy.

use say::{Message, say};
use std::{io, path::PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
pub enum Error {
    Io { path: PathBuf, source: io::Error },
    Deb { path: PathBuf, what: say::Key, offset: u64 },
    Archive { path: PathBuf, member: String, source: io::Error },
    Swollen { path: PathBuf, why: say::Message },
    UnknownArchive { path: PathBuf },
    NoApt { advice: String },
    Apt { command: String, said: String },
    Git { command: String, said: Message },
    NoMirror,
    NoKeyring { path: PathBuf },
    NoPackage { suite: String, package: String, by: String },
    UnknownSuite { name: String, known: Vec<String> },
    UnknownPart { name: String, suite: String, known: Vec<String> },
    BadTarget { name: String },
    Hash { path: PathBuf, expected: String, found: String },
    Space { path: PathBuf, needed: u64, free: u64 },
    Index { path: PathBuf, source: serde_json::Error },
    BadName { name: String },
    Taken { name: String, path: PathBuf },
    NoGgml { path: PathBuf },
    NoTools { path: PathBuf },
    NoUnit { wanted: String, example: String },
    NoClang,
    NoCmake,
    NoHeaders { path: PathBuf },
    Compile { unit: String, said: Message },
    Link { library: PathBuf, said: Message },
    Tools { said: Message },
    BuildStopped { done: usize, total: usize },
    Busy { name: String, path: PathBuf },
}

say::worded! { Error {
    Io { path, source } => "about-why" (what = path, why = source),
    Deb { path, what, offset } => "runtime-deb",
    Archive { path, member, source } => "runtime-archive",
    Swollen { path, why } => "about-why" (what = path, why = why),
    UnknownArchive { path } => "runtime-unknown-archive",
    NoApt { advice } => "runtime-no-apt",
    Apt { command, said } => "runtime-apt",
    Git { command, said } => "runtime-git",
    NoMirror => "runtime-no-mirror",
    NoKeyring { path } => "runtime-no-keyring",
    NoPackage { suite, package, by } => "runtime-no-package",
    UnknownSuite { name, known } => "runtime-unknown-suite",
    UnknownPart { name, suite, known } => "runtime-unknown-part",
    BadTarget { name } => "runtime-bad-target",
    Hash { path, expected, found } => "runtime-hash",
    Space { path, needed, free } => "runtime-space",
    Index { path, source } => "runtime-index",
    BadName { name } => "runtime-bad-name",
    Taken { name, path } => "runtime-taken",
    NoGgml { path } => "runtime-no-ggml",
    NoTools { path } => "runtime-no-tools",
    NoUnit { wanted, example } => "runtime-no-unit",
    NoClang => "runtime-no-clang",
    NoCmake => "runtime-no-cmake",
    NoHeaders { path } => "runtime-no-headers",
    Compile { unit, said } => "runtime-compile",
    Link { library, said } => "runtime-link",
    Tools { said } => "runtime-tools",
    BuildStopped { done, total } => "runtime-build-stopped",
    Busy { name, path } => "runtime-busy",
}}

/// The error output of a program that failed.
pub(crate) fn printed(line: Option<&str>) -> Message {
    line.map_or_else(|| say!("runtime-no-output"), |line| Message::verbatim(line.trim()))
}

/// For `map_err`: the error with its path.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Io { path, source }
}
