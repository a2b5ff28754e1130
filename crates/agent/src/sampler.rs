//! Decides when to look at every launch in order, so that the agent stays within its share of a core.
//!
//! Counting costs the agent nothing per launch. Looking costs it time for each one, so it looks in windows, and pauses
//! in between for as long as the cost of the last window demands. If launches are few, there is no pause.

use std::time::Duration;

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Go on as before.
    Keep,
    /// Begin to look at every launch.
    Look,
    /// End of a window; its launches can be counted. `again`: the next window begins at once.
    Close { again: bool },
}

#[derive(Debug)]
pub struct Sampler {
    /// The share of one core that the agent may use.
    budget: f64,
    looking: bool,
    /// When the current window or pause began, and the CPU time used until then.
    since: (Duration, Duration),
    pause: Duration,
    /// The share of a core that was used in the last pauses.
    idle: f64,
    /// Something else was done in this pause: new libraries were read.
    disturbed: bool,
    /// The time of windows since the last call of `take_looked`.
    looked: Duration,
}

const WINDOW: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);
/// The part of the budget that windows may use; the rest is for scrapes and new processes.
const PART: f64 = 0.7;

impl Sampler {
    pub fn new(budget: f64) -> Sampler {
        Sampler {
            budget,
            looking: false,
            since: Default::default(),
            pause: WINDOW,
            idle: 0.0,
            disturbed: false,
            looked: Duration::ZERO,
        }
    }

    pub fn is_looking(&self) -> bool {
        self.looking
    }

    /// The share of the time in which every launch is looked at.
    pub fn share(&self) -> f64 {
        WINDOW.as_secs_f64() / (WINDOW + self.pause).as_secs_f64()
    }

    /// The time of the windows that have ended since the last call.
    pub fn take_looked(&mut self) -> Duration {
        std::mem::take(&mut self.looked)
    }

    /// `now` and `used`: monotonic time and CPU time since the same moment. `ready`: a window may begin.
    pub fn turn(&mut self, now: Duration, used: Duration, ready: bool) -> Turn {
        let (passed, cost) = (now.saturating_sub(self.since.0), used.saturating_sub(self.since.1));
        let share = cost.as_secs_f64() / passed.as_secs_f64().max(1e-6);
        self.disturbed |= !ready;
        match self.looking {
            false if passed >= self.pause && ready => {
                // A single pause may be short; the average of a few is steadier.
                self.idle = match (self.disturbed, self.idle == 0.0) {
                    (true, _) => self.idle,
                    (false, true) => share,
                    (false, false) => 0.7 * self.idle + 0.3 * share,
                };
                self.begin(true, now, used);
                Turn::Look
            }
            true if passed >= WINDOW || !ready => {
                self.looked += passed;
                let more = (share - self.idle).max(1e-9);
                let allowed = (PART * self.budget - self.idle).max(0.0);
                let duty = (allowed / more).clamp(WINDOW.as_secs_f64() / LONGEST.as_secs_f64(), 1.0);
                self.pause = WINDOW.mul_f64(1.0 / duty - 1.0).min(LONGEST);
                let again = ready && self.pause.is_zero();
                self.begin(again, now, used);
                Turn::Close { again }
            }
            _ => Turn::Keep,
        }
    }

    fn begin(&mut self, looking: bool, now: Duration, used: Duration) {
        self.looking = looking;
        self.disturbed = false;
        self.since = (now, used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour in which looking costs `look` of a core and pauses cost `idle`: the share used, and the share looked at.
    fn hour(look: f64, idle: f64) -> (f64, f64) {
        let mut sampler = Sampler::new(0.01);
        let step = Duration::from_millis(100);
        let (mut now, mut used, mut looked) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        while now < Duration::from_secs(3600) {
            sampler.turn(now, used, true);
            now += step;
            used += step.mul_f64(if sampler.is_looking() { look } else { idle });
            looked += if sampler.is_looking() { step } else { Duration::ZERO };
        }
        (used.as_secs_f64() / 3600.0, looked.as_secs_f64() / 3600.0)
    }

    #[test]
    fn few_launches_are_all_looked_at_and_many_in_samples() {
        let (used, looked) = hour(0.003, 0.001);
        assert!(looked > 0.99 && used < 0.01, "{used} {looked}");
        let (used, looked) = hour(0.05, 0.002);
        assert!(used < 0.01 && looked > 0.05, "{used} {looked}");
        let (used, looked) = hour(0.5, 0.002);
        assert!(used < 0.01 && looked > 0.003, "{used} {looked}");
    }

    #[test]
    fn without_any_budget_left_it_still_looks_now_and_then() {
        let (_, looked) = hour(0.5, 0.02);
        assert!(looked > 0.002 && looked < 0.01, "{looked}");
    }

    #[test]
    fn a_window_that_is_not_ready_ends_at_once() {
        let mut sampler = Sampler::new(0.01);
        assert_eq!(sampler.turn(Duration::from_secs(2), Duration::ZERO, false), Turn::Keep);
        assert_eq!(sampler.turn(Duration::from_secs(3), Duration::ZERO, true), Turn::Look);
        let closed = sampler.turn(Duration::from_secs(3), Duration::ZERO, false);
        assert_eq!(closed, Turn::Close { again: false });
    }
}
