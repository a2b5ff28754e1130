//! Counts of mnemonics, cheap to read and to reset.

use crate::mnemonic::Mnemonic;

/// A dense array of counts by mnemonic, with a bit for each group of 64 that was touched. So the cost of reading and
/// resetting depends on what the function uses, not on the size of the tables.
#[derive(Debug)]
pub(crate) struct Counts {
    counts: Vec<[u64; 64]>,
    touched: Vec<bool>,
}

impl Counts {
    pub fn new() -> Self {
        let blocks = Mnemonic::count().div_ceil(64);
        Counts { counts: vec![[0; 64]; blocks], touched: vec![false; blocks] }
    }

    #[inline(always)]
    pub fn add(&mut self, mnemonic: Mnemonic) {
        let (block, place) = (mnemonic.index() / 64, mnemonic.index() % 64);
        if let (Some(counts), Some(touched)) = (self.counts.get_mut(block), self.touched.get_mut(block)) {
            counts[place] += 1;
            *touched = true;
        }
    }

    /// Returns the counts in the order of the names and resets them.
    pub fn take(&mut self) -> Vec<(Mnemonic, u64)> {
        let mut taken = Vec::with_capacity(48);
        for (block, (counts, touched)) in self.counts.iter_mut().zip(&mut self.touched).enumerate() {
            if !std::mem::take(touched) {
                continue;
            }
            for (place, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                taken.push((Mnemonic((block * 64 + place) as u16), std::mem::take(count)));
            }
        }
        taken
    }
}
