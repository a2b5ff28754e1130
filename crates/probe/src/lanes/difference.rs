//! Compares two lists of times: the ratio, its confidence interval, and the probability of such a difference by chance.
//!
//! The ratio is the Hodges-Lehmann estimate on logarithms (the median of all pairwise ratios), its interval and `p`
//! come from the exact distribution of Mann and Whitney's U: no distribution of the times is assumed, and an outlier
//! affects neither.
//!
//! Times are grouped by process. Each process gives one value, the median of its times: requests to one process share
//! its speed, so counting each of them reports differences between two processes, not between two settings.

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// How much longer the second takes: 1.1 means 10 % more.
    pub ratio: f64,
    /// The ratio is between these values with `confidence`.
    pub low: f64,
    pub high: f64,
    /// The confidence: at most 0.95, less with few runs.
    pub confidence: f64,
    /// The probability of such a difference by chance, over all assignments of the runs.
    pub p: f64,
}

/// How much the times vary between processes and within one process, and which differences can be detected despite
/// that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// The standard deviation between processes, as a share of the time; null with one process per lane.
    pub between: Option<f64>,
    /// The standard deviation within a process; null with one request per process.
    pub within: Option<f64>,
    /// The smallest difference that four of five such comparisons find, as a share of the time.
    pub smallest: Option<f64>,
    /// Processes per lane with which four of five comparisons find a difference of 10 %.
    pub starts_for_tenth: Option<u64>,
}

/// A difference is reported if its p-value, corrected for all comparisons, is below this limit. It is not 0.05, because
/// the number of starts depends on the measured noise, which increases false positives by up to a fifth (simulated in
/// `tests/lanes_by_chance.rs`).
pub const STRIKING: f64 = 0.03;
/// The power: four of five comparisons detect the difference.
const POWER: f64 = 0.8;
/// The rank test needs 1 / 0.955 times as many values as the t test on normal data (Hodges and Lehmann 1956); the rest
/// accounts for noise that is itself estimated from few starts (Browne 1995).
const RESERVE: f64 = 1.2 / 0.955;

/// Compares two lists of processes with their times, as one of `comparisons` comparisons. None if a lane has no valid
/// time.
pub fn compared(first: &[Vec<f64>], second: &[Vec<f64>], comparisons: usize) -> Option<(Difference, Noise)> {
    let (a, b) = (medians(first), medians(second));
    let difference = difference(&a, &b)?;
    let logs = |list: &[f64]| -> Vec<f64> { list.iter().map(|time| time.ln()).collect() };
    let of_medians = pooled(&[logs(&a), logs(&b)]);
    let inside: Vec<Vec<f64>> = first.iter().chain(second).map(|times| logs(times)).collect();
    let within = pooled(&inside);
    let each = inside.iter().map(Vec::len).sum::<usize>() as f64 / inside.len().max(1) as f64;
    let means = |lane: &[Vec<f64>]| -> Vec<f64> {
        let filled = lane.iter().filter(|times| !times.is_empty());
        filled.map(|times| logs(times).iter().sum::<f64>() / times.len() as f64).collect()
    };
    let between =
        pooled(&[means(first), means(second)]).map(|all| (all - within.unwrap_or(0.0) / each).max(0.0).sqrt());
    let tail = STRIKING / 2.0 / comparisons.max(1) as f64;
    let sure = quantile(1.0 - tail) + quantile(POWER);
    let count = a.len().min(b.len()) as f64;
    let smallest = of_medians.map(|variance| (sure * (2.0 * RESERVE * variance / count).sqrt()).exp_m1());
    let needed = of_medians.map(|variance| (2.0 * RESERVE * variance * (sure / 1.1_f64.ln()).powi(2)).ceil());
    let starts_for_tenth = needed.map(|needed| needed.clamp(least(tail), 1e6) as u64);
    Some((difference, Noise { between, within: within.map(f64::sqrt), smallest, starts_for_tenth }))
}

/// The median of each process that has times.
pub fn medians(lane: &[Vec<f64>]) -> Vec<f64> {
    lane.iter()
        .filter_map(|times| crate::speed::Spread::of(times.iter().copied()))
        .map(|spread| spread.median)
        .collect()
}

