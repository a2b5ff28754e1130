//! The releases of a repository, and access to files and submodules at one of them.

use super::TreeError;
use super::git::{git, git_dir, said};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub name: String,
    pub commit: String,
    /// The id of the commit's tree object.
    pub tree: String,
    /// Year, month, day.
    pub date: String,
}

/// Every tag with its commit and the commit's date.
pub fn all(repo: &Path) -> Result<Vec<Tag>, TreeError> {
    let name = repo.display().to_string();
    let dir = git_dir(repo).ok_or_else(|| TreeError::NoRepository { repo: name.clone() })?;
    let format = "%(refname:strip=2)%09%(objectname)%09%(tree)%09%(committerdate:short)%09\
                  %(*objectname)%09%(*tree)%09%(*committerdate:short)";
    let out = git(&dir)?
        .args(["for-each-ref", &format!("--format={format}"), "refs/tags"])
        .output()
        .map_err(|error| TreeError::NoGit { error })?;
    if !out.status.success() {
        return Err(TreeError::Git { repo: name, what: "for-each-ref", said: said(&out.stderr) });
    }
    let text = String::from_utf8_lossy(&out.stdout);
    let tag = |line: &str| {
        let parts: Vec<&str> = line.split('\t').collect();
        // For an annotated tag, use the commit that it points to.
        let [name, of @ ..] = parts.as_slice() else { return None };
        let of = if of.get(3).is_some_and(|id| !id.is_empty()) { of.get(3..6)? } else { of.get(..3)? };
        let [commit, tree, date] = of else { return None };
        let [name, commit, tree, date] = [*name, *commit, *tree, *date].map(str::to_owned);
        (!date.is_empty() && !tree.is_empty()).then_some(Tag { name, commit, tree, date })
    };
    Ok(text.lines().filter_map(tag).collect())
}

/// A file at a commit; None if it does not exist.
pub fn text(repo: &Path, commit: &str, path: &str) -> Option<String> {
    let out = git(&git_dir(repo)?).ok()?.args(["cat-file", "blob", &format!("{commit}:{path}")]).output().ok()?;
    (out.status.success() && out.stdout.len() < 1 << 20).then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The commit of a submodule.
pub fn submodule(repo: &Path, commit: &str, path: &str) -> Option<String> {
    let out = git(&git_dir(repo)?).ok()?.args(["ls-tree", commit, "--", path]).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut parts = text.split_whitespace();
    (parts.next()? == "160000" && parts.next()? == "commit").then(|| parts.next().map(str::to_owned)).flatten()
}

/// The last build (`b6752`) in the history of a commit.
pub fn last_build(repo: &Path, commit: &str) -> Option<String> {
    let dir = git_dir(repo)?;
    let out = git(&dir).ok()?.args(["describe", "--tags", "--abbrev=0", "--match", "b[0-9]*", commit]).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    (out.status.success() && !text.is_empty()).then_some(text)
}
