//! Tests privacy: only the owner can access the ledger's files, and no secrets are stored in it.

mod common;

use common::{observation, problems, record};
use evidence::{About, Coverage, Fact, Finding, Observation, ObserverId, Shipped, Subject};
use ledger::{Ledger, Reader};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn everything(dir: &Path) -> Vec<(PathBuf, u32)> {
    let (mut all, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(path) = open.pop() {
        all.push((path.clone(), fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777));
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    all
}

fn assert_private(dir: &Path) {
    for (path, mode) in everything(dir) {
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn a_new_ledger_is_its_owners_alone() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("above/ledger");
    let mut ledger = Ledger::open(&dir).unwrap();
    record(&mut ledger, 1).unwrap();
    assert_eq!(ledger.closed_to_others(), 0);
    assert_private(&dir);
    assert!(everything(&dir).len() >= 7, "directory, database, head, lock, blobs, one of them, its place");
}

#[test]
fn an_older_one_that_others_could_read_is_closed_once() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("ledger");
    record(&mut Ledger::open(&dir).unwrap(), 1).unwrap();
    let all = everything(&dir);
    for (path, _) in &all {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    // Files that do not belong to the ledger are not changed.
    let other = dir.join("notes.txt");
    fs::write(&other, "mine").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(Ledger::open(&dir).unwrap().closed_to_others(), all.len() as u64);
    assert_eq!(fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o644);
    fs::remove_file(other).unwrap();
    assert_private(&dir);
    assert_eq!(Ledger::open(&dir).unwrap().closed_to_others(), 0);
    assert_eq!(problems(&dir), Vec::<String>::new());
}

#[test]
fn planted_secrets_do_not_come_into_it() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("ledger");
    let mut ledger = Ledger::open(&dir).unwrap();
    let line = "llama-server --api-key Zk7planted -m qwen.gguf -p tell me Zk7planted";
    let log = format!("start\n{line}\nHF_TOKEN=Zk7planted http://me:Zk7planted@host/?token=Zk7planted\nend\n");
    let raw = ledger.keep("text/plain", log.as_bytes()).unwrap();
    let json = r#"{"command":["llama-cli","-sys","Zk7planted","-ngl","99"],"OLLAMA_AUTH":"OLLAMA_AUTH=Zk7planted"}"#;
    let document = ledger.keep("application/json", json.as_bytes()).unwrap();
    let fact = Fact::new("host.variable", About::new([("place", line)]), "LLAMA_API_KEY=Zk7planted");
    let subject = Subject::file("f", "0".repeat(64)).window(line).model("http://Zk7planted@host/model");
    let coverage = Coverage::complete("files", 1)
        .missing("Authorization: Bearer Zk7planted", say::say!("missed-names-why", count = 1))
        .missing(say::say!("missed-in-container", target = line, container = 0), say::Message::verbatim(line));
    let observer = ObserverId::new("watch", "1");
    let seen = Observation::on::<Shipped>(observer, subject, Finding::Saw(fact), coverage, "2026-01-01T00:00:00.000Z");
    ledger.append(&[seen.unwrap().evidence(raw).evidence(document), observation(1)]).unwrap();
    ledger.note("asked with --api-key Zk7planted").unwrap();
    drop(ledger);
    for (path, _) in everything(&dir).iter().filter(|(path, _)| path.is_file()) {
        let bytes = fs::read(path).unwrap();
        assert!(!bytes.windows(3).any(|word| word == b"Zk7"), "{}", path.display());
    }
    assert_eq!(problems(&dir), Vec::<String>::new());
    let reader = Reader::open(&dir).unwrap();
    let read = reader.observations().unwrap();
    assert!(
        read[0].subject().to_string().contains("llama-server --api-key [redacted] -m qwen.gguf"),
        "{}",
        read[0].subject()
    );
    assert_eq!(*read[1], observation(1), "what holds none is kept to the letter");
}
