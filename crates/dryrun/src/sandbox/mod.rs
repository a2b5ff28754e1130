//! Runs a command inside an unpacked runtime tree, without root and without installing anything.
//!
//! The child gets its own mount namespace (for ordinary users through a user namespace) and a small tmpfs as its new
//! root. The tree's directories are bound into it read-only, and the caller's directories at their outside paths. Then
//! the child changes its root. The tree on disk is not modified, and several runs may share it. The program sees its
//! own paths (`/usr/lib/...`), so it finds the paths that are compiled into it.

mod plan;
mod refusal;

pub use crate::sandbox::refusal::EnterError;

use crate::sandbox::plan::Plan;
use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Output},
};
use sys::unix::AsRawFd;

/// A tree to run in. The [`Command`] provides the environment, the arguments and the standard streams. Its program is
/// looked up inside the tree.
#[derive(Debug, Clone)]
pub struct Enter {
    /// None means this machine's own root, in a separate mount namespace.
    root: Option<PathBuf>,
    binds: Vec<Bind>,
    /// Files and directories that replace existing ones.
    over: Vec<(PathBuf, PathBuf)>,
    /// Made-up parts of /sys, and an empty directory in which it is assembled.
    sysfs: Option<(PathBuf, PathBuf)>,
    cwd: PathBuf,
}

/// A file or directory of this machine that is visible inside the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    pub source: PathBuf,
    pub target: PathBuf,
    pub writable: bool,
}

impl Enter {
    /// `root` is the unpacked tree, `runtimes/NAME/root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Enter { root: Some(root.into()), binds: Vec::new(), over: Vec::new(), sysfs: None, cwd: PathBuf::from("/") }
    }

    /// This machine unchanged, except for the parts that [`Enter::over`] and [`Enter::sysfs`] replace.
    pub fn here() -> Self {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Enter { root: None, binds: Vec::new(), over: Vec::new(), sysfs: None, cwd }
    }

    /// Puts a file or directory of this machine in the place of an existing one.
    #[must_use]
    pub fn over(mut self, source: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        self.over.push((source.into(), target.into()));
        self
    }

    /// Replaces the parts of /sys that describe cards by those below `made`. `stage` is an empty directory.
    #[must_use]
    pub fn sysfs(mut self, made: impl Into<PathBuf>, stage: impl Into<PathBuf>) -> Self {
        self.sysfs = Some((made.into(), stage.into()));
        self
    }

    /// Makes a directory or file visible at the same path, for reading and writing.
    #[must_use]
    pub fn bind(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        self.bind_as(path, path, true)
    }

    /// Makes a directory or file visible at the same path, for reading.
    #[must_use]
    pub fn bind_read_only(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        self.bind_as(path, path, false)
    }

    #[must_use]
    pub fn bind_as(mut self, source: impl AsRef<Path>, target: impl AsRef<Path>, writable: bool) -> Self {
        let (source, target) = (source.as_ref().to_owned(), target.as_ref().to_owned());
        self.binds.push(Bind { source, target, writable });
        self
    }

    /// The working directory inside; `/` by default. The path must also be bound.
    #[must_use]
    pub fn current_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = dir.into();
        self
    }

    /// Starts the command inside the tree.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, EnterError> {
        let plan = Plan::new(self)?;
        let (mut told, tell) = std::io::pipe().map_err(EnterError::Pipe)?;
        let fd = tell.as_raw_fd();
        let steps = plan.steps;
        sys::namespaces::before_exec(command, steps, fd);
        let spawned = command.spawn();
        drop(tell);
        spawned.map_err(|error| {
            let mut at = Vec::new();
            // The child wrote the number of the failed step, or nothing if exec itself failed.
            let _ = told.read_to_end(&mut at);
            let step = at.first_chunk().map(|bytes| usize::from(u16::from_le_bytes(*bytes)));
            let program = command.get_program().to_string_lossy().into_owned();
            let root = self.root.as_deref().unwrap_or(Path::new("/"));
            EnterError::from_child(error, step.and_then(|n| plan.names.get(n)), root, program)
        })
    }

    /// Runs the command inside the tree and collects its output.
    pub fn output(&self, command: &mut Command) -> Result<Output, EnterError> {
        use std::process::Stdio;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.spawn(command)?;
        child.wait_with_output().map_err(EnterError::Wait)
    }
}
