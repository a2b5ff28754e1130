//! Records which functions a series of questions ran. Also includes functions whose cached results were used, and
//! functions that initialised variables that live as long as the machine.

use crate::syntax::sym::{FxMap, FxSet};

#[derive(Debug, Default)]
pub(super) struct Footprint {
    /// Functions run since the last `take_ran`.
    now: FxSet<u32>,
    /// Functions whose cached results were used.
    recalled: FxSet<u32>,
    /// Functions run while a static or a global was initialised.
    lasting: FxSet<u32>,
    /// Callers and their callees, each pair once.
    calls: FxMap<u32, Vec<u32>>,
    pairs: FxSet<(u32, u32)>,
    /// The number of statics and globals that are being initialised.
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

    /// The functions that contributed to all answers since the last call.
    pub fn take(&mut self) -> FxSet<u32> {
        let mut all = std::mem::take(&mut self.now);
        let mut open: Vec<u32> = self.recalled.drain().chain(self.lasting.iter().copied()).collect();
        // A function that was not run again also counts the functions that it called the first time.
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
