//! Opens files of a ledger whose names or directory may come from another user. Only regular files are opened, never
//! through a symlink in the last component, and opening never blocks on a pipe.

use std::fs::File;
use std::io;
use std::path::Path;
use sys::files::{self, Access};

pub use sys::regular_file::open_itself as open;

/// Creates a file that only its owner may read. Fails if it exists.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    files::create_new(path, Access::Private)
}

/// A file without a name, for data that must be complete before it is kept. It disappears when it is closed, even if
/// the process is killed.
pub(crate) fn nameless(dir: &Path, name: &str) -> io::Result<File> {
    let path = dir.join(name);
    // A killed process with the same process id may have left this file.
    let _ = files::remove(&path);
    let file = create(&path)?;
    files::remove(&path)?;
    Ok(file)
}
