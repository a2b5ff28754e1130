//! Device code in a file outside its device sections: as a byte array in `.rodata` for `hipModuleLoadData`, after the
//! end stated by the file's own headers, or in a stream or an archive in the file. "This target is not in the file"
//! requires a search there too.

pub(crate) mod images;

use crate::marks::Mark;
use crate::object::ObjectReport;
use codeobject::{Error, Problem, Range};
use say::{Message, Say, say};

/// A code object in the middle of a file.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The offset in the file: of the code object, or of the stream that it was unpacked from.
    pub offset: u64,
    /// `gzip`, `xz > zip`: the containers it was unpacked from, outermost first. Empty if it is uncompressed.
    pub inside: String,
    pub object: ObjectReport,
}

/// Bytes that may contain device code but cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    pub range: Range,
    pub what: Content,
    /// The reason, as an error of the file.
    pub why: Error,
}

/// The kind of opaque bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A format, by name: `squashfs`, `gzip > 7z`.
    Format(String),
    /// The bytes look compressed or encrypted.
    Noise,
    /// Too many possible starts of formats to follow all of them.
    TooManyMarks,
}

impl Content {
    /// The name in data.
    pub fn key(&self) -> &str {
        match self {
            Content::Format(name) => name,
            Content::Noise => "high-entropy",
            Content::TooManyMarks => "too many marks",
        }
    }
}

impl From<Mark> for Content {
    fn from(mark: Mark) -> Content {
        Content::Format(mark.name().to_owned())
    }
}

impl Say for Content {
    fn message(&self) -> Message {
        match self {
            Content::Format(name) => Message::verbatim(name),
            Content::Noise => say!("inspect-noise"),
            Content::TooManyMarks => say!("inspect-too-many-marks"),
        }
    }
}

impl Opaque {
    pub(crate) fn new(range: Range, what: Content) -> Self {
        let why = match &what {
            Content::Noise => say!("inventory-noise"),
            what => say!("inventory-opaque", what),
        };
        Opaque { range, what, why: Error::new(range.start, "outside the device sections", Problem::Other(why)) }
    }
}
