//! Finds runs of bytes that look like noise. A host's machine code, tables and text are repetitive; compressed and
//! encrypted data are not.

use codeobject::Range;

const BLOCK: u64 = 4096;
/// The threshold in bits per byte. x86 code has about 6, doubles at most 7.4, and 4 KiB of a compressed stream 7.9.
const BITS: f64 = 7.8;
/// Shorter runs are tables for cryptography and hashing, which many host libraries have. Of 1,678 files of a
/// distribution, four have a longer run without an explanation.
pub(crate) const SHORTEST: u64 = 64 << 10;

/// Collects runs piece by piece. Blocks begin at multiples of 4 KiB; a block that is partly outside a piece, or partly
/// skipped, is not part of a run.
#[derive(Debug)]
pub(crate) struct Dense {
    skip: Vec<Range>,
    runs: Vec<Range>,
    cost: Vec<f64>,
}

impl Dense {
    pub fn new(skip: Vec<Range>) -> Self {
        let cost = |count: usize| if count == 0 { 0.0 } else { count as f64 * (BLOCK as f64 / count as f64).log2() };
        Dense { skip, runs: Vec::new(), cost: (0..=BLOCK as usize).map(cost).collect() }
    }

    pub fn piece(&mut self, offset: u64, data: &[u8]) {
        let first = offset.next_multiple_of(BLOCK) - offset;
        let blocks = data.get(usize::try_from(first).unwrap_or(usize::MAX)..).unwrap_or_default();
        for (block, number) in blocks.chunks_exact(BLOCK as usize).zip(0..) {
            let start = offset + first + number * BLOCK;
            let range = Range { start, end: start + BLOCK };
            if !self.is_noise(block) || self.skip.iter().any(|skip| skip.start < range.end && range.start < skip.end) {
                continue;
            }
            match self.runs.last_mut() {
                Some(run) if run.end == start => run.end = range.end,
                _ => {
                    // Drop a short run as soon as it has ended.
                    self.runs.pop_if(|run| run.len() < SHORTEST);
                    self.runs.push(range);
                }
            }
        }
    }

    fn is_noise(&self, block: &[u8]) -> bool {
        // Two sets of counters, so that consecutive equal bytes do not depend on each other.
        let mut counts = [[0u16; 256]; 2];
        for pair in block.chunks_exact(2) {
            counts[0][usize::from(pair[0])] += 1;
            counts[1][usize::from(pair[1])] += 1;
        }
        let count = |byte: usize| usize::from(counts[0][byte] + counts[1][byte]);
        // The most frequent byte alone identifies zeros and code.
        if count(0) > BLOCK as usize / 32 {
            return false;
        }
        let bits: f64 = (0..256).filter_map(|byte| self.cost.get(count(byte))).sum();
        bits >= BITS * BLOCK as f64
    }

    pub fn finish(mut self) -> Vec<Range> {
        self.runs.retain(|run| run.len() >= SHORTEST);
        self.runs
    }
}

/// The entropy in bits per byte.
pub(crate) fn bits(data: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    data.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let share = |count: u32| f64::from(count) / data.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| -share(*count) * share(*count).log2()).sum()
}

/// The runs without these ranges, as far as the remainders are long enough.
pub(crate) fn unexplained(runs: &[Range], explained: &[Range]) -> Vec<Range> {
    let mut explained = explained.to_vec();
    explained.sort_unstable();
    let mut left = Vec::new();
    for run in runs {
        let mut at = run.start;
        for range in explained.iter().filter(|range| range.start < run.end && run.start < range.end) {
            if range.start > at {
                left.push(Range { start: at, end: range.start });
            }
            at = at.max(range.end);
        }
        left.push(Range { start: at.min(run.end), end: run.end });
    }
    left.retain(|range| range.len() >= SHORTEST);
    left
}
