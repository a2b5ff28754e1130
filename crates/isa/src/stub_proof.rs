//! What decoded code proves about a kernel: that it can do nothing.
//!
//! A source that has nothing for a target still ships every kernel for it, with a body that traps or ends at once. The
//! rule is read off the whole, completely decoded extent, never off a name:
//!
//! - *empty*: nothing but waits, hints and messages, and an end;
//! - *no return*: no `s_endpgm` at all, so every path ends in a trap, a loop or a call that never returns;
//! - *no effect*: it ends, but no instruction of it can change memory that anybody else sees, and it calls nothing.

use crate::census::Tally;
use crate::family::Family;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Something in it has an effect, or may have.
    None,
    Empty,
    NoReturn,
    NoEffect,
}

impl Proof {
    /// Of a kernel; other functions return to their caller and end nothing.
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
