//! The time that the device spent on launches, by its own clock.

use schemars::JsonSchema;
use serde::Serialize;

/// The times of several launches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Took {
    /// The number of timed launches; launches without a time are not in the figures.
    pub launches: u64,
    pub total_ns: u64,
    pub least_ns: u64,
    pub most_ns: u64,
}

impl Took {
    pub fn once(ns: u64) -> Took {
        Took { launches: 1, total_ns: ns, least_ns: ns, most_ns: ns }
    }

    pub fn add(&mut self, more: Took) {
        if more.launches == 0 {
            return;
        }
        self.least_ns = if self.launches == 0 { more.least_ns } else { self.least_ns.min(more.least_ns) };
        self.most_ns = self.most_ns.max(more.most_ns);
        self.total_ns = self.total_ns.saturating_add(more.total_ns);
        self.launches += more.launches;
    }

    pub fn mean_ns(self) -> u64 {
        self.total_ns.checked_div(self.launches).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_and_nothing_is_no_time() {
        let mut all = Took::default();
        all.add(Took::default());
        assert_eq!((all, all.mean_ns()), (Took::default(), 0));
        all.add(Took::once(30));
        all.add(Took::once(10));
        assert_eq!(all, Took { launches: 2, total_ns: 40, least_ns: 10, most_ns: 30 });
        assert_eq!(all.mean_ns(), 20);
    }
}
