//! Names of cards without spaces, signs and case.

/// Normalises a name: `RX 9070 XT`, `rx-9070-xt` and `rx9070xt` are the same.
pub(crate) fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    out.extend(name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| char::from(byte.to_ascii_lowercase())));
    out
}
