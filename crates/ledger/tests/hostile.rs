//! Tests hostile archives and directories: each is refused with a message, and the ledger is unchanged.

mod common;

use common::{copy, observation, problems, record};
use evidence::Evidence;
use ledger::{Hash, Ledger, Limits, Reader};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

struct Place {
    keep: tempfile::TempDir,
    ledger: Ledger,
}

impl Place {
    fn new() -> Place {
        let keep = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&keep.path().join("mine")).unwrap();
        record(&mut ledger, 100).unwrap();
        Place { keep, ledger }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.keep.path().join(name)
    }

    /// Every file of the ledger, with its content.
    fn all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut all, mut open) = (BTreeMap::new(), vec![self.path("mine")]);
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                all.insert(path, Vec::new());
            } else {
                let content = fs::read(&path).unwrap();
                all.insert(path, content);
            }
        }
        all
    }

    /// Checks that the import is refused with a message that contains this word, and that nothing in the ledger has
    /// changed.
    fn refuses(&mut self, path: &Path, word: &str) {
        let before = self.all();
        let error = self.ledger.import(path).unwrap_err().to_string();
        assert!(error.contains(word), "wanted '{word}': {error}");
        assert!(error.contains("nothing was imported"), "{error}");
        assert!(self.all() == before, "the ledger changed: {error}");
    }

    fn refuses_archive(&mut self, archive: &Value, word: &str) {
        let path = self.path("archive.json");
        fs::write(&path, archive.to_string()).unwrap();
        self.refuses(&path, word);
    }
}

const THEIRS: &str = "0123456789abcdef0123456789abcdef";

/// An archive with a valid chain and any rows.
fn archive(ledger: &str, rows: &[(Option<String>, Value)], blobs: &[(&str, &[u8])]) -> Value {
    let mut prev = Hash::genesis(ledger);
    let time = "2026-01-01T00:00:00.000Z";
    let mut list = Vec::new();
    for ((origin, observation), seq) in rows.iter().zip(1_u64..) {
        let body = serde_json::to_vec(observation).unwrap();
        let mut sha = Sha256::new();
        sha.update(b"whichkernel row 1\0");
        sha.update(prev.0);
        sha.update(seq.to_be_bytes());
        sha.update([u8::from(origin.is_some())]);
        for field in [b"observation", origin.as_deref().unwrap_or("").as_bytes(), time.as_bytes(), &body] {
            sha.update((field.len() as u64).to_be_bytes());
            sha.update(field);
        }
        let hash = Hash(sha.finalize().into());
        list.push(
            json!({ "seq": seq, "kind": "observation", "origin": origin, "time": time, "observation": observation,
            "prev": prev.to_string(), "hash": hash.to_string() }),
        );
        prev = hash;
    }
    let piece = |(sha256, data): &(&str, &[u8])| {
        let text = std::str::from_utf8(data).unwrap();
        [
            json!({ "sha256": sha256, "part": 0, "last": false, "text": text }),
            json!({ "sha256": sha256, "part": 1, "last": true, "text": "" }),
        ]
    };
    let blobs: Vec<Value> = blobs.iter().flat_map(piece).collect();
    json!({ "schema": "whichkernel.ledger/1", "ledger": ledger, "rows": list, "blobs": blobs })
}

fn naming(sha256: &str, size: u64) -> Value {
    let evidence = Evidence { sha256: sha256.to_owned(), size, kind: "text/plain".to_owned() };
    serde_json::to_value(observation(1).evidence(evidence)).unwrap()
}

fn sha256(data: &[u8]) -> String {
    Hash(Sha256::digest(data).into()).to_string()
}

#[test]
fn a_hash_that_is_a_path_is_refused() {
    let mut place = Place::new();
    let long = "a".repeat(65);
    let upper = "A".repeat(64);
    for name in ["xx/etc/shadow", "/dev/zero", "../../../etc/passwd", "", "..", &long, &upper] {
        place.refuses_archive(&archive(THEIRS, &[(None, naming(name, 9))], &[]), "is not a SHA-256");
        place.refuses_archive(&archive(THEIRS, &[(None, naming(name, 9))], &[(name, b"x")]), "is not a SHA-256");
    }
    assert_eq!(problems(&place.path("mine")), Vec::<String>::new());
}

