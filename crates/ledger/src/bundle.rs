//! A redacted archive: a copy of the ledger without names of persons and machines and without paths, in the format that
//! `import` reads.
//!
//! The redacted rows differ from the ledger's, so they form a new chain. That chain proves the archive's own integrity
//! and nothing about the original ledger.

use crate::anonymous::Anonymous;
use crate::blobs::Measured;
use crate::error::LedgerError;
use crate::read::Reader;
use crate::worklog_note::WorklogNote;
use crate::write::Ledger;
use evidence::{Evidence, Observation};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// The numbers of rows and files that were included and left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bundled {
    pub observations: u64,
    /// Observations that consist of a person's words, or that could not be read after the names were removed.
    pub left_out: u64,
    /// Notes that were left out. Notes are a person's own words, so none is included.
    pub notes: u64,
    pub evidence: u64,
    /// Raw evidence that was left out because it is not text and cannot be checked for names.
    pub evidence_left_out: u64,
}

/// The maximum size of a text. Longer texts are left out, because they cannot be searched in one piece.
const LONGEST: u64 = 16 << 20;

impl Reader {
    /// Writes the archive; `work` is an empty temporary directory.
    pub fn bundle(&self, who: &mut Anonymous, work: &Path, out: &mut impl Write) -> Result<Bundled, LedgerError> {
        let mut bundled = Bundled::default();
        let mut made = Ledger::open(work)?;
        let mut known: BTreeMap<String, Option<Evidence>> = BTreeMap::new();
        let mut batch: Vec<Observation> = Vec::new();
        self.rows(0, |row| {
            let Ok(Some(recorded)) = row.observation() else {
                bundled.notes += u64::from(row.note().map(|body| WorklogNote::parse(&body)).is_some());
                return Ok(ControlFlow::Continue(()));
            };
            let mut value = serde_json::from_slice::<serde_json::Value>(&recorded.canonical()).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("evidence".to_owned(), serde_json::Value::Array(Vec::new()));
            }
            let kept = who.observation(&mut value);
            let Some(mut observation) = Observation::from_canonical(value.to_string().as_bytes()).ok().filter(|_| kept)
            else {
                bundled.left_out += 1;
                return Ok(ControlFlow::Continue(()));
            };
            for evidence in recorded.raw_evidence() {
                if !known.contains_key(&evidence.sha256) {
                    let made = self.shown(evidence, who, &mut made)?;
                    *(if made.is_some() { &mut bundled.evidence } else { &mut bundled.evidence_left_out }) += 1;
                    known.insert(evidence.sha256.clone(), made);
                }
                if let Some(Some(made)) = known.get(&evidence.sha256) {
                    observation = observation.evidence(made.clone());
                }
            }
            bundled.observations += 1;
            batch.push(observation);
            Ok(ControlFlow::Continue(()))
        })?;
        made.append(&batch)?;
        drop(made);
        Reader::open(work)?.export(out)?;
        Ok(bundled)
    }

    /// Keeps a text in the new ledger with the names removed.
    fn shown(&self, evidence: &Evidence, who: &Anonymous, into: &mut Ledger) -> Result<Option<Evidence>, LedgerError> {
        if evidence.size > LONGEST {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let measured = self.blobs().read(evidence, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        let Some(text) = matches!(measured, Ok(Measured::Same)).then(|| String::from_utf8(bytes).ok()).flatten() else {
            return Ok(None);
        };
        let shown = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(mut value) if evidence.kind == "application/json" => {
                who.json(&mut value);
                value.to_string()
            }
            _ => text.lines().map(|line| who.text(line) + "\n").collect(),
        };
        into.keep(&evidence.kind, shown.as_bytes()).map(Some)
    }
}
