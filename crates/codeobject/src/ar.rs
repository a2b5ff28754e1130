//! Reads static libraries (ar(5)): the members of an archive and their ranges, with GNU or BSD long names.

use crate::coverage::Range;
use crate::error::{Error, Problem, Result};
use crate::read::ReadAt;
use say::say;

pub const MAGIC: &[u8; 8] = b"!<arch>\n";
const HEADER: u64 = 60;
const MEMBERS: usize = 1_000_000;
const NAMES_LIMIT: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub range: Range,
}

/// Every member except the symbol and name tables. A thin archive has no members, because they are separate files.
pub fn members(source: &dyn ReadAt) -> Result<Vec<Member>> {
    let magic = source.bytes(0, 8, "ar magic")?;
    if magic.as_ref() != MAGIC {
        return Err(Error::new(0, "ar magic", Problem::Other(say!("codeobject-no-ar"))));
    }
    let mut found = Vec::new();
    let mut names = Vec::new();
    let mut at = 8;
    while at + HEADER <= source.len() && found.len() < MEMBERS {
        let header = source.bytes(at, HEADER, "ar member header")?;
        if header.get(58..) != Some(b"`\n") {
            return Err(Error::new(at + 58, "ar member header", Problem::Other(say!("codeobject-no-end-mark"))));
        }
        let text = |range: std::ops::Range<usize>| {
            let field = header.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok());
            field.map(|text| text.trim_end().to_owned()).unwrap_or_default()
        };
        let (mut name, size) = (text(0..16), text(48..58).parse::<u64>());
        let size = size.map_err(|_| Error::new(at + 48, "ar member size", Problem::NotText))?;
        let mut start = at + HEADER;
        crate::check_range(source.len(), start, size, "ar member")?;
        let end = start + size;
        at = end + (size & 1);
        if name == "//" {
            names = source.bytes(start, size.min(NAMES_LIMIT), "ar names")?.into_owned();
            continue;
        }
        if matches!(name.as_str(), "/" | "/SYM64/" | "__.SYMDEF" | "__.SYMDEF SORTED") {
            continue;
        }
        if let Some(long) = name.strip_prefix('/').and_then(|digits| digits.parse::<usize>().ok()) {
            let rest = names.get(long..).unwrap_or_default();
            let len = rest.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(rest.len());
            name = String::from_utf8_lossy(rest.get(..len).unwrap_or_default()).into_owned();
        } else if let Some(len) = name.strip_prefix("#1/").and_then(|digits| digits.parse::<u64>().ok()) {
            let len = len.min(size);
            let bytes = source.bytes(start, len.min(4096), "ar member name")?;
            name = String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
            start += len;
        }
        found.push(Member { name: name.trim_end_matches('/').to_owned(), range: Range { start, end } });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, content: &[u8]) -> Vec<u8> {
        let mut out = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len()).into_bytes();
        out.extend_from_slice(content);
        out.resize(out.len().next_multiple_of(2), b'\n');
        out
    }

    #[test]
    fn members_have_their_names_and_places() {
        let parts = [
            MAGIC.to_vec(),
            member("/", b"table"),
            member("//", b"a_very_long_name.o/\nother.o/\n"),
            member("short.o/", b"one"),
            member("/0", b"three"),
            member("#1/4", b"b.o\0four"),
        ];
        let bytes = parts.concat();
        let found = members(&bytes).expect("readable");
        let told: Vec<(&str, &[u8])> =
            found.iter().map(|m| (m.name.as_str(), &bytes[m.range.start as usize..m.range.end as usize])).collect();
        assert_eq!(told, [("short.o", &b"one"[..]), ("a_very_long_name.o", b"three"), ("b.o", b"four")]);
        for end in 8..bytes.len() {
            let _ = members(&bytes[..end].to_vec());
        }
        assert!(members(&b"!<thin>\n".to_vec()).is_err());
    }
}
