//! `report --publish`: the content that strangers can see. Names that were planted in a ledger appear on no page, and
//! no link is broken.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

fn tool(ledger: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(words).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8").env("WHICHKERNEL_LEDGER", ledger);
    command.env("USER", "annplanted").env("LOGNAME", "annplanted").output().expect("run")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A ledger with facts about this machine and a person's note.
fn planted(home: &Path) -> std::path::PathBuf {
    let ledger = home.join("ledger");
    let noted = tool(&ledger, &["ledger", "note", "annplanted saw this at home"]);
    assert!(noted.status.success(), "{}", said(&noted));
    let recorded = tool(&ledger, &["doctor", "--record"]);
    assert!(recorded.status.code().is_some_and(|code| code < 2), "{}", said(&recorded));
    ledger
}

fn pages(dir: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for sub in ["", "data", "raw"] {
        for entry in std::fs::read_dir(dir.join(sub)).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(dir).expect("below").display().to_string();
                all.push((name, text));
            }
        }
    }
    all
}

#[test]
fn a_stranger_sees_no_names_no_empty_pages_and_no_dead_links() {
    let home = tempfile::tempdir().expect("a directory");
    let ledger = planted(home.path());
    // The user's own report has the note, which shows that this test can fail.
    let own = home.path().join("own");
    assert!(tool(&ledger, &["report", "field-notes", "--out", &own.display().to_string()]).status.success());
    assert!(pages(&own).iter().any(|(_, text)| text.contains("annplanted")));
    let out = home.path().join("site");
    let place = out.display().to_string();
    let words = ["report", "field-notes", "--publish", &place, "--title", "My <card>", "--note", "One\nline"];
    let output = tool(&ledger, &[&words[..], &["--url", "https://example.org/r"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let all = pages(&out);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    for (name, text) in &all {
        assert!(!text.contains("annplanted"), "{name}");
        assert!(!text.contains(&home.path().display().to_string()), "{name}");
        let word = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
        // A short host name is not searched for, because other words may contain it.
        assert!(host.len() < 6 || !text.split(word).any(|part| part == host), "{name} names this machine");
    }
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains("index.html") && names.contains("legend.html"), "{names:?}");
    for empty in ["probes.html", "census.html", "inventory.html"] {
        assert!(!names.contains(empty), "{empty} has nothing to show");
    }
    for (name, text) in all.iter().filter(|(name, _)| name.ends_with(".html")) {
        for link in text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let own = file.is_empty() || file.starts_with("data:") || out.join(file).is_file();
            assert!(own, "{name} links to {link}");
        }
    }
    let index = &all.iter().find(|(name, _)| name == "index.html").expect("the first page").1;
    for wanted in [
        "<h1>My &lt;card&gt;</h1>",
        "content=\"https://example.org/r/picture.png\"",
        "property=\"og:title\" content=\"My &lt;card&gt;\"",
        "One<br>line<br>",
    ] {
        assert!(index.contains(wanted), "{wanted}");
    }
    let picture = std::fs::read(out.join("picture.png")).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG"));
    // Publishing again succeeds, but not into a folder that belongs to something else.
    assert!(tool(&ledger, &words).status.success());
    let other = home.path().join("other");
    std::fs::create_dir(&other).expect("a directory");
    std::fs::write(other.join("mine.txt"), "x").expect("a file");
    let refused = tool(&ledger, &["report", "--publish", &other.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(other.join("mine.txt").is_file());
}

#[test]
fn what_cannot_be_published_is_said() {
    let home = tempfile::tempdir().expect("a directory");
    let (ledger, place) = (home.path().join("ledger"), home.path().join("site").display().to_string());
    let empty = tool(&ledger, &["report", "--publish", &place]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(said(&empty).contains("nothing to publish"), "{}", said(&empty));
    let ledger = planted(home.path());
    let url = tool(&ledger, &["report", "--publish", &place, "--url", "example.org"]);
    assert!(url.status.code() == Some(2) && said(&url).contains("https://"), "{}", said(&url));
}

/// `check` and `report` without a file use this machine's file if there is one, and say which file they used.
#[test]
fn check_without_a_file_says_which_one_it_graded() {
    let home = tempfile::tempdir().expect("a directory");
    let ledger = planted(home.path());
    let notes = tool(&ledger, &["check", "--brief"]);
    assert!(said(&notes).contains("210"), "{}", said(&notes));
    let begun = tool(&ledger, &["investigate", "init", &ledger.join("this-machine.toml").display().to_string()]);
    assert!(begun.status.success(), "{}", said(&begun));
    let own = tool(&ledger, &["check", "--brief"]);
    assert!(said(&own).contains("this-machine.toml") && !said(&own).contains("210"), "{}", said(&own));
    let named = tool(&ledger, &["check", "field-notes", "--brief"]);
    assert!(said(&named).contains("210"), "{}", said(&named));
}
