//! Traits with the names and the used methods of `std::os::unix` and `std::os::fd`. Features that a system lacks get
//! the weakest value: no owner, no mode, no signal.

use super::Never;
use std::fs::{File, FileType, Metadata, Permissions};
use std::io;
use std::process::{Command, ExitStatus};
use std::time::UNIX_EPOCH;

pub type RawFd = i32;

/// A descriptor: only Linux opens one.
#[derive(Debug)]
pub struct OwnedFd(Never);

#[derive(Debug, Clone, Copy)]
pub struct BorrowedFd<'f>(std::marker::PhantomData<&'f ()>);

pub trait AsRawFd {
    fn as_raw_fd(&self) -> RawFd;
}

impl AsRawFd for OwnedFd {
    fn as_raw_fd(&self) -> RawFd {
        match self.0 {}
    }
}

/// No descriptor has this number.
impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        -1
    }
}

impl AsRawFd for io::PipeWriter {
    fn as_raw_fd(&self) -> RawFd {
        -1
    }
}

pub trait AsFd {
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        BorrowedFd(std::marker::PhantomData)
    }
}

pub trait MetadataExt {
    fn dev(&self) -> u64;
    fn ino(&self) -> u64;
    fn uid(&self) -> u32;
    fn gid(&self) -> u32;
    fn mode(&self) -> u32;
    fn nlink(&self) -> u64;
    fn rdev(&self) -> u64;
    fn size(&self) -> u64;
    fn blocks(&self) -> u64;
    fn mtime(&self) -> i64;
    fn mtime_nsec(&self) -> i64;
    fn ctime(&self) -> i64;
    fn ctime_nsec(&self) -> i64;
}

/// Seconds and nanoseconds since 1970.
fn since(time: io::Result<std::time::SystemTime>) -> (i64, i64) {
    let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()))
}

impl MetadataExt for Metadata {
    fn dev(&self) -> u64 {
        0
    }

    fn ino(&self) -> u64 {
        0
    }

    fn uid(&self) -> u32 {
        super::host::user()
    }

    fn gid(&self) -> u32 {
        super::host::group()
    }

    fn mode(&self) -> u32 {
        if self.is_dir() { 0o040_700 } else { 0o100_600 }
    }

    fn nlink(&self) -> u64 {
        1
    }

    fn rdev(&self) -> u64 {
        0
    }

    fn size(&self) -> u64 {
        self.len()
    }

    fn blocks(&self) -> u64 {
        self.len().div_ceil(512)
    }

    fn mtime(&self) -> i64 {
        since(self.modified()).0
    }

    fn mtime_nsec(&self) -> i64 {
        since(self.modified()).1
    }

    /// Windows has a time of creation instead of one of changed metadata.
    fn ctime(&self) -> i64 {
        since(self.created()).0
    }

    fn ctime_nsec(&self) -> i64 {
        since(self.created()).1
    }
}

pub trait FileTypeExt {
    fn is_char_device(&self) -> bool;
    fn is_socket(&self) -> bool;
}

impl FileTypeExt for FileType {
    fn is_char_device(&self) -> bool {
        false
    }

    fn is_socket(&self) -> bool {
        false
    }
}

pub trait PermissionsExt {
    fn mode(&self) -> u32;
}

impl PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        0o700
    }
}

pub trait FileExt {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize>;

    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buffer = buffer.get_mut(n..).unwrap_or_default();
                    offset = offset.saturating_add(n as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.write_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    buffer = buffer.get(n..).unwrap_or_default();
                    offset = offset.saturating_add(n as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The position of the file moves with each call, unlike on Linux: callers that read a file in order must track their
/// own position.
#[cfg(windows)]
impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(self, buffer, offset)
    }
}

#[cfg(not(windows))]
impl FileExt for File {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        super::unsupported()
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        super::unsupported()
    }
}

pub trait ExitStatusExt {
    fn signal(&self) -> Option<i32>;
    fn core_dumped(&self) -> bool;
}

impl ExitStatusExt for ExitStatus {
    fn signal(&self) -> Option<i32> {
        None
    }

    fn core_dumped(&self) -> bool {
        false
    }
}

pub trait CommandExt {
    fn arg0(&mut self, name: impl AsRef<std::ffi::OsStr>) -> &mut Command;
    fn process_group(&mut self, group: i32) -> &mut Command;
}

impl CommandExt for Command {
    fn arg0(&mut self, _: impl AsRef<std::ffi::OsStr>) -> &mut Command {
        self
    }

    fn process_group(&mut self, _: i32) -> &mut Command {
        self
    }
}
