//! Skips observers whose inputs have not changed: the files of every runtime, the question, and this program itself.
//!
//! An observer that only reads files gives the same result for the same files, and its last run is in the ledger. A
//! file next to the ledger stores a hash of its inputs for each question, so that several investigations can share a
//! ledger. If anything differs, or that file is missing, everything is observed again.

use observe::ObserveContext;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use sys::files::{self, Access};
use sys::regular_file;
use sys::unix::MetadataExt;

/// Observers that depend on more than files. Settings, processes and devices can change without changing a file.
const ALWAYS: &[&str] = &["host"];
/// The maximum number of stored places or questions. The file is read completely each time.
const MOST: usize = 32;
const NAME: &str = "looked.json";

#[derive(Debug)]
pub struct Unchanged {
    file: PathBuf,
    kept: Kept,
    /// `place` identifies the named paths, `files` the files there and in every runtime, and `question` the question.
    place: String,
    files: String,
    question: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// The ledger's id, because a different ledger at the same place has other rows.
    ledger: String,
    places: BTreeMap<String, Looked>,
}

/// Observations of the same files, by question. A change of the files invalidates all of them: the run of one question
/// may then have recorded newer observations than another question used, so each question must be run again.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Looked {
    files: String,
    questions: BTreeMap<String, BTreeMap<String, Ran>>,
}

/// The result of an observer for a hash of its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub observations: usize,
    /// The number of the observer's observations that the investigation can use. They are in the ledger.
    pub kept: usize,
    pub blocked: Option<say::Message>,
    /// The ledger's last row after the run, with its hash, which covers all rows before it. If the ledger still has
    /// that row, it has the results of this run.
    pub row: Option<(u64, String)>,
}

/// The maximum size of the file. A place needs a few kilobytes.
const LONGEST: u64 = 64 << 20;

impl Unchanged {
    /// Reads the file in the directory `ledger`. `id` is the ledger's id.
    pub fn read(ledger: &Path, id: &str, around: &ObserveContext) -> Unchanged {
        let file = ledger.join(NAME);
        let kept: Option<Kept> =
            regular_file::whole(&file, LONGEST).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut kept = kept.filter(|kept| kept.ledger == id).unwrap_or_default();
        kept.ledger = id.to_owned();
        let place = hash(|add| add(format!("{:?} {}", around.paths, around.deep)));
        let question = hash(|add| add(format!("{:?} {:?}", around.scope, around.asked)));
        Unchanged { file, kept, place, files: files(around), question }
    }

    /// The result of the last run, if nothing has changed since. `has` states whether the ledger has a row: if it was
    /// restored to an earlier state, it has lost the run.
    pub fn last(&self, observer: &str, has: impl FnOnce(u64, &str) -> bool) -> Option<&Ran> {
        let looked = self.kept.places.get(&self.place).filter(|looked| looked.files == self.files)?;
        let ran = looked.questions.get(&self.question)?.get(observer)?;
        let stands = match &ran.row {
            Some((row, hash)) => has(*row, hash),
            // Nothing was recorded, so the ledger cannot have lost anything.
            None => ran.kept == 0,
        };
        (!ALWAYS.contains(&observer) && stands).then_some(ran)
    }

    pub fn ran(&mut self, observer: &str, ran: Ran) {
        let full = self.kept.places.len() >= MOST && !self.kept.places.contains_key(&self.place);
        if full {
            self.kept.places.clear();
        }
        let looked = self.kept.places.entry(self.place.clone()).or_default();
        let full = looked.questions.len() >= MOST && !looked.questions.contains_key(&self.question);
        if looked.files != self.files || full {
            *looked = Looked { files: self.files.clone(), questions: BTreeMap::new() };
        }
        looked.questions.entry(self.question.clone()).or_default().insert(observer.to_owned(), ran);
    }

    /// Writes the file. If that fails, the next run only takes longer.
    pub fn keep(&self) {
        if let Ok(bytes) = serde_json::to_vec(&self.kept) {
            let _ = files::replace(&self.file, Access::Private, bytes);
        }
    }
}

