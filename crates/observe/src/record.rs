//! From what an observer hands back to the ledger: raw evidence first, then the observations that name it.

use crate::{Content, Sighting};
use evidence::Observation;
use ledger::{Ledger, LedgerError};

/// Records all of them, or none; returns how many.
pub fn record(ledger: &mut Ledger, sightings: Vec<Sighting>) -> Result<usize, LedgerError> {
    let mut observations: Vec<Observation> = Vec::with_capacity(sightings.len());
    for sighting in sightings {
        let mut observation = sighting.observation;
        for raw in sighting.raw {
            let kept = match &raw.content {
                Content::Bytes(bytes) => ledger.keep(&raw.kind, bytes.as_slice())?,
                Content::File(path) => {
                    let file = sys::regular_file::open(path)
                        .map_err(|source| LedgerError::Io { path: path.clone(), source })?;
                    ledger.keep(&raw.kind, file)?
                }
            };
            observation = observation.evidence(kept);
        }
        observations.push(observation);
    }
    ledger.append(&observations)?;
    Ok(observations.len())
}
