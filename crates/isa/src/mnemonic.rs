//! Mnemonics: every name that the tables know, numbered once for all processors.

use crate::table;
use std::fmt;
use std::sync::OnceLock;

/// A name without its encoding suffix (`v_add_f32` for `v_add_f32_e64_dpp`), as a small number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mnemonic(pub(crate) u16);

/// Which encoding of the instruction it is, as LLVM marks it behind the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Form {
    /// The only one there is: no mark.
    #[default]
    Plain,
    E32,
    E64,
    Dpp,
    E64Dpp,
    Sdwa,
}

impl Form {
    pub fn suffix(self) -> &'static str {
        match self {
            Form::Plain => "",
            Form::E32 => "_e32",
            Form::E64 => "_e64",
            Form::Dpp => "_dpp",
            Form::E64Dpp => "_e64_dpp",
            Form::Sdwa => "_sdwa",
        }
    }
}

/// A printed name into the canonical one and its form. The longest suffix first: `_e64_dpp` ends in `_dpp`.
pub fn split(printed: &str) -> (&str, Form) {
    for form in [Form::E64Dpp, Form::Dpp, Form::Sdwa, Form::E32, Form::E64] {
        if let Some(name) = printed.strip_suffix(form.suffix()) {
            return (name, form);
        }
    }
    (printed, Form::Plain)
}

fn names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: Vec<&'static str> = table::rows().map(|row| split(row.name).0).collect();
        names.sort_unstable();
        names.dedup();
        names
    })
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

    /// How many there are; every index lies below.
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
