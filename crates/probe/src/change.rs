//! Finds steps in the time of a prompt over its length. All places are tested together, and the smallest detectable
//! step is computed.
//!
//! Runs of one length are summed up by the Hodges-Lehmann centre of their logarithms, corrected for rounds that were
//! slower or faster as a whole. At every place a line is fitted to the lengths around it, with and without a step. A
//! step counts if it is larger than the largest step, at any place, in 97 % of the shuffles of the residuals (Westfall
//! and Young 1993). Lines are never fitted across a step that was found. The seed is fixed, so that the same numbers
//! give the same answer.

use schemars::JsonSchema;
use serde::Serialize;
use sys::random::Seeded;

/// A length from which on the time changes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The first length after the step.
    pub at: u64,
    /// The jump of the time at this length, in milliseconds.
    pub jump_ms: f64,
    /// The jump as a share of the time before it: 0.1 means 10 % more.
    pub step: f64,
    /// The probability that chance alone gives a step of this size anywhere in the sweep. Only steps below 0.03 are
    /// listed.
    pub p: f64,
    /// The changes that the rules or the batches declare there; empty if nothing is declared.
    pub declared: Vec<say::Kept>,
}

/// The sensitivity of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Power {
    pub lengths: u64,
    /// The number of runs of the length with the fewest.
    pub runs: u64,
    /// Standard deviation of one length's centre around its neighbours, as a share of the time.
    pub noise: f64,
    /// The smallest step that four of five such sweeps detect, as a share of the time.
    pub smallest: f64,
    /// The number of runs per length needed to detect a step of 10 %.
    pub runs_for_tenth: u64,
}

/// A length and its times, one per round.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub length: u64,
    pub times: Vec<f64>,
}

/// The minimum and maximum number of lengths on each side of a place.
const LEAST: usize = 5;
const WINDOW: usize = 30;
/// The number of neighbours on each side with which a length's time is compared.
const NEAR: usize = 8;
const SHUFFLES: u32 = 199;
/// Times that agree this closely are not measurements.
const LEAST_NOISE: f64 = 1e-9;
/// A step is reported if its p-value is below this limit. Residuals of fitted lines are slightly smaller than the
/// noise: at 0.03, at most 5 % of sweeps report a step by chance.
pub const STRIKING: f64 = 0.03;
const MOST_CHANGES: usize = 32;
/// Quantile of the normal distribution for 80 %, plus a margin for the noise that a step adds around it.
const FOUR_OF_FIVE: f64 = 1.2;
/// The size of a step that a sweep should find.
const TENTH: f64 = 0.10;

/// Steps in ascending order, and the sensitivity of the sweep. Points must be in ascending order of length.
pub fn changes(points: &[Point]) -> (Vec<Change>, Option<Power>) {
    let runs = points.iter().map(|point| point.times.len()).min().unwrap_or(0);
    let series = centres(points);
    if series.len() < 2 * LEAST || runs == 0 {
        return (Vec::new(), None);
    }
    let (mut walls, mut found, mut random) = (vec![0, series.len()], Vec::new(), Seeded::new(0x9e37_79b9_7f4a_7c15));
    loop {
        let Some(test) = Test::new(&series, &walls, &mut random) else { return (found, None) };
        if test.p >= STRIKING || found.len() >= MOST_CHANGES {
            found.sort_by_key(|change: &Change| change.at);
            return (found, Some(test.power(points.len(), runs)));
        }
        let place = nearest(&series, &walls, test.place);
        walls.push(place);
        let (before, after) = both_sides(&series, &walls, place);
        found.push(Change {
            at: series[place].0 as u64,
            jump_ms: after - before,
            step: after / before - 1.0,
            p: test.p,
            declared: Vec::new(),
        });
    }
}

/// The largest step that is not beyond a wall, compared with chance.
struct Test {
    place: usize,
    p: f64,
    noise: f64,
    /// The limit that 97 % of the shuffles stay below, and the noise of an average place.
    limit: f64,
    spread: f64,
}

