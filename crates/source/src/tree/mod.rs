//! A source tree: a directory, a git revision that is not checked out, or an archive.
//!
//! Only text files that can contain a rule are listed (C, C++, CUDA, Go, Rust, CMake, make). Nothing from the tree is
//! executed: git is asked only for objects, with hooks, monitors, helpers and lazy fetching turned off.

#[cfg_attr(not(feature = "archives"), path = "no_archive.rs")]
mod archive;
mod collect;
mod dir;
mod git;
mod listing;
mod series;
pub mod tags;

pub use collect::{Text, collect, collect_within};
pub use git::{Commit, commits, on_the_way, tag_of};
pub use listing::{MAX_FILE, MAX_FILES, MAX_TOTAL, Skipped, TreeError};
use say::Say;
pub use series::{Changes, Series, changes};

use cxx::sym::FxMap;
use listing::{Entry, Files, Listing, as_text};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

enum Store {
    Dir(PathBuf),
    Git(Arc<Mutex<git::Batch>>),
    Memory,
}

/// An opened tree: a list of paths (with `/`, relative to its root), and their contents on demand.
pub struct Tree {
    /// The tree's name as the user gave it.
    pub label: String,
    /// The commit, if the tree came from git or is a checkout with a readable HEAD.
    pub commit: Option<String>,
    files: Arc<Files>,
    store: Store,
    /// The paths read so far.
    read: Mutex<BTreeSet<String>>,
    /// Texts read so far: definitions are often searched for in the same files.
    texts: Mutex<HashMap<String, Arc<str>>>,
    /// The paths by file name, computed on first use.
    named: OnceLock<FxMap<String, Vec<String>>>,
    /// Messages about everything that could not be listed: unreadable directories, symlink loops, files over the limit.
    pub skipped: Skipped,
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree").field("label", &self.label).field("files", &self.files.len()).finish()
    }
}

impl Tree {
    /// `DIR`, `REPO@REV`, or an archive. A path that exists is used as is, even if its name contains an `@`.
    pub fn open(spec: &str) -> Result<Tree, TreeError> {
        let path = Path::new(spec);
        if path.is_dir() {
            return match git::bare(path) {
                true => Tree::at_revision(path, "HEAD", spec),
                false => Ok(Tree::of(spec, dir::open(path, spec)?, Store::Dir(path.to_owned()))),
            };
        }
        if path.is_file() {
            return Ok(Tree::of(spec, archive::open(path, spec)?, Store::Memory));
        }
        match spec.rsplit_once('@') {
            Some((repo, rev)) if !repo.is_empty() && !rev.is_empty() => Tree::at_revision(Path::new(repo), rev, spec),
            _ => Err(TreeError::Missing { path: spec.to_owned() }),
        }
    }

    fn at_revision(repo: &Path, rev: &str, label: &str) -> Result<Tree, TreeError> {
        let (listing, batch) = git::open(repo, rev, label)?;
        Ok(Tree::of(label, listing, Store::Git(Arc::new(Mutex::new(batch)))))
    }

    fn of(label: &str, listing: Listing, store: Store) -> Tree {
        let Listing { commit, files, skipped } = listing;
        Tree {
            label: label.to_owned(),
            commit,
            files,
            store,
            read: Mutex::default(),
            texts: Mutex::default(),
            named: OnceLock::new(),
            skipped,
        }
    }

    /// A tree of files in memory, for tests and embedded trees.
    pub fn from_memory(label: &str, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Tree {
        let files = files.into_iter().map(|(path, bytes)| (path, Entry::Bytes(bytes.into()))).collect();
        let listing = Listing { commit: None, files: Arc::new(files), skipped: Skipped::default() };
        Tree::of(label, listing, Store::Memory)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The git id of a file's content.
    pub fn id(&self, path: &str) -> Option<&str> {
        match self.files.get(path)? {
            Entry::Blob(id) => Some(id),
            Entry::File | Entry::Bytes(_) => None,
        }
    }

    /// Every file that was read so far.
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
                // Avoids a copy of the bytes if they are valid UTF-8.
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

    /// The identity of this tree in a record: the commit if there is one, otherwise the user's input.
    pub fn identity(&self) -> String {
        self.commit.clone().unwrap_or_else(|| self.label.clone())
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

impl cxx::Sources for &Tree {
    fn has(&self, path: &str) -> bool {
        Tree::has(self, path)
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(Tree::paths(self))
    }

    fn named(&self, name: &str) -> Vec<&str> {
        cxx::Sources::named(*self, name)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, cxx::files::Unreadable> {
        cxx::Sources::text(*self, path)
    }
}
