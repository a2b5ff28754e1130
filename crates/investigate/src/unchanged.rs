//! What has not changed need not be looked at again: the files of every runtime, the question, and this program itself.
//!
//! An observer that only reads files says the same of the same files. Its last run is in the ledger; what it looked at then
//! is kept in the cache as one hash. Where anything differs, or the cache is gone, it looks again.

use observe::ObserveContext;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Observers that look at more than files: the machine's settings, processes and devices change without a trace.
const ALWAYS: &[&str] = &["host"];

#[derive(Debug)]
pub struct Unchanged {
    file: PathBuf,
    hash: String,
    known: BTreeMap<String, Ran>,
}

/// What an observer came to when the hash was this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub observations: usize,
    /// How many of them the investigation can ask for: so many stand in the ledger.
    pub kept: usize,
    pub blocked: Option<String>,
}

impl Unchanged {
    /// `place`: where it is kept. `ledger`: of which ledger it speaks.
    pub fn read(place: &Path, ledger: &Path, around: &ObserveContext) -> Unchanged {
        let hash = fingerprint(ledger, around);
        let kept: Option<(String, BTreeMap<String, Ran>)> =
            fs::read(place).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let known = kept.filter(|(then, _)| *then == hash).map(|(_, known)| known).unwrap_or_default();
        Unchanged { file: place.to_owned(), hash, known }
    }

    /// How it ended last time, where nothing has changed since. `standing`: how many observations of it the ledger has from
    /// its last run. One of which nothing was worth keeping has none, and need not look again for that.
    pub fn last(&self, observer: &str, standing: usize) -> Option<&Ran> {
        let ran = self.known.get(observer).filter(|_| !ALWAYS.contains(&observer))?;
        (standing > 0 || ran.kept == 0).then_some(ran)
    }

    pub fn ran(&mut self, observer: &str, ran: Ran) {
        self.known.insert(observer.to_owned(), ran);
    }

    /// A cache that cannot be written costs only time.
    pub fn keep(&self) {
        if let (Some(dir), Ok(bytes)) = (self.file.parent(), serde_json::to_vec(&(&self.hash, &self.known))) {
            let _ = fs::create_dir_all(dir).and_then(|()| fs::write(&self.file, bytes));
        }
    }
}

fn fingerprint(ledger: &Path, around: &ObserveContext) -> String {
    let mut hasher = Sha256::new();
    let mut add = |text: String| {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    };
    add(format!("{} {:?} {:?} {:?} {}", ledger.display(), around.scope, around.asked, around.paths, around.deep));
    if let Ok(program) = std::env::current_exe() {
        add(stamp(&program));
    }
    for installed in around.runtimes() {
        add(format!("{:?} {:?}", installed.name, installed.path));
        for part in &installed.parts {
            walk(part, &mut add, 12);
        }
    }
    let hash = hasher.finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stamp(path: &Path) -> String {
    match fs::symlink_metadata(path) {
        Ok(meta) => {
            format!(
                "{} {} {} {} {}.{}",
                path.display(),
                meta.dev(),
                meta.ino(),
                meta.len(),
                meta.mtime(),
                meta.mtime_nsec()
            )
        }
        Err(error) => format!("{} {error}", path.display()),
    }
}

fn walk(path: &Path, add: &mut impl FnMut(String), depth: usize) {
    add(stamp(path));
    if depth == 0 || path.is_symlink() {
        return;
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        walk(&entry, add, depth - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libggml-hip.so");
        fs::write(&library, "one").unwrap();
        let place = dir.path().join("looked.json");
        let around = ObserveContext { paths: vec![library.clone()], ..ObserveContext::default() };
        let read = || Unchanged::read(&place, Path::new("/ledger"), &around);
        let mut first = read();
        assert_eq!(first.last("inspect", 3), None);
        let saw = Ran { observations: 3, kept: 3, blocked: None };
        let nothing = Ran { observations: 55, kept: 0, blocked: None };
        let blocked = Ran { observations: 1, kept: 1, blocked: Some("none has code for the target".to_owned()) };
        first.ran("inspect", saw.clone());
        first.ran("libraries", nothing.clone());
        first.ran("isa", blocked.clone());
        first.ran("host", saw.clone());
        first.keep();
        assert_eq!(read().last("inspect", 3), Some(&saw));
        assert_eq!(read().last("isa", 1), Some(&blocked));
        // What was kept must still be there; where nothing was worth keeping, nothing can be missed.
        assert_eq!(read().last("inspect", 0), None);
        assert_eq!(read().last("libraries", 0), Some(&nothing));
        // A machine is looked at every time.
        assert_eq!(read().last("host", 3), None);
        assert_eq!(Unchanged::read(&place, Path::new("/another"), &around).last("inspect", 3), None);
        fs::write(&library, "other").unwrap();
        assert_eq!(read().last("inspect", 3), None);
    }
}
