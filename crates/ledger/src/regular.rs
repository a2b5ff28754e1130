//! Opening files whose names, or whose directory, somebody else may have chosen: only regular files, never through a link
//! in the last place, and never waiting for the other end of a pipe.

use rustix::fs::{FileType, Mode, OFlags};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// For reading. A FIFO, a device, a directory or a link is refused with a word on what it is.
pub fn open(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer for ever (open(2)).
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => return Err(io::Error::other("it is a symbolic link, not a regular file")),
        Err(error) => return Err(error.into()),
    };
    let mode = rustix::fs::fstat(&file)?.st_mode;
    let what = match FileType::from_raw_mode(mode) {
        FileType::RegularFile => return Ok(file),
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Socket => "a socket",
        _ => "of an unknown kind",
    };
    Err(io::Error::other(format!("it is {what}, not a regular file")))
}

/// A new file of nobody else's: it must not exist, and only its owner may read it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// A file without a name, for what must be whole before it may be kept. It goes when it is closed, also by a kill.
pub(crate) fn nameless(dir: &Path, name: &str) -> io::Result<File> {
    let path = dir.join(name);
    // Of a process of the same number that was killed between the two.
    let _ = std::fs::remove_file(&path);
    let file = create(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "x").unwrap();
        open(&plain).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&plain, &link).unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let refused = [(link.as_path(), "symbolic link"), (&fifo, "a FIFO"), (dir.path(), "a directory")];
        for (path, what) in refused.into_iter().chain([(Path::new("/dev/zero"), "a device")]) {
            let error = open(path).unwrap_err().to_string();
            assert!(error.contains(what), "{}: {error}", path.display());
        }
    }
}
