//! The files of a report: kept in memory, written to a folder or joined into one file.

use crate::frame::{self, SCRIPT, STYLE, TOKENS};
use crate::input::Study;
use crate::page::Page;
use crate::picture;
use crate::raw_files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use sys::files::{self, Access};
use sys::regular_file;

/// Marks a folder as one that may be overwritten.
const MARK: &str = ".whichkernel-report";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Site {
    files: BTreeMap<String, Vec<u8>>,
    pages: Vec<Page>,
    single: String,
}

#[derive(Debug)]
pub enum WriteError {
    NotOurs(PathBuf),
    Full(PathBuf),
    Io { path: PathBuf, source: io::Error },
}

say::worded! { WriteError {
    NotOurs(path) => "site-write-not-ours",
    Full(path) => "site-write-full",
    Io { path, source } => "about-why" (what = path, why = source),
}}

fn fail(path: &Path, error: io::Error) -> WriteError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => WriteError::Full(path.to_owned()),
        _ => WriteError::Io { path: path.to_owned(), source: error },
    }
}

impl Site {
    pub(crate) fn add(&mut self, page: Page, study: &Study<'_>) {
        for (name, text) in &page.tables {
            self.files.insert(format!("data/{name}"), text.clone().into_bytes());
        }
        self.files.insert(format!("{}.html", page.name), frame::whole(&page, study).into_bytes());
        self.pages.push(page);
    }

    pub(crate) fn finish(&mut self, study: &Study<'_>) {
        for (name, text) in [("tokens.css", TOKENS), ("report.css", STYLE), ("report.js", SCRIPT)] {
            self.files.insert(name.to_owned(), text.as_bytes().to_vec());
        }
        // The picture of all releases that come with the program; pages link it.
        for (name, text) in crate::web::web(&crate::web::embedded(), false) {
            self.files.insert(format!("web/{name}"), text.into_bytes());
        }
        if study.input.published.is_some() {
            let (title, subject) = (study.title().en, study.subject().join(", "));
            let title = Some(title).filter(|title| picture::can_draw(title));
            let own = title.unwrap_or_else(|| "Which GPU kernel ran, and how do we know?".to_owned());
            self.files.insert(frame::PICTURE.to_owned(), picture::png(&own, &subject, &study.counts()));
        }
        for (name, text) in study.tables.borrow().iter() {
            self.files.insert(format!("data/{name}"), text.clone().into_bytes());
        }
        let linked: BTreeSet<String> = study.linked.borrow().clone();
        let mut room = raw_files::MOST;
        let all = study.input.observations.iter().flat_map(|recorded| recorded.raw_evidence());
        for evidence in all {
            let path = raw_files::path(&evidence.sha256);
            let wanted = linked.contains(&evidence.sha256) && !self.files.contains_key(&path);
            if !wanted || evidence.size > raw_files::LONGEST.min(room) {
                continue;
            }
            if let Some(bytes) = study.raw(evidence) {
                room = room.saturating_sub(bytes.len() as u64);
                self.files.insert(path, bytes.to_vec());
            }
        }
    }

    pub(crate) fn join(&mut self, study: &Study<'_>) {
        self.single = frame::single(&self.pages.iter().collect::<Vec<_>>(), &self.files, study);
    }

    /// Adds the web page's module, so that the pages next to the picture of all releases answer questions and read files.
    pub fn add_module(&mut self, module: impl IntoIterator<Item = (&'static str, Vec<u8>)>) {
        for (name, text) in crate::web::web(&crate::web::embedded(), true) {
            self.files.insert(format!("web/{name}"), text.into_bytes());
        }
        self.files.extend(module.into_iter().map(|(name, bytes)| (format!("web/{name}"), bytes)));
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    pub fn size(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Writes the folder, and removes files of an earlier report. Each file is replaced atomically.
    pub fn write(&self, dir: &Path) -> Result<PathBuf, WriteError> {
        let mark = dir.join(MARK);
        let used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        if used && !mark.is_file() {
            return Err(WriteError::NotOurs(dir.to_owned()));
        }
        for sub in ["", "data", "raw", "web"] {
            let sub = dir.join(sub);
            files::create_dir_all(&sub, Access::Public).map_err(|error| fail(&sub, error))?;
        }
        let before: BTreeSet<String> =
            regular_file::text(&mark, LONGEST_LIST).unwrap_or_default().lines().map(str::to_owned).collect();
        let now: Vec<&str> = self.files.keys().map(String::as_str).collect();
        // The list is written first, so that an interrupted report is still recognised as ours.
        let both: BTreeSet<&str> = before.iter().map(String::as_str).chain(now.iter().copied()).collect();
        put(&mark, both.into_iter().collect::<Vec<_>>().join("\n").as_bytes())?;
        for (path, bytes) in &self.files {
            let path = dir.join(path);
            if regular_file::whole(&path, bytes.len() as u64).is_ok_and(|old| old == *bytes) {
                continue;
            }
            put(&path, bytes)?;
        }
        for stale in before.iter().filter(|path| !self.files.contains_key(*path) && is_plain(path)) {
            let _ = files::remove(&dir.join(stale));
        }
        put(&mark, now.join("\n").as_bytes())?;
        Ok(dir.join("index.html"))
    }

    /// One file with everything in it: the pages below each other, style and script by their hashes.
    pub fn single_file(&self) -> &str {
        &self.single
    }
}

/// The maximum size of the list of an earlier report's files.
const LONGEST_LIST: u64 = 64 << 20;

/// Whether the name is one of ours: no part of it leads out of the folder.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|part| part == ".." || part.is_empty())
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    files::replace(path, Access::Public, bytes).map_err(|error| fail(path, error))
}
