//! Messages as data, and properties of all of them.

use say::{Context, Error, Key, Lang, Message, Say, key, say};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

#[derive(Debug)]
enum Unread {
    Magic { found: Vec<u8> },
    Short { field: Key, have: u64 },
    Io { path: PathBuf, source: io::Error },
    Wrapped(io::Error),
}

say::worded! { Unread {
    Magic { found } => "gguf-magic" (found = format!("{found:02x?}")),
    Short { field, have } => "gguf-truncated",
    Io { path, source } => "about-why" (what = path, why = source),
    Wrapped(error) => error,
}}

say::wraps! { Unread { Wrapped(io::Error) }}

fn japanese(what: &impl Say) -> String {
    Lang::new("ja").say(&what.message())
}

#[test]
fn an_error_has_a_sentence_for_each_variant() {
    assert!(Unread::Magic { found: vec![1] }.to_string().contains("begins with [01]"));
    let short = Unread::Short { field: key!("gguf-field-tensor-name"), have: 7 };
    assert_eq!(short.to_string(), "the header ends at byte 7, in the middle of a tensor's name; the file is truncated");
    let said = "ファイルが途中で切れています。ヘッダーがテンソルの名前の途中（バイト 7）で終わっています";
    assert_eq!(japanese(&short), said);
}

#[test]
fn a_reason_inside_is_in_the_readers_language_too() {
    let missing = || io::Error::from_raw_os_error(2);
    let error = Unread::Io { path: "/x".into(), source: missing() };
    assert_eq!(error.to_string(), "/x: No such file or directory (os error 2)");
    assert_eq!(japanese(&error), "/x: そのようなファイルやディレクトリはありません（os error 2）");
    assert_eq!(japanese(&Unread::from(missing())), "そのようなファイルやディレクトリはありません（os error 2）");
}

#[test]
fn the_systems_english_is_what_the_system_says() {
    for code in 1..134 {
        let error = io::Error::from_raw_os_error(code);
        assert_eq!(error.message().to_string(), error.to_string());
    }
}

#[test]
fn a_message_survives_an_io_error() {
    let error = io::Error::new(ErrorKind::InvalidInput, say!("sys-hard-link"));
    assert_eq!(error.message(), say!("sys-hard-link"));
    assert_eq!(error.to_string(), "the file has a second name (a hard link)");
}

#[test]
fn causes_follow_what_was_being_done() {
    let failed = || -> say::Result<()> {
        Err(io::Error::from_raw_os_error(13)).with_context(|| say!("sys-not-on-path", name = Path::new("git")))
    };
    let error = failed().expect_err("refused");
    assert_eq!(error.to_string(), "git is not on PATH: Permission denied (os error 13)");
    assert_eq!(error.in_words(&Lang::new("ja")), "git が PATH にありません: 権限がありません（os error 13）");
    assert!(!error.reader_left());
    let piped = Error::from(io::Error::from(ErrorKind::BrokenPipe));
    assert!(piped.context(say!("sys-hard-link")).reader_left());
    let none = None::<u8>.context(say!("sys-hard-link")).expect_err("none");
    assert_eq!(none.to_string(), say!("sys-hard-link").to_string());
}

#[test]
fn large_numbers_keep_every_digit() {
    let text = say!("gguf-text", offset = u64::MAX).to_string();
    assert!(text.contains("18446744073709551615"), "{text}");
    assert!(say!("gguf-text", offset = -1).to_string().contains("-1"));
}

#[test]
fn what_is_filled_in_cannot_steer_a_terminal() {
    let message = Message::verbatim("a\u{1b}[2Jb");
    assert_eq!(Lang::ENGLISH.say(&message), "a\\u001b[2Jb");
    assert_eq!(message.to_string(), "a\u{1b}[2Jb", "data is kept as it is");
}

/// A message is used if its key occurs in a source, or if a literal is a prefix of it (`"check-why-{`).
#[test]
fn no_message_is_unused() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut code = String::new();
    sources(&crates, &mut code);
    let literals: std::collections::BTreeSet<&str> = code.split('"').collect();
    let begun = literals.iter().filter_map(|text| text.split_once('{')).map(|(start, _)| start);
    let begun: Vec<&str> = begun.filter(|start| start.ends_with('-')).collect();
    let used = |key: &str| {
        // The code names only the kind of a gap, which has two messages: crates/watch/src/gap.rs.
        let gap = key.strip_prefix("unseen-").map(|key| key.strip_suffix("-why").unwrap_or(key));
        // The messages that the report's script shows: crates/site/src/words.rs.
        let script = key.starts_with("site-js-");
        // One for each cause: crates/why/src/cause.rs.
        let cause = key.strip_prefix("why-check-").is_some_and(|cause| literals.contains(cause));
        script || cause || literals.contains(gap.unwrap_or(key)) || begun.iter().any(|start| key.starts_with(start))
    };
    let unused: Vec<&str> = say::table::keys().filter(|key| !used(key)).collect();
    assert!(unused.is_empty(), "no source names them: {unused:?}");
}

fn sources(dir: &Path, code: &mut String) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, code);
        } else if path.extension().is_some_and(|end| end == "rs") && path.iter().any(|part| part == "src") {
            code.push_str(&std::fs::read_to_string(&path).expect("a source"));
        }
    }
}
