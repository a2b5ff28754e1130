//! Speed with its spread: repeated runs of one length, summarised like hyperfine does.

use crate::answer::Probe;
use schemars::JsonSchema;
use serde::Serialize;

/// A value measured several times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
    pub runs: u64,
    /// Runs far outside of the others. They are included, because the median is not affected by them.
    pub outliers: u64,
}

/// hyperfine's limit for a modified z-score, 14.826 times the median deviation (Iglewicz and Hoaglin 1993).
const FAR: f64 = 14.826;

impl Spread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut list: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        list.sort_by(f64::total_cmp);
        let (median, least, most) = (middle(&list)?, *list.first()?, *list.last()?);
        let mut away: Vec<f64> = list.iter().map(|value| (value - median).abs()).collect();
        away.sort_by(f64::total_cmp);
        let usual = middle(&away)?;
        let far = |value: &&f64| usual > 0.0 && (**value - median).abs() / usual > FAR;
        let outliers = list.iter().filter(far).count() as u64;
        Some(Spread { median, least, most, runs: list.len() as u64, outliers })
    }
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted.get(half).copied(),
        _ => Some((sorted.get(half.checked_sub(1)?)? + sorted.get(half)?) / 2.0),
    }
}

/// The speed at one length, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Speed {
    pub asked: u64,
    /// None if the runs differ or the number is unknown.
    pub evaluated: Option<u64>,
    pub generated: Option<u64>,
    pub prompt_ms: Option<Spread>,
    pub prompt_per_second: Option<Spread>,
    pub decode_per_second: Option<Spread>,
}

/// Returns the speeds in order of length. Probes of one length share the name before `#`.
pub fn speeds(probes: &[&Probe]) -> Vec<Speed> {
    let mut groups: Vec<(&str, Vec<&Probe>)> = Vec::new();
    for probe in probes.iter().filter(|probe| probe.asked.is_some()) {
        let name = probe.name.split('#').next().unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, list)) => list.push(probe),
            None => groups.push((name, vec![probe])),
        }
    }
    let mut speeds: Vec<Speed> = groups.iter().filter_map(|(_, list)| summed(list)).collect();
    speeds.sort_by_key(|speed| (speed.asked, speed.generated));
    speeds
}

fn summed(list: &[&Probe]) -> Option<Speed> {
    let same = |of: fn(&Probe) -> Option<u64>| {
        let first = of(list.first()?)?;
        list.iter().all(|probe| of(probe) == Some(first)).then_some(first)
    };
    Some(Speed {
        asked: list.first()?.asked?,
        evaluated: same(|probe| probe.evaluated),
        generated: same(|probe| probe.eval_count),
        prompt_ms: Spread::of(list.iter().filter_map(|probe| probe.prompt_ms)),
        prompt_per_second: Spread::of(list.iter().filter_map(|probe| probe.prompt_per_second())),
        decode_per_second: Spread::of(list.iter().filter_map(|probe| probe.decode_per_second())),
    })
}

/// How long a model takes to load, cold and resident.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Load {
    pub run: &'static str,
    pub load_ms: Option<Spread>,
    pub prompt_ms: Option<Spread>,
    pub eval_ms: Option<Spread>,
}

pub fn loads(probes: &[Probe]) -> Vec<Load> {
    let of = |run: &'static str| {
        let list: Vec<&Probe> = probes.iter().filter(|probe| probe.name.split('#').next() == Some(run)).collect();
        let spread = |of: fn(&Probe) -> Option<f64>| Spread::of(list.iter().filter_map(|probe| of(probe)));
        (!list.is_empty()).then(|| Load {
            run,
            load_ms: spread(|probe| probe.load_ms),
            prompt_ms: spread(|probe| probe.prompt_ms),
            eval_ms: spread(|probe| probe.eval_ms),
        })
    };
    [of("cold"), of("hot")].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_run_moves_no_median() {
        let spread = Spread::of([10.0, 10.2, 9.9, 10.1, 500.0]).unwrap();
        assert_eq!((spread.median, spread.runs, spread.outliers), (10.1, 5, 1));
        assert_eq!(Spread::of([4.0]).map(|spread| (spread.median, spread.outliers)), Some((4.0, 0)));
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([1.0, f64::NAN, 3.0]).map(|spread| spread.median), Some(2.0));
    }
}