#[test]
fn every_piece_of_raw_evidence_must_come() {
    let mut place = Place::new();
    let (one, two, three) = (sha256(b"one"), sha256(b"two"), sha256(b"three"));
    let rows = [(None, naming(&one, 3)), (None, naming(&two, 3)), (None, naming(&three, 5))];
    // Only one of the three pieces exists. Such archives used to be accepted, and then never verified.
    for there in [&[(one.as_str(), b"one".as_slice())][..], &[(two.as_str(), b"two")], &[(three.as_str(), b"three")]] {
        place.refuses_archive(&archive(THEIRS, &rows, there), "and 1 more are missing");
    }
    place.refuses_archive(&archive(THEIRS, &rows[..1], &[(&one, b"uno")]), "was altered");
    place.refuses_archive(&archive(THEIRS, &rows[..1], &[(&one, b"one more")]), "is longer than 3");
    place.refuses_archive(&archive(THEIRS, &rows[..1], &[(&two, b"two")]), "no row names");
    place.refuses_archive(&archive(THEIRS, &[(None, naming(&one, 2))], &[(&one, b"one")]), "is longer than 2");
    let whole = archive(THEIRS, &rows, &[(&one, b"one"), (&two, b"two"), (&three, b"three")]);
    fs::write(place.path("archive.json"), whole.to_string()).unwrap();
    let path = place.path("archive.json");
    assert_eq!(place.ledger.import(&path).unwrap().added, 3);
    assert_eq!(problems(&place.path("mine")), Vec::<String>::new());
    let mut out = Vec::new();
    place.ledger.reader().export(&mut out).unwrap();
}

#[test]
fn a_forged_origin_is_refused_and_another_ledgers_word_is_marked() {
    let mut place = Place::new();
    let own = place.ledger.reader().id().unwrap().unwrap();
    let fact = serde_json::to_value(observation(7)).unwrap();
    let hash = "ab".repeat(32);
    let real = place.ledger.reader().row(1).unwrap().unwrap().hash.to_string();
    // The archive claims to come from this very ledger: by its id, or by an origin, also with the number and hash of a
    // real row.
    place.refuses_archive(&archive(&own, &[(None, fact.clone())], &[]), "of this ledger, which has no such row");
    for forged in [format!("{own}#1@{hash}"), format!("{own}#99@{hash}"), format!("{own}#1@{real}")] {
        place.refuses_archive(
            &archive(THEIRS, &[(Some(forged), fact.clone())], &[]),
            "of this ledger, which has no such row",
        );
    }
    for odd in ["here", "", &format!("{THEIRS}#1@{hash} via nobody")] {
        let rows = [(Some(odd.to_owned()), fact.clone())];
        place.refuses_archive(&archive(THEIRS, &rows, &[]), "but no ledger writes such an origin");
    }
    let third = format!("{}#4@{hash}", "ff".repeat(16));
    let twice =
        [(Some(third.clone()), fact.clone()), (Some(third.clone()), serde_json::to_value(observation(8)).unwrap())];
    place.refuses_archive(&archive(THEIRS, &twice, &[]), "occurs twice");
    place.refuses_archive(&archive("../../x", &[(None, fact.clone())], &[]), "is not a ledger's ID");
    // Rows that a ledger imported from a third one are accepted but marked, because only that ledger vouches for them.
    let path = place.path("archive.json");
    fs::write(&path, archive(THEIRS, &twice[..1], &[]).to_string()).unwrap();
    let imported = place.ledger.import(&path).unwrap();
    assert_eq!((imported.added, imported.passed_on), (1, 1));
    let row = place.ledger.reader().row(2).unwrap().unwrap();
    assert_eq!(row.origin, Some(format!("{third} via {THEIRS}")));
    assert_eq!(row.observation().unwrap().unwrap().origin(), row.origin.as_deref());
    assert_eq!(place.ledger.import(&path).unwrap().known, 1, "twice adds nothing");
}

#[test]
fn parts_in_the_wrong_order_twice_or_without_end_are_refused() {
    let mut place = Place::new();
    let good = archive(THEIRS, &[(None, serde_json::to_value(observation(1)).unwrap())], &[]).to_string();
    let path = place.path("archive.json");
    let rows = &good[good.find("\"rows\"").unwrap()..good.find(",\"blobs\"").unwrap()];
    // Rows after the raw evidence would not be checked against it.
    let twice = good.replace("\"blobs\":[]", &format!("\"blobs\":[],{rows}"));
    let long = good.replace("2026-01-01T00:00:00.000Z", &"9".repeat(40 << 20));
    let nested = good.replace("\"observation\":{", &format!("\"observation\":{}{{", "[".repeat(100_000)));
    for (text, word) in [(twice, "wrong place or occurs twice"), (long, "is longer than"), (nested, "recursion limit")]
    {
        assert_ne!(text, good);
        fs::write(&path, text).unwrap();
        place.refuses(&path, word);
    }
}

