//! Device code in a file outside its device sections: in `.rodata`, as a byte array, for `hipModuleLoadData`; after the end of
//! the file's own headers; in a stream or an archive in it. "This target is not in the file" requires a search there too.

pub(crate) mod images;

use crate::object::ObjectReport;
use codeobject::{Error, Problem, Range};
use say::{Message, Say, say};

/// A code object in the middle of a file.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// In the file: of the code object, or of the stream that it was unpacked from.
    pub offset: u64,
    /// `gzip`, `xz > zip`: the containers it was unpacked from, outermost first. Empty if it is uncompressed.
    pub inside: String,
    pub object: ObjectReport,
}

/// Bytes that may hold device code and cannot be looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    pub range: Range,
    pub what: Content,
    /// The same as an error of the file.
    pub why: Error,
}

/// What opaque bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A format, by its own name: `squashfs`, `gzip > 7z`.
    Format(String),
    /// They look compressed or encrypted.
    Noise,
    /// So many beginnings of formats that not all of them were followed.
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
