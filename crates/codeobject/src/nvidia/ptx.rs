//! PTX text: version, target and entry points. Only directives at the start of a statement are looked at.

use std::collections::BTreeSet;

/// What one PTX image declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ptx {
    /// `.version`, as written.
    pub version: String,
    /// `.target`, the first word.
    pub target: String,
    /// Names of `.entry` functions with a body, in order.
    pub kernels: Vec<String>,
}

impl Ptx {
    /// `a` of `sm_90a`, `f` of `sm_100f`.
    pub fn letter(&self) -> Option<char> {
        self.target.chars().next_back().filter(|c| matches!(c, 'a' | 'f'))
    }
}

/// Reads the directives of a PTX text; trailing NULs are padding.
pub fn ptx(text: &[u8]) -> Ptx {
    let mut found = Ptx::default();
    let mut seen = BTreeSet::new();
    let text = String::from_utf8_lossy(text);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some(".version") if found.version.is_empty() => found.version = words.next().unwrap_or("").to_owned(),
            Some(".target") if found.target.is_empty() => {
                found.target = words.next().unwrap_or("").trim_end_matches(',').to_owned();
            }
            Some(".visible" | ".weak" | ".extern" | ".entry") => {
                let Some((_, rest)) = line.split_once(".entry") else { continue };
                let name: &str = rest.trim_start();
                let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c)));
                let name = name.get(..end.unwrap_or(name.len())).unwrap_or("");
                if !name.is_empty() && seen.insert(name.to_owned()) {
                    found.kernels.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    found
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
    }
}
