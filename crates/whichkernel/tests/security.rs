//! SECURITY.md: every test that it names exists, and every line of its tables names a test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of all tests in the tree.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = ["crates", "dev", "xtask"].map(|floor| top().join(floor)).to_vec();
    while let Some(path) = open.pop() {
        let meta = std::fs::symlink_metadata(&path).expect("there");
        if meta.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            open.extend(std::fs::read_dir(&path).expect("read").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).expect("text");
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                if let (true, Some((name, _))) =
                    (is_test, line.strip_prefix("fn ").and_then(|rest| rest.split_once('(')))
                {
                    found.insert(name.to_owned());
                }
                let between = line.starts_with("#[") || line.starts_with("//");
                is_test = line == "#[test]" || (is_test && between);
            }
        }
    }
    found
}

/// Texts in backticks that look like a test name: at least three words joined by underscores.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    text.split('`').skip(1).step_by(2).filter(plain).filter(|name| name.matches('_').count() >= 3)
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let text = std::fs::read_to_string(top().join("SECURITY.md")).expect("SECURITY.md");
    let tests = tests();
    assert!(tests.contains("every_test_that_the_threat_model_names_exists"), "tests are found at all");
    let names: BTreeSet<&str> = named(&text).collect();
    assert!(names.len() > 20, "{names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !tests.contains(**name)).collect();
    assert!(missing.is_empty(), "named in SECURITY.md, and not in the tree: {missing:?}");
}

#[test]
fn every_line_of_the_threat_model_names_its_test() {
    let text = std::fs::read_to_string(top().join("SECURITY.md")).expect("SECURITY.md");
    let mut checked = 0;
    let mut by_test = false;
    for line in text.lines() {
        match line.strip_prefix('|') {
            Some(_) if line.trim_end().ends_with("| test |") => by_test = true,
            Some(rule) if rule.starts_with("---") => {}
            Some(row) if by_test => {
                let last = row.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
                assert!(named(last).next().is_some(), "no test in: {line}");
                checked += 1;
            }
            Some(_) => {}
            None => by_test = false,
        }
    }
    assert!(checked > 10, "{checked} lines");
}
