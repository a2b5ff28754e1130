//! What can be wrong with a model file, with the place.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("this is not a GGUF file: it begins with {found:02x?}, not with \"GGUF\"")]
    Magic { found: Vec<u8> },
    #[error("GGUF version {version} is not known here (2 and 3 are){}", if version.swap_bytes() == 3 { "; the file is big-endian" } else { "" })]
    Version { version: u32 },
    /// The header goes on behind the bytes that were given: read at least `need` bytes and try again.
    #[error("the header ends at byte {have}, in the middle of {field}; the file is cut short")]
    Truncated { field: &'static str, have: u64, need: u64 },
    #[error("{field} at byte {offset} is {value}, more than a model can have")]
    TooMany { field: &'static str, offset: u64, value: u64 },
    #[error("the text at byte {offset} is not UTF-8")]
    Text { offset: u64 },
    #[error("value type {kind} at byte {offset} is not one of GGUF's")]
    ValueType { kind: u32, offset: u64 },
    #[error("tensor {name}: {what}")]
    Tensor { name: String, what: String },
    #[error(
        "no tensor type is called `{0}`. Types look like Q4_K, Q8_0, IQ2_XS, F16; mixes of them (Q4_K_M) are for `whichkernel skeleton`"
    )]
    UnknownType(String),
    #[error("no shape is called `{wanted}`. Known are: {known}")]
    UnknownShape { wanted: String, known: String },
    #[error("{kind} has blocks of {block}, but {name} has rows of {row}: this shape cannot be stored in this type")]
    Block { kind: String, block: u64, name: String, row: u64 },
    #[error("the model's sizes do not fit 64 bits")]
    Overflow,
}
