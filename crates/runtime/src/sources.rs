//! Source trees that claims refer to, each at one commit: fetched with git into the cache, never checked out.

use crate::cache::Cache;
use crate::error::{Error, Result, at};
use say::{Message, Say as _, say};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use sys::files::{self, Access};

/// A measured download size: mirrors repack, so it may change from day to day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    pub megabytes: u64,
    pub on: &'static str,
}

/// ggml and its tools from debian-sid, by the sizes in Debian's index of that day, as `runtime fetch debian-sid --parts
/// ggml,tools` shows before it fetches. An offer cannot use the current index, because that would have to be fetched
/// first.
pub const DEBIAN_GGML: Measured = Measured { megabytes: 129, on: "2026-11-15" };

/// A tree at a commit, and its download size (`git fetch --depth 1`, the size of its pack).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceTree {
    pub name: &'static str,
    pub url: &'static str,
    pub commit: &'static str,
    pub size: Measured,
}

pub const TREES: &[SourceTree] = &[
    SourceTree {
        name: "ollama",
        url: "https://github.com/ollama/ollama",
        commit: "4fda69809a3fecf73d0f71657ef50f8f7e8f43f7",
        size: Measured { megabytes: 13, on: "2026-11-15" },
    },
    // The last commit of the repository before it was retired.
    SourceTree {
        name: "rocBLAS",
        url: "https://github.com/ROCm/rocBLAS",
        commit: "b520bc83fa67045bed4544f33ba83ce3a7c39c44",
        size: Measured { megabytes: 5, on: "2026-11-15" },
    },
];

impl SourceTree {
    fn place(&self, cache: &Cache) -> PathBuf {
        cache.dir().join("sources").join(format!("{}.git", self.name))
    }

    /// The source in the form that `source` accepts, `DIR@COMMIT`; None if it was not fetched yet.
    pub fn here(&self, cache: &Cache) -> Option<String> {
        let place = self.place(cache);
        let done = sys::regular_file::text(&place.join("whichkernel-commit"), 1 << 10).ok()?;
        (done.trim() == self.commit).then(|| format!("{}@{}", place.display(), self.commit))
    }

    /// Fetches one commit without its history. After a failure the partial result is removed.
    pub fn fetch(&self, cache: &Cache) -> Result<String> {
        if let Some(here) = self.here(cache) {
            return Ok(here);
        }
        let place = self.place(cache);
        let _lock = cache.lock(&format!("source-{}", self.name))?;
        files::create_dir_all(&place, Access::Public).map_err(at(&place))?;
        let init = git().and_then(|mut git| git.arg("init").arg("--quiet").arg("--bare").arg(&place).output());
        let fetched = done("git init", init).and_then(|()| {
            let mut git = git().map_err(|error| failed("git fetch", error.message()))?;
            git.arg("--git-dir").arg(&place).args(["fetch", "--quiet", "--depth", "1", self.url, self.commit]);
            done("git fetch", git.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null()).output())
        });
        if let Err(error) = fetched {
            let _ = files::remove_dir_all(&place);
            return Err(error);
        }
        let mark = place.join("whichkernel-commit");
        files::replace(&mark, Access::Public, self.commit).map_err(at(&mark))?;
        Ok(format!("{}@{}", place.display(), self.commit))
    }
}

/// git without the user's own settings: a URL alias or a helper must not affect the fetch.
fn git() -> std::io::Result<Command> {
    let mut git = sys::program::command("git")?;
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_TERMINAL_PROMPT", "0");
    Ok(git)
}

fn failed(command: &str, said: Message) -> Error {
    Error::Git { command: command.to_owned(), said }
}

fn done(command: &str, output: std::io::Result<std::process::Output>) -> Result<()> {
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(failed(command, crate::error::printed(said.lines().last())))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(failed(command, say!("runtime-no-git"))),
        Err(error) => Err(failed(command, error.message())),
    }
}
