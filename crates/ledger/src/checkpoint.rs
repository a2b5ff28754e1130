//! A checkpoint: the end of a ledger's chain, as three lines signed with one of the user's keys (C2SP
//! `tlog-checkpoint`: origin, size, root hash). The root hash here is the hash of the last row, which covers every row
//! before it. It is the hash of a chain and not of a tree, so transparency-log tools can check the signature but cannot
//! prove single rows.

use crate::chain::Hash;
use crate::note::{NoteError, Signer, Verifier};
use crate::origin::is_id;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const ORIGIN: &str = "whichkernel-ledger/";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub ledger: String,
    /// The number of rows.
    pub rows: u64,
    /// The hash of the last row, or the genesis hash if there are no rows.
    pub hash: Hash,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointError {
    Note(NoteError),
    Text(say::Key),
}

say::worded! { CheckpointError {
    Note(error) => error,
    Text(why) => "ledger-text",
}}

say::wraps! { CheckpointError { Note(NoteError) }}

impl Checkpoint {
    fn text(&self) -> String {
        format!("{ORIGIN}{}\n{}\n{}\n", self.ledger, self.rows, STANDARD.encode(self.hash.0))
    }

    pub fn sign(&self, signer: &Signer) -> String {
        signer.sign(&self.text())
    }

    /// Verifies a note with this key and parses its checkpoint.
    pub fn open(note: &str, verifier: &Verifier) -> Result<Checkpoint, CheckpointError> {
        let mut lines = verifier.open(note)?.lines();
        let ledger = lines.next().and_then(|line| line.strip_prefix(ORIGIN)).filter(|id| is_id(id));
        let ledger = ledger.ok_or(CheckpointError::Text(say::key!("ledger-checkpoint-origin")))?.to_owned();
        let rows = lines.next().and_then(|line| line.parse::<u64>().ok().filter(|rows| rows.to_string() == line));
        let rows = rows.ok_or(CheckpointError::Text(say::key!("ledger-checkpoint-size")))?;
        let hash = lines.next().and_then(|line| STANDARD.decode(line).ok()).and_then(|bytes| bytes.try_into().ok());
        let hash = hash.map(Hash).ok_or(CheckpointError::Text(say::key!("ledger-checkpoint-hash")))?;
        Ok(Checkpoint { ledger, rows, hash })
    }
}
