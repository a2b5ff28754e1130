//! An archive, unpacked into memory: the members that can contain a rule, within the same limits as a directory.
//!
//! Sizes stated in an archive are not trusted: bytes are counted as they are unpacked, and a stream that exceeds the
//! limits is abandoned. Nothing is written to disk, so a member's name cannot escape; members with such names are
//! skipped.

use super::listing::{Entry, Listing, MAX_FILE, MAX_FILES, MAX_TOTAL, Skipped, TreeError, wanted};
use say::{Key, Message, key, say};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The maximum unpacked size of a tar, including files that are not sources, such as models and pictures.
const MAX_STREAM: u64 = 16 << 30;
/// The maximum length of a member's name. Linux allows 4 KiB.
const MAX_NAME: u64 = 64 << 10;

enum Failed {
    Limit(Key),
    Read(Message),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Read(plain(&error))
    }
}

/// The reader's message without quoted bytes from the file.
fn plain(error: &impl std::fmt::Display) -> Message {
    Message::verbatim(error.to_string().split(": ").next().unwrap_or_default())
}

pub(super) fn open(path: &Path, label: &str) -> Result<Listing, TreeError> {
    let fail = |error| TreeError::Io { path: label.to_owned(), error };
    let mut file = sys::regular_file::open(path).map_err(fail)?;
    let mut magic = [0; 4];
    let read = file.read(&mut magic).map_err(fail)?;
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    let mut found = Found { files: BTreeMap::new(), total: 0, members: 0, skipped: Skipped::default() };
    // By content, not by extension: a .crate is a gzipped tar.
    let done = match magic.get(..read).unwrap_or_default() {
        [0x1f, 0x8b, ..] => tar(&mut flate2::read::GzDecoder::new(io::BufReader::new(file)), &mut found),
        [b'P', b'K', ..] => zip(file, &mut found),
        _ => tar(&mut io::BufReader::new(file), &mut found),
    };
    let path = label.to_owned();
    match done {
        Ok(()) => {}
        Err(Failed::Limit(limit)) => return Err(TreeError::TooLarge { path, limit }),
        Err(Failed::Read(what)) if found.members == 0 => return Err(TreeError::Archive { path, what }),
        Err(Failed::Read(what)) => return Err(TreeError::ArchiveDamaged { path, members: found.members, what }),
    }
    Ok(Listing { commit: None, files: found.files.into(), skipped: found.skipped })
}

struct Found {
    files: BTreeMap<String, Entry>,
    total: u64,
    members: usize,
    skipped: Skipped,
}

impl Found {
    fn take(&mut self, name: &str, content: &mut dyn Read) -> Result<(), Failed> {
        self.members += 1;
        let name = name.trim_start_matches("./");
        if !wanted(name) {
            return Ok(());
        }
        if name.starts_with('/') || name.split('/').any(|part| part == "..") {
            self.skipped.add(name.to_string(), say!("source-skipped-outside"));
            return Ok(());
        }
        let mut bytes = Vec::new();
        content.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE {
            self.skipped.add(name.to_string(), say!("source-skipped-large", most = MAX_FILE));
            return Ok(());
        }
        self.total = self.total.saturating_add(bytes.len() as u64);
        if self.total > MAX_TOTAL || self.files.len() >= MAX_FILES {
            return Err(Failed::Limit(key!("source-limit-sources")));
        }
        self.files.insert(name.to_owned(), Entry::Bytes(bytes.into()));
        Ok(())
    }
}

/// Counts the bytes read, and ends a stream that exceeds the limit.
struct Counted<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(say!("source-archive-large", most = MAX_STREAM >> 30)));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        let read = self.inner.read(into.get_mut(..most).unwrap_or_default())?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Long names are read here, because the library would load one of any length into memory.
fn tar(reader: &mut dyn Read, found: &mut Found) -> Result<(), Failed> {
    let mut archive = tar::Archive::new(Counted { inner: reader, left: MAX_STREAM });
    let mut long: Option<String> = None;
    for member in archive.entries()?.raw(true) {
        let mut member = member?;
        let kind = member.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let mut bytes = Vec::new();
            (&mut member).take(MAX_NAME + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > MAX_NAME {
                return Err(Failed::Read(say!("source-archive-name", most = MAX_NAME)));
            }
            let said = if kind.is_gnu_longname() { Some(bytes) } else { pax_path(&bytes) };
            long = said.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()).or(long);
            continue;
        }
        let name = long.take().unwrap_or_else(|| String::from_utf8_lossy(&member.path_bytes()).into_owned());
        if kind.is_file() {
            found.take(&name, &mut member)?;
        }
    }
    Ok(())
}

/// The `path` record of a pax header; each record is `LENGTH KEY=VALUE\n`.
fn pax_path(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut records = tar::PaxExtensions::new(bytes).flatten();
    records.find(|record| record.key_bytes() == b"path").map(|record| record.value_bytes().to_vec())
}

fn zip(file: File, found: &mut Found) -> Result<(), Failed> {
    let text = |error: zip::result::ZipError| Failed::Read(plain(&error));
    let mut archive = zip::ZipArchive::new(file).map_err(text)?;
    if archive.len() > MAX_FILES.saturating_mul(4) {
        return Err(Failed::Limit(key!("source-limit-sources")));
    }
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(text)?;
        if member.is_file() {
            let name = String::from_utf8_lossy(member.name_raw()).into_owned();
            found.take(&name, &mut member)?;
        }
    }
    Ok(())
}
