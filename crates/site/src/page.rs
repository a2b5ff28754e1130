//! One page without its frame; the file names of the pages and their order.

use crate::words::Pair;
use maud::Markup;

/// A page without its frame.
#[derive(Debug)]
pub struct Page {
    /// `map`: the file without `.html`.
    pub name: String,
    pub title: Pair,
    pub body: Markup,
    /// Tables for download, by file name.
    pub tables: Vec<(String, String)>,
    /// Data for the page's script, by the id of its element.
    pub data: Vec<(String, serde_json::Value)>,
}

/// The pages in the order of the navigation list; each has a message `site-nav-NAME`.
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

/// A file name from an untrusted id: letters, digits and dashes; different ids give different names.
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
