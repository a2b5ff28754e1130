//! Opening a ledger's files, whose names or directory may come from another user: only regular files, never through a
//! symlink in the last component, and never blocking on a pipe.

use std::fs::File;
use std::io;
use std::path::Path;
use sys::files::{self, Access};

pub use sys::regular_file::open_itself as open;

/// Creates a file that only its owner may read. Fails if it exists.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    files::create_new(path, Access::Private)
}

/// A file without a name, for data that must be complete before it may be kept. It disappears when it is closed, even
/// if the process is killed.
pub(crate) fn nameless(dir: &Path, name: &str) -> io::Result<File> {
    let path = dir.join(name);
    // A killed process with the same process id may have left it.
    let _ = files::remove(&path);
    let file = create(&path)?;
    files::remove(&path)?;
    Ok(file)
}
