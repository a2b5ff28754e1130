//! The conclusions that a census allows: an instruction is there, it is not, or everything was counted.

use crate::census::group::Groups;
use crate::census::question::Question;
use evidence::{Account, Basis, Conclusion, LeftOutWhy, Rung, Unit, Witness};
use say::Say as _;

/// Covers every word of the requested code. Words that are not instructions, truncated or unread are listed as left
/// out.
fn basis(groups: &Groups) -> Basis {
    let counted: u64 = groups.groups.values().map(|group| group.sum.tally().instructions).sum();
    let lost = (groups.undecoded.len() + groups.cut.len()) as u64;
    // The number of instructions is not known beforehand; code without any instruction still counts as read in full.
    // Without a code object, there was nothing to examine.
    let mut basis = match groups.objects {
        0 => Basis::new("isa", [&groups.of], Rung::Shipped, Unit::Instructions, 0, 0),
        // If instructions tile the sections to the byte, none was skipped.
        _ => Basis::live("isa", [&groups.of], Rung::Shipped, Unit::Instructions, counted)
            .lost(lost)
            .account(Account::counted(Witness::SymbolSizes, groups.stated, groups.walked)),
    };
    for place in groups.undecoded.iter().chain(&groups.cut).take(3) {
        let bundle = place.bundle.map_or_else(String::new, |bundle| format!(" [{bundle}]"));
        let what = format!("{}{bundle} at {:#x}", place.target, place.address);
        basis = basis.without(what, Some(1), LeftOutWhy::Unreadable);
    }
    for unread in groups.unread.iter().take(3) {
        basis = basis.without(unread.message(), None, LeftOutWhy::Unreadable);
    }
    basis
}

/// Does the count include everything there is?
pub fn completeness(groups: &Groups) -> Conclusion {
    basis(groups).completeness()
}

impl Question {
    /// Whether any matching instruction exists.
    pub fn conclude(&self, groups: &Groups) -> Conclusion {
        basis(groups).presence(self.count(groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::{By, Unread};
    use evidence::Word;

    #[test]
    fn nothing_is_said_of_code_that_nobody_counted() {
        let question = Question::parse("mfma").expect("a family");
        let mut groups = Groups::new("a.so", By::Target);
        // Without any code object, there was nothing to examine.
        assert_eq!(question.conclude(&groups).word(), Word::NotKnown);
        // An object that was read in full and contains none.
        groups.objects = 1;
        assert_eq!(question.conclude(&groups).word(), Word::No);
        assert!(completeness(&groups).is_whole());
        groups.unread.push(Unread { what: "gfx942".into(), why: say::Message::verbatim("no table") });
        assert_eq!(question.conclude(&groups).word(), Word::NotKnown);
        assert!(!completeness(&groups).is_whole());
    }
}
