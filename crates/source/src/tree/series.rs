//! Many revisions of one repository in sequence. One process reports the changes between them, another reads contents.

use super::git::{Batch, Commit, batch, git, git_dir, list as files_of};
use super::listing::{Entry, Files, Listing, Skipped, TreeError, wanted};
use super::{Store, Tree};
use say::{Message, say};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

/// The changes of one commit to the wanted files: the id of the new content, None if the file was deleted.
pub type Changes = Vec<(String, Option<String>)>;

/// The changes from each commit of a list to the next, by one process; the first has none.
pub fn changes(repo: &Path, list: &[Commit]) -> Result<Vec<Changes>, TreeError> {
    let name = repo.display().to_string();
    let dir = git_dir(repo).ok_or_else(|| TreeError::NoRepository { repo: name.clone() })?;
    let mut child = git(&dir)?
        .args(["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| TreeError::NoGit { error })?;
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(TreeError::Git { repo: name, what: "diff-tree", said: say!("source-git-no-pipes") });
    };
    let pairs: String = list
        .windows(2)
        .filter_map(|two| match two {
            [before, after] => Some(format!("{} {}\n", before.tree, after.tree)),
            _ => None,
        })
        .collect();
    // Written in parallel with reading: otherwise a pipe would fill up and block.
    let writer = std::thread::spawn(move || input.write_all(pairs.as_bytes()));
    let mut bytes = Vec::new();
    let read = output.read_to_end(&mut bytes);
    let written = writer.join();
    let ended = child.wait();
    let failed = |said: Message| TreeError::Git { repo: name.clone(), what: "diff-tree", said };
    if read.is_err() || !matches!(written, Ok(Ok(()))) || !ended.is_ok_and(|status| status.success()) {
        return Err(failed(say!("source-git-ended")));
    }
    let mut out: Vec<Changes> = vec![Vec::new(); list.len()];
    let mut at = 0usize;
    let mut words = bytes.split(|&byte| byte == 0);
    while let Some(word) = words.next() {
        let word = String::from_utf8_lossy(word);
        let mut raw = word.as_ref();
        // A line with the two trees precedes their differences.
        while let Some((_, rest)) = raw.split_once('\n').filter(|_| !raw.starts_with(':')) {
            at += 1;
            raw = rest;
        }
        // `:100644 100644 <old> <new> M`, then the path.
        let Some(raw) = raw.strip_prefix(':') else { continue };
        let path = words.next().map(|path| String::from_utf8_lossy(path).into_owned()).unwrap_or_default();
        let mut parts = raw.split(' ');
        let (_, mode, _, id, status) = (parts.next(), parts.next(), parts.next(), parts.next(), parts.next());
        let gone = status == Some("D") || matches!(mode, Some("120000" | "160000"));
        let changed = out.get_mut(at).ok_or_else(|| failed(say!("source-git-more")))?;
        if wanted(&path) {
            changed.push((path, if gone { None } else { id.map(str::to_owned) }));
        }
    }
    if at + 1 != list.len() {
        return Err(failed(say!("source-git-fewer")));
    }
    Ok(out)
}

/// The trees of a history, one after the other. One process reads their contents, which are cached.
pub struct Series {
    repo: String,
    files: Arc<Files>,
    store: Arc<Mutex<Batch>>,
}

impl std::fmt::Debug for Series {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Series").field("repo", &self.repo).field("files", &self.files.len()).finish()
    }
}

impl Series {
    pub fn begin(repo: &Path, first: &Commit) -> Result<Series, TreeError> {
        let name = repo.display().to_string();
        let dir = git_dir(repo).ok_or_else(|| TreeError::NoRepository { repo: name.clone() })?;
        let (files, _) = files_of(&dir, &name, &first.id, &name)?;
        let store = Arc::new(Mutex::new(batch(&dir, &name, true)?));
        Ok(Series { repo: name, files: Arc::new(files), store })
    }

    pub fn apply(&mut self, changes: &Changes) {
        let files = Arc::make_mut(&mut self.files);
        for (path, id) in changes {
            match id {
                Some(id) => files.insert(path.clone(), Entry::Blob(id.clone())),
                None => files.remove(path),
            };
        }
    }

    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The current tree.
    pub fn tree(&self, commit: &Commit) -> Tree {
        let label = format!("{}@{}", self.repo, commit.id);
        let files = self.files.clone();
        let listing = Listing { commit: Some(commit.id.clone()), files, skipped: Skipped::default() };
        Tree::of(&label, listing, Store::Git(self.store.clone()))
    }
}
