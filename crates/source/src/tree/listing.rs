//! The listing of a tree: its files, the skipped files, and the limits.

use say::{Key, Message, ToArg, key, say};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum size of all sources in a tree; llama.cpp has less than 40 MB.
pub const MAX_TOTAL: u64 = 1 << 30;
/// The maximum size of one file. The largest real one is a generated shader table of 30 MB.
pub const MAX_FILE: u64 = 64 << 20;
pub const MAX_FILES: usize = 400_000;

#[derive(Debug)]
pub enum TreeError {
    Missing { path: String },
    Io { path: String, error: std::io::Error },
    NoRepository { repo: String },
    NoRevision { repo: String, rev: String, shallow: bool, said: Message },
    NoGit { error: std::io::Error },
    Git { repo: String, what: &'static str, said: Message },
    ContentMissing { path: String },
    FileTooLarge { path: String, size: u64, limit: u64 },
    TooLarge { path: String, limit: Key },
    Archive { path: String, what: Message },
    ArchiveDamaged { path: String, members: usize, what: Message },
}

say::worded! { TreeError {
    Missing { path } => "source-tree-missing",
    Io { path, error } => "about-why" (what = path, why = error),
    NoRepository { repo } => "source-tree-no-repository",
    NoRevision { repo, rev, shallow, said } => "source-tree-no-revision" (repo, rev = format!("{rev:?}"), hint = shallow.then(|| key!("source-tree-shallow")), said),
    NoGit { error } => "source-tree-no-git",
    Git { repo, what, said } => "source-tree-git",
    ContentMissing { path } => "source-tree-content-missing",
    FileTooLarge { path, size, limit } => "source-tree-file-too-large",
    TooLarge { path, limit } => "source-tree-too-large",
    Archive { path, what } => "source-tree-archive",
    ArchiveDamaged { path, members, what } => "source-tree-archive-damaged",
}}

#[derive(Clone)]
pub(super) enum Entry {
    File,
    Blob(String),
    Bytes(Arc<[u8]>),
}

pub(super) type Files = BTreeMap<String, Entry>;

/// The files of a tree, before anything is read.
pub(super) struct Listing {
    pub commit: Option<String>,
    pub files: Arc<Files>,
    pub skipped: Skipped,
}

/// The skipped files of a tree with reasons: the first hundred as messages, the rest as a count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    pub told: Vec<Message>,
    pub more: usize,
}

impl Skipped {
    const TOLD: usize = 100;

    pub fn add(&mut self, path: impl ToArg, why: impl ToArg) {
        self.note(say!("about-why", what = path, why));
    }

    pub fn note(&mut self, what: Message) {
        if self.told.len() < Self::TOLD {
            self.told.push(what);
        } else {
            self.more += 1;
        }
    }

    pub fn len(&self) -> usize {
        self.told.len() + self.more
    }

    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }
}

/// Bytes that are not UTF-8 become U+FFFD. They occur only in comments and strings.
pub(super) fn as_text(bytes: &[u8]) -> Arc<str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Arc::from(text),
        Err(_) => Arc::from(String::from_utf8_lossy(bytes).as_ref()),
    }
}

/// Files that can contain a rule, a build define or a step of a call chain.
pub(super) fn wanted(path: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "inc", "ipp", "cu", "cuh", "hip", "m", "metal", "go", "rs", "cmake",
        "mk", "toml", "json", "py", "in", "patch", "sh",
    ];
    const NAMES: &[&str] = &[
        "CMakeLists.txt",
        "Makefile",
        "Makefile.sync",
        "rules",
        "changelog",
        "control",
        "Dockerfile",
        "FETCH_HEAD",
        "LLAMA_CPP_VERSION",
        "vendoring",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}
