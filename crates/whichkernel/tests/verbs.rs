//! Verbs do not import each other: shared code belongs in another crate, or in `asked`. Their JSON is created in one
//! place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn verbs_do_not_import_each_other() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verbs");
    let mut all = Vec::new();
    files(&top, &mut all);
    let verb_of = |path: &Path| {
        let first = path.strip_prefix(&top).ok()?.components().next()?;
        Some(first.as_os_str().to_str()?.trim_end_matches(".rs").to_owned())
    };
    let verbs: BTreeSet<String> = all.iter().filter_map(|path| verb_of(path)).filter(|verb| verb != "mod").collect();
    assert!(verbs.len() > 10, "{verbs:?}");
    let mut found = BTreeSet::new();
    for path in &all {
        let (Some(verb), Ok(text)) = (verb_of(path), std::fs::read_to_string(path)) else { continue };
        // In a verb's first file, `super` is the module of all verbs; deeper files can only reach it by its full path.
        let first = path.parent() == Some(&top) || path.file_name().is_some_and(|name| name == "mod.rs");
        for other in verbs.iter().filter(|other| **other != verb && verb != "mod") {
            let whole = text.contains(&format!("crate::verbs::{other}::"));
            if whole || (first && text.contains(&format!("super::{other}::"))) {
                found.insert((verb.clone(), other.clone()));
            }
        }
    }
    assert!(found.is_empty(), "what two verbs need belongs in a room, or in `asked`: {found:?}");
}

/// `emit` writes an answer in the requested format. JSON is written directly only if it is not the answer itself: a
/// stored certificate, a report's file, a failure among several files, and a listing that is written incrementally.
#[test]
fn json_is_made_by_emit() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    ["verbs", "asked"].iter().for_each(|dir| files(&top.join(dir), &mut all));
    let by_hand =
        all.iter().filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("answer::json(")));
    let by_hand: BTreeSet<String> =
        by_hand.map(|path| path.strip_prefix(&top).expect("below").display().to_string()).collect();
    let known = ["verbs/isa/list.rs", "verbs/report/export.rs", "verbs/several_inputs.rs", "verbs/watch/certify.rs"];
    assert_eq!(by_hand, known.map(str::to_owned).into(), "`Context::emit` or `Context::emit_as` writes an answer");
}
