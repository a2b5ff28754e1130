//! The Debian package container (deb(5)): an `ar` archive of `debian-binary`, `control.tar.*` and `data.tar.*`.
//!
//! Streaming: a package of 280 MB that unpacks to 4 GB is read once, front to back, and not held in memory.

use crate::unpack::{Compression, decompress};
use std::io::{self, Read};

/// Magic of an ar archive, ar(5).
pub const MAGIC: &[u8; 8] = b"!<arch>\n";

#[derive(Debug)]
pub enum DebError {
    Format { what: say::Key, offset: u64 },
    Io(io::Error),
}

say::worded! { DebError {
    Format { what, offset } => "runtime-deb-format",
    Io(error) => error,
}}

say::wraps! { DebError { Io(io::Error) }}

/// Reads the members of an ar archive one after the other.
#[derive(Debug)]
pub struct Ar<R> {
    inner: R,
    offset: u64,
    /// Bytes of the current member (and its padding) that were not read yet.
    left: u64,
    padding: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub size: u64,
    pub offset: u64,
}

impl<R: Read> Ar<R> {
    pub fn new(mut inner: R) -> Result<Self, DebError> {
        let mut magic = [0; 8];
        inner.read_exact(&mut magic).map_err(|e| short(e, say::key!("runtime-deb-no-magic"), 0))?;
        if &magic != MAGIC {
            return Err(DebError::Format { what: say::key!("runtime-deb-no-magic"), offset: 0 });
        }
        Ok(Ar { inner, offset: 8, left: 0, padding: 0 })
    }

    /// The next member, after skipping the rest of the current one.
    pub fn next_member(&mut self) -> Result<Option<Member>, DebError> {
        let skip = self.left.saturating_add(self.padding);
        let skipped = io::copy(&mut (&mut self.inner).take(skip), &mut io::sink())?;
        // Some writers leave out the padding byte after the last member.
        if skipped < self.left {
            return Err(DebError::Format {
                what: say::key!("runtime-deb-cut"),
                offset: self.offset.saturating_add(skipped),
            });
        }
        self.offset = self.offset.saturating_add(skip);
        (self.left, self.padding) = (0, 0);
        let start = self.offset;
        let mut header = [0; 60];
        let mut filled = 0;
        while let Some(rest) = header.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.inner.read(rest)? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(DebError::Format { what: say::key!("runtime-deb-header-cut"), offset: start }),
                n => filled += n,
            }
        }
        if header.get(58..) != Some(b"`\n") {
            return Err(DebError::Format { what: say::key!("runtime-deb-header-mark"), offset: start });
        }
        let text = |range: std::ops::Range<usize>| {
            header.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).map(str::trim_end)
        };
        let name = text(0..16).ok_or(DebError::Format { what: say::key!("runtime-deb-name"), offset: start })?;
        let size = text(48..58)
            .and_then(|field| field.parse::<u64>().ok())
            .ok_or(DebError::Format { what: say::key!("runtime-deb-size"), offset: start + 48 })?;
        self.offset = start.saturating_add(60);
        self.left = size;
        self.padding = size & 1;
        Ok(Some(Member { name: name.trim_end_matches('/').to_owned(), size, offset: self.offset }))
    }
}

/// The content of the current member.
impl<R: Read> Read for Ar<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = (&mut self.inner).take(self.left).read(buf)?;
        self.left -= n as u64;
        self.offset = self.offset.saturating_add(n as u64);
        Ok(n)
    }
}

/// The package's file tree as a plain tar stream, positioned at `data.tar.*`.
pub fn data<'a, R: Read + 'a>(package: R) -> Result<Box<dyn Read + 'a>, DebError> {
    let mut ar = Ar::new(package)?;
    while let Some(member) = ar.next_member()? {
        if let Some(packing) = member.name.strip_prefix("data.tar") {
            return unpacked(ar, packing, member.offset);
        }
    }
    Err(DebError::Format { what: say::key!("runtime-deb-no-data"), offset: ar.offset })
}

