//! Programs of this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The file behind a program's name on this machine.
pub fn on_path(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|directory| directory.join(path)).find(|path| path.is_file())
}
