//! Opening a ledger's files, whose names or directory may come from another user: only regular files, never through a symlink in
//! the last component, and never waiting for the other end of a pipe.

use std::fs::File;
use std::io;
use std::path::Path;
use sys::files::{self, Access};

pub use sys::regular_file::open_itself as open;

/// A new file: it must not exist, and only its owner may read it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    files::create_new(path, Access::Private)
}

/// A file without a name, for what must be whole before it may be kept. It goes when it is closed, also by a kill.
pub(crate) fn nameless(dir: &Path, name: &str) -> io::Result<File> {
    let path = dir.join(name);
    // Of a process of the same number that was killed between the two.
    let _ = files::remove(&path);
    let file = create(&path)?;
    files::remove(&path)?;
    Ok(file)
}
