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
use crate::page::Page;

/// Whether the rules of any build are known.
pub fn has_map(study: &Study<'_>) -> bool {
    map::Asked::of(study).is_some()
}

pub fn has_libraries(study: &Study<'_>) -> bool {
    libraries::any(study)
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
