//! An archive, unpacked into memory: the members that can hold a rule, within the same limits as a directory.

use super::{Entry, MAX_FILE, MAX_FILES, MAX_TOTAL, Store, Tree, TreeError, wanted};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

pub(super) fn open(path: &Path, label: &str) -> Result<Tree, TreeError> {
    let fail = |error| TreeError::Io { path: label.to_owned(), error };
    let mut file = File::open(path).map_err(fail)?;
    let mut magic = [0; 4];
    let read = file.read(&mut magic).map_err(fail)?;
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    let mut found = Found { files: BTreeMap::new(), total: 0 };
    // By content, not by extension: a .crate is a gzipped tar.
    let done = match magic.get(..read).unwrap_or_default() {
        [0x1f, 0x8b, ..] => tar(flate2::read::GzDecoder::new(io::BufReader::new(file)), &mut found),
        [b'P', b'K', ..] => zip(file, &mut found),
        _ => tar(io::BufReader::new(file), &mut found),
    };
    done.map_err(|what| match what.as_str() {
        "limit" => TreeError::TooLarge { path: label.to_owned(), limit: "1 GiB or 400,000 files" },
        _ => TreeError::Archive { path: label.to_owned(), what },
    })?;
    Ok(Tree { label: label.to_owned(), commit: None, files: found.files, store: Store::Memory, skipped: Vec::new() })
}

struct Found {
    files: BTreeMap<String, Entry>,
    total: u64,
}

impl Found {
    fn take(&mut self, name: &str, size: u64, mut content: impl Read) -> Result<(), String> {
        let name = name.trim_start_matches("./");
        if !wanted(name) || size > MAX_FILE {
            return Ok(());
        }
        self.total = self.total.saturating_add(size);
        if self.total > MAX_TOTAL || self.files.len() >= MAX_FILES {
            return Err("limit".to_owned());
        }
        let mut bytes = Vec::new();
        (&mut content).take(MAX_FILE).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        self.files.insert(name.to_owned(), Entry::Bytes(bytes.into()));
        Ok(())
    }
}

fn tar(reader: impl Read, found: &mut Found) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let mut archive = tar::Archive::new(reader);
    for member in archive.entries().map_err(text)? {
        let member = member.map_err(text)?;
        if !member.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&member.path_bytes()).into_owned();
        found.take(&name, member.size(), member)?;
    }
    Ok(())
}

fn zip(file: File, found: &mut Found) -> Result<(), String> {
    let mut archive = zip::ZipArchive::new(file).map_err(|error| error.to_string())?;
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(|error| error.to_string())?;
        if member.is_file() {
            let (name, size) = (String::from_utf8_lossy(member.name_raw()).into_owned(), member.size());
            found.take(&name, size, member)?;
        }
    }
    Ok(())
}
