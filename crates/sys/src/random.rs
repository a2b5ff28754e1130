//! Random numbers: the system's own for unguessable names and keys, and a seeded sequence that is the same everywhere for
//! samples, shuffles and mutations.

use std::io;

/// Unguessable bytes.
pub fn secret<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    crate::system::fill(&mut bytes)?;
    Ok(bytes)
}

/// SplitMix64 (Steele et al. 2014): small, seeded, the same on every machine. Not suitable for secrets.
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Seeded(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.number() % limit as u64) as usize }
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation's first numbers for the seed 1234567.
    #[test]
    fn the_sequence_is_splitmix64s() {
        let mut seeded = Seeded::new(1_234_567);
        let first = [seeded.number(), seeded.number(), seeded.number()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(seeded.below(0), 0);
    }
}
