//! Mnemonics: every name in the tables, with one number for all processors.

pub use crate::form::{Form, split};
use crate::table;
use std::fmt;

/// A name without its encoding suffix (`v_add_f32` for `v_add_f32_e64_dpp`), as a small number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mnemonic(pub(crate) u16);

fn names() -> &'static [&'static str] {
    table::NAMES
}

impl Mnemonic {
    pub fn find(name: &str) -> Option<Self> {
        names().binary_search(&name).ok().map(|index| Mnemonic(index as u16))
    }

    pub fn name(self) -> &'static str {
        names().get(usize::from(self.0)).copied().unwrap_or("?")
    }

    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The number of mnemonics; every index is below it.
    pub fn count() -> usize {
        names().len()
    }

    pub fn all() -> impl Iterator<Item = Mnemonic> {
        (0..names().len()).map(|index| Mnemonic(index as u16))
    }
}

impl fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
