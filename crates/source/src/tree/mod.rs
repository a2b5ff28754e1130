//! A source tree, wherever it lies: a directory, a git revision that is not checked out, an archive.
//!
//! Only text that a rule can stand in is listed (C, C++, CUDA, Go, Rust, CMake, make). Nothing from the tree is
//! executed: git is asked for objects only, with hooks, monitors, helpers and lazy fetching turned off.

mod archive;
mod collect;
mod dir;
mod git;
mod series;
pub mod tags;

pub use collect::{Text, collect, collect_within};
use cxx::sym::FxMap;
pub use git::{Commit, commits, on_the_way, tag_of};
use say::{Key, Message, Say, key};
pub use series::{Changes, Series, changes};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// Sources in one tree, in all; llama.cpp's are under 40 MB.
pub const MAX_TOTAL: u64 = 1 << 30;
/// One file. The largest real one is a generated shader table of 30 MB.
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

enum Store {
    Dir(PathBuf),
    Git(Arc<Mutex<git::Batch>>),
    Memory,
}

#[derive(Clone)]
enum Entry {
    File,
    Blob(String),
    Bytes(Arc<[u8]>),
}

/// An opened tree: a list of paths (with `/`, relative to its root), and their contents on demand.
pub struct Tree {
    /// As the user named it.
    pub label: String,
    /// The commit, where the tree came from git or is a checkout whose HEAD can be read.
    pub commit: Option<String>,
    files: Arc<BTreeMap<String, Entry>>,
    store: Store,
    /// What was read so far.
    read: Mutex<BTreeSet<String>>,
    /// Texts that were read so far: a definition is looked for in the same ones again and again.
    texts: Mutex<HashMap<String, Arc<str>>>,
    /// The paths by their last part, once somebody asks.
    named: OnceLock<FxMap<String, Vec<String>>>,
    /// What could not be listed, in words: unreadable directories, symlink loops, files over the limit.
    pub skipped: Skipped,
}

/// What was left out of a tree, and why: the first hundred in words, the rest as a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    pub told: Vec<String>,
    pub more: usize,
}

impl Skipped {
    const TOLD: usize = 100;

    pub fn add(&mut self, what: String) {
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

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree").field("label", &self.label).field("files", &self.files.len()).finish()
    }
}

impl Tree {
    /// `DIR`, `REPO@REV`, or an archive. A path that exists is taken as it is, also when its name has an `@`.
    pub fn open(spec: &str) -> Result<Tree, TreeError> {
        let path = Path::new(spec);
        if path.is_dir() {
            return match git::bare(path) {
                true => git::open(path, "HEAD", spec),
                false => dir::open(path, spec),
            };
        }
        if path.is_file() {
            return archive::open(path, spec);
        }
        match spec.rsplit_once('@') {
            Some((repo, rev)) if !repo.is_empty() && !rev.is_empty() => git::open(Path::new(repo), rev, spec),
            _ => Err(TreeError::Missing { path: spec.to_owned() }),
        }
    }

    /// A tree of files held in memory, for tests and for embedded ones.
    pub fn from_memory(label: &str, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Tree {
        let files: BTreeMap<String, Entry> =
            files.into_iter().map(|(path, bytes)| (path, Entry::Bytes(bytes.into()))).collect();
        Tree {
            label: label.to_owned(),
            commit: None,
            files: Arc::new(files),
            store: Store::Memory,
            read: Mutex::default(),
            texts: Mutex::default(),
            named: OnceLock::new(),
            skipped: Skipped::default(),
        }
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The id of a file's content in git.
    pub fn id(&self, path: &str) -> Option<&str> {
        match self.files.get(path)? {
            Entry::Blob(id) => Some(id),
            Entry::File | Entry::Bytes(_) => None,
        }
    }

    /// Every file that an answer was read from so far.
    pub fn reads(&self) -> Vec<String> {
        self.read.lock().map(|read| read.iter().cloned().collect()).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    pub fn read(&self, path: &str) -> Result<Arc<[u8]>, TreeError> {
        let missing = || TreeError::Missing { path: path.to_owned() };
        self.note(path);
        match (self.files.get(path).ok_or_else(missing)?, &self.store) {
            (Entry::Bytes(bytes), _) => Ok(bytes.clone()),
            (Entry::File, Store::Dir(root)) => Ok(dir::read(&root.join(path), path)?.into()),
            (Entry::Blob(id), Store::Git(batch)) => match batch.lock() {
                Ok(mut batch) => batch.read(id, path),
                Err(_) => Err(missing()),
            },
            _ => Err(missing()),
        }
    }

    /// A file as text.
    pub fn text(&self, path: &str) -> Result<Arc<str>, TreeError> {
        if let Some(text) = self.texts.lock().ok().and_then(|texts| texts.get(path).cloned()) {
            return Ok(text);
        }
        let text = match (self.files.get(path), &self.store) {
            (Some(Entry::Blob(id)), Store::Git(batch)) => {
                self.note(path);
                let mut batch = batch.lock().map_err(|_| TreeError::Missing { path: path.to_owned() })?;
                batch.text(id, path)?
            }
            (Some(Entry::File), Store::Dir(root)) => {
                self.note(path);
                let bytes = dir::read(&root.join(path), path)?;
                // The copy that a list of bytes to be shared would be is spared.
                String::from_utf8(bytes).map_or_else(|error| as_text(error.as_bytes()), Arc::from)
            }
            _ => as_text(&self.read(path)?),
        };
        if let Ok(mut texts) = self.texts.lock() {
            texts.insert(path.to_owned(), text.clone());
        }
        Ok(text)
    }

    fn note(&self, path: &str) {
        if let Ok(mut read) = self.read.lock()
            && !read.contains(path)
        {
            read.insert(path.to_owned());
        }
    }

    /// What names this tree in a record: the commit if there is one, else what the user typed.
    pub fn identity(&self) -> String {
        self.commit.clone().unwrap_or_else(|| self.label.clone())
    }
}

/// Bytes that are no UTF-8 become U+FFFD: they only ever stand in comments and strings.
fn as_text(bytes: &[u8]) -> Arc<str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Arc::from(text),
        Err(_) => Arc::from(String::from_utf8_lossy(bytes).as_ref()),
    }
}

impl cxx::Sources for Tree {
    fn has(&self, path: &str) -> bool {
        Tree::has(self, path)
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(Tree::paths(self))
    }

    fn named(&self, name: &str) -> Vec<&str> {
        let by_name = self.named.get_or_init(|| {
            let mut by_name: FxMap<String, Vec<String>> = FxMap::default();
            for path in Tree::paths(self) {
                let last = path.rsplit('/').next().unwrap_or(path);
                match by_name.get_mut(last) {
                    Some(list) => list.push(path.to_owned()),
                    None => drop(by_name.insert(last.to_owned(), vec![path.to_owned()])),
                }
            }
            by_name
        });
        by_name.get(name).into_iter().flatten().map(String::as_str).collect()
    }

    fn text(&self, path: &str) -> Result<Arc<str>, cxx::files::Unreadable> {
        Tree::text(self, path).map_err(|error| error.message())
    }
}

/// Files that can hold a rule, a build define or a step of a call chain.
fn wanted(path: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "inc", "ipp", "cu", "cuh", "hip", "m", "go", "rs", "cmake", "mk",
        "toml", "json", "py", "in", "patch", "sh",
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
