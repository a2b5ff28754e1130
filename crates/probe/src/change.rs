//! Where the time of a prompt changes its course: segments of straight lines, found exactly, and each change tested.
//!
//! Optimal partitioning with a linear cost per segment (Jackson et al. 2005; PELT is the same optimum, pruned: Killick et al. 2012),
//! the penalty by the Bayesian information criterion with a noise that is estimated from second differences. Each change is then
//! held against chance: the Chow statistic of its two neighbours, among those of permuted residuals. The seed is fixed, so that the same
//! numbers give the same answer.

use schemars::JsonSchema;
use serde::Serialize;
use sys::random::Seeded;

/// From this point on another line fits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The first length of the new course.
    pub at: u64,
    /// How much the time jumps there, in milliseconds.
    pub jump_ms: f64,
    /// How often chance alone gives as much, by permutation.
    pub p: f64,
    /// What the rules or the batches declare there; empty for a step that nothing declares.
    pub declared: Vec<String>,
}

/// A segment has at least this many points: two make any line.
const LEAST: usize = 5;
const PERMUTATIONS: u32 = 999;

/// Points in ascending order of `x`.
pub fn changes(points: &[(u64, f64)]) -> Vec<Change> {
    let n = points.len();
    if n < 2 * LEAST {
        return Vec::new();
    }
    let sums = Sums::new(points);
    let noise = noise(points).max(1e-12);
    // Two numbers of the line and the place of the change.
    let penalty = 3.0 * noise * (n as f64).ln();
    let mut best = vec![f64::INFINITY; n + 1];
    let mut from = vec![0; n + 1];
    if let Some(first) = best.first_mut() {
        *first = -penalty;
    }
    for end in LEAST..=n {
        for start in (0..=end - LEAST).filter(|start| *start == 0 || *start >= LEAST) {
            let cost = best[start] + sums.cost(start, end) + penalty;
            if cost < best[end] {
                (best[end], from[end]) = (cost, start);
            }
        }
    }
    let mut bounds = vec![n];
    while let Some(&last) = bounds.last().filter(|last| **last > 0) {
        bounds.push(from[last]);
    }
    bounds.reverse();
    bounds.windows(3).map(|three| tested(points, &sums, three[0], three[1], three[2])).collect()
}

fn tested(points: &[(u64, f64)], sums: &Sums, start: usize, at: usize, end: usize) -> Change {
    let statistic = |sums: &Sums, start: usize, at: usize, end: usize| {
        let apart = sums.cost(start, at) + sums.cost(at, end);
        (sums.cost(start, end) - apart) / apart.max(1e-12)
    };
    let seen = statistic(sums, start, at, end);
    let (slope, base) = sums.line(start, end);
    let part = &points[start..end];
    let mut residuals: Vec<f64> = part.iter().map(|(x, y)| y - base - slope * *x as f64).collect();
    let mut random = Seeded::new(0x9e37_79b9_7f4a_7c15 ^ at as u64);
    let mut as_much = 0;
    for _ in 0..PERMUTATIONS {
        random.shuffle(&mut residuals);
        let permuted: Vec<(u64, f64)> =
            part.iter().zip(&residuals).map(|((x, _), r)| (*x, base + slope * *x as f64 + r)).collect();
        // The place was searched for, so chance may choose its place too: a few are enough to bound it.
        let own = Sums::new(&permuted);
        let places = (LEAST..=permuted.len().saturating_sub(LEAST)).step_by((permuted.len() / 16).max(1));
        let most = places.map(|place| statistic(&own, 0, place, permuted.len())).fold(0.0, f64::max);
        as_much += u32::from(most >= seen);
    }
    let x = points[at].0 as f64;
    let ((before, b0), (after, a0)) = (sums.line(start, at), sums.line(at, end));
    Change {
        at: points[at].0,
        jump_ms: (a0 + after * x) - (b0 + before * x),
        p: f64::from(as_much + 1) / f64::from(PERMUTATIONS + 1),
        declared: Vec::new(),
    }
}

/// Of y = a + bx + noise the second differences have six times its variance (for equal steps); the median of their size is robust
/// against the few that lie across a change.
fn noise(points: &[(u64, f64)]) -> f64 {
    let mut seconds: Vec<f64> = points
        .windows(3)
        .map(|three| {
            let ((x0, y0), (x1, y1), (x2, y2)) = (three[0], three[1], three[2]);
            let share = (x1 - x0) as f64 / ((x2 - x0) as f64).max(1.0);
            let between = y0 + (y2 - y0) * share;
            // Variance of y1 minus the point on the line between its neighbours.
            let weight = 1.0 + share * share + (1.0 - share) * (1.0 - share);
            (y1 - between).abs() / weight.sqrt()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
    (median * 1.4826).powi(2)
}

/// Running sums, so that the squared error of any segment's line costs nothing.
struct Sums {
    list: Vec<[f64; 5]>,
}

impl Sums {
    fn new(points: &[(u64, f64)]) -> Sums {
        let mut list = vec![[0.0; 5]];
        let mut sum = [0.0; 5];
        for (x, y) in points {
            let x = *x as f64;
            for (into, value) in sum.iter_mut().zip([x, *y, x * x, x * y, y * y]) {
                *into += value;
            }
            list.push(sum);
        }
        Sums { list }
    }

    fn of(&self, start: usize, end: usize) -> (f64, [f64; 5]) {
        let mut sum = [0.0; 5];
        for (i, into) in sum.iter_mut().enumerate() {
            *into = self.list[end][i] - self.list[start][i];
        }
        ((end - start) as f64, sum)
    }

    /// Slope and height of the line of least squares.
    fn line(&self, start: usize, end: usize) -> (f64, f64) {
        let (n, [x, y, xx, xy, _]) = self.of(start, end);
        let spread = n * xx - x * x;
        let slope = if spread.abs() < 1e-9 { 0.0 } else { (n * xy - x * y) / spread };
        (slope, (y - slope * x) / n.max(1.0))
    }

    fn cost(&self, start: usize, end: usize) -> f64 {
        let (n, [x, y, _, xy, yy]) = self.of(start, end);
        let (slope, base) = self.line(start, end);
        let _ = n;
        (yy - base * y - slope * xy + 0.0 * x).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(steps: &[(u64, f64)], slope: f64, noise: f64) -> Vec<(u64, f64)> {
        let mut random = Seeded::new(7);
        (1..=200)
            .map(|x| {
                let wobble = (random.number() % 1000) as f64 / 1000.0 - 0.5;
                let jump: f64 = steps.iter().filter(|(at, _)| x >= *at).map(|(_, jump)| jump).sum();
                (x, 5.0 + slope * x as f64 + jump + noise * wobble)
            })
            .collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found = changes(&series(&[(65, 8.0)], 0.1, 1.0));
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [65]);
        assert!(found[0].p <= 0.002 && (found[0].jump_ms - 8.0).abs() < 0.5, "{found:?}");
        let two = changes(&series(&[(9, 6.0), (129, -7.0)], 0.05, 0.8));
        assert_eq!(two.iter().map(|change| change.at).collect::<Vec<_>>(), [9, 129]);
    }

    #[test]
    fn a_straight_line_and_noise_have_none() {
        assert_eq!(changes(&series(&[], 0.2, 1.0)), []);
        assert_eq!(changes(&series(&[], 0.0, 3.0)), []);
        assert_eq!(changes(&[(1, 1.0), (2, 2.0)]), []);
        assert_eq!(changes(&[(3, 1.0); 40]), []);
    }
}
