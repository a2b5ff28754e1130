//! Comparisons of lanes on simulated servers: how often chance is called a difference, and how often a real difference is found. Seeded, so every
//! run counts the same.

use probe::lanes::{Starts, Verdict, difference, processes, verdicts};
use sys::random::Seeded;

/// Requests of each length to one process, as `probe --lane` sends them.
const REQUESTS: usize = 3;
const RUNS: usize = 200;

/// A server whose processes differ by more than the settings do.
#[derive(Clone, Copy)]
struct Drift {
    lengths: usize,
    /// The standard deviation between processes, of all lengths together.
    between: f64,
    /// The standard deviation of each length within a process.
    length: f64,
    /// How far a process drifts over its requests.
    slope: f64,
    /// The standard deviation between requests.
    request: f64,
    /// How far the machine drifts over the whole run.
    machine: f64,
}

const STRONG: Drift = Drift { lengths: 7, between: 0.07, length: 0.03, slope: 0.05, request: 0.02, machine: 0.0 };
const WARMING: Drift = Drift { machine: 0.15, ..STRONG };
const CALM: Drift = Drift { between: 0.02, length: 0.01, slope: 0.01, ..STRONG };
/// Prefill and decode, as `why --fix N --measure` compares them.
const FIX: Drift = Drift { lengths: 2, ..STRONG };
const ONE: Drift = Drift { lengths: 1, ..STRONG };

struct World {
    random: Seeded,
    drift: Drift,
}

/// Processes of a lane, with their times.
type Lane = Vec<Vec<f64>>;

