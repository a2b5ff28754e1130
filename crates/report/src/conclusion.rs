//! A conclusion as a sentence: the only place where "none", "same", "all" or "complete" is worded.

use crate::{Lang, rung_text};
use evidence::{BlindSpot, Conclusion, LeftOutWhy, Says, Witness};
use say::Say as _;

/// More names than this are counted, not listed.
const NAMED: usize = 3;

/// One sentence, including its limits.
pub fn conclusion_text(lang: &Lang, conclusion: &Conclusion) -> String {
    let reach = conclusion.reach().name();
    let gaps = gaps(lang, conclusion);
    let (key, count, choices) = match conclusion.says() {
        Says::Found { count } => (said_with("found", &gaps), *count, String::new()),
        Says::Different { count } => (said_with("different", &gaps), *count, String::new()),
        Says::NotAll { failing } => (said_with("not-all", &gaps), *failing, String::new()),
        Says::Incomplete => ("incomplete".to_owned(), 0, String::new()),
        Says::Nothing => (format!("nothing-{reach}"), 0, String::new()),
        Says::Same => (format!("same-{reach}"), 0, String::new()),
        Says::All => (format!("all-{reach}"), 0, String::new()),
        Says::Complete => (format!("complete-{reach}"), 0, String::new()),
        Says::Chosen { choices } => {
            let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
            (format!("chosen-{reach}"), choices.len() as u64, choices.join(" | "))
        }
    };
    let unit = lang.text_with(&format!("unit-{}", conclusion.unit().key()), &[("count", conclusion.answered().into())]);
    let args = [
        ("count", count.into()),
        ("answered", conclusion.answered().into()),
        ("unit", unit.into()),
        ("gaps", gaps.clone().unwrap_or_else(|| lang.text("gap-nothing-asked")).into()),
        ("choices", choices.into()),
        ("alone", alone(lang, conclusion).into()),
    ];
    let text = lang.text_with(&format!("conclusion-{key}"), &args);
    match agreeing(lang, conclusion) {
        Some(accounts) => lang.text_with("conclusion-agreed", &[("text", text.into()), ("accounts", accounts.into())]),
        None => text,
    }
}

/// The only observer that vouches for a conclusion, and its blind spots in this target.
fn alone(lang: &Lang, conclusion: &Conclusion) -> String {
    let by: Vec<&str> = conclusion.by().collect();
    let spots: Vec<String> = conclusion.cannot_see().iter().map(|spot| blind_text(lang, spot)).collect();
    let key = if spots.is_empty() { "alone-unchecked" } else { "alone-blind" };
    let separator = lang.text("gap-separator");
    lang.text_with(key, &[("by", by.join(&separator).into()), ("spots", spots.join(&separator).into())])
}

/// An observer's blind spot, with the names that it has in this target.
pub fn blind_text(lang: &Lang, spot: &BlindSpot) -> String {
    let kind = lang.text(&format!("blind-{}", spot.kind.key()));
    if spot.names.is_empty() {
        return kind;
    }
    let names = shortened(lang, &spot.names.join(", "));
    lang.text_with("blind-named", &[("kind", kind.into()), ("names", names.into())])
}

/// The second accounts behind a statement that something is complete.
fn agreeing(lang: &Lang, conclusion: &Conclusion) -> Option<String> {
    let universal = matches!(conclusion.says(), Says::Nothing | Says::Same | Says::All | Says::Complete);
    let others = conclusion.accounts().filter(|witness| *witness != Witness::Question);
    let accounts: Vec<String> = others.map(|witness| lang.text(&format!("witness-{}", witness.key()))).collect();
    (universal && conclusion.is_whole() && !accounts.is_empty()).then(|| accounts.join(&lang.text("gap-separator")))
}

fn said_with(key: &str, gaps: &Option<String>) -> String {
    if gaps.is_some() { format!("{key}-with-gaps") } else { key.to_owned() }
}

/// The first few items of a long list, and how many more there are; JSON has them all.
fn shortened(lang: &Lang, what: &str) -> String {
    let parts: Vec<&str> = what.split(", ").collect();
    match parts.get(..NAMED) {
        Some(first) if parts.len() > NAMED + 2 => {
            let count = parts.len() - NAMED;
            lang.text_with("gap-list", &[("first", lang.list(first).into()), ("count", count.into())])
        }
        _ => what.to_owned(),
    }
}

