//! PTX text: version, target and entry points. Only directives are read.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// The declarations of one PTX image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ptx {
    /// The version in `.version`, as written.
    pub version: String,
    /// The first word of `.target`.
    pub target: String,
    /// Names of `.entry` functions with a body, in order.
    pub kernels: Vec<String>,
}

impl Ptx {
    /// The letter after the number: `a` for `sm_90a`, `f` for `sm_100f`.
    pub fn letter(&self) -> Option<char> {
        self.target.chars().next_back().filter(|c| matches!(c, 'a' | 'f'))
    }
}

/// The number in a target: 90 for `sm_90a`.
pub fn ptx_number(target: &str) -> Option<u32> {
    let digits = target.strip_prefix("sm_")?.trim_end_matches(['a', 'f']);
    digits.parse().ok()
}

/// Reads the directives of a PTX text; trailing NULs are padding. Line breaks have no meaning in PTX, and comments are
/// skipped.
pub fn ptx(text: &[u8]) -> Ptx {
    let mut found = Ptx::default();
    let mut seen = BTreeSet::new();
    let text = String::from_utf8_lossy(text);
    let text = without_comments(&text);
    let name = |c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c);
    let mut words = text.split(|c: char| !name(c)).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match word {
            ".version" if found.version.is_empty() => found.version = words.next().unwrap_or("").to_owned(),
            ".target" if found.target.is_empty() => found.target = words.next().unwrap_or("").to_owned(),
            ".entry" => {
                let name = words.next().unwrap_or("");
                if !name.is_empty() && seen.insert(name.to_owned()) {
                    found.kernels.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("/*") && !text.contains("//") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        let end = match comment.as_bytes().get(1) {
            Some(b'/') => comment.find('\n').unwrap_or(comment.len()),
            Some(b'*') => comment.find("*/").map_or(comment.len(), |end| end + 2),
            _ => 1,
        };
        out.push_str(before);
        out.push(' ');
        rest = comment.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_named_once_and_comments_are_not_entries() {
        let text = b"//\n.version 8.7\n.target sm_120, debug\n.visible .entry _Z1aPf(\n.param .u64 p\n)\n{ ret; }\n// .entry no\n.weak .entry b()\n.entry b(\n\0\0";
        let found = ptx(text);
        assert_eq!((found.version.as_str(), found.target.as_str()), ("8.7", "sm_120"));
        assert_eq!(found.kernels, ["_Z1aPf", "b"]);
        // A module may be on a single line.
        let found = ptx(b".version 7.0 .target sm_90a, texmode_independent .address_size 64 /* .entry no */ .visible .entry c(){ret;}.entry d(){ret;}");
        assert_eq!((found.target.as_str(), ptx_number(&found.target)), ("sm_90a", Some(90)));
        assert_eq!(found.kernels, ["c", "d"]);
    }
}
