//! A git revision, read object by object through `git cat-file --batch`; nothing is checked out.
//!
//! The repository is not trusted. `--git-dir` is given explicitly, and system and user configuration are ignored.
//! Everything that a repository's own configuration could start (fsmonitor, hooks, transports, helpers) is switched off
//! on the command line, which takes precedence. None of the three commands used reads the work tree, the index or
//! attributes.

use super::listing::{Entry, Files, Listing, MAX_FILE, MAX_FILES, Skipped, TreeError, as_text, wanted};
use say::{Message, key, say};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use sys::regular_file;

pub(super) struct Batch {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Contents by id, for readers of many revisions: unchanged files are not read again.
    kept: Option<Kept>,
}

#[derive(Default)]
struct Kept {
    contents: HashMap<String, Arc<[u8]>>,
    texts: HashMap<String, Arc<str>>,
    bytes: usize,
}

impl Kept {
    /// Makes room for `bytes` more bytes.
    fn room(&mut self, bytes: usize) {
        if self.bytes + bytes > KEPT {
            *self = Kept::default();
        }
        self.bytes += bytes;
    }
}

/// The maximum number of cached bytes.
const KEPT: usize = 96 << 20;

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a directory is itself a git directory.
pub(super) fn bare(path: &Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir()
}

/// The git directory of `repo`: itself, its `.git`, or the target of a worktree's `.git` file.
pub(super) fn git_dir(repo: &Path) -> Option<PathBuf> {
    if bare(repo) {
        return Some(repo.to_owned());
    }
    let dot = repo.join(".git");
    if dot.is_dir() {
        return Some(dot);
    }
    // Reading a named pipe would block forever.
    let pointer = dot.is_file().then(|| regular_file::text(&dot, 1 << 16).ok())??;
    let target = repo.join(pointer.strip_prefix("gitdir:")?.trim());
    target.is_dir().then_some(target)
}

pub(super) fn git(dir: &Path) -> Result<Command, TreeError> {
    let mut command = sys::program::command("git").map_err(|error| TreeError::NoGit { error })?;
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .arg("--no-pager")
        .arg("--no-replace-objects")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"])
        .args(["-c", "core.sshCommand=false", "-c", "credential.helper=", "-c", "core.alternateRefsCommand=true"])
        .arg("--git-dir")
        .arg(dir);
    Ok(command)
}

pub(super) fn said(bytes: &[u8]) -> Message {
    let first = String::from_utf8_lossy(bytes).lines().next().map(|line| Message::verbatim(line.trim()));
    first.unwrap_or_else(|| say!("source-git-silent"))
}

