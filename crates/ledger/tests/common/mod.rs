//! The rows that the tests write into a ledger, and a child process that writes.
#![allow(dead_code, reason = "each test binary uses a part")]

use evidence::{About, Coverage, Fact, Finding, Observation, ObserverId, Shipped, Subject};
use ledger::{Ledger, LedgerError, Reader, Row};
use std::ops::ControlFlow;
use std::path::Path;

pub fn observation(n: u64) -> Observation {
    let fact = Fact::new("kernel.count", About::new([("file", "libggml-hip.so")]), n);
    let subject = Subject::file("libggml-hip.so", "0".repeat(64)).target("gfx1201");
    let coverage = Coverage::complete("bytes", 1_270_000_000);
    let observer = ObserverId::new("inspect", "1");
    Observation::on::<Shipped>(observer, subject, Finding::Saw(fact), coverage, "2026-01-01T00:00:00.000Z").unwrap()
}

/// Records an observation with its own raw evidence.
pub fn record(ledger: &mut Ledger, n: u64) -> Result<u64, LedgerError> {
    let raw = ledger.keep("text/plain", format!("raw evidence {n}\n").repeat(40).as_bytes())?;
    Ok(ledger.append(&[observation(n).evidence(raw)])?[0].seq)
}

/// A ledger with a few rows of every kind.
pub fn sample(dir: &Path) -> Ledger {
    let mut ledger = Ledger::open(dir).unwrap();
    for n in 0..6 {
        record(&mut ledger, n).unwrap();
    }
    ledger.note("the log was read by eye").unwrap();
    let other = dir.with_extension("other");
    record(&mut Ledger::open(&other).unwrap(), 77).unwrap();
    ledger.import(&other).unwrap();
    ledger
}

pub fn problems(dir: &Path) -> Vec<String> {
    let proof = Reader::open_as_it_is(dir).unwrap().verify(&mut |_| {}).unwrap();
    proof.problems.iter().map(ToString::to_string).collect()
}

pub fn dump(reader: &Reader) -> Result<(Option<String>, Vec<Row>), LedgerError> {
    let mut rows = Vec::new();
    reader.rows(0, |row| {
        rows.push(row);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((reader.id()?, rows))
}

pub fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target)
        } else {
            std::fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}