/// The list of checksums in `control.tar.*` (deb-md5sums(5)); None if the package has none.
pub fn checksums<R: Read>(package: R) -> Result<Option<Vec<u8>>, DebError> {
    const LARGEST: u64 = 64 << 20;
    let mut ar = Ar::new(package)?;
    while let Some(member) = ar.next_member()? {
        let Some(packing) = member.name.strip_prefix("control.tar") else { continue };
        let mut archive = tar::Archive::new(unpacked(ar, packing, member.offset)?.take(LARGEST));
        for entry in archive.entries()? {
            let mut entry = entry?;
            if entry.path()?.ends_with("md5sums") && entry.header().entry_type() == tar::EntryType::Regular {
                let mut out = Vec::new();
                entry.read_to_end(&mut out)?;
                return Ok(Some(out));
            }
        }
        return Ok(None);
    }
    Ok(None)
}

fn unpacked<'a, R: Read + 'a>(reader: R, packing: &str, offset: u64) -> Result<Box<dyn Read + 'a>, DebError> {
    let compression = match packing {
        "" => Compression::None,
        ".xz" => Compression::Xz,
        ".zst" => Compression::Zstd,
        ".gz" => Compression::Gzip,
        _ => return Err(DebError::Format { what: say::key!("runtime-deb-packed"), offset }),
    };
    Ok(decompress(reader, compression)?)
}

fn short(error: io::Error, what: say::Key, offset: u64) -> DebError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => DebError::Format { what, offset },
        _ => DebError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, content: &[u8]) -> Vec<u8> {
        let mut out = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len()).into_bytes();
        out.extend_from_slice(content);
        if content.len() % 2 == 1 {
            out.push(b'\n');
        }
        out
    }

    fn package() -> Vec<u8> {
        [MAGIC.to_vec(), member("debian-binary", b"2.0\n"), member("control.tar", b"odd"), member("data.tar/", b"DATA")]
            .concat()
    }

    #[test]
    fn members_are_walked_whether_read_or_not() {
        let bytes = package();
        let mut ar = Ar::new(bytes.as_slice()).unwrap();
        assert_eq!(ar.next_member().unwrap().unwrap().name, "debian-binary");
        let control = ar.next_member().unwrap().unwrap();
        assert_eq!((control.name.as_str(), control.size), ("control.tar", 3));
        let mut text = String::new();
        ar.read_to_string(&mut text).unwrap();
        assert_eq!(text, "odd");
        assert_eq!(ar.next_member().unwrap().unwrap().name, "data.tar");
        assert_eq!(ar.next_member().unwrap(), None);
        let mut out = String::new();
        data(bytes.as_slice()).unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(out, "DATA");
    }

    #[test]
    fn every_cut_is_an_error_or_a_shorter_archive() {
        let bytes = package();
        for end in 0..bytes.len() {
            let walk = || -> Result<usize, DebError> {
                let mut ar = Ar::new(&bytes[..end])?;
                let mut count = 0;
                while ar.next_member()?.is_some() {
                    count += 1;
                }
                Ok(count)
            };
            if let Ok(count) = walk() {
                assert!(count <= 3);
            }
        }
        assert!(matches!(Ar::new(&b"!<arch>"[..]), Err(DebError::Format { offset: 0, .. })));
        assert!(data(&MAGIC[..]).is_err());
    }

    #[test]
    fn the_list_of_checksums_is_in_the_control_member() {
        let mut control = tar::Builder::new(Vec::new());
        for (name, text) in [("./control", "Package: x"), ("./md5sums", "0123  usr/a\n")] {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            control.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        let control = control.into_inner().unwrap();
        let package = [MAGIC.to_vec(), member("debian-binary", b"2.0\n"), member("control.tar", &control)].concat();
        assert_eq!(checksums(package.as_slice()).unwrap().as_deref(), Some(&b"0123  usr/a\n"[..]));
        let none = [MAGIC.to_vec(), member("debian-binary", b"2.0\n")].concat();
        assert_eq!(checksums(none.as_slice()).unwrap(), None);
    }

    #[test]
    fn a_size_beyond_the_file_ends_in_an_error() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(format!("{:<48}{:<10}`\n", "x", 9_999_999_999_u64).as_bytes());
        let mut ar = Ar::new(bytes.as_slice()).unwrap();
        assert_eq!(ar.next_member().unwrap().unwrap().size, 9_999_999_999);
        assert!(matches!(ar.next_member(), Err(DebError::Format { what, .. }) if what == say::key!("runtime-deb-cut")));
    }
}