pub(super) fn commit(dir: &Path, repo: &str, rev: &str) -> Result<String, TreeError> {
    let out = git(dir)?
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(format!("{rev}^{{commit}}"))
        .output()
        .map_err(|error| TreeError::NoGit { error })?;
    if !out.status.success() {
        let shallow = dir.join("shallow").exists();
        let said = if out.stderr.is_empty() { say!("source-git-unknown") } else { said(&out.stderr) };
        return Err(TreeError::NoRevision { repo: repo.to_owned(), rev: rev.to_owned(), shallow, said });
    }
    Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// The commit of a checkout's HEAD, read from files, so that opening a directory starts no process.
pub(super) fn head(root: &Path) -> Option<String> {
    let dir = git_dir(root)?;
    let head = regular_file::text(&dir.join("HEAD"), 1 << 16).ok()?;
    let head = head.trim();
    let id = match head.strip_prefix("ref: ") {
        None => head.to_owned(),
        Some(name) => {
            regular_file::text(&dir.join(name), 1 << 16).ok().map(|id| id.trim().to_owned()).or_else(|| {
                let packed = regular_file::text(&dir.join("packed-refs"), 64 << 20).ok()?;
                packed.lines().find_map(|line| Some(line.strip_suffix(name)?.trim().to_owned()))
            })?
        }
    };
    (id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

pub(super) fn open(repo: &Path, rev: &str, label: &str) -> Result<(Listing, Batch), TreeError> {
    let name = repo.display().to_string();
    if !repo.exists() {
        return Err(TreeError::Missing { path: name });
    }
    let dir = git_dir(repo).ok_or_else(|| TreeError::NoRepository { repo: name.clone() })?;
    let commit = commit(&dir, &name, rev)?;
    let (files, skipped) = list(&dir, &name, &commit, label)?;
    let batch = batch(&dir, &name, false)?;
    Ok((Listing { commit: Some(commit), files: Arc::new(files), skipped }, batch))
}

/// Every wanted file of a commit.
pub(super) fn list(dir: &Path, name: &str, commit: &str, label: &str) -> Result<(Files, Skipped), TreeError> {
    let out = git(dir)?
        .args(["ls-tree", "-r", "-z", "--full-tree", commit])
        .output()
        .map_err(|error| TreeError::NoGit { error })?;
    if !out.status.success() {
        return Err(TreeError::Git { repo: name.to_owned(), what: "ls-tree", said: said(&out.stderr) });
    }
    let (mut files, mut skipped) = (BTreeMap::new(), Skipped::default());
    for line in out.stdout.split(|&byte| byte == 0) {
        // <mode> SP blob SP <id> TAB <path>. Submodules are "commit" and have no content here.
        let Ok(line) = std::str::from_utf8(line) else {
            let line = String::from_utf8_lossy(line);
            let path = line.split_once('\t').map_or("", |(_, path)| path);
            if wanted(path) {
                skipped.add(path.to_string(), say!("source-skipped-utf8"));
            }
            continue;
        };
        let Some((head, path)) = line.split_once('\t') else { continue };
        let mut head = head.split(' ');
        let (mode, kind, id) = (head.next(), head.next(), head.next());
        if kind != Some("blob") || mode == Some("120000") || !wanted(path) {
            continue;
        }
        if files.len() >= MAX_FILES {
            return Err(TreeError::TooLarge { path: label.to_owned(), limit: key!("source-limit-files") });
        }
        files.insert(path.to_owned(), Entry::Blob(id.unwrap_or_default().to_owned()));
    }
    Ok((files, skipped))
}

pub(super) fn batch(dir: &Path, name: &str, keep: bool) -> Result<Batch, TreeError> {
    let mut child = git(dir)?
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| TreeError::NoGit { error })?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(TreeError::Git { repo: name.to_owned(), what: "cat-file", said: say!("source-git-no-pipes") });
    };
    let kept = keep.then(Kept::default);
    Ok(Batch { child, input, output: BufReader::with_capacity(1 << 16, output), kept })
}

/// A commit in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// The id of the commit's tree object.
    pub tree: String,
    /// Year, month, day.
    pub date: String,
    pub subject: String,
}

/// Whether the main line, by first parents, leads from one revision to another.
pub fn on_the_way(repo: &Path, since: &str, until: &str) -> Result<bool, TreeError> {
    let name = repo.display().to_string();
    let dir = git_dir(repo).ok_or_else(|| TreeError::NoRepository { repo: name.clone() })?;
    let (first, last) = (commit(&dir, &name, since)?, commit(&dir, &name, until)?);
    let out =
        git(&dir)?.args(["rev-list", "--first-parent", &last]).output().map_err(|error| TreeError::NoGit { error })?;
    if !out.status.success() {
        return Err(TreeError::Git { repo: name, what: "rev-list", said: said(&out.stderr) });
    }
    Ok(String::from_utf8_lossy(&out.stdout).lines().any(|line| line == first))
}

/// The commits of the main line that touch these paths, oldest first.
pub fn commits(repo: &Path, since: Option<&str>, until: &str, paths: &[&str]) -> Result<Vec<Commit>, TreeError> {
    let name = repo.display().to_string();
    let dir = git_dir(repo).ok_or_else(|| TreeError::NoRepository { repo: name.clone() })?;
    let last = commit(&dir, &name, until)?;
    let range = match since {
        // The commit itself is the starting state.
        Some(since) => {
            let first = commit(&dir, &name, since)?;
            vec![last.clone(), format!("^{first}")]
        }
        None => vec![last.clone()],
    };
    let out = git(&dir)?
        .args(["log", "--first-parent", "--reverse", "--no-show-signature", "--format=%H%x09%T%x09%cs%x09%s"])
        .args(range)
        .arg("--")
        .args(paths)
        .output()
        .map_err(|error| TreeError::NoGit { error })?;
    if !out.status.success() {
        return Err(TreeError::Git { repo: name, what: "log", said: said(&out.stderr) });
    }
    let text = String::from_utf8_lossy(&out.stdout);
    let mut list: Vec<Commit> = text.lines().filter_map(parsed).collect();
    // Both ends are evaluated, even if they do not touch these paths: the conclusion is about them.
    if let Some(since) = since {
        list.insert(0, told(&dir, &name, &commit(&dir, &name, since)?)?);
        if list.last().is_none_or(|end| end.id != last) {
            list.push(told(&dir, &name, &last)?);
        }
    }
    Ok(list)
}

