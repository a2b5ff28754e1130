//! Tests that a conclusion covers what was examined, and no more.

use evidence::{Account, Basis, LeftOutWhy, Reach, Rung, Says, Unit, Witness, Word};
use proptest::prelude::*;

fn cells(asked: u64, answered: u64) -> Basis {
    Basis::listed("source", ["a tree"], Rung::Declared, Unit::Cells, asked, answered)
}

#[test]
fn the_same_in_every_cell_is_the_same() {
    let same = cells(312, 312).equality(0);
    assert_eq!((same.says(), same.reach(), same.word()), (&Says::Same, Reach::Whole, Word::Yes));
}

#[test]
fn the_same_in_what_was_asked_is_partly_the_same_where_cards_were_left_out() {
    let same = cells(312, 312).without("sm_89", None, LeftOutWhy::NotAsked).equality(0);
    assert_eq!((same.reach(), same.word()), (Reach::Answered, Word::Partly));
}

#[test]
fn nothing_is_known_without_what_the_question_turns_on() {
    let lacking = || cells(312, 312).lacking("launch mix", LeftOutWhy::Untold);
    for conclusion in [lacking().equality(0), lacking().of_all(0), lacking().presence(0), lacking().choice(["MMQ"])] {
        assert_eq!((conclusion.reach(), conclusion.word()), (Reach::Unknown, Word::NotKnown), "{conclusion:?}");
    }
    assert_eq!(lacking().of_all(1).word(), Word::No, "a case is a case");
}

#[test]
fn one_difference_is_a_difference_however_little_was_looked_at() {
    let different = cells(312, 1).lost(7).equality(1);
    assert_eq!((different.reach(), different.word()), (Reach::Whole, Word::No));
}

#[test]
fn what_is_incomplete_is_not_whole() {
    for basis in [cells(312, 311), cells(312, 312).lost(1), cells(0, 0).without("a.so", None, LeftOutWhy::Unreadable)] {
        let conclusion = basis.completeness();
        assert_eq!((conclusion.says(), conclusion.word()), (&Says::Incomplete, Word::No), "{conclusion:?}");
        assert_eq!((conclusion.is_whole(), conclusion.is_certain()), (false, false), "{conclusion:?}");
    }
}

#[test]
fn nothing_asked_concludes_nothing() {
    for conclusion in [cells(0, 0).equality(0), cells(0, 0).presence(0), cells(0, 0).of_all(0)] {
        assert_eq!((conclusion.reach(), conclusion.word()), (Reach::Unknown, Word::NotKnown));
    }
}

#[test]
fn nothing_found_in_a_file_that_could_not_be_read_is_not_known() {
    let none = Basis::new("source", ["a tree"], Rung::Shipped, Unit::Kernels, 0, 0)
        .without("a.so", None, LeftOutWhy::Unreadable)
        .presence(0);
    assert_eq!((none.reach(), none.word()), (Reach::Unknown, Word::NotKnown));
}

#[test]
fn a_live_process_that_launched_nothing_in_full_view_launched_nothing() {
    let seen = || Basis::live("preload", ["a program"], Rung::Launched, Unit::Launches, 0);
    let none = seen().account(Account::searched(Witness::ProcessTree)).presence(0);
    assert_eq!((none.reach(), none.word()), (Reach::Whole, Word::No));
    assert_eq!((seen().presence(0).reach(), seen().presence(0).word()), (Reach::Alone, Word::NotKnown));
    let lost = Basis::live("source", ["a tree"], Rung::Launched, Unit::Launches, 0).lost(3).presence(0);
    assert_eq!(lost.word(), Word::NotKnown);
}

#[test]
fn a_choice_is_one_or_several_or_not_known() {
    assert_eq!(cells(2, 2).choice(["MMQ", "MMQ"]).word(), Word::Yes);
    assert_eq!(cells(2, 2).choice(["MMQ", "BLAS"]).word(), Word::Partly);
    assert_eq!(cells(2, 0).choice(Vec::<String>::new()).word(), Word::NotKnown);
}

