//! Probes in the ledger: what a server answered stands on Loaded, with the raw exchanges beside it.

use crate::answer::{Answer, Probe};
use crate::speed::Spread;
use evidence::{
    About, Artifact, Contamination, Coverage, DeviceKind, Fact, Finding, Loaded, Observation, ObserverId, Refused,
    Subject,
};
use observe::{Raw, Sighting};

/// The cases of the RX 9070 XT field notes, by evaluated prompt and generated tokens.
const CASES: &[(u64, u64, &str)] =
    &[(3, 1, "short_np1"), (11, 1, "medium_np1"), (290, 1, "long_np1"), (3, 16, "short_np16")];

/// `raw`: the exchanges as [`crate::replay::text`] writes them, so that everything can be computed anew.
pub fn sightings(answer: &Answer, raw: &str, device: DeviceKind, time: &str) -> Result<Vec<Sighting>, Refused> {
    let mut subject = Subject::of(Artifact::None).device(device);
    subject.target = answer.server.target.clone();
    subject.gpu = answer.server.card.clone();
    subject.model = answer.server.model.clone();
    let mut facts = Vec::new();
    for probe in &answer.probes {
        facts.extend(of_probe(probe));
    }
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
        let failed =
            answer.failed.iter().fold(whole, |coverage, failure| coverage.missing(&failure.name, &failure.why));
        match &answer.ended {
            Some(why) => failed.missing("the rest of the run", why),
            None => failed,
        }
    };
    let mut list = Vec::new();
    for fact in facts {
        let id = ObserverId::new("probe", env!("CARGO_PKG_VERSION"));
        // What an answer says is said, however many others were not given.
        let coverage = if list.is_empty() { coverage() } else { Coverage::complete("answers", 1) };
        let one = Observation::on::<Loaded>(id, subject.clone(), Finding::Saw(fact), coverage, time)?;
        list.push(Sighting::from(one.contamination(Contamination::Untouched)).with(Raw::text(raw)));
    }
    Ok(list)
}

fn of_probe(probe: &Probe) -> Vec<Fact> {
    let (Some(asked), Some(generated)) = (probe.asked, probe.eval_count) else { return Vec::new() };
    let known = CASES.iter().find(|(prompt, predict, _)| (*prompt, *predict) == (asked, generated));
    let case = known.map_or_else(|| format!("{asked}_np{generated}"), |(_, _, case)| (*case).to_owned());
    let about = |field: &str| About::new([("case", case.as_str()), ("field", field)]);
    let count = |field: &str, value: Option<u64>| {
        value.and_then(|value| i64::try_from(value).ok()).map(|value| Fact::new("probe.response", about(field), value))
    };
    let seconds = |field: &str, ms: Option<f64>| ms.map(|ms| Fact::new("probe.response", about(field), ms / 1e3));
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
