//! Presence questions about instructions: a family, or the start of a mnemonic.

use crate::census::group::Groups;
use isa::{Family, MATRIX, Mnemonic};

/// A family, all matrix-multiply families, or the start of a mnemonic: `mfma` and `v_mfma` mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Family(Family),
    Matrix,
    Prefix(String),
}

impl Question {
    /// None if no instruction of any processor starts with the text, which then is a typo.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "matrix" {
            return Some(Question::Matrix);
        }
        if let Some(family) = Family::parse(text) {
            return Some(Question::Family(family));
        }
        let known = !text.is_empty() && Mnemonic::all().any(|mnemonic| mnemonic.name().starts_with(text));
        known.then(|| Question::Prefix(text.to_owned()))
    }

    pub fn matches(&self, mnemonic: Mnemonic) -> bool {
        match self {
            Question::Family(family) => Family::of(mnemonic) == *family,
            Question::Matrix => MATRIX.contains(&Family::of(mnemonic)),
            Question::Prefix(prefix) => mnemonic.name().starts_with(prefix.as_str()),
        }
    }

    /// Related families that were not requested but are there. Dense and sparse families have separate names, and a
    /// user who asks for `mfma` may also mean `smfmac`.
    pub fn beside(&self, groups: &Groups) -> Vec<(Family, u64)> {
        let Question::Family(asked) = self else { return Vec::new() };
        let others = MATRIX.iter().filter(|family| MATRIX.contains(asked) && *family != asked);
        let counted = others.map(|family| (*family, Question::Family(*family).count(groups)));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    pub fn count(&self, groups: &Groups) -> u64 {
        let tallies = groups.groups.values().map(|group| group.sum.tally());
        tallies.map(|tally| tally.count(|mnemonic| self.matches(mnemonic))).sum()
    }
}
