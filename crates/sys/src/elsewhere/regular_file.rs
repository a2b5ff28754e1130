//! Regular files, checked before and after they are opened. On these systems, no caller has more rights than the source
//! of the name.

use say::{Key, Message, Say, key, say};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Opens a regular file for reading, following symlinks.
pub fn open(path: &Path) -> io::Result<File> {
    open_or_kind(path)?.map_err(|kind| io::Error::new(io::ErrorKind::InvalidInput, say!("sys-not-regular", kind)))
}

/// Like [`open`], but returns another file type to the caller, which has its own message for it.
pub fn open_or_kind(path: &Path) -> io::Result<Result<File, Key>> {
    if std::fs::metadata(path)?.is_dir() {
        return Ok(Err(key!("sys-kind-directory")));
    }
    let file = File::open(path)?;
    // `NUL`, `CON` and similar names are not files on a disk.
    Ok(if file.metadata()?.is_file() { Ok(file) } else { Err(key!("sys-kind-character-device")) })
}

/// Opens a regular file at exactly this path: a symlink in the last component is refused.
pub fn open_itself(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.is_symlink() {
        let why = say!("sys-not-regular", kind = key!("sys-kind-symlink"));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    open(path)
}

pub fn open_unlinked(path: &Path) -> io::Result<File> {
    open_itself(path)
}

pub fn open_in(root: &Path, path: &Path) -> io::Result<File> {
    super::rooted::Inside::new(root).open(path)
}

/// Opens a relative path below a directory; a path that leads out of it is refused.
pub fn open_below(dir: &Path, path: &Path) -> io::Result<File> {
    if path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    open(&dir.join(path))
}

/// The first `most` bytes.
pub fn start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file; fails if it is longer than this.
pub fn whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let bytes = start(path, most.saturating_add(1))?;
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, say!("sys-longer", most));
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// Reads a text file; fails if it is longer than this.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    let invalid = |why: Message| io::Error::new(io::ErrorKind::InvalidData, why);
    String::from_utf8(whole(path, most)?).map_err(|error| invalid(error.message()))
}

pub fn owned_start(_: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    start(path, most)
}

pub fn may_run(program: &Path) -> io::Result<PathBuf> {
    Ok(program.to_owned())
}
