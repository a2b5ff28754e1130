//! Observations that are sampled, because each costs as much as the launch's own probe: return values of launches, and
//! the runtime's calls to the driver.

use crate::bpf::wire::counter;
use crate::probes::attached::{Attached, broken};
use std::time::{Duration, Instant};
use watch::WatchError;

/// How long the returns of launches are checked after a new kernel was launched.
pub const CHECKED: Duration = Duration::from_millis(50);
/// The interval between samples.
const AGAIN: Duration = Duration::from_secs(10);
/// The interval at which launches are counted, to find out whether they are rare.
const PACE: Duration = Duration::from_millis(200);

impl Attached {
    pub(crate) fn check_returns(&mut self, on: bool) -> Result<(), WatchError> {
        if !self.options.returns {
            return Ok(());
        }
        self.backend.watch_returns(on).map_err(broken)?;
        if on {
            self.returns_until = Instant::now() + CHECKED;
        }
        Ok(())
    }

    /// The runtime's calls are only observed while the driver launches unnamed functions, or may do so at any moment.
    ///
    /// `expected`: the process may launch functions that it obtained before the watch, but has not launched one yet.
    pub(crate) fn sample_outer(&mut self, expected: bool) -> Result<(), WatchError> {
        let wanted = Instant::now() < self.outer_until || expected;
        if wanted == self.backend.watches_outer() {
            return Ok(());
        }
        self.backend.watch_outer(wanted).map_err(broken)
    }

    /// Launches are checked for their return while new kinds appear or launches are few, otherwise for a moment every
    /// ten seconds.
    ///
    /// `last_new`: when something new was launched last; None if nothing was launched yet.
    pub(crate) fn sample_returns(&mut self, last_new: Option<Instant>) -> Result<(), WatchError> {
        let now = Instant::now();
        // Until the first launch, checking costs nothing.
        match self.backend.watches_returns() {
            true if last_new.is_none() => Ok(()),
            true if now > self.returns_until && last_new.is_none_or(|new| now.duration_since(new) > CHECKED) => {
                if self.are_few(now) { Ok(()) } else { self.check_returns(false) }
            }
            false
                if now > self.returns_until + AGAIN
                    || last_new.is_some_and(|new| new > self.returns_until)
                    || self.are_few(now) =>
            {
                self.check_returns(true)
            }
            _ => Ok(()),
        }
    }

    /// Whether so few launches were made recently that observing every return costs almost nothing. False if unknown.
    fn are_few(&mut self, now: Instant) -> bool {
        const FEW_PER_SECOND: f64 = 1000.0;
        let (then, before) = self.paced;
        let passed = now.duration_since(then);
        if passed < PACE {
            return self.backend.watches_returns();
        }
        let launches = self.backend.counter(counter::LAUNCHES);
        self.paced = (now, launches);
        launches.saturating_sub(before) as f64 / passed.as_secs_f64() < FEW_PER_SECOND
    }
}
