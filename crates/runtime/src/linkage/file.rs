//! A file read in pieces with `pread`: a library of a gigabyte costs only the parts that are read.

use codeobject::{Error, Problem, ReadAt, Result};
use say::Say;
use std::{borrow::Cow, fs::File, io};
use sys::unix::FileExt;

#[derive(Debug)]
pub struct FileAt {
    file: File,
    len: u64,
}

impl FileAt {
    /// Fails for anything but a regular file: the length of a device or a pipe cannot be trusted.
    pub fn new(file: File) -> io::Result<Self> {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::other(say::say!("sys-no-plain-file")));
        }
        Ok(FileAt { file, len: meta.len() })
    }
}

impl ReadAt for FileAt {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>> {
        codeobject::check_range(self.len, offset, len, field)?;
        let gone = |error: io::Error| Error::new(offset, field, Problem::Unreadable(error.message()));
        let size = usize::try_from(len).map_err(|_| gone(io::ErrorKind::OutOfMemory.into()))?;
        let mut out = vec![0; size];
        self.file.read_exact_at(&mut out, offset).map_err(gone)?;
        Ok(Cow::Owned(out))
    }
}
