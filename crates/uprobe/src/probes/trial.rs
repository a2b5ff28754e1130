//! Tests whether a watch would work here: places a probe on our own function and lets a child process call it.

use crate::bpf::instrument::{Calls, Choice, Instrument, Probed, Room};
use crate::bpf::wire::counter;
use crate::probes::canary::{self, CALLS};
use crate::probes::entries::Home;
use crate::probes::site::{Price, Site};
use crate::probes::stub::Stub;
use say::say;
use std::time::{Duration, Instant};
use watch::WatchError;

/// Returns how many calls were counted, and how many were made.
pub fn trial() -> Result<(u64, u64), WatchError> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let failed = |error: std::io::Error| WatchError::new(say!("uprobe-library-in-memory"), error);
    let mut instrument = Instrument::new(Room { ring: 1 << 16, counts: 64, ..Room::SMALL }, Choice::Cheapest, false)?;
    let site = Site { price: Price::Emulated, ..Site::ENTRY };
    let like = Probed { functions: vec![("hipLaunchKernel", site)], stepped: 0, uncounted: Vec::new() };
    let Some(stub) = Stub::like(Home::Hip, &like).map_err(failed)? else { return Ok((0, CALLS)) };
    instrument.probe(&stub.path(), stub.home, &stub.bytes, Calls::Nobody)?;
    let canary = canary::start(&stub).map_err(failed)?;
    let until = Instant::now() + PATIENCE;
    while !canary.is_over() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok((instrument.counter(counter::LAUNCHES), CALLS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::abi;
    use sys::fake::{Call, fail};
    use sys::perf_event::pmu;

    fn refused() -> String {
        let error = trial().expect_err("refused");
        format!("{}: {}", error.what, error.why)
    }

    /// Each refusal is reported by its cause; without a uprobe PMU nothing else is tried.
    #[test]
    fn the_first_refusal_is_told() {
        if pmu().is_none() {
            assert!(refused().contains("no uprobe events"));
            return;
        }
        let no_map = fail(Call::BpfMap, abi::EPERM);
        assert!(refused().starts_with("bpf (map) was refused: Operation not permitted"), "{}", refused());
        drop(no_map);
        let _no_maps = fail(Call::BpfMap, abi::ENOSPC);
        assert!(refused().starts_with("bpf (map) was refused: No space left"), "{}", refused());
    }

    /// A kernel before 6.6 has no links for uprobes (EINVAL): the same calls are counted through perf events. Needs
    /// root, because both ways require privileges.
    #[test]
    fn an_older_kernel_counts_as_well() {
        if !test_artifacts::root("a program under a probe") {
            return;
        }
        if let Err(refused) = trial() {
            return test_artifacts::skip("uprobes with BPF", &refused.why.to_string());
        }
        let old = fail(Call::BpfLink, abi::EINVAL);
        assert_eq!(trial().expect("through perf events"), (CALLS, CALLS));
        let neither = fail(Call::PerfEventOpen, abi::EACCES);
        assert!(refused().contains("Permission denied"), "{}", refused());
        drop((neither, old));
        let _no_child = fail(Call::Fork, abi::EAGAIN);
        assert!(refused().contains("Resource temporarily unavailable"), "{}", refused());
    }
}
