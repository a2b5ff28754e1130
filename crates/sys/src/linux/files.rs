//! The only module that creates, replaces, renames and removes files and directories.
//!
//! A directory may be another user's, who can put a symbolic link, a pipe or a hard link where we are about to write.
//! So nothing is written through a symlink in the last component, nor through an earlier symlink that another user
//! could have created. Nothing blocks on a pipe. An existing file is replaced by a new one, or refused if it has a
//! second hard link.

use super::walk::{parent, trusted};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use say::{Key, Message, key, say};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// The users who can read the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only this user can read the file.
    Private,
    /// All users, as far as the umask allows.
    Public,
    /// All users can read and run the file.
    Program,
}

impl Access {
    fn file(self) -> Mode {
        Mode::from_raw_mode(match self {
            Access::Private => 0o600,
            Access::Public => 0o644,
            Access::Program => 0o755,
        })
    }

    fn directory(self) -> u32 {
        if self == Access::Private { 0o700 } else { 0o755 }
    }
}

/// Creates a file; an error of kind AlreadyExists if anything has this name, even a dangling symlink.
pub fn create_new(path: &Path, access: Access) -> io::Result<File> {
    let (dir, name) = parent(path)?;
    new_in(&dir, &name, access)
}

/// Creates a file for incremental writing; an existing regular file is removed first. The standard streams are used
/// directly.
pub fn create(path: &Path, access: Access) -> io::Result<File> {
    const ATTEMPTS: usize = 16;
    if let Some(stream) = stream(path)? {
        return Ok(stream);
    }
    let (dir, name) = parent(path)?;
    for _ in 0..ATTEMPTS {
        if replaceable(&dir, &name)? {
            remove_in(&dir, &name)?;
        }
        match new_in(&dir, &name, access) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(Errno::EXIST.into())
}

/// Writes a whole file atomically: the name always refers to the old file or the new one.
pub fn replace(path: &Path, access: Access, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut new = Replacement::new(path, access)?;
    new.write_all(bytes.as_ref())?;
    new.commit()
}

/// Opens a file for appending; creates it if it does not exist.
pub fn append(path: &Path, access: Access) -> io::Result<File> {
    let (dir, name) = parent(path)?;
    match new_in(&dir, &name, access) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing(&dir, &name, OFlags::APPEND),
        made => made,
    }
}

/// Opens an existing file for reading and writing.
pub fn update(path: &Path) -> io::Result<File> {
    let (dir, name) = parent(path)?;
    existing(&dir, &name, OFlags::empty())
}

/// Creates a directory.
pub fn create_dir(path: &Path, access: Access) -> io::Result<()> {
    let (dir, name) = parent(path)?;
    Ok(rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(access.directory()))?)
}

/// Creates a directory and its missing parents.
pub fn create_dir_all(path: &Path, access: Access) -> io::Result<()> {
    let found = trusted()?.making(access.directory()).to(path, true)?;
    match FileType::from_raw_mode(rustix::fs::fstat(found)?.st_mode) {
        FileType::Directory => Ok(()),
        _ => Err(Errno::EXIST.into()),
    }
}

/// Gives a file or a directory another name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let ((from, old), (to, new)) = (parent(from)?, parent(to)?);
    Ok(rustix::fs::renameat(from, old, to, new)?)
}

/// Removes a file, a symlink or any other entry with this name, except a directory.
pub fn remove(path: &Path) -> io::Result<()> {
    let (dir, name) = parent(path)?;
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
}

/// Removes a directory with everything in it; symlinks in it are removed, not followed.
pub fn remove_dir_all(path: &Path) -> io::Result<()> {
    let (dir, name) = parent(path)?;
    std::fs::remove_dir_all(Path::new(&format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name))
}

/// A directory, opened to be locked.
pub fn lockable(dir: &Path) -> io::Result<File> {
    // With the dot, only a directory can be opened, so this never blocks on a pipe.
    File::open(dir.join("."))
}

/// Sets the mode of a file or a directory.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Like [`set_mode`], for an open file.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Waits until the names in a directory are on disk.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    File::from(rustix::fs::open(path, flags, Mode::empty())?).sync_all()
}

