//! Writes an observer's results to the ledger: raw evidence first, then the observations that name it.

use crate::{Content, Raw, Sighting};
use evidence::{Evidence, Observation};
use ledger::{Ledger, LedgerError};

/// Limits on the raw evidence that is kept in memory for comparison: number and bytes.
const KNOWN: usize = 64;
const LONGEST: usize = 1 << 20;

/// Records all of them or none; returns their number.
pub fn record(ledger: &mut Ledger, sightings: Vec<Sighting>) -> Result<usize, LedgerError> {
    let mut observations: Vec<Observation> = Vec::with_capacity(sightings.len());
    // Many observations name the same table or list, which is kept once.
    let mut known: Vec<(Raw, Evidence)> = Vec::new();
    for sighting in sightings {
        let mut observation = sighting.observation;
        for raw in sighting.raw {
            if let Some((_, kept)) = known.iter().find(|(one, _)| *one == raw) {
                observation = observation.evidence(kept.clone());
                continue;
            }
            let kept = match &raw.content {
                Content::Bytes(bytes) => ledger.keep(&raw.kind, bytes.as_slice())?,
                Content::File(path) => {
                    let file = sys::regular_file::open(path)
                        .map_err(|source| LedgerError::Io { path: path.clone(), source })?;
                    ledger.keep(&raw.kind, file)?
                }
            };
            if known.len() < KNOWN && matches!(&raw.content, Content::Bytes(bytes) if bytes.len() <= LONGEST) {
                known.push((raw, kept.clone()));
            }
            observation = observation.evidence(kept);
        }
        observations.push(observation);
    }
    ledger.append(&observations)?;
    Ok(observations.len())
}
