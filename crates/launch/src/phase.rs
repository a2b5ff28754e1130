//! Which phase of inference an evaluation belongs to.

/// By the widest multiplication of an evaluation: one column is a decoded token, more are a prompt (or several decodes at
/// once, which look the same from here).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    Prefill,
    Decode,
    /// No multiplication in it.
    Other,
}

impl Phase {
    pub fn key(self) -> &'static str {
        match self {
            Phase::Prefill => "prefill",
            Phase::Decode => "decode",
            Phase::Other => "other",
        }
    }
}