impl Test {
    fn new(series: &[(f64, f64)], walls: &[usize], random: &mut Seeded) -> Option<Test> {
        let fit = smoothed(series, walls);
        let places: Vec<Boundary> = (0..series.len()).filter_map(|k| Boundary::new(series, &fit, walls, k)).collect();
        let times: Vec<f64> = series.iter().zip(&fit).map(|((_, time), (fit, _))| time / fit).collect();
        let best = places.iter().max_by(|a, b| a.size(&times).total_cmp(&b.size(&times)))?;
        // The residuals that the step itself causes are kept: chance is then overestimated, never underestimated.
        let mut residuals: Vec<f64> = times.iter().zip(&fit).map(|(time, (_, spare))| (time - 1.0) / spare).collect();
        let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
        residuals.iter_mut().for_each(|one| *one -= mean);
        let noise = (residuals.iter().map(|one| one * one).sum::<f64>() / residuals.len() as f64).sqrt();
        if noise < LEAST_NOISE {
            return Some(Test::silent(best.at, noise));
        }
        let mut largest: Vec<f64> = (0..SHUFFLES)
            .map(|_| {
                random.shuffle(&mut residuals);
                places.iter().map(|place| place.size(&residuals)).fold(0.0, f64::max)
            })
            .collect();
        largest.sort_by(f64::total_cmp);
        let seen = best.size(&times);
        let as_much = largest.iter().filter(|one| **one >= seen).count();
        let mut spreads: Vec<f64> = places.iter().map(|place| place.spread).collect();
        spreads.sort_by(f64::total_cmp);
        Some(Test {
            place: best.at,
            p: (as_much + 1) as f64 / f64::from(SHUFFLES + 1),
            noise,
            limit: *largest.get(largest.len() * 97 / 100)?,
            spread: *spreads.get(spreads.len() / 2)?,
        })
    }

    /// Without noise there is nothing to compare a step with.
    fn silent(place: usize, noise: f64) -> Test {
        Test { place, p: 1.0, noise, limit: 0.0, spread: 0.0 }
    }

    fn power(&self, lengths: usize, runs: usize) -> Power {
        let smallest = self.spread * (self.limit + FOUR_OF_FIVE * self.noise);
        let wanted = (runs as f64 * (smallest / TENTH).powi(2)).ceil();
        let runs_for_tenth = if wanted.is_finite() { (wanted as u64).max(runs.min(1) as u64) } else { 0 };
        Power { lengths: lengths as u64, runs: runs as u64, noise: self.noise, smallest, runs_for_tenth }
    }
}

/// Among neighbouring positions, the one where lines on both sides fit best.
fn nearest(series: &[(f64, f64)], walls: &[usize], at: usize) -> usize {
    let cost = |place: &usize| -> f64 {
        let mut all = walls.to_vec();
        all.push(*place);
        let (from, to) = (at.saturating_sub(NEAR), (at + NEAR).min(series.len()));
        let fit = smoothed(series, &all);
        (from..to).map(|i| (series[i].1 / fit[i].0 - 1.0).powi(2)).sum()
    };
    let free = |place: &usize| walls.iter().all(|wall| wall.abs_diff(*place) >= 2);
    let places = (at.saturating_sub(3)..=at + 3).filter(free);
    places.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(at)
}

/// The time at the first length after a place, from the line before it and from the line after it.
fn both_sides(series: &[(f64, f64)], walls: &[usize], place: usize) -> (f64, f64) {
    let fit = smoothed(series, walls);
    let at = |i: usize| (series[i].0, fit[i].0);
    let ((x0, y0), (x1, y1), (x2, after)) = (at(place - 2), at(place - 1), at(place));
    ((y1 + (y1 - y0) * (x2 - x1) / (x1 - x0)).max(y1 / 2.0), after)
}

/// A place between two lengths: the step there is a weighted sum of the times around it.
struct Boundary {
    at: usize,
    from: usize,
    weights: Vec<f64>,
    /// How much of a length's noise is in the step.
    spread: f64,
}

impl Boundary {
    fn new(series: &[(f64, f64)], fit: &[(f64, f64)], walls: &[usize], at: usize) -> Option<Boundary> {
        let low = walls.iter().copied().filter(|wall| *wall <= at).max()?.max(at.saturating_sub(WINDOW));
        let high = walls.iter().copied().filter(|wall| *wall > at).min()?.min(at + WINDOW);
        if at - low < LEAST || high - at < LEAST {
            return None;
        }
        // Times relative to the line: 1/f and x/f span all lines, and the step is 0 before the place and 1 after it.
        let share = |i: usize| 1.0 / fit[i].0;
        let middle = series[low..high].iter().map(|point| point.0).sum::<f64>() / (high - low) as f64;
        let mut one: Vec<f64> = (low..high).map(share).collect();
        let mut line: Vec<f64> = (low..high).map(|i| (series[i].0 - middle) * share(i)).collect();
        let mut step: Vec<f64> = (low..high).map(|i| f64::from(u8::from(i >= at))).collect();
        scale(&mut one)?;
        without(&mut line, &one);
        scale(&mut line)?;
        without(&mut step, &one);
        without(&mut step, &line);
        let size = step.iter().map(|part| part * part).sum::<f64>();
        (size > 1e-9).then(|| {
            step.iter_mut().for_each(|part| *part /= size);
            Boundary { at, from: low, weights: step, spread: size.sqrt().recip() }
        })
    }

