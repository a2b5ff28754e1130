//! Is there any of this? Counted, and where there is none, whether that is certain.

use crate::census::group::Groups;
use isa::{Family, Mnemonic};

/// A family, or the start of a mnemonic: `mfma` and `v_mfma` ask the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Family(Family),
    Prefix(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub count: u64,
    /// None found, and nothing was left undecoded: it is not there.
    pub certain: bool,
}

impl Question {
    /// None where no instruction of any processor starts so: the question is a typing error.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(family) = Family::parse(text) {
            return Some(Question::Family(family));
        }
        let known = !text.is_empty() && Mnemonic::all().any(|mnemonic| mnemonic.name().starts_with(text));
        known.then(|| Question::Prefix(text.to_owned()))
    }

    pub fn matches(&self, mnemonic: Mnemonic) -> bool {
        match self {
            Question::Family(family) => Family::of(mnemonic) == *family,
            Question::Prefix(prefix) => mnemonic.name().starts_with(prefix.as_str()),
        }
    }

    pub fn answer(&self, groups: &Groups) -> Answer {
        let tallies = groups.groups.values().map(|group| group.sum.tally());
        let count = tallies.map(|tally| tally.count(|mnemonic| self.matches(mnemonic))).sum();
        Answer { count, certain: count > 0 || (groups.is_complete() && groups.objects > 0) }
    }
}
