//! The program's own parser accepts every command that it can print.

use crate::command_check::{takes, words};
use evidence::{Recorded, default_investigation};
use investigate::{Graded, Places};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The `Places` of a machine that has everything, with a path that needs quoting.
fn everything() -> Places {
    let mut places = Places { takes: Some(takes), ..Places::default() };
    places.runtimes.insert("ollama-rocm-60303".to_owned(), "/opt/my ollama/rocm".into());
    for tree in ["ollama", "llama.cpp", "rocBLAS"] {
        places.trees.insert(tree.to_owned(), format!("/src/{tree}"));
    }
    places.files.insert("libggml-hip.so".to_owned(), "/usr/lib/libggml-hip.so".into());
    places.runner = Some(4711);
    places.server_log = Some("/var/log/ollama.log".into());
    places
}

fn parses(command: &str) -> Result<(), String> {
    crate::command_check::parses(command).map_err(|error| format!("{command}\n{error}"))
}

#[test]
fn what_closes_a_claim_is_a_command_without_holes() {
    let verbs = crate::command_line::verb_names();
    for places in [Places { takes: Some(takes), ..Places::default() }, everything()] {
        let none: [Recorded; 0] = [];
        let graded = Graded::from_ledger(default_investigation().unwrap(), &none, &verbs).at(places);
        let claims = graded.claims().filter_map(|(stated, reading)| graded.advice(stated, reading));
        let questions = graded.investigation.questions.iter().zip(&graded.questions);
        let questions = questions.filter_map(|(question, answer)| graded.question_advice(question, answer));
        let all: BTreeSet<String> = claims.chain(questions).map(|advice| advice.command).collect();
        assert!(all.len() > 3, "{all:?}");
        for command in all {
            parses(&command).unwrap();
            let holes = |word: &&String| word.len() > 4 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            assert!(!command.contains('{') && words(&command).iter().find(holes).is_none(), "{command}");
        }
    }
}

/// A claim's advice names only verbs of this build.
#[test]
fn no_claim_advises_a_verb_that_is_not_there() {
    let none: [Recorded; 0] = [];
    let graded = Graded::from_ledger(default_investigation().unwrap(), &none, &["check".to_owned()]);
    assert!(
        graded.next().iter().all(|next| next.advice.command.starts_with("whichkernel check")),
        "{:?}",
        graded.next()
    );
}

/// The commands in the message files and in the sources: the words after the program's name, up to the end of the command.
fn printed(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("whichkernel ") {
        let rest = text.get(at..).unwrap_or_default();
        let ends = |c: char| "`\"\n;\\".contains(c) || !c.is_ascii();
        let end = rest.find(ends).unwrap_or(rest.len());
        let command = rest.get(..end).unwrap_or_default();
        let quoted = text.get(..at).is_some_and(|before| before.ends_with('`'));
        // Only text that is meant to be copied: in backticks, or at the end of a line.
        let verbs = crate::command_line::verb_names();
        let verb = command.split(' ').nth(1).unwrap_or_default().trim_end_matches(['.', ':', ')', ',']);
        let is_verb = verbs.iter().any(|known| known == verb);
        if (quoted && !verb.starts_with('{'))
            || (is_verb && rest.get(end..).is_none_or(|after| after.starts_with('\n')))
        {
            out.push(command.trim_end().trim_end_matches(['.', ':', ')']).to_owned());
        }
    }
    out
}

/// Replaces `{ $command }` and `{name}` by valid values.
fn filled(command: &str) -> String {
    let mut out = String::new();
    let mut rest = command;
    while let Some((before, (_, after))) = rest.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?))) {
        out.push_str(before);
        out.push('1');
        rest = after;
    }
    out + rest
}

fn files(dir: &Path, ending: &str, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, ending, out);
        } else if path.extension().is_some_and(|found| found == ending) {
            out.push(path);
        }
    }
}

#[test]
fn every_command_in_the_messages_is_one() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    files(&crates.join("say/locales"), "ftl", &mut all);
    for room in fs::read_dir(crates).unwrap().flatten() {
        files(&room.path().join("src"), "rs", &mut all);
    }
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in all.iter().filter(|path| !path.ends_with("advice_tests.rs")) {
        let text = fs::read_to_string(path).unwrap();
        // Text in tests and comments is not printed.
        let text: Vec<&str> = text.split("#[cfg(test)]").next().unwrap_or_default().lines().collect();
        let text: Vec<&str> = text.into_iter().filter(|line| !line.trim_start().starts_with("//!")).collect();
        for command in printed(&text.join("\n")) {
            seen += 1;
            let command = filled(&command);
            // A verb may be mentioned without its arguments.
            let only_named =
                crate::command_line::verb_names().iter().any(|verb| command == format!("whichkernel {verb}"));
            if let Some(error) = parses(&command).err().filter(|_| !only_named) {
                wrong.push(format!("{}: {error}", path.display()));
            }
        }
    }
    assert!(seen > 20, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
