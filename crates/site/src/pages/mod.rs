//! The pages, one file each.

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
mod shows;
mod sources;
mod worklog;

use crate::input::Study;
use crate::write::Page;

/// In the order of the list beside the page; each has a message `site-nav-NAME`.
pub const NAV: &[&str] = &[
    "index",
    "map",
    "chain",
    "generations",
    "observers",
    "inventory",
    "census",
    "libraries",
    "phases",
    "questions",
    "shows",
    "sources",
    "probes",
    "worklog",
    "observations",
    "legend",
];

pub fn all(study: &Study<'_>) -> Vec<Page> {
    let mut pages = vec![overview::page(study), map::page(study)];
    pages.extend(chain::pages(study));
    pages.extend([generations::page(study), observers::page(study), inventory::page(study), census::page(study)]);
    pages.extend(libraries::pages(study));
    pages.extend([
        phases::page(study),
        questions::page(study),
        shows::page(study),
        sources::page(study),
        probes::page(study),
        worklog::page(study),
        observations::page(study),
        legend::page(study),
    ]);
    pages
}

/// A file name from an id that anybody may have written: letters, digits and dashes; two ids never share one.
pub fn slug(id: &str) -> String {
    let plain: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).take(48).collect();
    if plain == id { plain } else { format!("{plain}-{}", evidence::ObservationId::of(id.as_bytes()).short()) }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn an_id_leads_nowhere_but_into_the_folder() {
        assert_eq!(slug("boundary-290"), "boundary-290");
        let odd = slug("../../etc/<x>");
        assert!(odd.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{odd}");
        assert_ne!(slug("a/b"), slug("a-b"));
        assert_ne!(slug("A"), slug("a"));
    }
}