#[test]
fn what_runs_is_only_partly_answered_by_what_a_source_declares() {
    let declared = || Basis::new("source", ["a tree"], Rung::Declared, Unit::Cells, 2, 2).asked_of(Rung::Launched);
    for conclusion in [declared().choice(["MMQ"]), declared().presence(1), declared().equality(1), declared().of_all(0)]
    {
        assert_eq!((conclusion.reach(), conclusion.word()), (Reach::Answered, Word::Partly), "{conclusion:?}");
        assert_eq!(conclusion.not_observed(), Some(Rung::Launched));
    }
    let seen =
        Basis::listed("source", ["a tree"], Rung::Launched, Unit::Cells, 2, 2).asked_of(Rung::Selected).choice(["MMQ"]);
    assert_eq!((seen.word(), seen.not_observed()), (Word::Yes, None));
    let nothing = Basis::new("source", ["a tree"], Rung::Declared, Unit::Cells, 2, 0)
        .asked_of(Rung::Launched)
        .choice(Vec::<String>::new());
    assert_eq!(nothing.word(), Word::NotKnown);
}

#[test]
fn the_observers_own_word_is_never_whole() {
    let own = || Basis::new("inspect", ["a.so"], Rung::Shipped, Unit::Bytes, 9, 9);
    for conclusion in
        [own().equality(0), own().presence(0), own().of_all(0), own().completeness(), own().choice(["MMQ"])]
    {
        assert_eq!((conclusion.reach(), conclusion.is_whole(), conclusion.is_certain()), (Reach::Alone, false, false));
        assert_ne!(conclusion.word(), Word::Yes);
        assert_ne!(conclusion.word(), Word::No);
    }
    assert!(own().presence(1).is_certain(), "a case is a case");
}

#[test]
fn a_second_account_that_disagrees_is_a_gap() {
    let seen = || Basis::live("preload", ["a program"], Rung::Launched, Unit::Launches, 1000);
    let agreed = seen().account(Account::counted(Witness::GraphNodes, 1000, 1000)).completeness();
    assert_eq!((agreed.says(), agreed.reach()), (&Says::Complete, Reach::Whole));
    let differ = seen().account(Account::counted(Witness::GraphNodes, 1200, 1000)).completeness();
    assert_eq!((differ.says(), differ.reach()), (&Says::Incomplete, Reach::Answered));
    let left = differ.left_out().first().expect("the difference is named");
    assert_eq!((left.count, left.why), (Some(200), LeftOutWhy::Disagrees));
}

proptest! {
    /// If anything is lost, left out or unanswered, no statement covers everything.
    #[test]
    fn no_universal_sentence_over_a_gap(asked in 0_u64..9, answered in 0_u64..9, lost in 0_u64..3, out in 0_usize..3) {
        let answered = answered.min(asked);
        let mut basis = cells(asked, answered).lost(lost);
        for n in 0..out {
            basis = basis.without(format!("{n}"), None, LeftOutWhy::Unreadable);
        }
        let gap = lost > 0 || out > 0 || answered < asked || asked == 0;
        for conclusion in [basis.clone().equality(0), basis.clone().presence(0), basis.clone().of_all(0)] {
            prop_assert_eq!(conclusion.is_whole(), !gap);
        }
        prop_assert_eq!(basis.clone().completeness().says() == &Says::Complete, !(lost > 0 || out > 0 || answered < asked));
        // Only a complete basis gives a whole conclusion, for every kind of question.
        let complete = basis.clone().completeness();
        prop_assert_eq!(complete.is_whole(), !gap);
        prop_assert_eq!(complete.word() == Word::Yes, !gap);
        // A positive case is certain, but the conclusion is whole only if everything was examined.
        let found = basis.presence(1);
        prop_assert!(found.is_certain());
        prop_assert_eq!(found.is_whole(), !(lost > 0 || out > 0 || answered < asked));
    }
}
