//! Errors in a file, with their position.

use say::{Key, Message, Say, say};

/// A field with an invalid value, and its absolute offset in the source.
///
/// For bytes inside a compressed bundle, the offset is relative to the unpacked bundle. The caller that unpacked the
/// bundle says so in its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub offset: u64,
    /// The field's name in the format; not translated.
    pub field: &'static str,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    Truncated {
        needed: u64,
        left: u64,
    },
    Trailing {
        left: u64,
    },
    Unexpected {
        found: u64,
        expected: Key,
    },
    /// A value of another kind than the format requires.
    NotA(Key),
    Missing,
    OverLimit {
        claimed: u64,
        limit: u64,
    },
    TooDeep {
        limit: u32,
    },
    Overlap {
        end: u64,
    },
    Overflow,
    /// The offset is an address outside every segment.
    Unmapped,
    NotText,
    Corrupt(Message),
    Hash {
        stated: u64,
        computed: u64,
    },
    Unreadable(Message),
    Unknown(Message),
    /// Two lists of the same items differ, so at least one of them is incomplete.
    Incomplete(Message),
    Other(Message),
}

impl Say for Error {
    fn message(&self) -> Message {
        let (field, offset) = (self.field, format!("{:#x}", self.offset));
        match &self.problem {
            Problem::Truncated { needed, left } => say!("codeobject-truncated", field, offset, needed, left),
            Problem::Trailing { left } => say!("codeobject-trailing", field, offset, left),
            Problem::Unexpected { found, expected } => {
                say!("codeobject-unexpected", field, offset, found = format!("{found:#x}"), expected)
            }
            Problem::NotA(kind) => say!("codeobject-not-a", field, offset, kind),
            Problem::Missing => say!("codeobject-missing", field, offset),
            Problem::OverLimit { claimed, limit } => say!("codeobject-over-limit", field, offset, claimed, limit),
            Problem::TooDeep { limit } => say!("codeobject-too-deep", field, offset, limit),
            Problem::Overlap { end } => say!("codeobject-overlap", field, offset, end = format!("{end:#x}")),
            Problem::Overflow => say!("codeobject-overflow", field, offset),
            Problem::Unmapped => say!("codeobject-unmapped", field, offset),
            Problem::NotText => say!("codeobject-not-text", field, offset),
            Problem::Corrupt(why) => say!("codeobject-corrupt", field, offset, why),
            Problem::Hash { stated, computed } => {
                let (stated, computed) = (format!("{stated:016x}"), format!("{computed:016x}"));
                say!("codeobject-hash", field, offset, stated, computed)
            }
            Problem::Unreadable(why) => say!("codeobject-unreadable", field, offset, why),
            Problem::Unknown(what) => say!("codeobject-unknown", field, offset, what),
            Problem::Incomplete(why) => say!("codeobject-incomplete", field, offset, why),
            Problem::Other(why) => say!("codeobject-other", field, offset, why),
        }
    }
}

say::spoken!(Error);

impl Error {
    pub fn new(offset: u64, field: &'static str, problem: Problem) -> Self {
        Error { offset, field, problem }
    }

    /// The same error with its offset in a larger source, in which this source starts at `base`.
    #[must_use]
    pub fn at_base(mut self, base: u64) -> Self {
        self.offset = self.offset.saturating_add(base);
        self
    }
}

pub type Result<T> = std::result::Result<T, Error>;
