//! Every page is linked from another, every link has a target, and every path of this tree that a page or a comment
//! names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file of the tree with this ending, relative to it.
fn files(end: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(top().join(&dir)).expect("a directory") {
            let entry = entry.expect("an entry");
            let (name, kind) = (entry.file_name().to_string_lossy().into_owned(), entry.file_type().expect("a kind"));
            let path = dir.join(&name);
            if kind.is_dir() && !matches!(name.as_str(), "target" | ".git") {
                open.push(path);
            } else if kind.is_file() && name.ends_with(end) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Prose: the lines outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets in `](...)`, outside code.
fn links(line: &str) -> Vec<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    plain.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to.to_owned()).collect()
}

/// A heading in the form that links use: lower case, words joined by hyphens, no other characters.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

/// `docs/../README.md` is `README.md`.
fn straight(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}

/// Page, line, target page, and the heading there.
fn all_links() -> Vec<(PathBuf, usize, PathBuf, Option<String>)> {
    let mut all = Vec::new();
    for page in files(".md") {
        let text = read(&page);
        for (number, line) in prose(&text) {
            for link in links(line).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
                let (path, heading) = link.split_once('#').map_or((link.as_str(), None), |(path, at)| (path, Some(at)));
                let to = match path {
                    "" => page.clone(),
                    path => straight(&page.parent().unwrap_or(Path::new("")).join(path)),
                };
                all.push((page.clone(), number, to, heading.map(str::to_owned)));
            }
        }
    }
    all
}

#[test]
fn every_link_of_every_page_leads_to_a_file_that_is_there() {
    let all = all_links();
    assert!(all.len() > 50, "links are found at all: {}", all.len());
    let mut broken = Vec::new();
    for (page, number, to, heading) in all {
        let place = format!("{}:{number}: {}", page.display(), to.display());
        if !top().join(&to).exists() {
            broken.push(place);
        } else if let Some(heading) = heading
            && !anchors(&read(&to)).contains(&heading)
        {
            broken.push(format!("{place}#{heading}"));
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_linked_from_another() {
    let links = all_links();
    let pages: Vec<PathBuf> = files("").into_iter().filter(|path| path.starts_with("docs")).collect();
    assert!(pages.len() > 20, "{pages:?}");
    let lonely = |page: &PathBuf| !links.iter().any(|(from, _, to, _)| to == page && from != page);
    let lonely: Vec<PathBuf> = pages.into_iter().filter(lonely).collect();
    assert!(lonely.is_empty(), "nobody links to {lonely:?}");
    for first in ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/README.md"] {
        let from = |(from, _, to, _): &(PathBuf, usize, PathBuf, _)| {
            to == Path::new(first) && (from == Path::new("README.md") || from == Path::new("docs/README.md"))
        };
        assert!(links.iter().any(from), "neither README.md nor docs/README.md links to {first}");
    }
}

/// Texts between backticks that are paths of this tree.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    const FLOORS: [&str; 8] = ["crates/", "dev/", "shims/", "xtask/", "docs/", "benches/", ".ci/", ".cargo/"];
    let words = line.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let words = words.map(|word| word.split([':', ',', ')', ';']).next().unwrap_or_default());
    words.filter(|word| FLOORS.iter().any(|floor| word.starts_with(floor) && word.len() > floor.len()))
}

/// Whether a path exists; NAME and `*` match any name.
fn is_there(dir: &Path, path: &str) -> bool {
    let (part, rest) = path.split_once('/').map_or((path, None), |(part, rest)| (part, Some(rest)));
    let go_on = |at: PathBuf| match rest {
        None | Some("") => at.exists(),
        Some(rest) => is_there(&at, rest),
    };
    let part = part.replace("NAME", "*");
    let Some((start, end)) = part.split_once('*') else { return go_on(dir.join(part)) };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let fits = |name: &str| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    entries.filter(|entry| fits(&entry.file_name().to_string_lossy())).any(|entry| go_on(entry.path()))
}

#[test]
fn every_path_that_a_page_or_a_comment_names_is_there() {
    let (mut checked, mut missing) = (0, Vec::new());
    let mut look = |file: &Path, number: usize, line: &str| {
        for path in paths(line) {
            checked += 1;
            if !is_there(&top(), path) {
                missing.push(format!("{}:{number}: {path}", file.display()));
            }
        }
    };
    for page in files(".md") {
        prose(&read(&page)).for_each(|(number, line)| look(&page, number, line));
    }
    for source in files(".rs") {
        let text = read(&source);
        let comments = (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("//"));
        comments.for_each(|(number, line)| look(&source, number, line));
    }
    assert!(checked > 100, "paths are found at all: {checked}");
    assert!(missing.is_empty(), "named, and not there:\n{}", missing.join("\n"));
}

#[test]
fn a_link_a_heading_and_a_path_are_told_from_other_text() {
    assert_eq!(links("see [a](b.md#c), `[no](x)` and [d](../e.md)"), ["b.md#c", "../e.md"]);
    assert_eq!(anchor(" Least rights: `a_b`, 5 of them"), "least-rights-a_b-5-of-them");
    assert_eq!(straight(Path::new("docs/../README.md")), Path::new("README.md"));
    let found: Vec<&str> = paths("`crates/a.rs:12`, `cargo install --path crates/b`, crates/c, `/dev/null`").collect();
    assert_eq!(found, ["crates/a.rs", "crates/b"]);
    assert!(is_there(&top(), "crates/gpu/profiles/NAME.toml") && is_there(&top(), "crates/*/Cargo.toml"));
    assert!(!is_there(&top(), "crates/gpu/profiles/no-such-card.toml") && !is_there(&top(), "crates/NAME/nothing"));
    assert_eq!(prose("a\n```\nb\n```\nc").map(|(number, _)| number).collect::<Vec<_>>(), [1, 5]);
}
