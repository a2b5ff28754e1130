//! Raw evidence next to the pages: which of it is copied, and its address.

/// Larger raw evidence is named, not copied.
pub const LONGEST: u64 = 256 << 10;
/// The size limit for all copies together.
pub const MOST: u64 = 4 << 20;

pub fn path(sha256: &str) -> String {
    format!("raw/{}.txt", sha256.get(..16).unwrap_or(sha256))
}

/// Whether raw evidence of this size is copied next to the pages.
pub fn is_copied(size: u64) -> bool {
    size <= LONGEST
}