/// The pooled variance within the groups.
fn pooled(groups: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut free) = (0.0, 0_usize);
    for group in groups.iter().filter(|group| group.len() > 1) {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        squares += group.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        free += group.len() - 1;
    }
    (free > 0).then(|| squares / free as f64)
}

/// The fewest processes per lane whose clearest order is rarer by chance than `tail`.
fn least(tail: f64) -> f64 {
    let (mut n, mut orders) = (1.0_f64, 2.0_f64);
    while 1.0 / orders >= tail {
        n += 1.0;
        orders *= (2.0 * n) * (2.0 * n - 1.0) / (n * n);
    }
    n
}

/// The quantile of the normal distribution for this share.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if lower(middle) < share { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The confidence level of the interval.
const WANTED: f64 = 0.95;
/// Beyond this the normal approximation is good enough, and the exact distribution is slow to compute.
const EXACT: usize = 40;

/// None if a list is empty or a time is invalid.
pub fn difference(first: &[f64], second: &[f64]) -> Option<Difference> {
    let good = |list: &[f64]| !list.is_empty() && list.iter().all(|time| time.is_finite() && *time > 0.0);
    if !good(first) || !good(second) {
        return None;
    }
    let mut pairs: Vec<f64> = first.iter().flat_map(|a| second.iter().map(move |b| (b / a).ln())).collect();
    pairs.sort_by(f64::total_cmp);
    let count = pairs.len();
    let middle = (pairs.get((count - 1) / 2)? + pairs.get(count / 2)?) / 2.0;
    let tail = Tail::new(first.len(), second.len());
    // The narrowest interval with the wanted confidence: the k-th from both ends.
    let mut k = 1;
    while k < count / 2 && 1.0 - 2.0 * tail.at_most(k) >= WANTED {
        k += 1;
    }
    let below = pairs.iter().filter(|pair| **pair < 0.0).count();
    let equal = pairs.iter().filter(|pair| **pair == 0.0).count();
    // Ties count in favour of chance.
    let u = (below.min(count - below - equal) + equal).min(count / 2);
    Some(Difference {
        ratio: middle.exp(),
        low: pairs.get(k - 1)?.exp(),
        high: pairs.get(count - k)?.exp(),
        confidence: (1.0 - 2.0 * tail.at_most(k - 1)).max(0.0),
        p: (2.0 * tail.at_most(u)).min(1.0),
    })
}

/// The probability that U is at most a value by chance.
struct Tail {
    cumulative: Vec<f64>,
    normal: (f64, f64),
}

impl Tail {
    fn new(n: usize, m: usize) -> Tail {
        let (a, b) = (n as f64, m as f64);
        let normal = (a * b / 2.0, (a * b * (a + b + 1.0) / 12.0).sqrt());
        if n > EXACT || m > EXACT {
            return Tail { cumulative: Vec::new(), normal };
        }
        // The orders of n and m with U = u are the coefficients of a Gaussian binomial: the product over i of
        // (1 - q^(m+i)) / (1 - q^i). Those of small u follow from smaller ones only, so rounding does not reach the tail.
        let mut counts = vec![0.0_f64; n * m + 1];
        counts[0] = 1.0;
        for i in 1..=n {
            for u in (m + i..counts.len()).rev() {
                counts[u] -= counts[u - m - i];
            }
            for u in i..counts.len() {
                counts[u] += counts[u - i];
            }
        }
        let all: f64 = counts.iter().sum();
        let mut sum = 0.0;
        let cumulative = counts.iter().map(|count| {
            sum += count;
            sum / all
        });
        Tail { cumulative: cumulative.collect(), normal }
    }

    fn at_most(&self, u: usize) -> f64 {
        if let Some(share) = self.cumulative.get(u) {
            return *share;
        }
        if !self.cumulative.is_empty() {
            return 1.0;
        }
        let (mean, deviation) = self.normal;
        lower((u as f64 + 0.5 - mean) / deviation)
    }
}

/// The normal distribution (Abramowitz and Stegun 26.2.17, error below 7.5e-8).
fn lower(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let polynomial = series.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let upper = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial;
    if z < 0.0 { upper } else { 1.0 - upper }
}