fn parsed(line: &str) -> Option<Commit> {
    let mut parts = line.splitn(4, '\t').map(str::to_owned);
    Some(Commit { id: parts.next()?, tree: parts.next()?, date: parts.next()?, subject: parts.next()? })
}

/// Reads one commit.
fn told(dir: &Path, name: &str, id: &str) -> Result<Commit, TreeError> {
    let out = git(dir)?
        .args(["log", "-1", "--no-show-signature", "--format=%H%x09%T%x09%cs%x09%s", id])
        .output()
        .map_err(|error| TreeError::NoGit { error })?;
    let text = String::from_utf8_lossy(&out.stdout);
    let failed = || TreeError::Git { repo: name.to_owned(), what: "log", said: said(&out.stderr) };
    text.lines().next().and_then(parsed).ok_or_else(failed)
}

/// The first tag that contains a commit.
pub fn tag_of(repo: &Path, id: &str) -> Option<String> {
    let dir = git_dir(repo)?;
    let out = git(&dir).ok()?.args(["describe", "--contains", "--tags", "--", id]).output().ok()?;
    let out = if out.status.success() {
        out
    } else {
        git(&dir).ok()?.args(["describe", "--contains", "--tags", id]).output().ok()?
    };
    let text = String::from_utf8_lossy(&out.stdout);
    let tag = text.trim().split(['~', '^']).next().unwrap_or_default();
    (out.status.success() && !tag.is_empty()).then(|| tag.to_owned())
}

impl Batch {
    /// Returns the same content as text. Readers of many revisions share the cached text.
    pub(super) fn text(&mut self, id: &str, path: &str) -> Result<Arc<str>, TreeError> {
        if let Some(text) = self.kept.as_ref().and_then(|kept| kept.texts.get(id)) {
            return Ok(text.clone());
        }
        let text = as_text(&self.fetch(id, path)?);
        if let Some(kept) = &mut self.kept {
            kept.room(text.len());
            kept.texts.insert(id.to_owned(), text.clone());
        }
        Ok(text)
    }

    pub(super) fn read(&mut self, id: &str, path: &str) -> Result<Arc<[u8]>, TreeError> {
        if let Some(bytes) = self.kept.as_ref().and_then(|kept| kept.contents.get(id)) {
            return Ok(bytes.clone());
        }
        let bytes = self.fetch(id, path)?;
        if let Some(kept) = &mut self.kept {
            kept.room(bytes.len());
            kept.contents.insert(id.to_owned(), bytes.clone());
        }
        Ok(bytes)
    }

    fn fetch(&mut self, id: &str, path: &str) -> Result<Arc<[u8]>, TreeError> {
        let io = |error| TreeError::Io { path: path.to_owned(), error };
        writeln!(self.input, "{id}").and_then(|()| self.input.flush()).map_err(io)?;
        let mut header = String::new();
        self.output.read_line(&mut header).map_err(io)?;
        // "<id> blob <size>", or "<id> missing".
        let Some(size) = header.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok()) else {
            return Err(TreeError::ContentMissing { path: path.to_owned() });
        };
        if size > MAX_FILE {
            let mut rest = (&mut self.output).take(size + 1);
            std::io::copy(&mut rest, &mut std::io::sink()).map_err(io)?;
            return Err(TreeError::FileTooLarge { path: path.to_owned(), size, limit: MAX_FILE });
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        (&mut self.output).take(size + 1).read_to_end(&mut bytes).map_err(io)?;
        bytes.truncate(size as usize);
        Ok(bytes.into())
    }
}