#[test]
fn only_regular_files_are_read() {
    let mut place = Place::new();
    let fifo = place.path("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    place.refuses(&fifo, "a pipe, not a regular file");
    place.refuses(Path::new("/dev/zero"), "a character device, not a regular file");
    let link = place.path("link");
    symlink("/etc/passwd", &link).unwrap();
    place.refuses(&link, "a symbolic link, not a regular file");
    place.refuses(&place.path("nothing"), "No such file");
    // The same files are refused inside a directory.
    let theirs = place.path("theirs");
    let mut other = Ledger::open(&theirs).unwrap();
    record(&mut other, 1).unwrap();
    let blob = {
        let row = other.reader().row(1).unwrap().unwrap();
        other.reader().blobs().path(&row.evidence().unwrap()[0].sha256).unwrap()
    };
    drop(other);
    for (file, word) in [
        (blob, "raw evidence"),
        (theirs.join("ledger.sqlite"), "not a regular file"),
        (theirs.join("head"), "not a regular file"),
    ] {
        let whole = fs::read(&file).unwrap();
        for target in [Some(Path::new("/dev/zero")), None] {
            fs::remove_file(&file).unwrap();
            match target {
                Some(target) => symlink(target, &file).unwrap(),
                None => rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap(),
            }
            place.refuses(&theirs, word);
            let looked = Reader::open_as_it_is(&theirs).and_then(|reader| reader.verify(&mut |_| {}));
            assert!(looked.map_or(true, |proof| !proof.problems.is_empty()), "verify ends, and finds it");
        }
        fs::remove_file(&file).unwrap();
        fs::write(&file, whole).unwrap();
    }
    assert_eq!(place.ledger.import(&theirs).unwrap().added, 1);
}

#[test]
fn a_directory_of_another_make_is_refused_and_left_alone() {
    let mut place = Place::new();
    let theirs = place.path("theirs");
    let mut other = Ledger::open(&theirs).unwrap();
    record(&mut other, 1).unwrap();
    drop(other);
    // A planted journal. If SQLite replayed it, it could name files to delete.
    let planted = place.path("planted");
    copy(&theirs, &planted);
    fs::write(planted.join("ledger.sqlite-journal"), "anything").unwrap();
    place.refuses(&planted, "was killed while writing");
    assert!(planted.join("ledger.sqlite-journal").exists());
    // An endless view replaces the table of rows.
    let endless = place.path("endless");
    copy(&theirs, &endless);
    let connection = rusqlite::Connection::open(endless.join("ledger.sqlite")).unwrap();
    let view = "DROP TABLE row; CREATE VIEW row AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n) \
        SELECT seq, 'note' AS kind, NULL AS origin, 't' AS time, x'00' AS body, zeroblob(32) AS prev, zeroblob(32) AS hash FROM n";
    connection.execute_batch(view).unwrap();
    drop(connection);
    place.refuses(&endless, "schema");
    let proof = Reader::open_as_it_is(&endless).unwrap().verify(&mut |_| {}).unwrap();
    assert!(proof.problems[0].to_string().starts_with("schema"), "{:?}", proof.problems);
    assert!(Reader::open(&endless).is_err() && Ledger::open(&endless).is_err());
}

#[test]
fn there_is_an_end_to_what_an_import_may_cost() {
    let mut place = Place::new();
    let theirs = place.path("theirs");
    let mut other = Ledger::open(&theirs).unwrap();
    for n in 0..3 {
        record(&mut other, n).unwrap();
    }
    let archive = place.path("archive.json");
    other.reader().export(&mut fs::File::create(&archive).unwrap()).unwrap();
    let limits = |rows: u64, blob: u64, total: u64| Limits { rows, blob, total };
    let all = 1 << 30;
    for (limits, word) in [
        (limits(2, all, all), "more than 2 rows"),
        (limits(9, 100, all), "is longer than 100"),
        (limits(9, all, 2000), "2000 bytes"),
    ] {
        for path in [&archive, &theirs] {
            let before = place.all();
            let error = place.ledger.import_within(path, &limits).unwrap_err().to_string();
            assert!(error.contains(word), "wanted '{word}': {error}");
            assert!(place.all() == before);
        }
    }
    // A sparse file that is larger than anything written to it: hashing it would take days.
    let row = other.reader().row(1).unwrap().unwrap();
    let blob = other.reader().blobs().path(&row.evidence().unwrap()[0].sha256).unwrap();
    fs::File::options().write(true).open(blob).unwrap().set_len(1 << 40).unwrap();
    place.refuses(&theirs, "is longer than");
}
