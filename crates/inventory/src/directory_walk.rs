//! The files below a directory, recognised by their first bytes. An unreadable file is always reported, never skipped.

use crate::file::File;
use crate::pack::Pack;
use crate::sniff::{Contents, Sniff, sniff};
use say::{Message, Say, say};
use std::fs;
use std::path::{Path, PathBuf};

/// A file or directory that could not be examined, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    pub path: PathBuf,
    pub why: Message,
    /// Whether the reason already names the path.
    named: bool,
}

impl Unread {
    pub fn new(path: &Path, why: impl Say) -> Self {
        Unread { path: path.to_owned(), why: why.message(), named: false }
    }
}

impl Say for Unread {
    fn message(&self) -> Message {
        if self.named { self.why.clone() } else { say!("about-why", what = self.path, why = self.why) }
    }
}

/// An opened file, classified by its first bytes.
#[derive(Debug)]
pub enum Met<'a> {
    Code(Contents<'a>),
    /// An archive or a package: its own bytes do not show its content.
    Pack(Pack),
    /// A file whose first bytes match no format with GPU code.
    Other,
}

/// Visits every regular file below `dir`, except in the directories in `skip`, ordered by path; symlinks are not
/// followed. Returns everything that could not be examined: unreadable directories and files, and damaged files that
/// begin like a format with GPU code.
pub fn walk_files(dir: &Path, skip: &[PathBuf], each: &mut dyn FnMut(&File, Met<'_>)) -> Vec<Unread> {
    let mut unread = Vec::new();
    let mut queue = vec![dir.to_owned()];
    while let Some(dir) = queue.pop() {
        if skip.contains(&dir) {
            continue;
        }
        let mut files = Vec::new();
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                unread.push(Unread::new(&dir, error));
                continue;
            }
        };
        for entry in entries {
            let kind = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)));
            match kind {
                Ok((path, kind)) if kind.is_dir() => queue.push(path),
                Ok((path, kind)) if kind.is_file() => files.push(path),
                Ok(_) => {}
                Err(error) => unread.push(Unread::new(&dir, error)),
            }
        }
        files.sort();
        for path in files {
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) => {
                    unread.push(Unread { named: true, ..Unread::new(&path, error) });
                    continue;
                }
            };
            match sniff(&file) {
                Sniff::Known(contents) => each(&file, Met::Code(contents)),
                Sniff::Damaged(error) => unread.push(Unread::new(&path, error)),
                Sniff::Other => each(&file, Pack::of(&file).map_or(Met::Other, Met::Pack)),
            }
        }
    }
    unread.sort();
    unread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_begins_as_a_library_and_is_cut_is_named_and_not_passed_over() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).expect("written");
        write("cut.so", b"\x7fELF\x02\x01\x01");
        write("old.so", b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x03\0");
        write("cut.kpack", b"KPAK\x01");
        write("cut.dll", b"MZ");
        write("note.txt", b"ELF");
        write("empty.so", b"");
        write("x.zip", b"PK\x03\x04");
        let mut met = Vec::new();
        let unread = walk_files(dir.path(), &[], &mut |file, what| {
            let name = file.path().file_name().map(|name| name.to_string_lossy().into_owned());
            met.push((name.unwrap_or_default(), matches!(what, Met::Pack(Pack::Zip))));
        });
        let names: Vec<_> = unread.iter().filter_map(|one| one.path.file_name()).collect();
        assert_eq!(names, ["cut.dll", "cut.kpack", "cut.so", "old.so"]);
        let known = [("empty.so", false), ("note.txt", false), ("x.zip", true)];
        assert_eq!(met, known.map(|(name, zip)| (name.to_owned(), zip)));
        assert!(walk_files(&dir.path().join("gone"), &[], &mut |_, _| ()).len() == 1);
    }
}
