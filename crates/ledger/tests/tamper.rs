//! Tests that `verify` finds and names everything that was altered, cut off, moved or removed.

mod common;

use common::{copy, dump, observation, problems, record, sample};
use ledger::{Checkpoint, Hash, Ledger, LedgerError, Reader, Signer};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

fn fresh() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger");
    drop(sample(&path));
    assert_eq!(problems(&path), Vec::<String>::new());
    (dir, path)
}

fn sql(dir: &Path, statements: &str) {
    let connection = Connection::open(dir.join("ledger.sqlite")).unwrap();
    let triggers = "DROP TRIGGER row_is_not_altered; DROP TRIGGER row_is_not_deleted;";
    let back = "CREATE TRIGGER row_is_not_altered BEFORE UPDATE ON row BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;\
        CREATE TRIGGER row_is_not_deleted BEFORE DELETE ON row BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;";
    connection.execute_batch(&format!("{triggers}{statements};{back}")).unwrap();
}

#[test]
fn rows_cannot_be_changed_by_accident() {
    let (_keep, dir) = fresh();
    let connection = Connection::open(dir.join("ledger.sqlite")).unwrap();
    for statement in ["UPDATE row SET time = 'x'", "DELETE FROM row"] {
        let error = connection.execute_batch(statement).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
}

#[test]
fn an_altered_row_is_named() {
    let (_keep, dir) = fresh();
    sql(
        &dir,
        "UPDATE row SET body = CAST(replace(CAST(body AS TEXT), '\"value\":2', '\"value\":3') AS BLOB) WHERE seq = 3",
    );
    assert_eq!(problems(&dir), ["row 3 was altered: its content does not match its hash"]);
    let error = Reader::open(&dir).unwrap().observations().unwrap_err().to_string();
    assert!(error.contains("row 3 was altered"), "no grade from it: {error}");
    sql(&dir, "UPDATE row SET time = '2020-01-01T00:00:00.000Z' WHERE seq = 5");
    assert_eq!(problems(&dir).len(), 2);
}

#[test]
fn a_row_with_a_new_hash_breaks_the_chain_after_it() {
    let (_keep, dir) = fresh();
    sql(&dir, "UPDATE row SET hash = randomblob(32) WHERE seq = 3");
    let found = problems(&dir);
    assert!(found.iter().any(|p| p.starts_with("row 3 was altered")), "{found:?}");
    assert!(found.iter().any(|p| p.starts_with("row 4 does not follow")), "{found:?}");
}

#[test]
fn missing_rows_are_named() {
    let (_keep, dir) = fresh();
    sql(&dir, "DELETE FROM row WHERE seq IN (3, 4)");
    assert_eq!(problems(&dir), ["rows 3 to 4 are missing"]);
}

#[test]
fn rows_that_changed_places_are_named() {
    let (_keep, dir) = fresh();
    sql(
        &dir,
        "UPDATE row SET seq = 1000 WHERE seq = 2; UPDATE row SET seq = 2 WHERE seq = 5; UPDATE row SET seq = 5 WHERE seq = 1000",
    );
    let found = problems(&dir);
    assert!(found.contains(&"row 2 was moved: it was row 5".to_owned()), "{found:?}");
    assert!(found.contains(&"row 5 was moved: it was row 2".to_owned()), "{found:?}");
}

#[test]
fn a_cut_tail_is_seen_and_nothing_is_written_over_it() {
    let (_keep, dir) = fresh();
    sql(&dir, "DELETE FROM row WHERE seq >= 7");
    assert_eq!(problems(&dir), ["rows are missing at the end: the head is at row 8, but the database ends at row 6"]);
    let mut ledger = Ledger::open(&dir).unwrap();
    assert!(matches!(Reader::open(&dir), Err(LedgerError::BrokenChain { .. })));
    let error = ledger.append(&[observation(9)]).unwrap_err().to_string();
    assert!(error.contains("the head is at row 8, but the database ends before that row"), "{error}");
    assert_eq!(Reader::open_as_it_is(&dir).unwrap().last().unwrap().unwrap().seq, 6);
}

#[test]
fn an_older_copy_of_the_database_is_a_cut_tail() {
    let (keep, dir) = fresh();
    let old = keep.path().join("old.sqlite");
    fs::copy(dir.join("ledger.sqlite"), &old).unwrap();
    record(&mut Ledger::open(&dir).unwrap(), 50).unwrap();
    fs::copy(&old, dir.join("ledger.sqlite")).unwrap();
    assert_eq!(problems(&dir), ["rows are missing at the end: the head is at row 9, but the database ends at row 8"]);
}

#[test]
fn a_head_that_a_crash_left_behind_is_no_cut_tail() {
    let (_keep, dir) = fresh();
    let before = fs::read(dir.join("head")).unwrap();
    record(&mut Ledger::open(&dir).unwrap(), 50).unwrap();
    let after = fs::read(dir.join("head")).unwrap();
    // The head was not written at all, or only a part of it.
    for torn in (0..=before.len()).step_by(9) {
        let mut head = before.clone();
        head[..torn].copy_from_slice(&after[..torn]);
        fs::write(dir.join("head"), head).unwrap();
        let proof = Reader::open_as_it_is(&dir).unwrap().verify(&mut |_| {}).unwrap();
        assert_eq!(proof.problems, [], "torn at {torn}");
        assert!(proof.unacknowledged <= 1);
    }
    fs::write(dir.join("head"), before).unwrap();
    assert_eq!(record(&mut Ledger::open(&dir).unwrap(), 51).unwrap(), 10, "and the next write goes on");
    let proof = Reader::open_as_it_is(&dir).unwrap().verify(&mut |_| {}).unwrap();
    assert_eq!((proof.problems.len(), proof.unacknowledged, proof.rows), (0, 0, 10));
}

#[test]
fn a_missing_head_or_database_is_seen() {
    let (_keep, dir) = fresh();
    let head = fs::read(dir.join("head")).unwrap();
    fs::remove_file(dir.join("head")).unwrap();
    assert_eq!(
        problems(&dir),
        ["head: the head file is missing, so it is unknown whether rows are missing at the end"]
    );
    fs::write(dir.join("head"), head).unwrap();
    fs::remove_file(dir.join("ledger.sqlite")).unwrap();
    assert_eq!(problems(&dir), ["database: the database is missing, but the head refers to rows"]);
    assert!(Reader::open(&dir).is_err() && Ledger::open(&dir).is_err(), "no new one in its place");
    assert!(!dir.join("ledger.sqlite").exists());
}

#[test]
fn raw_evidence_that_was_altered_or_removed_is_named() {
    let (_keep, dir) = fresh();
    let reader = Reader::open(&dir).unwrap();
    let sha256 =
        |seq| reader.row(seq).unwrap().unwrap().observation().unwrap().unwrap().raw_evidence()[0].sha256.clone();
    let (first, second) = (sha256(1), sha256(2));
    let path = reader.blobs().path(&first).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[10] ^= 1;
    fs::write(&path, bytes).unwrap();
    fs::remove_file(reader.blobs().path(&second).unwrap()).unwrap();
    let found = problems(&dir);
    assert!(found[0].starts_with(&format!("raw evidence {first} (row 1) was altered")), "{found:?}");
    assert_eq!(found[1], format!("raw evidence {second} (row 2) is missing"));
}

/// A flipped byte in the newest slot looks like a write interrupted by a crash: the rows are complete, and the last one
/// is reported as not acknowledged. If the last row is also missing, it is a problem.
#[test]
fn every_flipped_byte_of_the_head_is_seen() {
    let (keep, dir) = fresh();
    let head = fs::read(dir.join("head")).unwrap();
    let cut = keep.path().join("cut");
    copy(&dir, &cut);
    sql(&cut, "DELETE FROM row WHERE seq = 8");
    for at in 0..head.len() {
        let mut flipped = head.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(dir.join("head"), &flipped).unwrap();
        let proof = Reader::open_as_it_is(&dir).unwrap().verify(&mut |_| {}).unwrap();
        assert!(!proof.problems.is_empty() || proof.unacknowledged == 1, "byte {at}");
        fs::write(cut.join("head"), &flipped).unwrap();
        assert!(!problems(&cut).is_empty(), "byte {at}, last row cut");
    }
}

/// Flips every byte of the database in turn (every 13th here, all with WHICHKERNEL_FLIP_ALL=1). Either the flip is
/// found, or everything readable is exactly what was written. The latter happens for unused bytes: free space in a
/// page, and header fields that SQLite does not use.
#[test]
fn a_flipped_byte_of_the_database_is_seen_or_holds_nothing() {
    let (keep, dir) = fresh();
    let original = dump(&Reader::open(&dir).unwrap()).unwrap();
    let database = fs::read(dir.join("ledger.sqlite")).unwrap();
    let copied = keep.path().join("flipped");
    copy(&dir, &copied);
    let step = if std::env::var_os("WHICHKERNEL_FLIP_ALL").is_some() { 1 } else { 13 };
    let (mut found, mut holds_nothing) = (0, 0);
    for at in (0..database.len()).step_by(step) {
        let mut flipped = database.clone();
        flipped[at] ^= 1 << (at / step % 8);
        fs::write(copied.join("ledger.sqlite"), &flipped).unwrap();
        let Ok(reader) = Reader::open_as_it_is(&copied) else {
            found += 1;
            continue;
        };
        match reader.verify(&mut |_| {}) {
            Ok(proof) if proof.problems.is_empty() => {
                holds_nothing += 1;
                let now = dump(&reader).unwrap_or_else(|error| panic!("byte {at}: verified, then {error}"));
                assert!(now == original, "byte {at} changed what is read and verify did not see it");
            }
            _ => found += 1,
        }
    }
    println!("{} bytes flipped one at a time: {found} found, {holds_nothing} hold nothing", found + holds_nothing);
    assert!(found > holds_nothing / 4, "{found} found, {holds_nothing} hold nothing");
}

#[test]
fn a_truncated_or_foreign_file_is_refused_untouched() {
    let (_keep, dir) = fresh();
    let path = dir.join("ledger.sqlite");
    let whole = fs::read(&path).unwrap();
    for bytes in [&whole[..50], b"this is no database, only a text that is longer than a hundred bytes, so that the header could be read, but is not".as_slice()] {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(Reader::open(&dir), Err(LedgerError::NotALedger { .. })));
        assert!(matches!(Ledger::open(&dir), Err(LedgerError::NotALedger { .. })));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let cut = Reader::open_as_it_is(&dir).and_then(|reader| reader.verify(&mut |_| {}));
    assert!(cut.map_or(true, |proof| !proof.problems.is_empty()));
}

#[test]
fn a_ledger_of_a_newer_version_is_left_alone() {
    let (_keep, dir) = fresh();
    let path = dir.join("ledger.sqlite");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Ledger::open(&dir).unwrap_err().to_string();
    assert!(error.contains("format 2") && error.contains("newer version"), "{error}");
    assert!(matches!(Reader::open(&dir), Err(LedgerError::Newer { found: 2, known: 1, .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// An attacker who knows the format can restore yesterday's ledger. A head hash that was kept elsewhere detects that.
#[test]
fn a_tail_cut_with_the_head_set_back_is_whole_and_not_what_was_expected() {
    let (_keep, dir) = fresh();
    let before = Reader::open(&dir).unwrap().verify(&mut |_| {}).unwrap();
    let head = fs::read(dir.join("head")).unwrap();
    record(&mut Ledger::open(&dir).unwrap(), 50).unwrap();
    let after = Reader::open(&dir).unwrap().verify(&mut |_| {}).unwrap();
    let id = after.ledger.clone().unwrap();
    let signer = Signer::generate("me").unwrap();
    let signed = Checkpoint { ledger: id.clone(), rows: after.rows, hash: after.head.unwrap() }.sign(&signer);
    assert_eq!(after.row_of(before.head.unwrap()), Some(8), "grown since");
    sql(&dir, "DELETE FROM row WHERE seq = 9");
    fs::write(dir.join("head"), head).unwrap();
    let cut = Reader::open(&dir).unwrap().verify(&mut |_| {}).unwrap();
    assert_eq!(cut.problems, [], "by itself it is whole");
    let checkpoint = Checkpoint::open(&signed, &signer.verifier()).unwrap();
    assert_eq!((checkpoint.rows, checkpoint.ledger), (9, id.clone()));
    assert_eq!(cut.row_of(checkpoint.hash), None);
    assert_eq!(cut.row_of(before.head.unwrap()), Some(8));
    assert_eq!(cut.row_of(Hash::genesis(&id)), Some(0));
    let forged = signed.replacen("\n9\n", "\n8\n", 1);
    assert!(forged != signed && Checkpoint::open(&forged, &signer.verifier()).is_err());
    assert!(Checkpoint::open(&signed, &Signer::generate("me").unwrap().verifier()).is_err());
}
