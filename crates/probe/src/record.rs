//! Probes in the ledger: a server's answers are on the rung Loaded, with the raw exchanges attached.

use crate::answer::{Answer, Probe};
use crate::observer::{NAME, TOPICS};
use crate::speed::Spread;
use evidence::{
    About, Artifact, Contamination, Coverage, DeviceKind, Fact, FieldOfView, Finding, Loaded, Observation, ObserverId,
    Refused, Subject, View,
};
use observe::{Raw, Sighting};
use say::say;

/// The cases of the RX 9070 XT field notes, by reported prompt and generated tokens.
const CASES: &[(u64, u64, &str)] =
    &[(3, 1, "short_np1"), (11, 1, "medium_np1"), (290, 1, "long_np1"), (3, 16, "short_np16")];

/// The server's device as known on this machine: never the card that the user chose for the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ground {
    pub device: Option<DeviceKind>,
    /// The target, such as `gfx1201`; only for a device that is known to be real.
    pub target: Option<String>,
    /// The card, such as `rx-9070-xt`.
    pub card: Option<String>,
    /// The installation of the server, if known: `ollama-rocm-60303`.
    pub runtime: Option<String>,
    /// Set if the server is on another machine: the observations are then not about this host.
    pub host: Option<String>,
}

/// `raw`: the exchanges in the form of [`crate::replay::text`], so that everything can be recomputed.
pub fn sightings(answer: &Answer, raw: &str, ground: &Ground, time: &str) -> Result<Vec<Sighting>, Refused> {
    let mut subject = Subject::of(Artifact::None).device(ground.device.unwrap_or(DeviceKind::Unknown));
    subject.target = ground.target.clone();
    subject.gpu = ground.card.clone();
    subject.runtime = ground.runtime.clone();
    subject.host = ground.host.clone();
    subject.model = answer.server.model.clone();
    let mut facts: Vec<Fact> = answer.probes.iter().flat_map(of_probe).collect();
    for load in &answer.load {
        let mut add = |field: &str, spread: Option<Spread>| {
            if let Some(spread) = spread {
                let about = About::new([("run", load.run), ("field", field)]);
                facts.push(Fact::new("server.timing", about, spread.median / 1e3));
            }
        };
        add("load", load.load_ms);
        add("prompt_eval", load.prompt_ms);
        add("eval", load.eval_ms);
    }
    let coverage = || {
        let whole = Coverage::complete("answers", answer.probes.len() as u64);
        let failed = answer
            .failed
            .iter()
            .fold(whole, |coverage, failure| coverage.missing(failure.name.as_str(), failure.why.clone()));
        match &answer.ended {
            Some(why) => failed.missing(say!("missed-rest-of-run"), why.clone()),
            None => failed,
        }
    };
    let view = || FieldOfView::new(TOPICS.map(View::new).to_vec());
    let mut list = Vec::new();
    for fact in facts {
        let id = ObserverId::new(NAME, env!("CARGO_PKG_VERSION"));
        // An answer is valid regardless of how many others are missing.
        let coverage = if list.is_empty() { coverage() } else { Coverage::complete("answers", 1) };
        let one = Observation::on::<Loaded>(id, subject.clone(), Finding::Saw(fact), coverage, time)?;
        list.push(Sighting::from(one.view(view()).contamination(Contamination::Untouched)).with(Raw::text(raw)));
    }
    Ok(list)
}

fn of_probe(probe: &Probe) -> Vec<Fact> {
    // The notes identify a prompt by the count that the server reported.
    let (Some(told), Some(generated)) = (probe.reported.or(probe.asked), probe.eval_count) else { return Vec::new() };
    // The prompt of a cold start, or one of several at once, is a different case from the same prompt alone.
    let plain = probe.name.split('#').next().is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    let known = CASES.iter().find(|(prompt, predict, _)| plain && (*prompt, *predict) == (told, generated));
    let case = match known {
        Some((_, _, case)) => (*case).to_owned(),
        None if plain => format!("{told}_np{generated}"),
        None => probe.name.clone(),
    };
    let about = |field: &str| About::new([("case", case.as_str()), ("field", field)]);
    let count = |field: &str, value: Option<u64>| {
        value.and_then(|value| i64::try_from(value).ok()).map(|value| Fact::new(TOPICS[0], about(field), value))
    };
    let seconds = |field: &str, ms: Option<f64>| ms.map(|ms| Fact::new(TOPICS[0], about(field), ms / 1e3));
    [
        count("prompt_eval_count", probe.reported),
        count("evaluated", probe.evaluated),
        count("eval_count", probe.eval_count),
        seconds("prompt_eval_duration", probe.prompt_ms),
        seconds("eval_duration", probe.eval_ms),
    ]
    .into_iter()
    .flatten()
    .collect()
}
