//! Reads many observations. One thread fetches rows, and the others check them against the chain and parse the wanted
//! ones.
//!
//! A row contains the hash of the previous row, so each batch can be checked independently. The links between batches
//! are checked at the end, before anything is returned.

use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::read::Reader;
use evidence::{Decoder, Glance, Investigation, Recorded};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};

/// The number of batches that may wait for the workers. This limits memory if the workers are slower than the fetching
/// thread.
const AHEAD: usize = 4;
/// The maximum number of workers. More would only wait for the fetching thread, and each has its own heap.
const WORKERS: usize = 4;

/// A numbered batch of consecutive rows.
type Batch = (usize, Vec<Row>);

/// The ends of a checked batch, for linking it to its neighbours.
struct Link {
    batch: usize,
    seq: u64,
    prev: Hash,
    last: Hash,
    failed: Option<LedgerError>,
}

impl Reader {
    /// Every observation, our own and imported, in the order of recording. The chain is checked at the same time, so
    /// altered rows give an error instead of a grade.
    pub fn observations(&self) -> Result<Vec<Recorded>, LedgerError> {
        self.observations_where(|_| true)
    }

    /// The observations for which `wanted` is true. `wanted` may depend only on the glance; nothing else is read of the
    /// other observations. The whole chain is checked in any case.
    pub fn observations_where(
        &self,
        wanted: impl Fn(&Glance<'_>) -> bool + Sync,
    ) -> Result<Vec<Recorded>, LedgerError> {
        let mut kept: Vec<(usize, Vec<Recorded>)> = Vec::new();
        for worker in self.gather(wanted, |kept: &mut Vec<_>, batch, rows| kept.push((batch, rows)))? {
            kept.extend(worker);
        }
        kept.sort_by_key(|(batch, _)| *batch);
        Ok(kept.into_iter().flat_map(|(_, rows)| rows).collect())
    }

    /// The observations that an investigation can use.
    pub fn observations_for(&self, investigation: &Investigation) -> Result<Vec<Recorded>, LedgerError> {
        let wanted = investigation.wanted();
        let observations = self.observations_where(|glance| wanted.takes(glance))?;
        match wanted.again() {
            Some(wanted) => {
                // The second pass reads all of them again. Keeping both lists would need twice the memory.
                drop(observations);
                self.observations_where(|glance| wanted.takes(glance))
            }
            None => Ok(observations),
        }
    }

    /// The observations of each observer's last run, in no particular order. A run is identified by its time.
    pub fn last_runs(&self) -> Result<Vec<Recorded>, LedgerError> {
        let keep = |runs: &mut HashMap<String, Vec<Recorded>>, rows: Vec<Recorded>| {
            for recorded in rows {
                let run = runs.entry(recorded.observer().name.clone()).or_default();
                let known = run.first().map(|one| one.time().cmp(recorded.time()));
                if known == Some(std::cmp::Ordering::Less) {
                    run.clear();
                }
                if known != Some(std::cmp::Ordering::Greater) {
                    run.push(recorded);
                }
            }
        };
        let mut runs = HashMap::new();
        for worker in self.gather(|_| true, |runs, _, rows| keep(runs, rows))? {
            worker.into_values().for_each(|rows| keep(&mut runs, rows));
        }
        Ok(runs.into_values().flatten().collect())
    }

    /// Runs the workers and returns each worker's result.
    fn gather<S: Default + Send>(
        &self,
        wanted: impl Fn(&Glance<'_>) -> bool + Sync,
        keep: impl Fn(&mut S, usize, Vec<Recorded>) + Sync,
    ) -> Result<Vec<S>, LedgerError> {
        let genesis = Hash::genesis(&self.id()?.unwrap_or_default());
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS);
        let (send, receive) = sync_channel::<Batch>(AHEAD);
        let receive = Mutex::new(receive);
        let path = self.database.as_path();
        let worker = || work(path, &receive, &wanted, &keep);
        let (made, read) = std::thread::scope(|scope| {
            let running: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
            let mut batch = 0;
            let read = self.batches(0, |rows| {
                batch += 1;
                // If a worker stops early, that is not an error of the reader.
                send.send((batch, rows)).is_ok()
            });
            drop(send);
            let made: Vec<(S, Vec<Link>)> = running
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            (made, read)
        });
        let (made, links): (Vec<S>, Vec<Vec<Link>>) = made.into_iter().unzip();
        check_links(path, genesis, links.into_iter().flatten().collect())?;
        read.map(|()| made)
    }
}

fn work<S: Default>(
    path: &Path,
    receive: &Mutex<Receiver<Batch>>,
    wanted: &(impl Fn(&Glance<'_>) -> bool + Sync),
    keep: &(impl Fn(&mut S, usize, Vec<Recorded>) + Sync),
) -> (S, Vec<Link>) {
    let (mut made, mut links, mut decoder) = (S::default(), Vec::new(), Decoder::default());
    loop {
        let next = receive.lock().map_or(None, |receive| receive.recv().ok());
        let Some((batch, rows)) = next else { return (made, links) };
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        let (seq, prev, last) = (first.seq, first.prev, last.hash);
        let read = read_batch(path, rows, &mut decoder, wanted);
        let failed = read.map(|rows| keep(&mut made, batch, rows)).err();
        let enough = failed.is_some();
        links.push(Link { batch, seq, prev, last, failed });
        if enough {
            return (made, links);
        }
    }
}

fn read_batch(
    path: &Path,
    rows: Vec<Row>,
    decoder: &mut Decoder,
    wanted: &impl Fn(&Glance<'_>) -> bool,
) -> Result<Vec<Recorded>, LedgerError> {
    let mut prev = None;
    let mut kept = Vec::new();
    for row in rows {
        if prev.is_some_and(|prev| row.prev != prev) || row.hash != row.expected_hash() {
            return Err(altered(path, row.seq));
        }
        prev = Some(row.hash);
        if row.kind == RowKind::Observation {
            let read = decoder.read(&row.body, wanted);
            let read = read.map_err(|error| LedgerError::Row {
                path: path.to_owned(),
                seq: row.seq,
                what: say::say!("ledger-no-observation", error),
            })?;
            kept.extend(read.map(|recorded| recorded.imported(row.origin)));
        }
    }
    Ok(kept)
}

/// Checks the links between batches and returns the first problem in row order.
fn check_links(path: &Path, genesis: Hash, mut links: Vec<Link>) -> Result<(), LedgerError> {
    links.sort_by_key(|link| link.batch);
    let mut prev = genesis;
    for link in links {
        if link.prev != prev {
            return Err(altered(path, link.seq));
        }
        link.failed.map_or(Ok(()), Err)?;
        prev = link.last;
    }
    Ok(())
}

fn altered(path: &Path, seq: u64) -> LedgerError {
    let what = say::say!("ledger-row-altered", seq);
    LedgerError::BrokenChain { path: path.to_owned(), what }
}
