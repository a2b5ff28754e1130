//! Which functions a stretch of questions ran: also those whose results were remembered from before, and those that made the
//! variables which live as long as the machine.

use crate::syntax::sym::{FxMap, FxSet};

#[derive(Debug, Default)]
pub(super) struct Footprint {
    /// Run since the last `take_ran`.
    now: FxSet<u32>,
    /// Their results were remembered.
    recalled: FxSet<u32>,
    /// Run while a static or a global was made.
    lasting: FxSet<u32>,
    /// Who called whom, each pair once.
    calls: FxMap<u32, Vec<u32>>,
    pairs: FxSet<(u32, u32)>,
    /// How many statics and globals are being made.
    making: usize,
}

impl Footprint {
    fn called(&mut self, caller: Option<u32>, index: u32) {
        if let Some(caller) = caller
            && self.pairs.insert((caller, index))
        {
            self.calls.entry(caller).or_default().push(index);
        }
    }

    pub fn run(&mut self, caller: Option<u32>, index: u32) {
        self.called(caller, index);
        self.now.insert(index);
        if self.making > 0 {
            self.lasting.insert(index);
        }
    }

    pub fn recall(&mut self, caller: Option<u32>, index: u32) {
        self.called(caller, index);
        self.recalled.insert(index);
        if self.making > 0 {
            self.lasting.insert(index);
        }
    }

    pub fn begin_lasting(&mut self) {
        self.making += 1;
    }

    pub fn end_lasting(&mut self) {
        self.making = self.making.saturating_sub(1);
    }

    /// The functions that had a part in all that was asked since the last time.
    pub fn take(&mut self) -> FxSet<u32> {
        let mut all = std::mem::take(&mut self.now);
        let mut open: Vec<u32> = self.recalled.drain().chain(self.lasting.iter().copied()).collect();
        // Of what was not run again, whatever it called the first time.
        let mut seen: FxSet<u32> = FxSet::default();
        while let Some(index) = open.pop() {
            if seen.insert(index) {
                all.insert(index);
                open.extend(self.calls.get(&index).into_iter().flatten());
            }
        }
        all
    }
}
