//! A file that is read at offsets.

use codeobject::{Error, Problem, Range, ReadAt, check_range};
use say::{Key, Message, Say, say};
use std::borrow::Cow;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::regular_file;
use sys::unix::{FileExt, MetadataExt};

#[derive(Debug)]
pub enum OpenError {
    Io { path: PathBuf, source: io::Error },
    NotAFile { path: PathBuf, what: Key },
    TooLong { path: PathBuf, bytes: u64 },
}

say::worded! { OpenError {
    Io { path, source } => "about-why" (what = path, why = source),
    NotAFile { path, what } => "inventory-not-a-file",
    TooLong { path, bytes } => "inventory-too-long" (path, bytes, most = LONGEST),
}}

/// The maximum file length. A sparse file can claim any length, and reading all of it would take forever. The largest
/// libraries have a few GiB.
const LONGEST: u64 = 256 << 30;

/// A regular file, open for reading, with its metadata at that time; or bytes that the caller provides.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    bytes: Bytes,
    /// The start of this part; 0 for a whole file.
    start: u64,
    len: u64,
    stamp: Stamp,
}

/// The source of the bytes.
enum Bytes {
    Disk(fs::File),
    /// Bytes from the caller, such as a file that was dropped on a web page.
    Given(Arc<dyn ReadAt + Send>),
}

impl fmt::Debug for Bytes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bytes::Disk(file) => file.fmt(to),
            Bytes::Given(source) => write!(to, "{} given bytes", source.len()),
        }
    }
}

impl Bytes {
    fn again(&self) -> io::Result<Bytes> {
        Ok(match self {
            Bytes::Disk(file) => Bytes::Disk(file.try_clone()?),
            Bytes::Given(source) => Bytes::Given(Arc::clone(source)),
        })
    }
}

/// The identity of a file: length, device and inode, change and modification times.
pub(crate) type Stamp = (u64, u64, u64, i64, i64, i64, i64);

impl File {
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        // Only regular files are ever opened, from any source of the path.
        let found = regular_file::open_or_kind(path).map_err(io)?;
        let file = found.map_err(|what| OpenError::NotAFile { path: path.to_owned(), what })?;
        let metadata = file.metadata().map_err(io)?;
        if metadata.len() > LONGEST {
            return Err(OpenError::TooLong { path: path.to_owned(), bytes: metadata.len() });
        }
        Ok(File::whole(path, file, &metadata))
    }

    /// A regular file that is already open.
    pub fn opened(path: &Path, file: fs::File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(File::whole(path, file, &metadata))
    }

    fn whole(path: &Path, file: fs::File, metadata: &Metadata) -> Self {
        let (len, stamp) = (metadata.len(), stamp(metadata));
        File { path: path.to_owned(), bytes: Bytes::Disk(file), start: 0, len, stamp }
    }

    /// Opens bytes that are not a file of this machine. `name` is shown where a path would be.
    pub fn given(name: &Path, source: Arc<dyn ReadAt + Send>) -> Self {
        let len = source.len();
        let stamp = (len, 0, 0, 0, 0, 0, 0);
        File { path: name.to_owned(), bytes: Bytes::Given(source), start: 0, len, stamp }
    }

    /// Returns a part of the file as a separate file. A member of an archive is named `libx.a(member.o)`.
    pub fn part(&self, name: &str, range: Range) -> Result<Self, OpenError> {
        let path = PathBuf::from(format!("{}({name})", self.path.display()));
        let io = |source| OpenError::Io { path: path.clone(), source };
        let bytes = self.bytes.again().map_err(io)?;
        let len = range.len().min(self.len.saturating_sub(range.start));
        Ok(File { bytes, start: self.start.saturating_add(range.start), len, stamp: self.stamp, path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The identity of the file, if this is a whole file that has not changed since it was opened.
    pub(crate) fn unchanged(&self) -> Option<Stamp> {
        let whole = self.start == 0 && self.len == self.stamp.0;
        // Without an inode number (Windows, given bytes) two files could look like one.
        let identified = self.stamp.2 != 0;
        (whole && identified && !self.has_changed()).then_some(self.stamp)
    }

    /// Whether the file has changed since it was opened: size, location or times.
    pub fn has_changed(&self) -> bool {
        match &self.bytes {
            Bytes::Disk(file) => file.metadata().map_or(true, |metadata| stamp(&metadata) != self.stamp),
            Bytes::Given(source) => source.len() != self.stamp.0,
        }
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let (changed, modified) = ((metadata.ctime(), metadata.ctime_nsec()), (metadata.mtime(), metadata.mtime_nsec()));
    (metadata.len(), metadata.dev(), metadata.ino(), changed.0, changed.1, modified.0, modified.1)
}

impl ReadAt for File {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> codeobject::Result<Cow<'_, [u8]>> {
        // The length at opening limits the allocation; the read below detects a file that has shrunk since.
        check_range(self.len, offset, len, field)?;
        let unreadable = |why: Message| Error::new(offset, field, Problem::Unreadable(why));
        let size = usize::try_from(len).map_err(|_| unreadable(say!("codeobject-too-large")))?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(size).map_err(|error| unreadable(Message::verbatim(error)))?;
        buffer.resize(size, 0);
        self.read_into(offset, &mut buffer, field)?;
        Ok(Cow::Owned(buffer))
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8], field: &'static str) -> codeobject::Result<()> {
        check_range(self.len, offset, buffer.len() as u64, field)?;
        let unreadable = |why: Message| Error::new(offset, field, Problem::Unreadable(why));
        let file = match &self.bytes {
            Bytes::Disk(file) => file,
            Bytes::Given(source) => return source.read_into(self.start.saturating_add(offset), buffer, field),
        };
        match file.read_exact_at(buffer, self.start.saturating_add(offset)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let now = file.metadata().map_or(0, |metadata| metadata.len());
                let (left, len) = (now.saturating_sub(self.start.saturating_add(offset)), buffer.len());
                let was = self.start.saturating_add(self.len);
                Err(unreadable(say!("inventory-shrunk", was, now, left, len)))
            }
            Err(error) => Err(unreadable(error.message())),
        }
    }
}
