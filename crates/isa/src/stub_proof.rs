//! Proves from decoded code that a kernel does nothing.
//!
//! A source without code for a target still ships every kernel for it, with a body that traps or ends at once. The
//! proof uses the complete decoded code, never the name:
//!
//! - *empty*: the code has only waits, hints and messages, and an end;
//! - *no return*: the code has no `s_endpgm`, so every path ends in a trap, a loop or a call that never returns;
//! - *no effect*: the kernel ends, but none of its instructions can change memory that is visible outside, and it calls
//!   nothing.

use crate::census::Tally;
use crate::family::Family;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Some instruction has an effect, or may have one.
    None,
    Empty,
    NoReturn,
    NoEffect,
}

impl Proof {
    /// Derives the proof from the instruction counts of a kernel. Only for kernels: other functions return to their
    /// caller instead of ending.
    pub fn of_kernel(tally: &Tally) -> Self {
        if !tally.is_complete() || tally.instructions == 0 {
            return Proof::None;
        }
        let ends = tally.family(Family::End) > 0;
        let idle = |family| matches!(family, Family::End | Family::Hint | Family::Wait | Family::Message);
        let effect = |family: Family| family.has_effect() || family == Family::Call;
        let families = tally.families();
        if !ends {
            return Proof::NoReturn;
        }
        let trap = tally.count(|mnemonic| mnemonic.name() == "s_trap") > 0;
        match (families.iter().all(|(family, _)| idle(*family)), families.iter().any(|(family, _)| effect(*family))) {
            (true, _) if !trap => Proof::Empty,
            (_, false) if !trap => Proof::NoEffect,
            _ => Proof::None,
        }
    }

    pub fn is_stub(self) -> bool {
        self != Proof::None
    }

    /// The word in CSV and JSON; empty if nothing is proved.
    pub fn key(self) -> &'static str {
        match self {
            Proof::None => "",
            Proof::Empty => "empty",
            Proof::NoReturn => "no-return",
            Proof::NoEffect => "no-effect",
        }
    }
}
