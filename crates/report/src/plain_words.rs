//! An observation for readers who know neither topics nor hashes: `MMQ (Q4_K, columns 9-1024)`.

use crate::{Lang, reason_with, rung_text};
use evidence::{About, Bound, Citation, Fact, ObservationId, Reading, Reason, Subject};

/// Describes a fact in words.
pub fn plain_fact(lang: &Lang, fact: &Fact) -> String {
    fact_of(lang, fact, None)
}

/// The result of an observation, with the target that it applies to: `BLAS (gfx942, Q4_K, columns 64-1024)`.
pub fn plain_seen(lang: &Lang, cite: &Citation) -> Option<String> {
    cite.fact.as_ref().map(|fact| fact_of(lang, fact, cite.target.as_deref()))
}

fn fact_of(lang: &Lang, fact: &Fact, target: Option<&str>) -> String {
    let value = match (fact.value.is_nothing(), fact.bound) {
        (true, _) => lang.text("plain-nothing"),
        (false, Bound::AtLeast) => lang.text_with("plain-at-least", &[("value", fact.value.to_string().into())]),
        (false, Bound::Exact) => fact.value.to_string(),
    };
    let value = shortened(&value);
    let comma = lang.text("check-list-comma");
    let about = [target.unwrap_or_default(), &plain_about(lang, &fact.about)].map(str::to_owned);
    let about: Vec<String> = about.into_iter().filter(|part| !part.is_empty()).collect();
    match about.join(comma.trim_matches('"')) {
        about if about.is_empty() => value,
        about => lang.text_with("plain-fact", &[("value", value.into()), ("about", about.into())]),
    }
}

/// The parameters in words: types and names alone, the others with their labels.
pub fn plain_about(lang: &Lang, about: &About) -> String {
    let mut parts: Vec<(u8, String)> = Vec::new();
    for (key, value) in about.0.iter() {
        let value = value.replace("..", "-");
        parts.push(match key.as_str() {
            "type" | "name" | "observer" | "field" | "function" => (0, value),
            "columns" | "prompt" | "bundle" | "phase" => {
                (1, lang.text_with(&format!("plain-about-{key}"), &[("value", value.into())]))
            }
            _ => (2, format!("{key} {value}")),
        });
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    parts.join(lang.text("check-list-comma").trim_matches('"'))
}

/// A reason without hashes, versions and topics.
pub fn plain_reason(lang: &Lang, reading: &Reading, reason: &Reason) -> String {
    let cite = |id: &ObservationId| reading.cites.iter().find(|cite| cite.observation == *id);
    let who = |id: &ObservationId| cite(id).map_or_else(String::new, |cite| plain_who(lang, cite));
    let saw = |id: &ObservationId, said: &say::Kept| {
        let fact = cite(id).and_then(|cite| cite.fact.as_ref());
        fact.map_or_else(|| said.in_words(lang), |fact| plain_fact(lang, fact))
    };
    match reason {
        Reason::NotInView { rung, .. } => {
            lang.text_with("check-reason-not-in-view-plain", &[("rung", rung_text(lang, *rung).into())])
        }
        _ => reason_with(lang, reason, &who, &saw),
    }
}

/// `ollama 4fda6980, gfx1201`: the same build may differ between targets.
pub fn plain_subject(lang: &Lang, cite: &Citation) -> String {
    let this = Subject::names_this_host(&cite.of);
    let of = if this { lang.text("plain-this-machine") } else { cite.of.clone() };
    let comma = lang.text("check-list-comma");
    match &cite.target {
        Some(target) => [of.as_str(), target].join(comma.trim_matches('"')),
        None => of,
    }
}

/// Names the observer and its subject: `source (ollama 4fda6980, gfx1201)`.
fn plain_who(lang: &Lang, cite: &Citation) -> String {
    let of = plain_subject(lang, cite);
    lang.text_with("plain-who", &[("observer", cite.observer.name.as_str().into()), ("of", of.into())])
}

/// Shortens a long list, which does not belong in a sentence.
fn shortened(text: &str) -> String {
    const MOST: usize = 70;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MOST).collect();
    format!("{}...", cut.rsplit_once([' ', ',']).map_or(cut.as_str(), |(start, _)| start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_one_target_names_it() {
        let fact = Fact::new("matmul.path", About::new([("type", "Q4_K"), ("columns", "64..1024")]), "BLAS");
        let commit = "4fda69809a3f00000000000000000000000000ff";
        let subject = evidence::Subject::source("ollama", commit, Default::default()).target("gfx942");
        let seen = evidence::Observation::on::<evidence::Declared>(
            evidence::ObserverId::new("source", "1"),
            subject,
            evidence::Finding::Saw(fact),
            evidence::Coverage::complete("column counts", 1024),
            "2026-11-15T10:00:00.000Z",
        );
        let cite = Citation::of(&evidence::Recorded::new(seen.expect("an observation")));
        let (en, ja) = (Lang::new("en"), Lang::new("ja"));
        assert_eq!(plain_seen(&en, &cite).as_deref(), Some("BLAS (gfx942, Q4_K, columns 64-1024)"));
        assert_eq!(plain_seen(&ja, &cite).as_deref(), Some("BLAS（gfx942、Q4_K、64-1024 列）"));
        assert_eq!(plain_who(&en, &cite), "source (ollama 4fda6980, gfx942)");
    }

    #[test]
    fn a_fact_is_said_without_its_topic() {
        let about = About::new([("type", "Q4_K"), ("columns", "9..1024")]);
        let fact = Fact::new("matmul.path", about, "MMQ");
        assert_eq!(plain_fact(&Lang::new("en"), &fact), "MMQ (Q4_K, columns 9-1024)");
        assert_eq!(plain_fact(&Lang::new("ja"), &fact), "MMQ（Q4_K、9-1024 列）");
        let none = Fact::new("library", About::new([("name", "libMIOpen.so")]), evidence::Value::Nothing);
        assert_eq!(plain_fact(&Lang::new("en"), &none), "nothing (libMIOpen.so)");
    }
}
