//! What can go wrong with a runtime, said with the place and the way out.

use std::{io, path::PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is not a Debian package: {what} at byte {offset}")]
    Deb { path: PathBuf, what: &'static str, offset: u64 },
    #[error("{path}, member {member}: {source}. The archive is cut off or damaged; fetch it again")]
    Archive { path: PathBuf, member: String, source: io::Error },
    #[error("{path}: {why}")]
    Swollen { path: PathBuf, why: String },
    #[error(
        "{path} is no archive that can be added (Debian package, tar, tar.gz, tar.xz, tar.zst, zip) and no directory"
    )]
    UnknownArchive { path: PathBuf },
    #[error("apt-get is not here: {advice}")]
    NoApt { advice: String },
    #[error("{command} failed: {said}")]
    Apt { command: String, said: String },
    #[error("{command} failed: {said}")]
    Git { command: String, said: String },
    #[error("no Debian mirror is named in this system's apt sources; give one: --mirror URL")]
    NoMirror,
    #[error(
        "{path}: no such keyring, so signatures could not be checked. Install debian-archive-keyring, or give --keyring FILE"
    )]
    NoKeyring { path: PathBuf },
    #[error(
        "the suite {suite} has no package {package} (needed by {by}). Packages get renamed: `--parts` without it, or report it"
    )]
    NoPackage { suite: String, package: String, by: String },
    #[error("{name} is not a runtime that can be fetched; there are: {known}")]
    UnknownSuite { name: String, known: String },
    #[error("{name} is not a part of {suite}; there are: {known}")]
    UnknownPart { name: String, suite: String, known: String },
    #[error("{name} is not a target; expected a name like gfx1100")]
    BadTarget { name: String },
    #[error("{path}: SHA-256 is {found}, the signed index says {expected}. The file was removed; run the fetch again")]
    Hash { path: PathBuf, expected: String, found: String },
    #[error("{path}: {needed} bytes are needed, {free} are free")]
    Space { path: PathBuf, needed: u64, free: u64 },
    #[error("{path}: not a runtime index: {source}")]
    Index { path: PathBuf, source: serde_json::Error },
    #[error("{name}: not a name for a runtime (letters, digits, '.', '_', '+' and '-')")]
    BadName { name: String },
    #[error("a runtime named {name} is there already: give another --name, or remove {path}")]
    Taken { name: String, path: PathBuf },
    #[error(
        "no ggml with a CUDA backend was found in {path}. Give a checkout of llama.cpp, ggml or Ollama; a revision of a repository is unpacked by `git archive REV | tar -x -C DIR`"
    )]
    NoGgml { path: PathBuf },
    #[error(
        "{path} is no checkout of llama.cpp: it has no tools/llama-bench. --with takes llama.cpp at the commit that the tree is made from (FETCH_HEAD in Ollama's Makefile.sync)"
    )]
    NoTools { path: PathBuf },
    #[error(
        "no translation unit is called like {wanted}. --only takes the beginnings of their names, for example {example}"
    )]
    NoUnit { wanted: String, example: String },
    #[error("no clang++ that reads the device libraries is here (clang++-22 or -21): apt-get install clang-22 lld-22")]
    NoClang,
    #[error(
        "cmake is not here, and the tools of the tree are built by it: apt-get install cmake; --no-tools leaves them out"
    )]
    NoCmake,
    #[error("{path} has no HIP headers and device libraries; remove it, and they are fetched again")]
    NoHeaders { path: PathBuf },
    #[error("{unit} could not be compiled: {said}")]
    Compile { unit: String, said: String },
    #[error("{library} could not be linked: {said}")]
    Link { library: PathBuf, said: String },
    #[error("the tools could not be built: {said}; --no-tools leaves them out")]
    Tools { said: String },
    #[error("stopped: {done} of {total} units are compiled and kept; the same command goes on from there")]
    BuildStopped { done: usize, total: usize },
    #[error("another whichkernel is working on {name} (lock {path}); wait for it to finish")]
    Busy { name: String, path: PathBuf },
}

say::in_english!(Error);

/// For `map_err`: the error with its path.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Io { path, source }
}
