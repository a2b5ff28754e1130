//! The pages, one file each.

mod can_show;
mod census;
mod chain;
mod claims;
mod generations;
mod inventory;
mod legend;
mod libraries;
mod map;
mod observations;
mod observers;
mod overview;
mod phases;
mod probes;
mod questions;
mod sources;
mod worklog;

use crate::input::Study;
use crate::page::{NAV, Page};
use evidence::{Recorded, Rung};
use std::collections::BTreeSet;

/// The pages that would be empty.
pub fn without_content(study: &Study<'_>) -> BTreeSet<&'static str> {
    NAV.iter().copied().filter(|page| !has_content(study, page)).collect()
}

/// Whether the page has any content.
fn has_content(study: &Study<'_>, page: &str) -> bool {
    let seen = |topics: &[&str]| topics.iter().any(|topic| study.facts(topic).next().is_some());
    let looked = |topic: &str| {
        let views = |recorded: &Recorded| recorded.field_of_view().views.iter().any(|view| view.topic == topic);
        let files = study.input.observations.iter().filter(|recorded| recorded.rung() == Rung::Shipped);
        files.into_iter().any(|recorded| *recorded.finding() == evidence::Finding::Swept && views(recorded))
    };
    let investigation = study.input.investigation;
    match page {
        "map" | "generations" => map::Asked::of(study).is_some(),
        "chain" => !investigation.questions.is_empty(),
        "inventory" => study.kernels.count() > 0 || looked("file.target"),
        "census" => seen(&["isa.count"]),
        "libraries" => libraries::any(study),
        "probes" => seen(&["probe.response", "server.timing"]),
        "phases" => !investigation.phases.is_empty(),
        "questions" => {
            study.input.questions.iter().any(|question| question.open)
                || study.input.readings.iter().any(|reading| reading.grade.is_unresolved())
        }
        "worklog" => !study.input.observations.is_empty() || !study.input.notes.is_empty(),
        _ => true,
    }
}

pub fn all(study: &Study<'_>) -> Vec<Page> {
    let mut pages = vec![overview::page(study), map::page(study)];
    pages.extend(chain::pages(study));
    pages.extend([generations::page(study), observers::page(study), inventory::page(study), census::page(study)]);
    pages.extend(libraries::pages(study));
    pages.extend([
        phases::page(study),
        questions::page(study),
        can_show::page(study),
        sources::page(study),
        probes::page(study),
        worklog::page(study),
        observations::page(study),
        legend::page(study),
    ]);
    pages
}