/// Holm 1979: corrects for some of many comparisons being significant by chance; keeps the given order.
pub fn adjusted(list: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|a, b| list[*a].total_cmp(&list[*b]));
    let mut out = vec![1.0_f64; list.len()];
    let mut most = 0.0_f64;
    for (rank, place) in order.into_iter().enumerate() {
        most = most.max(list[place] * (list.len() - rank) as f64).min(1.0);
        out[place] = most;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the exact distribution by R's pwilcox and wilcox.test.
    #[test]
    fn the_distribution_is_mann_and_whitneys() {
        let tail = Tail::new(5, 5);
        assert!((tail.at_most(0) - 1.0 / 252.0).abs() < 1e-12);
        assert!((tail.at_most(2) - 4.0 / 252.0).abs() < 1e-12);
        assert!((Tail::new(3, 3).at_most(0) - 0.05).abs() < 1e-12);
        assert!((Tail::new(4, 6).at_most(24) - 1.0).abs() < 1e-12);
        assert!((lower(-1.96) - 0.024_998).abs() < 1e-6 && (lower(0.0) - 0.5).abs() < 1e-6);
        let exact = Tail::new(40, 40);
        let near = Tail { cumulative: Vec::new(), normal: exact.normal };
        assert!((exact.at_most(650) - near.at_most(650)).abs() < 0.002);
        assert!((quantile(0.975) - 1.959_964).abs() < 1e-5 && (quantile(0.8) - 0.841_621).abs() < 1e-5);
        // Four against four have 70 orders, five against five 252.
        assert_eq!((least(0.02), least(0.01), least(1.0 / 252.0)), (4.0, 5.0, 6.0));
    }

    /// Ten requests to each of two processes are two measurements, not twenty.
    #[test]
    fn a_process_counts_once() {
        let fast = vec![10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0];
        let slow: Vec<f64> = fast.iter().map(|time| time * 1.3).collect();
        let flat: Vec<f64> = fast.iter().chain(&slow).copied().collect();
        assert!(difference(&fast, &slow).unwrap().p < 1e-3 && flat.len() == 20);
        let (one, noise) = compared(std::slice::from_ref(&fast), std::slice::from_ref(&slow), 1).unwrap();
        assert_eq!((one.p, noise.between, noise.starts_for_tenth), (1.0, None, None));
        let (many, noise) = compared(&[fast.clone(), slow.clone()], &[slow, fast], 1).unwrap();
        assert!((many.ratio - 1.0).abs() < 1e-9 && many.p > 0.9, "{many:?}");
        // The noise between starts is ln 1.3 / sqrt 2, and about 0.8 % within a start.
        let (between, within) = (noise.between.unwrap(), noise.within.unwrap());
        assert!((between - 0.1855).abs() < 1e-3 && (within - 0.008).abs() < 1e-3, "{noise:?}");
        assert!(noise.starts_for_tenth.unwrap() > 50, "{noise:?}");
        assert_eq!(compared(&[vec![]], &[vec![1.0]], 1), None);
    }

    #[test]
    fn a_difference_is_told_from_chance() {
        let slower = difference(&[10.0, 10.1, 10.2, 10.1, 10.0], &[12.0, 12.1, 12.2, 12.1, 12.0]).unwrap();
        assert!((slower.ratio - 1.2).abs() < 0.01 && slower.p < 0.01, "{slower:?}");
        assert!(slower.low > 1.1 && slower.high < 1.3 && slower.confidence >= 0.95, "{slower:?}");
        let none = difference(&[10.0, 12.0, 11.0, 10.5], &[11.0, 10.2, 12.1, 10.4]).unwrap();
        assert!(none.p > 0.3 && none.low < 1.0 && none.high > 1.0, "{none:?}");
        // Three against three cannot be more certain than two of twenty possible orders.
        let few = difference(&[1.0, 1.1, 1.2], &[9.0, 9.1, 9.2]).unwrap();
        assert!((few.p - 0.1).abs() < 1e-9 && (few.confidence - 0.9).abs() < 1e-9, "{few:?}");
        let same = difference(&[5.0; 6], &[5.0; 6]).unwrap();
        assert_eq!((same.ratio, same.p), (1.0, 1.0));
        assert_eq!((difference(&[1.0], &[]), difference(&[0.0], &[1.0])), (None, None));
    }

    #[test]
    fn many_comparisons_are_held_to_more() {
        assert_eq!(adjusted(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(adjusted(&[]), [] as [f64; 0]);
    }
}
