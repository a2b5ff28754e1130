//! How much of a file was read, and the resulting word for a target that was not found in it.

use evidence::Coverage;

say::named! {
    /// How much of a file was read, by its most complete observation.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Read: key {
        #[default]
        Partly = "site-not-complete",
        /// The file was read in full, by the observer's own account.
        Alone = "site-complete-alone",
        /// The whole file was read and a second account agrees, so an absence is real.
        Whole = "site-complete",
    }
}

impl Read {
    pub fn of(coverage: &Coverage) -> Read {
        match (coverage.is_complete(), coverage.accounts.is_empty()) {
            (false, _) => Read::Partly,
            (true, true) => Read::Alone,
            (true, false) => Read::Whole,
        }
    }

    /// The word for a target that was not found in the file.
    pub fn absent(self) -> &'static str {
        match self {
            Read::Partly => "site-not-observed",
            Read::Alone => "site-none-seen",
            Read::Whole => "site-gen-absent-word",
        }
    }

    /// Like [`Self::absent`], for a table to download, which is in English.
    pub fn in_csv(self) -> &'static str {
        match self {
            Read::Partly => "not observed",
            Read::Alone => "none seen",
            Read::Whole => "absent",
        }
    }
}
