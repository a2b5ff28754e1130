//! Device code in a file outside its device sections: in `.rodata`, as a byte array, for `hipModuleLoadData`; after the end of
//! the file's own headers; in a stream or an archive in it. "This target is not in the file" requires a search there too.

pub(crate) mod images;

use crate::object::ObjectReport;
use codeobject::{Error, Problem, Range};
use say::say;

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
    /// The format, by its own name: `squashfs`, `gzip > 7z`; or `high-entropy`, for bytes that look compressed or encrypted.
    pub what: String,
    /// The same as an error of the file.
    pub why: Error,
}

impl Opaque {
    pub(crate) fn new(range: Range, what: String) -> Self {
        let why = match what.as_str() {
            NOISE => say!("inventory-noise"),
            what => say!("inventory-opaque", what),
        };
        Opaque { range, what, why: Error::new(range.start, "outside the device sections", Problem::Other(why)) }
    }
}

/// The name of bytes that look like noise.
pub(crate) const NOISE: &str = "high-entropy";
