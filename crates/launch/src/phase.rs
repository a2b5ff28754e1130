//! Which phase of inference an evaluation belongs to.

/// By the widths of an evaluation's products: one column is a decoded token. Of several, a prompt needs the output of its last
/// one only, so that some product is narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    Prefill,
    /// Several columns, all through: several sequences decoded at once, or a part of a prompt. Which is not known.
    Batch,
    Decode,
    /// No multiplication in it.
    Other,
}

impl Phase {
    pub fn key(self) -> &'static str {
        match self {
            Phase::Prefill => "prefill",
            Phase::Batch => "batch",
            Phase::Decode => "decode",
            Phase::Other => "other",
        }
    }
}
