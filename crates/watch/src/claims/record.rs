//! Claims in the ledger: the claim itself on the rung Loaded, and the matching fact from the launches on their rung.

use crate::claims::{Held, Shown};
use crate::{RecordContext, Tally};
use evidence::{About, Contamination, Coverage, Fact, Finding, Loaded, Observation, ObserverId, Refused};
use observe::{Raw, Sighting};
use std::fmt::Write;

/// One observation per claim, and a second one for the fact that the launches show about it, if any.
pub fn sightings(
    held: &[Held],
    shown: &Shown,
    scene: &RecordContext<'_>,
    tally: &Tally,
) -> Result<Vec<Sighting>, Refused> {
    let mut raw = String::from("claim\tsaid\twhere\tverdict\twhy\tweak\n");
    for one in held {
        let (key, said, origin) = (one.claim.meaning.key(), &one.claim.said, &one.claim.origin);
        let weak = one.weak.map(|weak| weak.key()).unwrap_or_default();
        let _ = writeln!(raw, "{key}\t{said}\t{origin}\t{}\t{}\t{weak}", one.verdict.key(), why(one));
    }
    let _ = writeln!(raw, "\n{shown:#?}");
    let mut list = Vec::new();
    for one in held {
        let field = one.claim.meaning.key();
        let about = About::new([("field", field.to_owned()), ("place", one.claim.origin.to_string())]);
        let fact = Fact::new("server.claim", about, one.claim.said.clone());
        let id = ObserverId::new("claims", env!("CARGO_PKG_VERSION"));
        let coverage = Coverage::complete("claims", 1);
        let said = Observation::on::<Loaded>(id, scene.subject(), Finding::Saw(fact), coverage, scene.time)?;
        let said = said.contamination(Contamination::Untouched);
        list.push(Sighting::from(said).with(Raw::text(raw.clone())));
        if !one.reason.figures.is_empty() {
            let fact = Fact::new("server.claim.seen", About::new([("field", field)]), why(one));
            list.push(scene.one(Finding::Saw(fact), tally)?.with(Raw::text(raw.clone())));
        }
    }
    Ok(list)
}

fn why(one: &Held) -> String {
    let figures: Vec<String> = one.reason.figures.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if figures.is_empty() { one.reason.key.to_owned() } else { figures.join(", ") }
}