impl World {
    fn normal(&mut self, deviation: f64) -> f64 {
        let mut unit = || (self.random.number() >> 11) as f64 / (1_u64 << 53) as f64;
        let (radius, turn) = (unit().max(1e-300), unit());
        deviation * (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }

    /// One process: the times of every length. One request in fifty takes three times as long.
    fn process(&mut self, ratio: f64, round: u64, requests: usize) -> Vec<Vec<f64>> {
        let own = self.normal(self.drift.between) + self.drift.machine * round as f64 / 24.0;
        let slope = self.normal(self.drift.slope);
        let mut lengths = Vec::new();
        for length in 0..self.drift.lengths {
            let level = own + self.normal(self.drift.length) + ratio.ln() + (length as f64);
            let times = (0..requests).map(|request| {
                let late = if self.random.below(50) == 0 { 3.0 } else { 1.0 };
                let trend = slope * request as f64 / requests as f64;
                late * (level + trend + self.normal(self.drift.request)).exp()
            });
            lengths.push(times.collect());
        }
        lengths
    }

    /// A whole run of `probe --lane`: first starts, the number of starts by their noise, verdicts.
    fn run(&mut self, ratio: f64, starts: Starts) -> (Vec<Verdict>, u64) {
        let mut lanes: [Vec<Lane>; 2] = [vec![Vec::new(); self.drift.lengths], vec![Vec::new(); self.drift.lengths]];
        let (mut round, mut planned) = (0, starts.least);
        let compared = |lanes: &[Vec<Lane>; 2]| -> Vec<_> {
            let all = lanes[0].iter().zip(&lanes[1]);
            all.map(|(a, b)| processes(a, b, lanes[0].len()).expect("times")).collect()
        };
        while round < planned {
            for (lane, ratio) in lanes.iter_mut().zip([1.0, ratio]) {
                for (into, times) in lane.iter_mut().zip(self.process(ratio, round, REQUESTS)) {
                    into.push(times);
                }
            }
            round += 1;
            if round == starts.least {
                planned = starts.planned(compared(&lanes).iter().map(|(_, noise)| noise)).1;
            }
        }
        let differences: Vec<_> = compared(&lanes).into_iter().map(|(difference, _)| difference).collect();
        (verdicts(&differences).into_iter().map(|(_, verdict)| verdict).collect(), round)
    }
}

/// Runs with any length called different, lengths called slower, and starts per lane.
fn counted(drift: Drift, ratio: f64, runs: usize) -> (usize, usize, f64) {
    let mut world = World { random: Seeded::new(42), drift };
    let (mut any, mut slower, mut starts) = (0, 0, 0);
    for _ in 0..runs {
        let (verdicts, rounds) = world.run(ratio, Starts::AUTOMATIC);
        any += usize::from(verdicts.iter().any(|verdict| *verdict != Verdict::Undecided));
        slower += verdicts.iter().filter(|verdict| **verdict == Verdict::Slower).count();
        starts += rounds;
    }
    (any, slower, starts as f64 / runs as f64)
}

#[test]
fn chance_is_called_a_difference_in_at_most_one_of_twenty_runs() {
    for (name, drift) in [("strong", STRONG), ("warming", WARMING), ("calm", CALM), ("fix", FIX), ("one", ONE)] {
        let (any, _, starts) = counted(drift, 1.0, RUNS);
        println!("{name}: {any} of {RUNS} runs without a difference report one; {starts:.1} starts per lane");
        assert!(any * 20 <= RUNS, "{name}: {any}");
    }
}

#[test]
fn a_tenth_is_found_in_four_of_five() {
    for (name, drift) in [("strong", STRONG), ("warming", WARMING), ("calm", CALM), ("fix", FIX), ("one", ONE)] {
        let (any, slower, starts) = counted(drift, 1.1, RUNS);
        let lengths = RUNS * drift.lengths;
        println!(
            "{name}: 10 % found at {slower} of {lengths} lengths, in {any} of {RUNS} runs; {starts:.1} starts per lane"
        );
        assert!(slower * 5 >= lengths * 4, "{name}: {slower} of {lengths}");
    }
}

/// Why a process counts once: eight requests to one process of each lane differ in most runs, whatever the setting.
#[test]
fn requests_to_one_process_are_not_independent() {
    let mut world = World { random: Seeded::new(42), drift: STRONG };
    let mut different = 0;
    for _ in 0..RUNS {
        let (a, b) = (world.process(1.0, 0, 8), world.process(1.0, 0, 8));
        let all: Vec<_> = a.iter().zip(&b).filter_map(|(a, b)| difference(a, b)).collect();
        different += usize::from(verdicts(&all).iter().any(|(_, verdict)| *verdict != Verdict::Undecided));
    }
    println!("{different} of {RUNS} runs without a difference report one if requests count");
    assert!(different * 2 > RUNS, "{different}");
}

/// With this noise, the maximum number of starts is not enough, but the stated number of starts detects a difference of
/// 10 %.
#[test]
fn the_stated_number_of_starts_is_enough() {
    let loud = Drift { between: 0.14, ..FIX };
    let mut world = World { random: Seeded::new(42), drift: loud };
    let (mut found, mut stated) = (0, 0);
    for _ in 0..RUNS {
        let pilot: Vec<[Vec<Vec<f64>>; 2]> =
            (0..24).map(|round| [1.0, 1.1].map(|ratio| world.process(ratio, round, REQUESTS))).collect();
        let lane = |at: usize, length: usize| -> Lane { pilot.iter().map(|both| both[at][length].clone()).collect() };
        let noises = (0..2).map(|length| processes(&lane(0, length), &lane(1, length), 2).expect("times").1);
        let needed = noises.filter_map(|noise| noise.starts_for_tenth).max().expect("a number");
        stated += needed;
        let (verdicts, _) = world.run(1.1, Starts::wanted(Some(needed)));
        found += verdicts.iter().filter(|verdict| **verdict == Verdict::Slower).count();
    }
    println!("stated {:.0} starts on average; found at {found} of {} lengths", stated as f64 / RUNS as f64, 2 * RUNS);
    assert!(found * 5 >= 2 * RUNS * 4, "{found}");
}
