//! The topics that observers write, which are the only topics of claims. They are read from
//! `crates/evidence/topics.md`, so that the page and the program cannot differ.

use say::{Message, say};
use std::sync::OnceLock;

#[derive(Debug, PartialEq)]
struct Topic {
    name: String,
    /// Whether the values count something, so that a partial value is less than the whole.
    counts: bool,
}

fn known() -> &'static [Topic] {
    static KNOWN: OnceLock<Vec<Topic>> = OnceLock::new();
    KNOWN.get_or_init(|| listed(include_str!("../../topics.md")))
}

/// Reads the first column of every table, and the type of the value from the last column. In "`bundle.size`, `.role`",
/// the second topic is `bundle.role`.
fn listed(page: &str) -> Vec<Topic> {
    let mut all = Vec::new();
    for row in page.lines().filter_map(|row| row.strip_prefix("| `")) {
        let columns: Vec<&str> = row.split(" | ").collect();
        let first = columns.first().copied().unwrap_or_default();
        let counts = columns.last().is_some_and(|value| value.starts_with("count"));
        let mut base = String::new();
        for name in first.split('`').step_by(2).filter(|name| !name.is_empty()) {
            let name = match (name.strip_prefix('.'), base.rsplit_once('.')) {
                (Some(end), Some((room, _))) => format!("{room}.{end}"),
                _ => name.to_owned(),
            };
            base.clone_from(&name);
            all.push(Topic { name, counts });
        }
    }
    all
}

pub(crate) fn counts(topic: &str) -> bool {
    known().iter().any(|known| known.name == topic && known.counts)
}

/// Fails for an unknown topic. The error names the nearest known one.
pub(crate) fn check(topic: &str) -> Result<(), Message> {
    if topic.is_empty() {
        return Err(say!("evidence-file-topic-empty"));
    }
    if known().iter().any(|known| known.name == topic) {
        return Ok(());
    }
    Err(match near::near(topic, known().iter().map(|known| known.name.as_str())) {
        Some(near) => say!("evidence-file-topic-near", topic, near),
        None => say!("evidence-file-topic", topic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_read_as_a_person_reads_it() {
        let rows = "| topic | what |\n|---|---|\n| `a.size`, `.role` | x |\n| `kernel` | `not.this` | count |\ntext `nor.this`\n";
        let topic = |(name, counts): (&str, bool)| Topic { name: name.to_owned(), counts };
        assert_eq!(listed(rows), [("a.size", false), ("a.role", false), ("kernel", true)].map(topic));
        assert!(known().len() >= 75, "{}", known().len());
    }

    #[test]
    fn a_slip_is_an_error_with_the_nearest_topic() {
        for topic in ["matmul.path", "bundle.role", "kernel.stub", "probe.response"] {
            assert_eq!(check(topic), Ok(()));
        }
        assert_eq!(
            check("matmul.pth").unwrap_err().to_string(),
            "no observer reports the topic 'matmul.pth'; did you mean 'matmul.path'?"
        );
        assert!(check("weather").unwrap_err().to_string().contains("crates/evidence/topics.md"));
        assert!(check(&"x".repeat(5000)).is_err());
    }
}
