//! The current activity on a ledger while its pages are served: one line of text per process, removed when the process
//! ends.
//!
//! This is not evidence: it is neither recorded nor graded. A working command writes a small file into the ledger's own
//! directory, which only its user can access; the server reads these files. A failure to write has no consequences.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use sys::files::{self, Access};

const PREFIX: &str = "under-way-";
/// More frequent updates would not be read.
const EVERY: Duration = Duration::from_millis(500);
/// The maximum length, so that the activity fits on one line.
const LONGEST: usize = 2048;

/// Reports the progress of a verb.
#[derive(Debug)]
pub struct Teller {
    file: PathBuf,
    verb: &'static str,
    begun: u64,
    last: Mutex<Option<Instant>>,
}

impl Teller {
    /// None if the directory does not exist: then it is not served.
    pub fn begin(dir: &Path, verb: &'static str) -> Option<Teller> {
        let file = dir.join(format!("{PREFIX}{}", std::process::id()));
        let teller = Teller { file, verb, begun: now(), last: Mutex::default() };
        dir.is_dir().then_some(teller)
    }

    /// Writes the newest line; one that comes too soon after another is skipped.
    pub fn say(&self, line: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        *last = Some(Instant::now());
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST / 4).collect();
        let text = format!("{}\n{}\n{line}", self.verb, self.begun);
        // Replaced atomically, so that a reader never sees half a line.
        let _ = files::replace(&self.file, Access::Private, text);
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        let _ = files::remove(&self.file);
    }
}

/// The last line of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub pid: u32,
    pub verb: String,
    /// Seconds since the activity began.
    pub seconds: u64,
    pub line: String,
}

/// The lines of every running process, the oldest first.
pub fn told(dir: &Path) -> Vec<Told> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<Told> = entries.filter_map(|entry| one(&entry.path())).collect();
    all.sort_by_key(|told| (std::cmp::Reverse(told.seconds), told.pid));
    all
}

fn one(path: &Path) -> Option<Told> {
    let pid: u32 = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
    // A killed process leaves its file behind.
    if !fs::symlink_metadata(path).ok()?.is_file() || !Path::new(&format!("/proc/{pid}")).exists() {
        return None;
    }
    let text = sys::regular_file::text(path, LONGEST as u64).ok()?;
    let mut lines = text.splitn(3, '\n');
    let (verb, begun, line) = (lines.next()?, lines.next()?.parse::<u64>().ok()?, lines.next()?);
    let seconds = now().saturating_sub(begun);
    Some(Told { pid, verb: verb.to_owned(), seconds, line: line.to_owned() })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_told_and_gone_with_who_told_it() {
        let dir = std::env::temp_dir().join(format!("under-way-test-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let teller = Teller::begin(&dir, "watch").unwrap();
        assert_eq!(told(&dir), []);
        teller.say("12 s\n\x1b[31m538 launches");
        let said = told(&dir);
        assert_eq!((said.len(), said[0].verb.as_str(), said[0].line.as_str()), (1, "watch", "12 s  [31m538 launches"));
        // Left by a killed process, or by another program.
        fs::write(dir.join("under-way-4294967295"), "watch\n1\ngone").unwrap();
        fs::write(dir.join("under-way-1"), "no number").unwrap();
        assert_eq!(told(&dir).len(), 1);
        drop(teller);
        assert_eq!(told(&dir), []);
        assert!(Teller::begin(&dir.join("nowhere"), "probe").is_none());
        fs::remove_dir_all(&dir).unwrap();
    }
}
