//! The certificate as an observation, so that the ledger shows which observers were found safe, and where.

use crate::{Certificate, Point};
use evidence::{
    About, Contamination, Coverage, Fact, FieldOfView, Finding, Launched, Observation, ObserverId, Refused, Rung,
    Selected, View,
};
use observe::{Observer, Raw, Sighting};
use say::{Say as _, key, say};
use watch::RecordContext;

const NAME: &str = "certify";

/// The comparison as facts: the verdict and each point, with the complete certificate as raw evidence. `json` is the
/// certificate as printed.
///
/// The facts are about the observer. They are valid even if the observer changed the program.
pub fn sighting(certificate: &Certificate, json: &str, scene: &RecordContext<'_>) -> Result<Vec<Sighting>, Refused> {
    let who = ("observer", certificate.observer.clone());
    let mut facts = vec![Fact::new("certificate", About::new([who.clone()]), certificate.outcome().key())];
    for point in &certificate.points {
        let about = About::new([who.clone(), ("point", point.what.key().to_owned())]);
        facts.push(Fact::new("certificate.point", about, point.verdict.key()));
    }
    if let Some(added) = certificate.added_ns {
        let about = About::new([who, ("per", "launch".to_owned())]);
        facts.push(Fact::new("certificate.added-ns", about, added.round() as i64));
    }
    let one = |fact: Fact| {
        let id = ObserverId::new(NAME, env!("CARGO_PKG_VERSION"));
        let (subject, coverage) = (scene.subject(), coverage(certificate));
        let seen = match scene.account.rung(scene.account.device) {
            Rung::Launched | Rung::Completed => {
                Observation::on::<Launched>(id, subject, Finding::Saw(fact), coverage, scene.time)?
            }
            _ => Observation::on::<Selected>(id, subject, Finding::Saw(fact), coverage, scene.time)?,
        };
        let seen: Sighting = seen.view(in_view()).contamination(Contamination::Untouched).into();
        Ok(seen.with(Raw::text(json)))
    };
    facts.into_iter().map(one).collect()
}

/// Covers the points that count and could be judged, and names the others.
fn coverage(certificate: &Certificate) -> Coverage {
    let concluded = certificate.conclusion(Point::key);
    let asked = concluded.answered() + concluded.left_out().len() as u64;
    let blank = Coverage::partial("points", concluded.answered(), Some(asked), Vec::new());
    concluded.left_out().iter().fold(blank, |coverage, left| coverage.missing(left.what.clone(), left.why.message()))
}

fn in_view() -> FieldOfView {
    FieldOfView::new(["certificate", "certificate.*"].map(View::new).to_vec())
        .reach(say!("view-certify"))
        .blind(key!("view-certify-blind"))
}

/// `watch --certify` as an observer for investigations.
#[derive(Debug)]
pub struct Certifier;

impl Observer for Certifier {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        [Rung::Launched, Rung::Selected].map(|rung| (rung, in_view())).to_vec()
    }

    fn verb(&self) -> Option<&'static str> {
        Some("watch")
    }
}