    /// The step in units of its own noise.
    fn size(&self, times: &[f64]) -> f64 {
        let step: f64 = self.weights.iter().zip(&times[self.from..]).map(|(weight, time)| weight * time).sum();
        step.abs() / self.spread
    }
}

fn scale(list: &mut [f64]) -> Option<()> {
    let size = list.iter().map(|part| part * part).sum::<f64>().sqrt();
    list.iter_mut().for_each(|part| *part /= size);
    (size > 1e-12).then_some(())
}

/// Removes the component along `unit`.
fn without(list: &mut [f64], unit: &[f64]) {
    let along: f64 = list.iter().zip(unit).map(|(a, b)| a * b).sum();
    list.iter_mut().zip(unit).for_each(|(part, unit)| *part -= along * unit);
}

/// For every length, the line of its neighbours, and the share of its noise that remains after fitting.
fn smoothed(series: &[(f64, f64)], walls: &[usize]) -> Vec<(f64, f64)> {
    let ends = |i: usize, near: usize| {
        let low = walls.iter().copied().filter(|wall| *wall <= i).max().unwrap_or(0);
        let high = walls.iter().copied().filter(|wall| *wall > i).min().unwrap_or(series.len());
        (low.max(i.saturating_sub(near)), high.min(i + near + 1))
    };
    // A length is weighted by the level around it, not by its own time: an outlier would weight itself.
    let level = |i: usize| {
        let (low, high) = ends(i, 2);
        let mut times: Vec<f64> = series[low..high].iter().map(|point| point.1).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let weights: Vec<f64> = (0..series.len()).map(|i| level(i).powi(-2)).collect();
    (0..series.len())
        .map(|i| {
            let (low, high) = ends(i, NEAR);
            let (part, weights, weight) = (&series[low..high], &weights[low..high], weights[i]);
            let sum: f64 = weights.iter().sum();
            let mean = |of: fn(&(f64, f64)) -> f64| {
                part.iter().zip(weights).map(|(point, weight)| weight * of(point)).sum::<f64>() / sum
            };
            let (x, y) = (mean(|point| point.0), mean(|point| point.1));
            let (mut xx, mut xy) = (0.0, 0.0);
            for ((px, py), weight) in part.iter().zip(weights) {
                xx += weight * (px - x) * (px - x);
                xy += weight * (px - x) * (py - y);
            }
            let (slope, away) = if xx > 0.0 { (xy / xx, series[i].0 - x) } else { (0.0, 0.0) };
            let leverage = weight / sum + if xx > 0.0 { weight * away * away / xx } else { 0.0 };
            ((y + slope * away).max(y / 4.0), (1.0 - leverage).max(0.05).sqrt())
        })
        .collect()
}

/// The length and the centre of its times, corrected for slower and faster rounds.
fn centres(points: &[Point]) -> Vec<(f64, f64)> {
    let rounds = points.iter().map(|point| point.times.len()).min().unwrap_or(0);
    let regular = points.iter().all(|point| point.times.len() == rounds);
    let logs: Vec<Vec<f64>> = points.iter().map(|point| point.times.iter().map(|time| time.ln()).collect()).collect();
    let centre: Vec<f64> = logs.iter().map(|list| hodges_lehmann(list)).collect();
    let drift = |round: usize| -> f64 {
        if !regular || rounds < 2 {
            return 0.0;
        }
        let mut list: Vec<f64> = logs.iter().zip(&centre).map(|(list, centre)| list[round] - centre).collect();
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let drifts: Vec<f64> = (0..rounds).map(drift).collect();
    let level = |list: &Vec<f64>| -> f64 {
        let flat: Vec<f64> = list.iter().enumerate().map(|(i, log)| log - drifts.get(i).unwrap_or(&0.0)).collect();
        hodges_lehmann(&flat).exp()
    };
    points.iter().zip(&logs).map(|(point, list)| (point.length as f64, level(list))).collect()
}

/// The median of all pairwise averages (including each with itself); for long lists the mean of the middle half, which
/// is as good.
fn hodges_lehmann(list: &[f64]) -> f64 {
    if list.len() > 40 {
        let mut sorted = list.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = &sorted[list.len() / 4..list.len() * 3 / 4];
        return middle.iter().sum::<f64>() / middle.len() as f64;
    }
    let mut pairs: Vec<f64> =
        list.iter().enumerate().flat_map(|(i, a)| list[i..].iter().map(move |b| (a + b) / 2.0)).collect();
    pairs.sort_by(f64::total_cmp);
    let half = pairs.len() / 2;
    match (pairs.len() % 2, pairs.get(half)) {
        (1, Some(middle)) => *middle,
        (_, Some(upper)) => (pairs[half - 1] + upper) / 2.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of a real llama-server on a busy machine, each over the centre of its length: `tests/recorded/noise.txt`.
    fn noise() -> Vec<f64> {
        let text = include_str!("../tests/recorded/noise.txt");
        text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.parse().ok()).collect()
    }

    /// A sweep over `lengths` lengths with noise drawn from a recording, raised to `calm`, and these steps.
    fn sweep(lengths: u64, rounds: usize, calm: f64, steps: &[(u64, f64)], seed: u64) -> Vec<Point> {
        let (recorded, mut random) = (noise(), Seeded::new(seed));
        (1..=lengths)
            .map(|length| {
                let share: f64 = steps.iter().filter(|(at, _)| length >= *at).map(|(_, step)| 1.0 + step).product();
                let time = (4.0 + 0.1 * length as f64) * share;
                let times = (0..rounds).map(|_| time * recorded[random.below(recorded.len())].powf(calm)).collect();
                Point { length, times }
            })
            .collect()
    }

    fn at(points: &[Point]) -> Vec<u64> {
        changes(points).0.iter().map(|change| change.at).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let (found, power) = changes(&sweep(120, 5, 0.05, &[(65, 0.3)], 1));
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [65]);
        assert!(found[0].p <= 0.005 && (found[0].step - 0.3).abs() < 0.05, "{found:?}");
        assert!((found[0].jump_ms - 0.3 * 10.4).abs() < 0.7, "{found:?}");
        assert_eq!(power.map(|power| (power.lengths, power.runs)), Some((120, 5)));
        assert_eq!(at(&sweep(120, 5, 0.1, &[(9, 0.4), (60, -0.3)], 2)), [9, 60]);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(changes(&[]), (vec![], None));
        assert_eq!(changes(&sweep(9, 3, 1.0, &[], 1)), (vec![], None));
        let flat: Vec<Point> = (1..=40).map(|length| Point { length, times: vec![1.0; 3] }).collect();
        assert_eq!(changes(&flat).0, []);
    }

    /// The share of 200 sweeps without a step in which one is found, and the share in which a step of the stated
    /// detectable size is found.
    #[test]
    fn chance_is_no_step_and_the_stated_power_is_true() {
        const SWEEPS: u64 = 200;
        // A quarter of the recorded noise, in logarithms: an otherwise idle machine.
        const CALM: f64 = 0.25;
        let (mut false_alarms, mut smallest) = (0, 0.0);
        for seed in 0..SWEEPS {
            let (found, power) = changes(&sweep(60, 3, CALM, &[], seed));
            false_alarms += u64::from(!found.is_empty());
            smallest += power.map_or(0.0, |power| power.smallest) / SWEEPS as f64;
        }
        let near = |step: f64, rounds: usize, calm: f64| {
            let hit = |seed: &u64| {
                let list = at(&sweep(60, rounds, calm, &[(31, step)], SWEEPS + seed));
                list.iter().any(|at| at.abs_diff(31) <= 2)
            };
            (0..SWEEPS).filter(hit).count() as u64
        };
        let stated = near(smallest, 3, CALM);
        let power = changes(&sweep(60, 3, CALM, &[], 1)).1.expect("a power");
        let tenth = near(TENTH, usize::try_from(power.runs_for_tenth).expect("few"), CALM);
        println!(
            "{false_alarms} false alarms; {smallest:.3} found {stated} times, 0.1 {tenth} times of {SWEEPS}; {power:?}"
        );
        assert!(false_alarms <= SWEEPS / 20, "{false_alarms} false alarms");
        assert!(stated >= SWEEPS * 7 / 10, "{stated} found of a step of {smallest}");
        assert!(tenth >= SWEEPS * 7 / 10, "{tenth} found of 10 % at {power:?}");
    }
}
