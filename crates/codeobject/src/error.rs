//! What is wrong with a file, and where.

/// A field that cannot be what it says, with its absolute offset in the source that was read.
///
/// For bytes inside a compressed bundle the offset counts in the unpacked bundle; whoever unpacked it says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} at offset {offset:#x} {problem}")]
pub struct Error {
    pub offset: u64,
    pub field: &'static str,
    pub problem: Problem,
}

say::in_english!(Error);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("needs {needed} bytes, but {left} are left")]
    Truncated { needed: u64, left: u64 },
    #[error("is {found:#x}, not {expected}")]
    Unexpected { found: u64, expected: &'static str },
    #[error("says {claimed}, above the limit of {limit}")]
    OverLimit { claimed: u64, limit: u64 },
    #[error("is nested deeper than {limit} levels")]
    TooDeep { limit: u32 },
    #[error("overlaps the one before it, which ends at {end:#x}")]
    Overlap { end: u64 },
    #[error("does not fit in 64 bits with the fields before it")]
    Overflow,
    #[error("is not UTF-8 text")]
    NotText,
    #[error("cannot be decompressed: {0}")]
    Corrupt(String),
    #[error("is {stated:016x}, but the unpacked bytes have {computed:016x}")]
    Hash { stated: u64, computed: u64 },
    #[error("could not be read: {0}")]
    Unreadable(String),
    #[error("is not known: {0}")]
    Unknown(String),
    /// Two accounts of the same thing do not agree: one of them leaves something out.
    #[error("leave something out: {0}")]
    Incomplete(String),
}

say::in_english!(Problem);

impl Error {
    pub fn new(offset: u64, field: &'static str, problem: Problem) -> Self {
        Error { offset, field, problem }
    }

    /// The same error, in a source in which this one starts at `base`.
    #[must_use]
    pub fn at_base(mut self, base: u64) -> Self {
        self.offset = self.offset.saturating_add(base);
        self
    }
}

pub type Result<T> = std::result::Result<T, Error>;
