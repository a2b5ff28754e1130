//! Whether a watch would work here: its own probe and program on a function of ours, and a child that calls it.

use crate::bpf::instrument::{Calls, Choice, Instrument, Probed, Room};
use crate::bpf::wire::counter;
use crate::probes::canary::{CALLS, Canary};
use crate::probes::entries::Home;
use crate::probes::site::{Price, Site};
use crate::probes::stub::Stub;
use std::time::{Duration, Instant};
use watch::WatchError;

/// How many calls were counted, and how many were made.
pub fn trial() -> Result<(u64, u64), WatchError> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let failed = |error: std::io::Error| WatchError::new("a library in memory", error.to_string(), "");
    let mut instrument = Instrument::new(Room { ring: 1 << 16, counts: 64 }, Choice::Cheapest)?;
    let site = Site { price: Price::Emulated, ..Site::ENTRY };
    let like = Probed { functions: vec![("hipLaunchKernel", site)], stepped: 0, uncounted: Vec::new() };
    let Some(stub) = Stub::like(Home::Hip, &like).map_err(failed)? else { return Ok((0, CALLS)) };
    instrument.probe(&stub.path(), stub.home, &stub.bytes, Calls::Nobody)?;
    let canary = Canary::start(&stub).ok_or_else(|| failed(std::io::Error::last_os_error()))?;
    let until = Instant::now() + PATIENCE;
    while !canary.is_over() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok((instrument.counter(counter::LAUNCHES), CALLS))
}
