//! Errors in a model file, with their position.

use say::Key;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    Magic {
        found: Vec<u8>,
    },
    Version {
        version: u32,
    },
    BigEndian {
        version: u32,
    },
    /// The header continues beyond the given bytes: read at least `need` bytes and try again.
    Truncated {
        field: Key,
        have: u64,
        need: u64,
    },
    TooMany {
        field: Key,
        offset: u64,
        value: u64,
    },
    Text {
        offset: u64,
    },
    ValueType {
        kind: u32,
        offset: u64,
    },
    Rank {
        name: String,
        rank: u32,
    },
    UnknownType(String),
    UnknownShape {
        wanted: String,
        known: Vec<String>,
    },
    Block {
        kind: String,
        block: u64,
        name: String,
        row: u64,
    },
    Overflow,
}

say::worded! { Error {
    Magic { found } => "gguf-magic" (found = format!("{found:02x?}")),
    Version { version } => "gguf-version",
    BigEndian { version } => "gguf-big-endian",
    Truncated { field, have } => "gguf-truncated",
    TooMany { field, offset, value } => "gguf-too-many",
    Text { offset } => "gguf-text",
    ValueType { kind, offset } => "gguf-value-type",
    Rank { name, rank } => "gguf-rank",
    UnknownType(wanted) => "gguf-unknown-type",
    UnknownShape { wanted, known } => "gguf-unknown-shape",
    Block { kind, block, name, row } => "gguf-block",
    Overflow => "gguf-overflow",
}}
