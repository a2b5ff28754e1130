//! Combines graded claims and observations into a question's answer: a [`Conclusion`] on the rung that the question is
//! about.
//!
//! A rule in the source does not show what runs. An answer that comes from a rule is partial and names its rung.

use crate::investigation::{Investigation, Question};
use crate::question::Found;
use crate::{Account, Basis, Conclusion, Expected, GradeKind, LeftOutWhy, Reading, Reason, Rung, Unit, Witness};
use std::collections::BTreeSet;

/// A claim or a finding that contributes to the answer of a question.
struct Voice {
    rung: Rung,
    /// The answer, if the question asks "which".
    choice: String,
    /// The answer, if the question asks "whether".
    yes: bool,
    /// The part that the claim's grade leaves undecided.
    short: Option<(String, LeftOutWhy)>,
    /// The observers whose observations the claim's grade cites.
    by: Vec<String>,
    /// The subjects that those observers examined.
    of: Vec<String>,
    /// Other witnesses that confirm that there is no other answer.
    accounts: BTreeSet<Witness>,
}

/// The name under which the grading is listed, in addition to the observers whose observations it grades.
pub const JUDGE: &str = "judge";

pub(crate) fn conclude(
    question: &Question,
    investigation: &Investigation,
    readings: &[Reading],
    found: &[&Found],
) -> Conclusion {
    let asked_of = question.rung;
    let voices = voices(question, investigation, readings, found);
    let possible = question.all_claims().count() + usize::from(question.ask.is_some());
    let Some(best) = voices.iter().map(|voice| voice.rung).max() else {
        let nobody: [&str; 0] = [];
        return Basis::listed(JUDGE, nobody, asked_of, Unit::Claims, possible as u64, 0).asked_of(asked_of).presence(0);
    };
    // Observations on a higher rung overrule statements on a lower one.
    let voices: Vec<&Voice> = voices.iter().filter(|voice| voice.rung == best).collect();
    let count = voices.len() as u64;
    // For "which" questions, an undecided claim on that rung is a gap, because it may be another answer.
    let undecided = |(id, _): &(&String, Option<bool>)| {
        readings.iter().any(|it| it.claim == **id && it.rung == best && it.grade.is_unresolved())
    };
    let undecided = if question.is_yes_or_no() { 0 } else { question.all_claims().filter(undecided).count() as u64 };
    let of = voices.iter().flat_map(|voice| voice.of.iter().cloned());
    let mut basis = Basis::new(JUDGE, of, best, Unit::Claims, count + undecided, count).asked_of(asked_of);
    // Answers that an observer found by looking are complete only if each look has a second account.
    if voices.iter().all(|voice| !voice.accounts.is_empty()) {
        let accounts: BTreeSet<Witness> = voices.iter().flat_map(|voice| &voice.accounts).copied().collect();
        basis = accounts.into_iter().fold(basis, |basis, witness| basis.account(Account::searched(witness)));
    }
    for observer in voices.iter().flat_map(|voice| &voice.by) {
        basis = basis.by(observer);
    }
    // Reservations count only if every answer has some.
    if voices.iter().all(|voice| voice.short.is_some()) {
        for (what, why) in voices.iter().filter_map(|voice| voice.short.as_ref()) {
            basis = basis.without(what, None, *why);
        }
    }
    if !question.is_yes_or_no() {
        return basis.choice(voices.iter().map(|voice| voice.choice.clone()));
    }
    let yes = voices.iter().filter(|voice| voice.yes).count() as u64;
    let short = voices.iter().all(|voice| voice.short.is_some());
    match (yes, yes < count) {
        (0, _) => basis.presence(0),
        // Partial and inferred cases do not count as cases.
        (_, false) if short => basis.of_all(0),
        (_, false) => basis.presence(yes),
        (_, true) => basis.choice(["yes", "no"]),
    }
}

fn voices(question: &Question, investigation: &Investigation, readings: &[Reading], found: &[&Found]) -> Vec<Voice> {
    let mut voices = Vec::new();
    for (id, means_yes) in question.all_claims() {
        let Some(reading) = readings.iter().find(|reading| reading.claim == *id) else { continue };
        let holds = reading.grade.strength() > 0;
        // A refuted claim answers "whether", never "which".
        let speaks = holds || (reading.grade.is_refuted() && question.is_yes_or_no());
        let Some(means_yes) = means_yes.or((!question.is_yes_or_no()).then_some(true)).filter(|_| speaks) else {
            continue;
        };
        let choice = match investigation.claim(id).map(|stated| &stated.claim.expected) {
            Some(Expected::Equals(value)) => value.to_string(),
            _ => id.clone(),
        };
        // The investigation file lists its claims, which is their second account.
        voices.push(Voice {
            accounts: BTreeSet::from([Witness::Question]),
            ..voice(reading, choice, means_yes == holds)
        });
    }
    let yes = question.ask.as_ref().and_then(|ask| ask.yes.as_ref());
    let graded: Vec<&Found> = found.iter().copied().filter(|one| one.grade.strength() > 0).collect();
    if question.is_yes_or_no() && !graded.is_empty() {
        let says_yes = |one: &&&Found| yes.is_none_or(|yes| one.holds(yes)) && !one.is_nothing;
        // "Is there one?": a single case gives yes. No requires that no case says yes.
        let (yes, no): (Vec<&Found>, Vec<&Found>) = graded.iter().partition(says_yes);
        let (side, is_yes) = if yes.is_empty() { (no, false) } else { (yes, true) };
        voices.extend(side.iter().map(|one| found_voice(one, is_yes)));
    } else {
        voices.extend(graded.iter().map(|one| found_voice(one, true)));
    }
    voices
}

/// The voice of a value that was found. If the question itself names the cell, the question is the second account. Any
/// other answer was found by looking.
fn found_voice(one: &Found, yes: bool) -> Voice {
    let mut said = voice(&one.reading, one.value.clone(), yes);
    if one.about.is_empty() {
        said.accounts.insert(Witness::Question);
    }
    said
}

fn voice(reading: &Reading, choice: String, yes: bool) -> Voice {
    let first = || reading.cites.first().map_or_else(|| reading.claim.clone(), |cite| cite.subject.clone());
    // A conclusion that was inferred from a lower rung was not observed on this one.
    let from = reading.reasons.iter().find_map(|reason| match reason {
        Reason::Follows { from, .. } => Some(*from),
        _ => None,
    });
    let short = match reading.grade.kind() {
        GradeKind::Limited => Some((first(), LeftOutWhy::InPart)),
        GradeKind::Inferred => Some((first(), LeftOutWhy::Inferred)),
        _ => None,
    };
    let by = reading.cites.iter().map(|cite| cite.observer.name.clone()).collect();
    let of = reading.cites.iter().map(|cite| cite.of.clone()).collect();
    let mut accounts = reading.cites.iter().map(|cite| &cite.accounts);
    let first = accounts.next().cloned().unwrap_or_default();
    let accounts = accounts.fold(first, |all, one| all.intersection(one).copied().collect());
    Voice { rung: from.unwrap_or(reading.rung), choice, yes, short, by, of, accounts }
}
