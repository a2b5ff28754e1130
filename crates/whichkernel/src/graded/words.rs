//! Wording that `check` and `investigate` share: the requested file, the counts, and the reasons.

use crate::context::Context;
use evidence::{Investigation, Reading, Reason, default_investigation};
use investigate::{Advice, Graded, Need};
use report::Lang;
use say::{Context as _, error, say};
use std::collections::BTreeSet;
use std::path::Path;

/// A size limit; investigations are written by hand.
const LONGEST: u64 = 16 << 20;

/// The name that always means the built-in file.
pub const NOTES: &str = "field-notes";
/// The name of the investigation file that `investigate` writes about this machine, next to the ledger.
pub const MACHINE: &str = "this-machine";

/// The named file. Without a name: this machine's own, if `investigate` has written one, else the field notes; a note says which.
pub fn chosen(file: Option<&Path>, context: &Context) -> say::Result<Investigation> {
    let own = context.ledger.join(format!("{MACHINE}.toml"));
    match file {
        Some(path) if path.as_os_str() == NOTES && !path.exists() => load(None),
        Some(path) => load(Some(path)),
        None if own.is_file() => {
            context.note(&context.lang.say(&say!("check-machine-file", path = own)));
            load(Some(&own))
        }
        None => load(None),
    }
}

pub fn load(file: Option<&Path>) -> say::Result<Investigation> {
    let Some(path) = file else { return Ok(default_investigation()?) };
    let bytes = sys::regular_file::whole(path, LONGEST).with_context(|| say!("command-cannot-read", path))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        error!("command-investigation-not-utf8", path, at)
    })?;
    Ok(Investigation::parse(&path.to_string_lossy(), &text)?)
}

pub fn summary(graded: &Graded, lang: &Lang) -> String {
    let counts = graded.counts();
    let args = [
        ("total", graded.readings.len().into()),
        ("confirmed", counts.confirmed.into()),
        ("inferred", counts.inferred.into()),
        ("limited", counts.limited.into()),
        ("refuted", counts.refuted.into()),
        ("unresolved", counts.unresolved.into()),
    ];
    lang.text_with("check-summary", &args)
}

/// Describes a missing requirement: `ollama-rocm-60303 is not here`.
pub fn need_text(lang: &Lang, need: &Need) -> String {
    let (key, name) = match need {
        // How to get it, or that it cannot be fetched.
        Need::Runtime(name) if runtime::fetch::suites::suite(name).is_some() => ("runtime-fetch", name),
        Need::Runtime(name) => ("runtime", name),
        Need::Device(name) => ("device", name),
        Need::Machine(name) => ("machine", name),
        Need::Program(name) => ("program", name),
        Need::File(name) => ("file", name),
        Need::Filled(name) => ("filled", name),
        Need::Rights(name) => ("rights", name),
        Need::Process(name) => ("process", name),
        Need::Server(name) => ("server", name),
        Need::Network => return lang.text("check-needs-network"),
    };
    lang.text_with(&format!("check-needs-{key}"), &[("name", name.as_str().into())])
}

/// The missing prerequisites, then the command, so that the condition is read first.
pub fn advice_text(lang: &Lang, advice: &Advice) -> String {
    with_needs(lang, &advice.command, &advice.needs)
}

pub fn with_needs(lang: &Lang, command: &str, needs: &[Need]) -> String {
    if needs.is_empty() {
        return command.to_owned();
    }
    lang.text_with("check-needs", &[("needs", needs_text(lang, needs).into()), ("command", command.into())])
}

pub fn needs_text(lang: &Lang, needs: &[Need]) -> String {
    lang.list(needs.iter().map(|need| need_text(lang, need)))
}

/// The number of observations that are searched for different wordings.
const HEARD: usize = 256;

/// A short reason: the main reason of an open claim, else the evidence. Several observations with the same content are
/// one sentence, and their order does not depend on their times.
pub fn because(lang: &Lang, reading: &Reading) -> Vec<String> {
    let text = |reason: &Reason| report::plain_reason(lang, reading, reason);
    if reading.grade.is_unresolved() {
        let elsewhere = |reason: &&Reason| matches!(reason, Reason::Elsewhere { .. });
        let first = reading.reasons.iter().take(1).filter(|reason| !elsewhere(reason));
        return first.chain(reading.reasons.iter().filter(elsewhere).take(1)).map(text).collect();
    }
    let seen = |reason: &&Reason| matches!(reason, Reason::Holds { .. } | Reason::Contradicts { .. });
    let said: BTreeSet<String> = reading.reasons.iter().take(HEARD).filter(seen).map(text).collect();
    let caveat = reading.reasons.iter().find(|reason| !seen(reason) && !matches!(reason, Reason::Elsewhere { .. }));
    said.into_iter().take(if caveat.is_some() { 1 } else { 2 }).chain(caveat.map(text)).collect()
}