fn hash(fill: impl FnOnce(&mut dyn FnMut(String))) -> String {
    let mut hasher = Sha256::new();
    fill(&mut |text: String| {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    });
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn files(around: &ObserveContext) -> String {
    hash(|add| {
        if let Ok(program) = std::env::current_exe() {
            add(stamp(&program));
        }
        for installed in around.runtimes() {
            add(format!("{:?} {:?}", installed.name, installed.path));
            for part in &installed.parts {
                walk(part, add, 12);
            }
        }
    })
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

fn walk(path: &Path, add: &mut dyn FnMut(String), depth: usize) {
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

    fn ran(observations: usize, row: u64) -> Ran {
        Ran { observations, kept: observations, blocked: None, row: Some((row, format!("hash {row}"))) }
    }

    /// A ledger whose last row has this number.
    fn up_to(last: u64) -> impl Fn(u64, &str) -> bool {
        move |row, hash| row <= last && hash == format!("hash {row}")
    }

    #[test]
    fn a_file_that_changed_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libggml-hip.so");
        fs::write(&library, "one").unwrap();
        let around = ObserveContext { paths: vec![library.clone()], ..ObserveContext::default() };
        let read = || Unchanged::read(dir.path(), "a1", &around);
        let mut first = read();
        assert_eq!(first.last("inspect", up_to(3)), None);
        let saw = ran(3, 3);
        let nothing = Ran { kept: 0, ..ran(55, 3) };
        let blocked = Ran { blocked: Some(say::say!("observe-no-target-code")), ..ran(1, 4) };
        first.ran("inspect", saw.clone());
        first.ran("libraries", nothing.clone());
        first.ran("isa", blocked.clone());
        first.ran("host", saw.clone());
        first.keep();
        assert_eq!(read().last("inspect", up_to(4)), Some(&saw));
        assert_eq!(read().last("isa", up_to(4)), Some(&blocked));
        assert_eq!(read().last("libraries", up_to(4)), Some(&nothing));
        // A ledger that was restored to an earlier state has lost the run, and another ledger never had it.
        assert_eq!(read().last("isa", up_to(3)), None);
        assert_eq!(Unchanged::read(dir.path(), "b2", &around).last("inspect", up_to(4)), None);
        // The host is observed every time.
        assert_eq!(read().last("host", up_to(4)), None);
        fs::write(&library, "other").unwrap();
        assert_eq!(read().last("inspect", up_to(4)), None);
    }

    #[test]
    fn several_questions_in_turn_each_find_their_own_run() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libggml-hip.so");
        fs::write(&library, "one").unwrap();
        let asks = |topic: &str| ObserveContext {
            paths: vec![library.clone()],
            asked: vec![evidence::View { topic: topic.to_owned(), about: evidence::About::default() }],
            ..ObserveContext::default()
        };
        let (one, other) = (asks("kernel"), asks("census"));
        let read = |around| Unchanged::read(dir.path(), "a1", around);
        for (around, count) in [(&one, 3), (&other, 7)] {
            let mut unchanged = read(around);
            unchanged.ran("inspect", ran(count, 9));
            unchanged.keep();
        }
        assert_eq!(read(&one).last("inspect", up_to(9)), Some(&ran(3, 9)));
        assert_eq!(read(&other).last("inspect", up_to(9)), Some(&ran(7, 9)));
        // After one question has recorded the changed files, both must run again.
        fs::write(&library, "other").unwrap();
        let mut unchanged = read(&other);
        unchanged.ran("inspect", ran(8, 12));
        unchanged.keep();
        assert_eq!(read(&one).last("inspect", up_to(12)), None);
        assert_eq!(read(&other).last("inspect", up_to(12)), Some(&ran(8, 12)));
    }

    #[test]
    fn a_damaged_file_is_as_none_and_many_questions_are_not_kept_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let asks = |deep, topic: usize| ObserveContext {
            deep,
            asked: vec![evidence::View { topic: topic.to_string(), about: evidence::About::default() }],
            ..ObserveContext::default()
        };
        for damaged in ["", "[]", "{\"ledger\":\"a1\"}", "{\"ledger\":\"a1\",\"places\":{\"x\":3}}"] {
            fs::write(dir.path().join(NAME), damaged).unwrap();
            assert_eq!(Unchanged::read(dir.path(), "a1", &asks(false, 0)).last("inspect", up_to(9)), None, "{damaged}");
        }
        let mut unchanged = Unchanged::read(dir.path(), "a1", &asks(false, 0));
        for topic in 0..200 {
            unchanged.question = topic.to_string();
            unchanged.ran("inspect", ran(1, 1));
            assert!(unchanged.kept.places.values().all(|looked| looked.questions.len() <= MOST));
            unchanged.place = (topic / 2).to_string();
            unchanged.ran("inspect", ran(1, 1));
            assert!(unchanged.kept.places.len() <= MOST);
        }
    }
}
