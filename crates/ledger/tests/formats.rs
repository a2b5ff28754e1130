//! Tests that ledgers and archives of released versions stay readable, provable and writable. `tests/data/format-N` has
//! one of each format. It is never written again: a new format adds a directory.

mod common;

use common::{copy, dump, problems, record};
use ledger::{Ledger, LedgerError, Reader};
use std::fs;
use std::path::{Path, PathBuf};

fn kept(format: u64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/format-{format}"))
}

/// The format that this version writes, taken from its error for a ledger of a newer format.
fn written_today() -> u64 {
    let keep = tempfile::tempdir().unwrap();
    record(&mut Ledger::open(keep.path()).unwrap(), 1).unwrap();
    let database = rusqlite::Connection::open(keep.path().join("ledger.sqlite")).unwrap();
    database.pragma_update(None, "user_version", 1_000_000).unwrap();
    match Reader::open(keep.path()) {
        Err(LedgerError::Newer { known, .. }) => known.into(),
        other => panic!("a newer ledger was opened: {:?}", other.map(drop)),
    }
}

#[test]
fn every_format_up_to_todays_is_kept_and_no_other() {
    let today = written_today();
    assert!((1..=today).all(|format| kept(format).is_dir()), "a ledger of each format up to {today} in tests/data");
    assert!(!kept(today + 1).exists());
}

#[test]
fn a_ledger_of_each_format_is_read_proved_and_continued() {
    for format in 1..=written_today() {
        let keep = tempfile::tempdir().unwrap();
        let dir = keep.path().join("ledger");
        copy(&kept(format).join("ledger"), &dir);
        assert_eq!(problems(&dir), Vec::<String>::new(), "format {format}");
        let (id, before) = dump(&Reader::open(&dir).unwrap()).unwrap();
        let observations = before.iter().filter(|row| matches!(row.observation(), Ok(Some(_)))).count();
        assert_eq!((before.len(), observations), (5, 4), "format {format}: four observations and a note");
        let mut ledger = Ledger::open(&dir).unwrap();
        assert_eq!(record(&mut ledger, 7).unwrap(), 6);
        let (same, after) = dump(ledger.reader()).unwrap();
        assert_eq!((same, &after[..5]), (id, &before[..]), "format {format}: old rows are as they were");
        assert_eq!(problems(&dir), Vec::<String>::new(), "format {format}, continued");
    }
}

#[test]
fn an_archive_of_each_format_is_imported() {
    for format in 1..=written_today() {
        let keep = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&keep.path().join("ledger")).unwrap();
        let imported = ledger.import(&kept(format).join("archive.json")).unwrap();
        assert_eq!((imported.added, imported.known), (5, 0), "format {format}");
        assert_eq!(problems(&keep.path().join("ledger")), Vec::<String>::new(), "format {format}");
    }
    assert!(fs::read_dir(kept(1)).unwrap().count() == 2, "a ledger and an archive");
}
