//! The directory that parent and target share, and the environment that makes a program use it.

use crate::WatchError;
use crate::growing_trace::LIMIT;
use say::say;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use sys::private_dir::{SessionDir, put};

/// Names the directory that the shim writes to.
pub const DIRECTORY_VARIABLE: &str = "WHICHKERNEL_PRELOAD";
pub const LIMIT_VARIABLE: &str = "WHICHKERNEL_PRELOAD_LIMIT";

/// The shim of a session. It is next to the directory of the records, where only its owner can write.
pub fn library(directory: &Path) -> PathBuf {
    directory.with_file_name("libwhichkernel-preload.so")
}

#[derive(Debug)]
pub struct Session {
    session_dir: SessionDir,
}

impl Session {
    /// `layouts`: the argument offsets from [`crate::preload::layouts`]. Without them, no argument bytes are recorded.
    pub fn new(layouts: Option<&[u8]>) -> Result<Session, WatchError> {
        let refused = |error: io::Error| {
            WatchError::about("preload", say!("watch-no-record-directory", error)).fix(say!("watch-room-in-tmpdir"))
        };
        let session_dir = SessionDir::new("watch", &base()).map_err(refused)?;
        put(&library(session_dir.inner()), embedded_shims::PRELOAD).map_err(refused)?;
        if let Some(layouts) = layouts {
            put(&session_dir.inner().join(launch::preload_input::FILE), layouts).map_err(refused)?;
        }
        Ok(Session { session_dir })
    }

    /// The directory that the program's processes write to.
    pub fn path(&self) -> &Path {
        self.session_dir.inner()
    }

    /// The variables to set for the program.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        environment(self.path(), &library(self.path()), std::env::var_os("LD_PRELOAD").as_deref(), LIMIT)
    }

    /// Like [`Self::environment`], for our own program, without previously preloaded libraries: another runtime among
    /// them would be called instead.
    pub fn bare_environment(&self) -> Vec<(OsString, OsString)> {
        environment(self.path(), &library(self.path()), None, LIMIT)
    }

    /// The directory that only we write to.
    pub fn own(&self) -> &Path {
        self.session_dir.outer()
    }
}

/// The variables that load the shim into a program. Previously preloaded libraries are kept, after the shim.
pub fn environment(directory: &Path, library: &Path, before: Option<&OsStr>, limit: u64) -> Vec<(OsString, OsString)> {
    let mut preload = library.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        preload.push(":");
        preload.push(before);
    }
    vec![
        ("LD_PRELOAD".into(), preload),
        (DIRECTORY_VARIABLE.into(), directory.into()),
        (LIMIT_VARIABLE.into(), limit.to_string().into()),
    ]
}

/// TMPDIR if set; else shared memory if there is enough, so that no disk is written while a server works.
pub(crate) fn base() -> PathBuf {
    let shared = Path::new("/dev/shm");
    let room = |path: &Path| sys::host::free_space(path).unwrap_or(0);
    // Containers may mount shared memory with noexec, and then no library can be loaded from it.
    let barred = sys::host::mount_flags(shared).is_ok_and(|flags| flags & sys::abi::MS_NOEXEC != 0);
    let writable = sys::host::may_write(shared);
    let said = std::env::var_os("TMPDIR").is_some_and(|said| !said.is_empty());
    if !said && !barred && writable && room(shared) > LIMIT { shared.to_owned() } else { std::env::temp_dir() }
}
