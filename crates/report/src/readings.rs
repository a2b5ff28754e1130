//! Readings in words: grades, rungs and reasons, in the reader's language.

use crate::Lang;
use evidence::{Grade, GradeKind, Looker, ObservationId, Part, Reading, Reason, Rung, Spot};
use fluent_bundle::FluentValue;
use say::Kept;

/// `confirmed`, or `unresolved: never tried`.
pub fn grade_text(lang: &Lang, grade: Grade) -> String {
    let name = lang.text(&format!("check-grade-{}", grade.name()));
    match grade.why() {
        Some(why) => format!("{name}: {}", lang.text(&format!("check-why-{}", why.name()))),
        None => name,
    }
}

pub fn grade_word(lang: &Lang, grade: Grade) -> String {
    lang.text(&format!("check-grade-{}", grade.name()))
}

pub fn rung_text(lang: &Lang, rung: Rung) -> String {
    lang.text(&format!("check-rung-{rung}"))
}

/// Colour by grade; nothing if colour is off.
pub fn paint(color: bool, grade: Grade, text: &str) -> String {
    let code = match grade.kind() {
        GradeKind::Confirmed => "32",
        GradeKind::Inferred => "36",
        GradeKind::Limited => "33",
        GradeKind::Unresolved(_) => "2",
        GradeKind::Refuted => "1;31",
    };
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// The reasons, one sentence each.
pub fn reasons(lang: &Lang, reading: &Reading) -> Vec<String> {
    reading.reasons.iter().map(|reason| reason_text(lang, reading, reason)).collect()
}

pub fn reason_text(lang: &Lang, reading: &Reading, reason: &Reason) -> String {
    reason_with(lang, reason, &|id| who(reading, id), &|_, saw| saw.in_words(lang))
}

/// `who` names an observation, `said` describes its result: in full or in plain words.
pub(crate) fn reason_with(
    lang: &Lang,
    reason: &Reason,
    who: &dyn Fn(&ObservationId) -> String,
    said: &dyn Fn(&ObservationId, &Kept) -> String,
) -> String {
    let say = |key: &str, args: &[(&'static str, String)]| {
        let args: Vec<(&str, FluentValue<'_>)> =
            args.iter().map(|(name, text)| (*name, text.as_str().into())).collect();
        lang.text_with(&format!("check-reason-{key}"), &args)
    };
    let list = |items: &[String]| items.join(lang.text("check-list-comma").trim_matches('"'));
    let kept = |items: &[Kept]| list(&items.iter().map(|item| item.in_words(lang)).collect::<Vec<_>>());
    match reason {
        Reason::Holds { observation, saw } => {
            say("holds", &[("who", who(observation)), ("saw", said(observation, saw))])
        }
        Reason::Contradicts { observation, saw } => {
            say("contradicts", &[("who", who(observation)), ("saw", said(observation, saw))])
        }
        Reason::NotThere { observation } => say("not-there", &[("who", who(observation))]),
        Reason::Partial { observation, missing } => {
            say("partial", &[("who", who(observation)), ("missing", kept(missing))])
        }
        Reason::RangeGap { parameter, gap } => {
            say("range-gap", &[("parameter", parameter.clone()), ("gap", gap.clone())])
        }
        Reason::WeakCanary { observation, canary } => {
            say("weak-canary", &[("who", who(observation)), ("canary", canary.in_words(lang))])
        }
        Reason::OneAccount { observation } => say("one-account", &[("who", who(observation))]),
        Reason::Uncertified { observation } => say("uncertified", &[("who", who(observation))]),
        Reason::Conflict { one, other } => say("conflict", &[("one", who(one)), ("other", who(other))]),
        Reason::Contaminated { observation, differences } => {
            say("contaminated", &[("who", who(observation)), ("differences", list(differences))])
        }
        Reason::BlindSpot { observation, spot } => {
            let (key, what) = match spot {
                Spot::View => ("blind-view", String::new()),
                Spot::Window { seen } => ("blind-window", seen.clone()),
                Spot::Coverage { missing } => ("blind-coverage", kept(missing)),
                Spot::NoCanary => ("blind-canary", String::new()),
                Spot::OnlyThis { what } => ("blind-only", what.clone()),
            };
            say(key, &[("who", who(observation)), ("what", what)])
        }
        Reason::Silent { observation, saw } => {
            say("silent", &[("who", who(observation)), ("saw", said(observation, saw))])
        }
        Reason::Blocked { observation, why, fix, said } => {
            let why = say::kept(lang, said.as_ref(), why);
            say("blocked", &[("who", who(observation)), ("why", why), ("fix", fix.clone())])
        }
        Reason::Transferred { observation, rule, differs, assumptions } => say(
            "transferred",
            &[
                ("who", who(observation)),
                ("rule", (*rule).to_owned()),
                ("differs", parts(lang, differs)),
                ("assumptions", list(&assumed(lang, assumptions))),
            ],
        ),
        Reason::Follows { observation, rule, from, assumptions } => say(
            "follows",
            &[
                ("who", who(observation)),
                ("rule", (*rule).to_owned()),
                ("rung", rung_text(lang, *from)),
                ("assumptions", list(&assumed(lang, assumptions))),
            ],
        ),
        Reason::Elsewhere { observation, differs, saw } => {
            let saw = said(observation, saw);
            say("elsewhere", &[("who", who(observation)), ("differs", parts(lang, differs)), ("saw", saw)])
        }
        Reason::OtherMachine { host } => say("other-machine", &[("host", host.clone())]),
        Reason::NotHere { what } => say("not-here", &[("what", what.clone())]),
        Reason::NoDevice { what } => say("no-device", &[("what", what.clone())]),
        Reason::NotInView { rung, topic } => {
            say("not-in-view", &[("rung", rung_text(lang, *rung)), ("topic", topic.clone())])
        }
        Reason::NeverTried { observers } if observers.is_empty() => say("never-tried", &[]),
        Reason::NeverTried { observers } => say("never-tried-by", &[("observers", list(&commands(observers)))]),
    }
}

/// One command per observer: its own, or the investigation that runs it.
fn commands(observers: &[Looker]) -> Vec<String> {
    let has_verb = |name: &str| observers.iter().any(|one| matches!(one, Looker::Verb(verb) if verb == name));
    let mut out: Vec<String> = Vec::new();
    for one in observers {
        let command = match one {
            Looker::Itself(name) if has_verb(name) => continue,
            Looker::Itself(_) => "whichkernel investigate".to_owned(),
            Looker::Verb(_) => one.to_string(),
        };
        if !out.contains(&command) {
            out.push(command);
        }
    }
    out
}

fn assumed(lang: &Lang, keys: &[&'static str]) -> Vec<String> {
    keys.iter().map(|key| lang.text(&format!("check-{key}"))).collect()
}

fn parts(lang: &Lang, parts: &[Part]) -> String {
    let name = |part: &Part| {
        let key = serde_json::to_value(part).ok().and_then(|value| value.as_str().map(str::to_owned));
        lang.text(&format!("check-part-{}", key.unwrap_or_default()))
    };
    let names: Vec<String> = parts.iter().map(name).collect();
    names.join(lang.text("check-list-comma").trim_matches('"'))
}

/// `inspect 0.1.0 (1a2b3c4d5e6f)`: the observer, and the observation's id for `ledger show`.
fn who(reading: &Reading, id: &ObservationId) -> String {
    match reading.cites.iter().find(|cite| cite.observation == *id) {
        Some(cite) => {
            // Marks observations from another ledger.
            let ledger = cite.imported_from.as_deref().and_then(|origin| origin.get(..8));
            let from = ledger.map(|ledger| format!(", ledger {ledger}")).unwrap_or_default();
            format!("{} {} ({}{from})", cite.observer.name, cite.observer.version, id.short())
        }
        None => id.short().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{RULES, Transfer, Why};

    #[test]
    fn every_word_is_there_in_both_languages() {
        let whys = [
            Why::Conflict,
            Why::Contaminated,
            Why::Blind,
            Why::Blocked,
            Why::OtherMachine,
            Why::NotHere,
            Why::NoDevice,
            Why::NotInView,
            Why::NeverTried,
        ];
        let mut keys: Vec<String> = whys.iter().map(|why| format!("check-why-{}", why.name())).collect();
        keys.extend(Rung::ALL.iter().map(|rung| format!("check-rung-{rung}")));
        keys.extend(["confirmed", "inferred", "limited", "unresolved", "refuted"].map(|g| format!("check-grade-{g}")));
        let assumptions = Transfer::ALL.iter().flat_map(|rule| rule.assumptions());
        let assumptions = assumptions.chain(RULES.iter().flat_map(|rule| rule.assumptions));
        keys.extend(assumptions.map(|key| format!("check-{key}")));
        let parts = [
            Part::Runtime,
            Part::File,
            Part::Source,
            Part::Defines,
            Part::Target,
            Part::Gpu,
            Part::Device,
            Part::Model,
            Part::Window,
            Part::Host,
        ];
        for code in ["en", "ja"] {
            let lang = Lang::new(code);
            for key in &keys {
                assert_ne!(&lang.text(key), key, "{code}");
            }
            for part in parts {
                assert!(!super::parts(&lang, &[part]).starts_with("check-"), "{code} {part:?}");
            }
        }
    }
}
