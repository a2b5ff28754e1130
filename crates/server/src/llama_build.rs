//! The build of llama.cpp that a server contains.

use crate::identity::{Identity, Kind, build_number, release};
use say::{Message, say};

const VENDORS: &str = include_str!("../data/ollama-vendors.tsv");

/// The build of llama.cpp inside a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    pub number: u64,
    /// The source of the number, in technical terms.
    pub from: Message,
    /// The server is newer than our list: it contains this build or a later one.
    pub or_later: bool,
}

/// The build of llama.cpp that a server contains, as far as its version shows.
pub fn build(identity: &Identity, logged: Option<u64>) -> Option<Build> {
    let version = identity.version.as_deref();
    match identity.kind {
        Kind::Vllm => None,
        Kind::Ollama => {
            let wanted = release(version?)?;
            let rows = VENDORS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
                let mut cells = line.split('\t');
                Some((release(cells.next()?)?, cells.next()?.parse().ok()?, cells.next()?))
            });
            let rows: Vec<([u64; 3], u64, &str)> = rows.collect();
            let (first, number, commit) = *rows.iter().rfind(|(first, ..)| *first <= wanted)?;
            // A server after the last listed release may contain any newer build.
            let or_later = rows.last().is_some_and(|(last, ..)| wanted > *last);
            let [a, b, c] = first;
            let from = match or_later {
                true => say!("server-build-ollama-last", version = format!("{a}.{b}.{c}"), commit),
                false => say!("server-build-ollama", version = version?, commit),
            };
            Some(Build { number, from, or_later })
        }
        _ => {
            let number = version.and_then(build_number).or(logged)?;
            Some(Build { number, from: say!("server-build-number", number), or_later: false })
        }
    }
}
