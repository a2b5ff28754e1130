//! The location of the cache: `$WHICHKERNEL_CACHE`, otherwise the user's cache directory.

use crate::error::{Error, Result, at};
use std::{
    env, fs,
    path::{Path, PathBuf},
};
use sys::files::{self, Access};

#[derive(Debug, Clone)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub fn from_env() -> Self {
        if let Some(dir) = env::var_os("WHICHKERNEL_CACHE") {
            return Cache { dir: PathBuf::from(dir) };
        }
        Cache { dir: sys::places::cache().unwrap_or_else(env::temp_dir).join("whichkernel") }
    }

    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Cache { dir: dir.into() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn runtimes(&self) -> PathBuf {
        self.dir.join("runtimes")
    }

    /// `runtimes/NAME`: the index, and the tree in `root/`.
    pub fn runtime(&self, name: &str) -> PathBuf {
        self.runtimes().join(name)
    }

    /// The unpacked tree of a runtime that is in the cache.
    pub fn root(&self, name: &str) -> Option<PathBuf> {
        let root = self.runtime(name).join("root");
        (check_name(name).is_ok() && root.is_dir()).then_some(root)
    }

    /// The private apt root of a suite. Its downloads are kept, so that a second fetch need not repeat them.
    pub fn apt(&self, name: &str) -> PathBuf {
        self.dir.join("apt").join(name)
    }

    /// Locks `name` for this process until the guard is dropped.
    pub fn lock(&self, name: &str) -> Result<Lock> {
        let dir = self.runtimes();
        files::create_dir_all(&dir, Access::Public).map_err(at(&dir))?;
        let path = dir.join(format!(".lock-{name}"));
        let file = files::append(&path, Access::Public).map_err(at(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(fs::TryLockError::WouldBlock) => Err(Error::Busy { name: name.to_owned(), path }),
            Err(fs::TryLockError::Error(source)) => Err(Error::Io { path, source }),
        }
    }

    /// Removes a runtime and returns the number of bytes freed. The target of a linked runtime is not touched.
    pub fn remove(&self, name: &str) -> Result<u64> {
        check_name(name)?;
        let place = self.runtime(name);
        let _lock = self.lock(name)?;
        let bytes = crate::Index::read(&place).map_or(0, |index| index.bytes);
        files::remove_dir_all(&place).map_err(at(&place))?;
        Ok(bytes)
    }

    pub fn free_bytes(&self) -> Result<u64> {
        files::create_dir_all(&self.dir, Access::Public).map_err(at(&self.dir))?;
        sys::host::free_space(&self.dir).map_err(at(&self.dir))
    }
}

/// A lock. Its file is never deleted: deleting it would let two processes hold two different locks.
#[derive(Debug)]
pub struct Lock {
    _file: fs::File,
}

/// A name becomes a directory, so it must be a single plain component, and not one of our hidden ones.
pub fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if name.is_empty() || name.len() > 128 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(Error::BadName { name: name.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_leave_the_cache_are_refused() {
        for name in ["", ".", "..", ".hidden", "a/b", "../x", "a\0b", "a b"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["debian-sid", "ollama-0.13.0", "libggml0_0.27.0-1+b1"] {
            assert!(check_name(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_second_holder_is_told_to_wait() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let held = cache.lock("x").unwrap();
        assert!(matches!(cache.lock("x"), Err(Error::Busy { .. })));
        assert!(cache.lock("y").is_ok());
        drop(held);
        assert!(cache.lock("x").is_ok());
    }
}