/// Losses, unanswered questions and omissions, in words; None if there are none.
pub fn gaps(lang: &Lang, conclusion: &Conclusion) -> Option<String> {
    let mut parts = Vec::new();
    let number = |key: &str, count: u64| lang.text_with(key, &[("count", count.into())]);
    if conclusion.lost() > 0 {
        parts.push(number("gap-lost", conclusion.lost()));
    }
    // Items that are named and counted below are not reported twice.
    let of_asked = conclusion.left_out().iter().filter(|left| left.why != LeftOutWhy::NotAsked);
    let named: u64 = of_asked.filter_map(|left| left.count).sum();
    if conclusion.unanswered() > named {
        parts.push(number("gap-unanswered", conclusion.unanswered() - named));
    }
    if let Some(rung) = conclusion.not_observed() {
        parts.push(lang.text_with("gap-rung", &[("rung", rung_text(lang, rung).into())]));
    }
    for left in conclusion.left_out().iter().take(NAMED) {
        let why = lang.say(&left.why.message());
        let count = left.count.unwrap_or(0);
        let unit = lang.text_with(&format!("unit-{}", conclusion.unit().key()), &[("count", count.into())]);
        let args = [
            ("what", shortened(lang, &left.what.in_words(lang)).into()),
            ("why", why.into()),
            ("count", count.into()),
            ("unit", unit.into()),
        ];
        parts.push(lang.text_with(if left.count.is_some() { "gap-counted" } else { "gap-named" }, &args));
    }
    let more = conclusion.left_out().len().saturating_sub(NAMED);
    if more > 0 {
        parts.push(number("gap-more", more as u64));
    }
    (!parts.is_empty()).then(|| parts.join(&lang.text("gap-separator")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{Account, Basis, Blind, Rung, Unit};

    fn en(conclusion: &Conclusion) -> String {
        conclusion_text(&Lang::new("en"), conclusion)
    }

    #[test]
    fn a_sentence_names_what_it_does_not_reach_over() {
        let basis = Basis::listed("source", ["a tree"], Rung::Declared, Unit::Cells, 312, 312);
        assert_eq!(en(&basis.clone().equality(0)), "The same in all 312 cells.");
        let some = basis.without("sm_89", None, LeftOutWhy::NotAsked).equality(0);
        assert_eq!(en(&some), "The same in the 312 cells with a result; unknown: sm_89 (not requested).");
    }

    #[test]
    fn what_is_counted_by_its_name_is_not_counted_again() {
        let basis = Basis::new("source", ["a tree"], Rung::Declared, Unit::Launches, 5, 2).without(
            "status",
            Some(2),
            LeftOutWhy::Refused,
        );
        let says = en(&basis.equality(0));
        assert!(says.contains("1 without a result") && says.contains("2 launches of status"), "{says}");
        let basis = Basis::new("source", ["a tree"], Rung::Declared, Unit::Launches, 4, 2).without(
            "status",
            Some(2),
            LeftOutWhy::Refused,
        );
        assert!(!en(&basis.equality(0)).contains("without a result"));
    }

    #[test]
    fn of_a_long_list_a_few_are_named_and_the_rest_is_counted() {
        let many = "gfx803, gfx900, gfx906, gfx908, gfx90a, gfx942";
        let some = Basis::new("source", ["a tree"], Rung::Declared, Unit::Cells, 1, 1)
            .without(many, None, LeftOutWhy::NotAsked)
            .equality(0);
        let says = en(&some);
        assert!(says.contains("gfx803, gfx900, gfx906 and 3 more (not requested)"), "{says}");
        assert!(!says.contains("gfx942"), "{says}");
    }

    #[test]
    fn nothing_is_not_said_of_what_could_not_be_read() {
        let none = Basis::new("source", ["a tree"], Rung::Shipped, Unit::Kernels, 0, 0).without(
            "a.so",
            None,
            LeftOutWhy::Unreadable,
        );
        assert_eq!(en(&none.presence(0)), "Unknown: a.so (could not be read).");
        assert_eq!(
            en(&Basis::new("source", ["a tree"], Rung::Shipped, Unit::Kernels, 0, 0).presence(0)),
            "Unknown: nothing was requested."
        );
    }

    #[test]
    fn an_observer_alone_says_so_and_names_what_it_cannot_see() {
        let seen = Basis::live("preload", ["a program"], Rung::Launched, Unit::Launches, 1000);
        assert_eq!(
            en(&seen.clone().completeness()),
            "Checked: 1000 launches, according to preload only; no second source confirms that this is complete."
        );
        let blind = seen.clone().cannot_see(Blind::Processes.named(["worker (static)"]));
        assert_eq!(
            en(&blind.completeness()),
            "Checked: 1000 launches, according to preload only, which cannot see processes that the observer could not attach to: worker (static)."
        );
        let agreed = seen.account(Account::searched(Witness::ProcessTree)).completeness();
        assert_eq!(
            en(&agreed),
            "Complete: all 1000 launches were checked. Confirmed by: the programs and libraries of every process."
        );
    }

    #[test]
    fn every_sentence_exists_in_both_languages() {
        let whole = |unit| Basis::listed("source", ["a tree"], Rung::Declared, unit, 2, 2);
        let alone = |unit| Basis::live("source", ["a tree"], Rung::Declared, unit, 2);
        for lang in [Lang::new("en"), Lang::new("ja")] {
            for unit in Unit::ALL.iter().copied() {
                for basis in [
                    whole(unit),
                    alone(unit),
                    whole(unit).lost(1),
                    Basis::new("source", ["a tree"], Rung::Declared, unit, 2, 0),
                ] {
                    let all = [
                        basis.clone().presence(0),
                        basis.clone().presence(1),
                        basis.clone().equality(0),
                        basis.clone().equality(1),
                        basis.clone().of_all(0),
                        basis.clone().of_all(1),
                        basis.clone().completeness(),
                        basis.clone().choice(["MMQ"]),
                    ];
                    for conclusion in all {
                        let text = conclusion_text(&lang, &conclusion);
                        assert!(
                            !text.contains("conclusion-") && !text.contains("unit-") && !text.contains("gap-"),
                            "{text}"
                        );
                    }
                }
            }
            for blind in Blind::ALL {
                assert!(!blind_text(&lang, &blind.named(["x"])).contains("blind-"), "{blind:?}");
            }
            for witness in Witness::ALL {
                let agreed = alone(Unit::Launches).account(Account::searched(*witness)).completeness();
                assert!(!conclusion_text(&lang, &agreed).contains("witness-"), "{witness:?}");
            }
            for why in LeftOutWhy::ALL.iter().copied() {
                let text = conclusion_text(&lang, &whole(Unit::Cells).without("x", Some(3), why).presence(0));
                assert!(!text.contains("left-out-"), "{text}");
            }
        }
    }
}
