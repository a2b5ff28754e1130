//! The topics that observers write, and so all that a claim may be about: read from `docs/topics.md`, where they are
//! agreed on, so that the page and the program cannot differ.

use std::sync::OnceLock;

fn known() -> &'static [String] {
    static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
    KNOWN.get_or_init(|| listed(include_str!("../../../../docs/topics.md")))
}

/// The first column of every table. In "`bundle.size`, `.role`" the second stands for `bundle.role`.
fn listed(page: &str) -> Vec<String> {
    let firsts = page.lines().filter_map(|row| row.strip_prefix("| `")?.split(" | ").next());
    let mut all = Vec::new();
    for first in firsts {
        let mut base = String::new();
        for name in first.split('`').step_by(2).filter(|name| !name.is_empty()) {
            let name = match (name.strip_prefix('.'), base.rsplit_once('.')) {
                (Some(end), Some((room, _))) => format!("{room}.{end}"),
                _ => name.to_owned(),
            };
            base.clone_from(&name);
            all.push(name);
        }
    }
    all
}

/// An unknown topic is an error that names the nearest known one.
pub(crate) fn check(topic: &str) -> Result<(), String> {
    if topic.is_empty() {
        return Err("the topic is empty".to_owned());
    }
    if known().iter().any(|known| known == topic) {
        return Ok(());
    }
    let near = known().iter().map(|known| (distance(known, topic), known)).min();
    let hint = match near {
        Some((far, known)) if far <= 3.max(topic.len() / 3) => format!("; did you mean '{known}'?"),
        _ => "; docs/topics.md lists those there are".to_owned(),
    };
    Err(format!("no observer knows the topic '{topic}'{hint}"))
}

/// Edit distance; long input is no reason to compute it.
fn distance(a: &str, b: &str) -> usize {
    if b.len() > 64 { usize::MAX } else { strsim::levenshtein(a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_read_as_a_person_reads_it() {
        let rows =
            "| topic | what |\n|---|---|\n| `a.size`, `.role` | x |\n| `kernel` | `not.this` |\ntext `nor.this`\n";
        assert_eq!(listed(rows), ["a.size", "a.role", "kernel"]);
        assert!(known().len() >= 75, "{}", known().len());
    }

    #[test]
    fn a_slip_is_an_error_with_the_nearest_topic() {
        for topic in ["matmul.path", "bundle.role", "kernel.stub", "probe.response"] {
            assert_eq!(check(topic), Ok(()));
        }
        assert_eq!(
            check("matmul.pth").unwrap_err(),
            "no observer knows the topic 'matmul.pth'; did you mean 'matmul.path'?"
        );
        assert!(check("weather").unwrap_err().contains("docs/topics.md"));
        assert!(check(&"x".repeat(5000)).is_err());
    }
}
