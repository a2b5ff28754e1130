//! The only module that creates, replaces, renames and removes files and directories.
//!
//! A file has the access rights of its directory: on Windows a user's directories are closed to other users unless the
//! owner opened them.

use say::{Key, key, say};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The users who can read the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only this user can read the file.
    Private,
    /// All users who may read the directory.
    Public,
    /// All users can read and run the file.
    Program,
}

/// Creates a file; an error of kind AlreadyExists if anything has this name.
pub fn create_new(path: &Path, _: Access) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// Creates a file for incremental writing; an existing regular file is removed first.
pub fn create(path: &Path, access: Access) -> io::Result<File> {
    if replaceable(path)? {
        std::fs::remove_file(path)?;
    }
    create_new(path, access)
}

/// Writes a whole file atomically: the name always refers to the old file or the new one.
pub fn replace(path: &Path, access: Access, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut new = Replacement::new(path, access)?;
    new.write_all(bytes.as_ref())?;
    new.commit()
}

/// Opens a file for appending; creates it if it does not exist.
pub fn append(path: &Path, _: Access) -> io::Result<File> {
    replaceable(path)?;
    OpenOptions::new().read(true).append(true).create(true).open(path)
}

/// Opens an existing file for reading and writing.
pub fn update(path: &Path) -> io::Result<File> {
    replaceable(path)?;
    OpenOptions::new().read(true).write(true).open(path)
}

pub fn create_dir(path: &Path, _: Access) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Creates a directory and its missing parents.
pub fn create_dir_all(path: &Path, _: Access) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Gives a file or a directory another name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Removes a file; a directory is refused.
pub fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Removes a directory with everything in it.
pub fn remove_dir_all(path: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(path)
}

/// This system cannot lock a directory, so a file in it is locked.
pub fn lockable(dir: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join(".lock"))
}

/// Files have no mode here.
#[expect(clippy::unnecessary_wraps, reason = "the same face as on Linux")]
pub fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the same face as on Linux")]
pub fn set_file_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Directories cannot be opened to be synchronized; the file system's journal has their names.
#[expect(clippy::unnecessary_wraps, reason = "the same face as on Linux")]
pub fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates a symbolic link to a file; Windows permits it only to developers and administrators.
#[cfg(windows)]
pub fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, path)
}

#[cfg(not(windows))]
pub fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    super::unsupported()
}

/// Creates a hard link to a file.
pub fn hard_link(file: &Path, path: &Path) -> io::Result<()> {
    std::fs::hard_link(file, path)
}

/// A file that gets its name when it is complete. If it is dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct Replacement {
    /// Closed before it is renamed, because Windows renames no open file.
    file: Option<File>,
    new: PathBuf,
    path: PathBuf,
}

impl Replacement {
    pub fn new(path: &Path, access: Access) -> io::Result<Replacement> {
        replaceable(path)?;
        let name = format!(".whichkernel-{}.new", hex::encode(crate::random::secret::<8>()?));
        let new = path.with_file_name(name);
        Ok(Replacement { file: Some(create_new(&new, access)?), new, path: path.to_owned() })
    }

    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Waits until the written data is on disk.
    pub fn sync_all(&self) -> io::Result<()> {
        self.file()?.sync_all()
    }

    /// Makes the name refer to the written file.
    pub fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        self.file = None;
        std::fs::rename(&self.new, &self.path)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        self.file = None;
        // After a commit, the temporary name no longer exists.
        let _ = std::fs::remove_file(&self.new);
    }
}

/// Whether a regular file has this name; an error if anything else has.
fn replaceable(path: &Path) -> io::Result<bool> {
    let refused = |kind: Key| Err(io::Error::new(io::ErrorKind::InvalidInput, say!("sys-not-regular", kind)));
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(found) if found.is_file() => Ok(true),
        Ok(found) if found.is_dir() => refused(key!("sys-kind-directory")),
        Ok(found) if found.is_symlink() => refused(key!("sys-kind-symlink")),
        Ok(_) => refused(key!("sys-kind-character-device")),
    }
}