/// Creates a symbolic link; fails if the name exists.
pub fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    let (dir, name) = parent(path)?;
    Ok(rustix::fs::symlinkat(target, dir, name)?)
}

/// Creates a hard link to a file; for a symlink, to the symlink itself.
pub fn hard_link(file: &Path, path: &Path) -> io::Result<()> {
    let ((from, old), (to, new)) = (parent(file)?, parent(path)?);
    Ok(rustix::fs::linkat(from, old, to, new, AtFlags::empty())?)
}

/// A file that gets its name when it is complete. If it is dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    /// The directory, the temporary name and the final name; None for a standard stream.
    place: Option<(OwnedFd, OsString, OsString)>,
}

impl Replacement {
    pub fn new(path: &Path, access: Access) -> io::Result<Replacement> {
        if let Some(file) = stream(path)? {
            return Ok(Replacement { file, place: None });
        }
        let (dir, name) = parent(path)?;
        replaceable(&dir, &name)?;
        let new = OsString::from(format!(".whichkernel-{}.new", hex::encode(crate::random::secret::<8>()?)));
        let file = new_in(&dir, &new, access)?;
        Ok(Replacement { file, place: Some((dir, new, name)) })
    }

    /// Waits until the written data is on disk.
    pub fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Makes the name refer to the written file.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((dir, new, name)) = self.place.take() else { return Ok(()) };
        let renamed = rustix::fs::renameat(&dir, &new, &dir, &name);
        if renamed.is_err() {
            let _ = rustix::fs::unlinkat(&dir, &new, AtFlags::empty());
        }
        Ok(renamed?)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some((dir, new, _)) = &self.place {
            let _ = rustix::fs::unlinkat(dir, new, AtFlags::empty());
        }
    }
}

fn new_in(dir: &OwnedFd, name: &OsString, access: Access) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, flags, access.file())?))
}

fn remove_in(dir: &OwnedFd, name: &OsString) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a regular file has this name; an error if anything else has.
fn replaceable(dir: &OwnedFd, name: &OsString) -> io::Result<bool> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(true),
            kind => {
                let why = say!("sys-not-regular", kind = kind_name(kind));
                Err(io::Error::new(io::ErrorKind::InvalidInput, why))
            }
        },
    }
}

/// Opens a file to change it in place. A file with a second hard link is refused, because it may be another user's
/// trap.
fn existing(dir: &OwnedFd, name: &OsString, more: OFlags) -> io::Result<File> {
    let refused = |why: Message| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    replaceable(dir, name)?;
    let file = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink == 1 => Ok(File::from(file)),
        FileType::RegularFile => refused(say!("sys-hard-link")),
        kind => refused(say!("sys-not-regular", kind = kind_name(kind))),
    }
}

pub(crate) fn kind_name(kind: FileType) -> Key {
    match kind {
        FileType::Directory => key!("sys-kind-directory"),
        FileType::Symlink => key!("sys-kind-symlink"),
        FileType::CharacterDevice => key!("sys-kind-character-device"),
        FileType::BlockDevice => key!("sys-kind-block-device"),
        FileType::Fifo => key!("sys-kind-pipe"),
        FileType::Socket => key!("sys-kind-socket"),
        _ => key!("sys-kind-regular"),
    }
}

/// Opens `/dev/stdout`, `>(command)`, `/dev/null` and `/dev/full` like a shell.
fn stream(path: &Path) -> io::Result<Option<File>> {
    let Some(text) = path.to_str() else { return Ok(None) };
    let number = match text {
        "/dev/null" | "/dev/full" => {
            return Ok(Some(File::from(rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)));
        }
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => {
            text.strip_prefix("/dev/fd/").or(text.strip_prefix("/proc/self/fd/")).and_then(|fd| fd.parse::<i32>().ok())
        }
    };
    let Some(number) = number else { return Ok(None) };
    // SAFETY: a number is copied; a descriptor that is not open is an error of the call.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned this descriptor, and it has no other owner.
    Ok(Some(File::from(unsafe { OwnedFd::from_raw_fd(copy) })))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
