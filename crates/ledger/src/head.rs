//! The position and hash of the last row, kept outside the database.
//!
//! The file has two slots of equal length. A write overwrites the older slot in place, so it needs no space on a full
//! disk, and an interrupted write leaves the other slot intact. A commit writes blobs first, then the database, then
//! the head, and `append` returns after the head. A later reader therefore finds one of these cases:
//!
//! - The database ends at the head: nothing happened.
//! - The database is ahead of the head and its chain continues from there: a writer died between the two writes. Its
//!   rows were never acknowledged but are complete. The next writer updates the head.
//! - The database is behind the head, or has another hash at the head's row: rows were cut off or replaced. A crash
//!   cannot cause this.
//! - A slot cannot be read, and the database is not ahead of the other slot: something else modified the head.

use crate::chain::Hash;
use crate::error::LedgerError;
use crate::open_regular;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::Path;
use sys::files;
use sys::unix::FileExt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub ledger: String,
    pub seq: u64,
    pub hash: Hash,
}

/// The slots as stored.
#[derive(Debug)]
pub struct Slots {
    slots: [Option<Head>; 2],
}

/// The length of a slot: 32 (ledger) + 20 (seq) + 64 (hash) + 16 (check), each followed by a space or the end of the
/// line.
const SLOT: usize = 32 + 20 + 64 + 16 + 4;

impl Slots {
    /// Reads the file. None if it does not exist.
    pub fn read(path: &Path) -> Result<Option<Slots>, LedgerError> {
        let mut bytes = Vec::new();
        match open_regular::open(path) {
            Ok(file) => file.take(4 * SLOT as u64).read_to_end(&mut bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error),
        }
        .map_err(|error| LedgerError::io(path, say::key!("ledger-doing-reading-head"), error))?;
        let slot = |i: usize| bytes.get(i * SLOT..(i + 1) * SLOT).and_then(parse);
        Ok(Some(Slots { slots: [slot(0), slot(1)] }))
    }

    pub fn newest(&self) -> Option<&Head> {
        self.slots.iter().flatten().max_by_key(|head| head.seq)
    }

    pub fn both_readable(&self) -> bool {
        self.slots.iter().all(Option::is_some)
    }

    /// The slot to write next: an unreadable one, otherwise the older one.
    fn spare(&self) -> usize {
        match &self.slots {
            [Some(a), Some(b)] => usize::from(a.seq > b.seq),
            [None, _] => 0,
            [_, None] => 1,
        }
    }
}

fn parse(slot: &[u8]) -> Option<Head> {
    let text = std::str::from_utf8(slot).ok()?.strip_suffix('\n')?;
    let (content, check) = text.rsplit_once(' ')?;
    if checksum(content) != check {
        return None;
    }
    let mut fields = content.split(' ');
    let (ledger, seq, hash) = (fields.next()?, fields.next()?, fields.next()?);
    Some(Head { ledger: ledger.to_owned(), seq: seq.parse().ok()?, hash: Hash::parse(hash)? })
}

fn format(head: &Head) -> String {
    let content = format!("{:0>32} {:020} {}", head.ledger, head.seq, head.hash);
    let check = checksum(&content);
    format!("{content} {check}\n")
}

fn checksum(content: &str) -> String {
    hex::encode(Sha256::digest(content.as_bytes()).get(..8).unwrap_or_default())
}

/// Creates a head file with both slots at the start of the chain. It is durable before the first row is written.
pub fn create(path: &Path, head: &Head) -> io::Result<()> {
    // Write to a temporary file and rename it, so that a crash leaves no head rather than an empty one.
    let beside = path.with_extension("new");
    match files::remove(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = open_regular::create(&beside)?;
    file.write_all_at(format(head).repeat(2).as_bytes(), 0)?;
    file.sync_all()?;
    files::rename(&beside, path)
}

pub fn advance(path: &Path, slots: &Slots, head: &Head) -> io::Result<()> {
    let file = files::update(path)?;
    file.write_all_at(format(head).as_bytes(), (slots.spare() * SLOT) as u64)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: u64) -> Head {
        Head { ledger: "0123456789abcdef0123456789abcdef".to_owned(), seq, hash: Hash([seq as u8; 32]) }
    }

    #[test]
    fn a_torn_slot_leaves_the_head_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("head");
        create(&path, &head(0)).unwrap();
        for seq in 1..=3 {
            let slots = Slots::read(&path).unwrap().unwrap();
            advance(&path, &slots, &head(seq)).unwrap();
        }
        let slots = Slots::read(&path).unwrap().unwrap();
        assert_eq!(slots.newest(), Some(&head(3)));
        assert!(slots.both_readable());
        for torn in 0..SLOT {
            let mut bytes = std::fs::read(&path).unwrap();
            let newest = if parse(&bytes[..SLOT]) == Some(head(3)) { 0 } else { SLOT };
            bytes[newest + torn] ^= 1;
            let copy = dir.path().join("torn");
            std::fs::write(&copy, bytes).unwrap();
            let slots = Slots::read(&copy).unwrap().unwrap();
            assert_eq!(slots.newest(), Some(&head(2)), "byte {torn}");
            assert!(!slots.both_readable());
        }
    }
}
