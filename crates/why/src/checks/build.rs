//! The build: the paths that its rules choose, those of newer releases, and how it was compiled.

use super::outcome::{Found, Outcome, gpu_in_use, seen, unchecked, untold};
use crate::cause::{Id, Seen};
use crate::facts::{Facts, Rules};
use crate::fixes;
use crate::speed::PROMPT;
use crate::sure::Sure;
use say::{Message, say};

fn rules(facts: &Facts) -> Result<&Rules, Outcome> {
    if facts.server.is_some() && !gpu_in_use(facts) {
        return Err(Outcome::NotApplicable);
    }
    facts.rules.as_ref().ok_or_else(|| {
        let why = match () {
            () if facts.card().is_none() => say!("why-unchecked-card"),
            () if facts.model.is_none() => say!("why-unchecked-model"),
            () if facts.server.as_ref().is_some_and(|server| server.version.is_none()) => {
                say!("why-unchecked-version")
            }
            () => say!("why-unchecked-rules"),
        };
        unchecked(why)
    })
}

fn evidence(rules: &Rules) -> Vec<Seen> {
    let place = rules.place.clone().unwrap_or_default();
    let says = say!("why-seen-rule", version = rules.version, kind = rules.kind, target = rules.target, place = place);
    vec![Seen::new(rules.version.clone(), says)]
}

fn newer(rules: &Rules, path: &str) -> Option<Message> {
    let newer = rules.newer.as_ref().filter(|newer| newer.after == path)?;
    Some(say!("why-reason-newer", version = newer.version, date = newer.date, path = newer.after))
}

/// BLAS first unpacks the weights to fp16 in memory; MMQ reads them as they are.
pub fn blas_path(facts: &Facts) -> Outcome {
    let rules = match rules(facts) {
        Ok(rules) => rules,
        Err(outcome) => return outcome,
    };
    let quantised = gguf::TensorType::parse(&rules.kind).is_ok_and(gguf::TensorType::is_quantised);
    match rules.path(PROMPT) {
        None => unchecked(say!("why-unchecked-rules")),
        // If the newest release still chooses BLAS, BLAS is right for this card.
        Some("BLAS") if quantised && rules.newer.as_ref().is_some_and(|newer| newer.after == "MMQ") => {
            let blas = rules.stretches.iter().find(|(_, to, path)| path == "BLAS" && *to >= PROMPT);
            let text = say!("why-blas-path", from = blas.map_or(PROMPT, |(from, ..)| *from));
            let found = Found::new(Id::BlasPath, text, Sure::Expected, evidence(rules));
            found.reason(newer(rules, "MMQ")).fix(fixes::upgrade(facts, rules))
        }
        Some(_) => {
            let mut paths: Vec<&str> = rules.stretches.iter().map(|(.., path)| path.as_str()).collect();
            paths.dedup();
            Outcome::Fine(say!("why-fine-paths", paths))
        }
    }
}

pub fn old_build(facts: &Facts) -> Outcome {
    let rules = match rules(facts) {
        Ok(rules) => rules,
        Err(outcome) => return outcome,
    };
    if facts.server.is_none() {
        return Outcome::NotApplicable;
    }
    let Some(newer) = &rules.newer else { return Outcome::Fine(say!("why-fine-build")) };
    // BLAS for prompts is a separate cause.
    if rules.path(PROMPT) == Some("BLAS") && newer.before == "BLAS" {
        return Outcome::NotApplicable;
    }
    let columns = if newer.from == newer.to { newer.from.to_string() } else { format!("{}-{}", newer.from, newer.to) };
    let text = say!("why-old-build", columns);
    let reason = say!("why-reason-newer", version = newer.version, date = newer.date, path = newer.after);
    let found = Found::new(Id::OldBuild, text, Sure::Expected, evidence(rules));
    found.reason(Some(reason)).fix(fixes::upgrade(facts, rules))
}

pub fn debug_build(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    match &server.build_type {
        None => Outcome::NotApplicable,
        Some(known) if known.value.eq_ignore_ascii_case("debug") => {
            let text = say!("why-debug-build", kind = known.value);
            Found::new(Id::DebugBuild, text, Sure::Seen, vec![seen(known)]).fix(fixes::release_build(known))
        }
        Some(known) if known.value.is_empty() => untold(facts),
        Some(_) => Outcome::Fine(say!("why-fine-release")),
    }
}
