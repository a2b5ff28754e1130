//! Compares two lists of times: the ratio, its confidence interval, and the probability of such a difference by chance.
//!
//! The ratio is the Hodges-Lehmann estimate on logarithms (the median of all pairwise ratios), its interval and `p`
//! come from the exact distribution of Mann and Whitney's U: no distribution of the times is assumed, and an outlier
//! affects neither.

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// How much longer the second takes: 1.1 means 10 % more.
    pub ratio: f64,
    /// The ratio is between these values with `confidence`.
    pub low: f64,
    pub high: f64,
    /// At most 0.95; less with few runs.
    pub confidence: f64,
    /// The probability of such a difference by chance, over all assignments of the runs.
    pub p: f64,
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
        // Mann and Whitney 1947: the number of orders of n and m with U = u, by whether the largest element is in the
        // second or the first list.
        let mut table = vec![vec![vec![0.0_f64; n * m + 1]; m + 1]; n + 1];
        for i in 0..=n {
            for j in 0..=m {
                for u in 0..=i * j {
                    table[i][j][u] = match (i, j) {
                        (0, _) | (_, 0) => f64::from(u8::from(u == 0)),
                        _ => table[i][j - 1][u] + if u >= j { table[i - 1][j][u - j] } else { 0.0 },
                    };
                }
            }
        }
        let counts = &table[n][m];
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
