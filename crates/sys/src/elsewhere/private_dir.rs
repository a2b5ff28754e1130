//! A session's own directory. On Windows the temporary directory belongs to the user, so that others cannot list it.

use super::files::{self, Access};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const PREFIX: &str = "whichkernel-";
const LOCK: &str = "lock";
pub const MOST_FILES: usize = 1 << 16;

/// A session's directories, removed with this value.
#[derive(Debug)]
pub struct SessionDir {
    outer: PathBuf,
    inner: PathBuf,
    /// The lock, held as long as this process lives and closed before its directory is removed.
    lock: Option<File>,
}

impl SessionDir {
    /// `kind`: a word for the directory's name.
    pub fn new(kind: &str, base: &Path) -> io::Result<SessionDir> {
        sweep(base);
        let name = hex::encode(crate::random::secret::<16>()?);
        let outer = base.join(format!("{PREFIX}{kind}-{name}"));
        let inner = outer.join("inner");
        files::create_dir(&outer, Access::Private)?;
        let lock = files::create_new(&outer.join(LOCK), Access::Private)?;
        lock.try_lock()?;
        files::create_dir(&inner, Access::Private)?;
        Ok(SessionDir { outer, inner, lock: Some(lock) })
    }

    pub fn outer(&self) -> &Path {
        &self.outer
    }

    /// Creates a home directory for the program.
    pub fn home(&self) -> io::Result<PathBuf> {
        let home = self.inner.join("home");
        files::create_dir(&home, Access::Private)?;
        Ok(home)
    }

    pub fn inner(&self) -> &Path {
        &self.inner
    }
}

impl Drop for SessionDir {
    fn drop(&mut self) {
        self.lock = None;
        let _ = fs::remove_dir_all(&self.outer);
    }
}

/// Writes a new file.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    files::create_new(path, Access::Program)?.write_all(bytes)
}

/// Opens a file of a session.
pub fn open(path: &Path, write: bool) -> io::Result<File> {
    if write { files::update(path) } else { super::regular_file::open_itself(path) }
}

/// Removes directories whose owner was killed: their lock is free.
pub fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let dir = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if let (true, Ok(lock)) = (ours, files::update(&dir.join(LOCK)))
            && lock.try_lock().is_ok()
        {
            drop(lock);
            let _ = fs::remove_dir_all(&dir);
        }
    }
}
